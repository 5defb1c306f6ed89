# SPDX-License-Identifier: Apache-2.0
"""Every source file names its licence in its first line, or behind its `#!`: SPDX-License-Identifier, as LICENSE has it.

    spdx.py           which do not? Exit codes: 0 all do, 1 some do not
    spdx.py --write   puts the line there
"""
import pathlib
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
LINE = "SPDX-License-Identifier: Apache-2.0"
MARKS = {".cpp": "//", ".hpp": "//", ".proto": "//", ".fbs": "//", ".py": "#", ".cmake": "#", ".sh": "#"}
NAMED = {"CMakeLists.txt": "#", "dev": "#", ".ci/run": "#"}


def mark_of(path):
    """How a line of this file is a comment; nothing: it is no source."""
    name = path.relative_to(TREE).as_posix()
    known = MARKS.get(path.suffix) or NAMED.get(name) or NAMED.get(path.name)
    if known or path.suffix:
        return known
    # Scripts without a suffix: packaging/debian/tests/first-light.
    with open(path, "rb") as file:
        return "#" if file.read(2) == b"#!" else None


def sources():
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", TREE, "ls-files", "-z"], capture_output=True, check=True).stdout
    for name in sorted(filter(None, listed.decode().split("\0"))):
        path = TREE / name
        if path.is_file() and not path.is_symlink() and (mark := mark_of(path)):
            yield path, mark


def main():
    missing = []
    count = 0
    for path, mark in sources():
        count += 1
        lines = path.read_text().splitlines(keepends=True)
        at = 1 if lines and lines[0].startswith("#!") else 0
        if len(lines) > at and lines[at].rstrip("\n") == f"{mark} {LINE}":
            continue
        missing.append(path.relative_to(TREE).as_posix())
        if "--write" in sys.argv[1:]:
            lines.insert(at, f"{mark} {LINE}\n")
            path.write_text("".join(lines))
    for name in missing:
        print(("written" if "--write" in sys.argv[1:] else f"lacks '{LINE}'") + ":", name)
    print(f"{count} source files, of which {len(missing)} {'got' if '--write' in sys.argv[1:] else 'lack'} the line")
    return 1 if missing and "--write" not in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
