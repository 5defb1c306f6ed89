#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over sources, several of a room as one.

    lint.py BUILD OUT DEPTH FILE...

BUILD holds the build's compile_commands.json, OUT is written to, DEPTH is how far clang's analyzer goes: its -analyzer-config.
Most of what clang-tidy does to a file is reading its headers, and the files of a room share those (docs/adr/0030). Their texts
are put one behind the other, since the analyzer passes over what is included. Files that share names without linkage are in
different groups; a group that does not compile for all that is halved until it does, so a file is judged alone at last. Ends with
1 where anything was found.
"""
import bisect
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

TIDY = "clang-tidy-19"
LARGEST = 8  # files a group
# g++'s precompiled header, the warnings that only g++ knows, and what names the file itself.
NOT_READ = re.compile(r" -Winvalid-pch -include [^ ]+"
                      r"| -Wno-(?:restrict|stringop-overflow|stringop-overread|maybe-uninitialized|tsan|subobject-linkage)(?= )")
NAMES_FILE = re.compile(r" -o [^ ]+ -c [^ ]+$")
# What a line at the left margin of a namespace without a name declares.
DECLARED = re.compile(r"(?:^|\s)(?:struct|class|enum|enum class|using|concept)\s+(\w+)|[\s*&](\w+)\s*[({=;\[]")


def own_names(path):
    """The names that a file keeps to itself, as far as a line tells."""
    names, inside = set(), False
    for line in path.read_text().splitlines():
        if line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace"):
            inside = False
        elif line.startswith("static ") or (inside and line[:1].isalpha()):
            found = DECLARED.search(line)
            if found:
                names.add(found.group(1) or found.group(2))
    return names


def commands(build):
    """Each source's command of the build, without what names the source."""
    known = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        command = NAMES_FILE.sub("", NOT_READ.sub("", entry["command"]))
        source = pathlib.Path(entry["file"])
        if "/Unity/" in entry["file"]:
            for line in source.read_text().splitlines():
                if line.startswith("#include "):
                    known.setdefault(line.split('"')[1], (command, entry["directory"]))
        else:
            known.setdefault(entry["file"], (command, entry["directory"]))
    return known


def grouped(files, known):
    """Groups of files with one command and no name in common."""
    groups = []  # (command, files, names)
    for file in files:
        command = known.get(str(file))
        if command is None:
            raise SystemExit(f"lint: {file} is in no target of the build")
        names = own_names(file)
        for group in groups:
            if group[0] == command and len(group[1]) < LARGEST and not group[2] & names:
                group[1].append(file)
                group[2].update(names)
                break
        else:
            groups.append((command, [file], names))
    return [(command, members) for command, members, _ in groups]


def in_its_file(files, begins, line):
    """A line of the texts behind each other, as its own file counts it."""
    which = bisect.bisect_left(begins, line) - 1
    return f"{files[which]}:{line - begins[which]}"


def judge(out, depth, command, files):
    """What clang-tidy says of the files, read as one: its lines, or none."""
    folder = out / files[0].relative_to(pathlib.Path.cwd()).with_suffix("") / str(len(files))
    folder.mkdir(parents=True, exist_ok=True)
    source, begins = folder / "several.cpp", []
    text = ""
    for file in files:
        begins.append(text.count("\n"))
        text += file.read_text()
    source.write_text(text)
    words, directory = command
    entry = {"directory": directory, "file": str(source), "command": f"{words} -c {source}"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    ran = subprocess.run(
        [TIDY, "-p", str(folder), f"--config-file={pathlib.Path.cwd() / '.clang-tidy'}", "--quiet", "--warnings-as-errors=*",
         "--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang", f"--extra-arg={depth}", str(source)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if ran.returncode == 0:
        return ""
    if len(files) > 1 and "clang-diagnostic-error" in ran.stdout:
        half = len(files) // 2
        return judge(out, depth, command, files[:half]) + judge(out, depth, command, files[half:])
    place = re.compile(re.escape(str(source)) + r":(\d+)")
    return place.sub(lambda found: in_its_file(files, begins, int(found.group(1))), ran.stdout or ran.stderr)


def main():
    build, out, depth = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    files = [pathlib.Path(name).resolve() for name in sys.argv[4:]]
    groups = grouped(files, commands(build))
    groups.sort(key=lambda group: -len(group[1]))
    found = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(lambda group: judge(out, depth, *group), groups):
            found += bool(said)
            sys.stdout.write(said)
            sys.stdout.flush()
    print(f"lint: {len(files)} files in {len(groups)} groups, findings in {found}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
