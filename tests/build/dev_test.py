# SPDX-License-Identifier: Apache-2.0
"""./dev says what is wrong with its arguments before anything is installed, configured or built.

The programs that it would call are stand-ins that leave a trace: none may have been called.
Arguments: the folder of the programs (its `loom lab run --help` is what `./dev run` passes its flags to).
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLED = ("cmake", "ninja", "ctest", "apt-get", "sudo", "python3", "dpkg-query")

# Arguments, and what the sentence must name.
REFUSED = [
    (["wrong"], "'wrong'"),
    (["run", "--nosuch"], "'--nosuch'"),
    (["run", "keep"], "'keep'"),
    (["run", "--inspector-dir"], "needs a value"),
    (["build", "loom"], "loom"),
    (["install", "--prefx=/x"], "'--prefx=/x'"),
    (["package", "--chek"], "'--chek'"),
    (["lint", "core"], "core"),
    (["test", "journal"], "'journal'"),
    (["bench", "fast"], "'fast'"),
    (["fuzz", "long"], "'long'"),
    (["sanitize", "msan"], "'msan'"),
    (["mutate", "--olny", "x"], "'--olny'"),
    (["soak", "--seeds"], "needs a value"),
    (["soak", "--seeds", "many"], "'many'"),
    (["soak", "--sedes", "3"], "'--sedes'"),
    (["soak", "fault-files", "some"], "'some'"),
]


def run(words, folder):
    trace = folder / "called"
    trace.unlink(missing_ok=True)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    answer = subprocess.run(["bash", str(ROOT / "dev"), *words], env=environment, capture_output=True, text=True, timeout=60)
    return answer, trace.read_text() if trace.exists() else ""


def main():
    broken = []

    def check(fact, what):
        if not fact:
            broken.append(what)

    with tempfile.TemporaryDirectory(prefix="loom-dev-test-") as name:
        folder = pathlib.Path(name)
        for program in CALLED:
            stand_in = folder / program
            stand_in.write_text(f'#!/bin/sh\necho "{program} $*" >> {folder}/called\nexit 1\n')
            stand_in.chmod(0o755)
        for words, named in REFUSED:
            answer, called = run(words, folder)
            check(answer.returncode == 2, f"{words}: exit {answer.returncode}, not 2: {answer.stderr}")
            check(named in answer.stderr and "next: ./dev help" in answer.stderr, f"{words}: says only: {answer.stderr}")
            check(not called, f"{words}: called {called}")
        for words in (["help"], [], ["run", "--help"]):
            answer, called = run(words, folder)
            check(answer.returncode == 0 and "./dev run" in answer.stdout and not called, f"{words}: {answer}")
        # What it does accept gets as far as the first program that it needs.
        answer, called = run(["run", "--keep", "--replace", "--inspector-dir=x"], folder)
        check("dpkg-query" in called and "takes" not in answer.stderr, f"run --keep: {answer.stderr}")

    # `./dev run` knows the flags of `loom lab run`, no more and no fewer.
    loom = pathlib.Path(sys.argv[1]) / "loom" if len(sys.argv) > 1 else None
    if loom and loom.exists():
        text = subprocess.run([str(loom), "lab", "run", "--help"], capture_output=True, text=True, timeout=60).stdout
        known = {flag for flag in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.M) if flag != "--help"}
        line = re.search(r"flags=\(([^)]*)\) options=\(([^)]*)\) # of `loom lab run`", (ROOT / "dev").read_text())
        check(line and set((line[1] + " " + line[2]).split()) == known, f"dev's flags of run are not those of loom lab run: {known}")
    for what in broken:
        print("broken:", what)
    print("dev: all kept" if not broken else f"dev: {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
