# SPDX-License-Identifier: Apache-2.0
"""Every program says the same version, and manual pages are troff that groff has nothing to say about.

    version_test.py FOLDER_OF_PROGRAMS
Exit codes: 0 kept, 1 broken, 77 kept, but groff is absent.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ["loom", "lightloomd", "lightloom-agent", "lightloom-emulate"]
# 0.1.0; 0.1.0+12.g4c8f5c00 behind a tag; 0.1.0~2100.g4c8f5c00 before there is one; .dirty where files differ.
VERSION = re.compile(r"\d+\.\d+\.\d+([+~]\d+\.g[0-9a-f]{8,})?(\.dirty)?")


def described(folder, *options):
    script = ["cmake", f"-DTREE={folder}", "-DRELEASE=9.8.7", *options, "-P", TREE / "cmake" / "version.cmake"]
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout.strip()


def git(folder, *words):
    subprocess.run(["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@example.org", *words], check=True, capture_output=True)


def judge_description(check):
    """cmake/version.cmake on a history of its own."""
    with tempfile.TemporaryDirectory(prefix="loom-version-") as folder:
        check(described(folder) == "9.8.7", "without git it is not the release")
        git(folder, "init", "-q")
        file = pathlib.Path(folder) / "file"
        file.write_text("1")
        git(folder, "add", "file")
        git(folder, "commit", "-qm", "one")
        check(re.fullmatch(r"9\.8\.7~1\.g[0-9a-f]{8}", described(folder)), f"before a tag: {described(folder)}")
        git(folder, "tag", "v1.2.3")
        check(described(folder) == "1.2.3", f"at the tag: {described(folder)}")
        file.write_text("2")
        check(described(folder) == "1.2.3.dirty", f"at the tag, changed: {described(folder)}")
        git(folder, "commit", "-qam", "two")
        check(re.fullmatch(r"1\.2\.3\+1\.g[0-9a-f]{8}", described(folder)), f"behind the tag: {described(folder)}")
        git(folder, "tag", "other-9")
        check(described(folder).startswith("1.2.3+1."), "a tag of another kind counts")
        check(described(folder, "-DVERSION=4.5.6") == "4.5.6", "what it is told does not hold")


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    broken = []

    def check(fact, what):
        if not fact:
            broken.append(what)

    versions = set()
    groff = shutil.which("groff")
    for program in PROGRAMS:
        answer = subprocess.run([programs / program, "--version"], capture_output=True, text=True)
        first, *rest = answer.stdout.splitlines()
        name, _, version = first.partition(" ")
        check(answer.returncode == 0 and name == program and VERSION.fullmatch(version), f"{program} --version: {answer}")
        check("wire version" in rest[0] and "schema version" in rest[0], f"{program} --version names no wire or schema: {rest}")
        versions.add(version)
        page = subprocess.run([programs / program, "--man-page"], capture_output=True, text=True)
        check(page.returncode == 0, f"{program} --man-page: {page.stderr}")
        told = subprocess.run([programs / program, "--help"], capture_output=True, text=True).stdout
        for flag in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", told, re.M):
            check(flag == "--help" or flag.replace("-", "\\-") in page.stdout, f"the page of {program} lacks {flag}")
        if groff:
            said = subprocess.run([groff, "-man", "-Tutf8", "-ww", "-z"], input=page.stdout, capture_output=True, text=True).stderr
            check(not said, f"groff of {program}: {said[:500]}")
    check(len(versions) == 1, f"the programs have versions {versions}")
    judge_description(check)
    for what in broken:
        print("broken:", what)
    print("versions: all kept" if not broken else f"versions: {len(broken)} broken")
    return 1 if broken else 0 if groff else 77


if __name__ == "__main__":
    sys.exit(main())
