# SPDX-License-Identifier: Apache-2.0
"""How every command of loom ends: a wrong command line, and a command that can do nothing, with and without --json.

    manners.py FOLDER_OF_PROGRAMS

Every command of the tree is given an option that it does not know, and, in an empty state folder, names of things that are not
there. Its exit code must be one of `loom help exit-codes`; under --json stderr must be lines of JSON of which the last is
{"error": {"code", "message", "next"}}. Exit codes: 0 kept, 1 broken, 77 there are no programs.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# What needs no argument, no controller, and minutes: only its usage is judged.
LONG = {"reproduce", "arena", "sim soak", "sim kill-points", "plan", "predict"}
HEAD = re.compile(r"^([A-Z][A-Za-z ]+):\n((?:  .*\n?)+)", re.M)


def loom(programs, folder, *words):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LIGHTLOOM_")}
    return subprocess.run([programs / "loom", *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)


def tree(programs, folder, path=()):
    """(path, required positionals) of every command that has none below it."""
    text = loom(programs, folder, *path, "--help").stdout
    parts = {head: body for head, body in HEAD.findall(text)}
    below = [name for head, body in parts.items() if head not in ("Options", "Positionals")
             for name in re.findall(r"^  ([a-z][a-z-]*) ", body, re.M)]
    if not below:
        yield path, len(re.findall(r"^  \S+ .*REQUIRED", parts.get("Positionals", ""), re.M))
    for name in below:
        yield from tree(programs, folder, (*path, name))


def fault_of(run, codes, want=None):
    if run.returncode not in codes or (want is not None and run.returncode != want):
        return f"ends with {run.returncode}, expected {want if want is not None else 'one of ' + str(sorted(codes))}: {run.stderr.strip()[:200]}"
    return ""


def json_fault_of(run):
    lines = run.stderr.splitlines()
    for line in lines:
        try:
            json.loads(line)
        except ValueError:
            return f"says under --json, which is no JSON: {line[:120]}"
    error = json.loads(lines[-1]).get("error") if lines else None
    if not error or not all(isinstance(error.get(key), str) for key in ("code", "message", "next")) or not error["message"]:
        return f"says no error of code, message and next under --json: {run.stderr.strip()[:200]}"
    return ""


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    if not (programs / "loom").exists():
        return 77
    faults, count = [], 0
    with tempfile.TemporaryDirectory(prefix="loom-manners-") as folder:
        bare = loom(programs, folder)
        if bare.returncode != 0 or bare.stdout != loom(programs, folder, "--help").stdout:
            faults.append("loom: without a command it is not its help")
        codes = {int(code) for code in re.findall(r"^ *(\d+)  ", loom(programs, folder, "help", "exit-codes").stdout, re.M)}
        for path, positionals in tree(programs, folder):
            name = " ".join(path)
            count += 1
            runs = [("a wrong option", loom(programs, folder, "--json", *path, "--no-such-option"), 2),
                    ("a wrong option", loom(programs, folder, *path, "--no-such-option"), 2)]
            if name not in LONG and name != "job run" and path[0] != "completion":
                words = ["nothing/here"] * positionals
                runs.append(("nothing to work on", loom(programs, folder, "--json", "--timeout", "1s", *path, *words), None))
            for what, run, want in runs:
                fault = fault_of(run, codes, want)
                if not fault and run.returncode not in (0, 1, 4) and "--json" in run.args:
                    fault = json_fault_of(run)
                if not fault and run.returncode in (1, 4) and not run.stdout:
                    fault = json_fault_of(run)
                if fault:
                    faults.append(f"loom {name}, {what}: {fault}")
    print(f"{count} commands, exit codes {sorted(codes)}")
    for fault in faults:
        print(f"BROKEN: {fault}")
    return 1 if faults or count < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
