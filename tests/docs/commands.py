# SPDX-License-Identifier: Apache-2.0
"""Runs what the pages say. Every command of a fenced `sh` block of README.md, CONTRIBUTING.md and docs/ is run in a scratch copy, and fails
with file:line; every `loom ...` and `./dev ...` in running text is held against the programs' own help. Ends what it started.

    commands.py FOLDER_OF_PROGRAMS [--slow] [--list] [PAGE...]

A comment above a block says how it is run:
    <!-- runs: in a lab -->                  a lab of first_light.yaml, brought up once a page, in which job 1 is lit
    <!-- runs: in a folder of its own -->    LIGHTLOOM_STATE is an empty folder
    <!-- runs: on the emulated testbed -->   bench.yaml and inventory.yaml are there, and an emulator of every device in them
    <!-- runs: with data -->                 only where public data is present (LIGHTLOOM_DATA, or shared/data beside the tree)
    <!-- runs: where it is installed -->     only where every program of the block is on PATH
    <!-- runs: slow -->                      only with --slow, which runs nothing else
    <!-- runs: exit N, REASON -->            each command ends with this code
    <!-- runs: no, REASON -->                never
A line that ends with `# exits with N` ends so, whatever its block says.
Exit codes: 0 all as the pages say, 1 not so, 77 it cannot be judged here.
"""
import argparse
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^\s*```(\w*)\s*$")
MARK = re.compile(r"^\s*<!-- runs: (.*?) -->\s*$")
OURS = re.compile(r"^(?:\$ )?(?:loom|lightloomd|lightloom-\w+|\./dev|build/release/\S+)(?: |$)")
MARKS = re.compile(r"in a lab|in a folder of its own|on the emulated testbed|with data|where it is installed|slow|exit (\d+), .+|no, .+")
LINE_S, SLOW_LINE_S = 120, 900
LAB = "configs/scenarios/first_light.yaml"
# The testbed of docs/bring_up.md: four lasers, four heater banks, two WSS, each an emulator with a serial number of its own.
TESTBED = {
    **{f"laser-{i}": ("itla", 5210 + i, f"tcp://127.0.0.1:{5210 + i}", f"CRT{i:03d}") for i in range(4)},
    **{f"heater-{i}": ("heater", 1520 + i, f"modbus-tcp://127.0.0.1:{1520 + i}", "") for i in range(4)},
    "wss-out-0": ("wss", 5120, "tcp://127.0.0.1:5120", "EP000021"),
    "wss-in-0": ("wss", 5121, "tcp://127.0.0.1:5121", "EP000022"),
}
BENCH = """schema_version: 1
kind: scenario
name: bench
mode: hard
modes: [hard, sim]
fabric: configs/fabrics/oddl_4.yaml
inventory: inventory.yaml
agents: {processes: 4}
"""


class Block:
    def __init__(self, page, line, mark):
        self.page, self.line, self.mark, self.commands = page, line, mark, []  # commands: (line, text)


def pages():
    return [TREE / "README.md", TREE / "CONTRIBUTING.md", *sorted((TREE / "docs").rglob("*.md"))]


def name_of(page):
    return str(page.relative_to(TREE))


def read_page(page, faults):
    """Its blocks of commands, and its code spans as (line, text)."""
    blocks, spans, mark, kind, block = [], [], None, None, None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence, marked = FENCE.match(line), MARK.match(line)
        if marked and kind is None:
            mark = marked.group(1)
            if not MARKS.fullmatch(mark):
                faults.append(f"{name_of(page)}:{number}: no such mark: {mark}")
        elif fence and kind is None:
            kind = fence.group(1) or "text"
            block = Block(page, number, mark) if kind in ("sh", "console") else None
            mark = None
        elif fence:
            if block:
                blocks.append(block)
            kind = block = None
        elif block:
            text = line.strip()
            if kind == "console":
                text = text[2:] if text.startswith("$ ") else ""
            if block.commands and block.commands[-1][1].endswith("\\"):
                block.commands[-1] = (block.commands[-1][0], block.commands[-1][1][:-1] + text)
            elif text and not text.startswith("#"):
                block.commands.append((number, text))
        elif kind:
            if kind == "text" and OURS.match(line.strip()):
                faults.append(f"{name_of(page)}:{number}: a command in a block that nobody runs: say ```sh")
        elif line.strip():
            spans += [(number, span) for span in re.findall(r"`([^`]+)`", line)]
    if mark is not None:
        faults.append(f"{name_of(page)}: a mark without a block: {mark}")
    return blocks, spans


class Help:
    """What the programs themselves say that they take."""

    def __init__(self, programs):
        self.programs = programs

    @functools.lru_cache(maxsize=None)
    def of(self, *words):
        run = subprocess.run([self.programs / "loom", *words, "--help"], capture_output=True, text=True)
        return run.stdout if run.returncode == 0 else ""

    def commands(self, *words):
        listed = re.findall(r"^([A-Z][A-Za-z ]*):\n((?:  .*\n?)+)", self.of(*words), re.M)
        return [name for head, body in listed if head not in ("Options", "Positionals")
                for name in re.findall(r"^  ([a-z][a-z-]*)", body, re.M)]

    def fault_of(self, text):
        """What is wrong with `loom ...` as it stands in running text; empty: nothing."""
        words = re.sub(r"[\[\]{}(),;]", " ", text).split()[1:]
        path, takes_value = [], False
        for word in words:
            if word in ("|", ">", "--", "..."):
                break
            if takes_value:
                takes_value = False
            elif word.startswith("-"):
                flag = word.split("=")[0]
                texts = [self.of(*path[:depth]) for depth in range(len(path) + 1)]
                row = re.search(rf"(?:^|[ ,]){re.escape(flag)}(?=[ ,=:]|$)(.*)", "\n".join(texts), re.M)
                if not row:
                    return f"{' '.join(['loom', *path])} knows no {flag}"
                takes_value = "=" not in word and bool(re.match(r"(?:,--[a-z-]+)? (TEXT|UINT|INT|FLOAT)", row.group(1)))
            elif known := self.commands(*path):
                choices = word.split("|")
                if not choices[0][:1].islower():
                    return ""  # a placeholder
                for choice in choices:
                    if choice not in known:
                        return f"{' '.join(['loom', *path])} has no {choice}; it has {', '.join(known)}"
                path.append(choices[0])
        return ""


def fault_of_span(text, help_):
    if text.startswith("loom "):
        return help_.fault_of(text)
    if text.startswith("./dev "):
        word = text.split()[1]
        known = re.findall(r"^  ([a-z]+)\)$", (TREE / "dev").read_text(), re.M)
        return "" if word in [*known, "help"] else f"dev has no {word}; it has {', '.join(known)}"
    if text.startswith("build/release/bench/"):
        name = re.match(r"build/release/bench/(\w*)", text).group(1)
        is_there = any((TREE / "bench").glob(f"**/{name}.cpp"))
        return "" if is_there or not name else f"there is no benchmark {name}"
    return ""


class Scratch:
    """A folder like a fresh copy of the tree, and labs that end with it."""

    def __init__(self, programs):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="loom-docs-"))
        shutil.copytree(TREE / "configs", self.folder / "configs")
        shutil.copytree(TREE / "docs", self.folder / "docs")
        (self.folder / "build" / "release").mkdir(parents=True)
        (self.folder / "build" / "release" / "bin").symlink_to(programs)
        data = pathlib.Path(os.environ.get("LIGHTLOOM_DATA", TREE.parent / "shared" / "data"))
        self.data = data.resolve() if (data / "measures").is_dir() else None
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "NO_COLOR": "1"}
        if self.data:
            self.environment["LIGHTLOOM_DATA"] = str(self.data)
        self.states = []
        self.testbed = []  # processes

    def build_testbed(self):
        """Once a run: the files of the bench, and its devices."""
        if self.testbed:
            return
        buses = "".join(f"  bus-{name}: {endpoint}\n" for name, (_, _, endpoint, _) in TESTBED.items())
        devices = "".join(f"  {name}: {{serial: {serial}}}\n" for name, (_, _, _, serial) in TESTBED.items() if serial)
        (self.folder / "bench.yaml").write_text(BENCH)
        (self.folder / "inventory.yaml").write_text(
            f"schema_version: 1\nkind: inventory\nname: bench\nbuses:\n{buses}devices:\n{devices}cabling: cabling.csv\n")
        with open(self.folder / "cabling.csv", "w") as cabling:  # the page writes it again
            subprocess.run(["loom", "fabric", "cabling", "configs/fabrics/oddl_4.yaml"], cwd=self.folder, env=self.environment,
                           stdout=cabling, stderr=subprocess.DEVNULL, check=True)
        for name, (kind, port, _, _) in TESTBED.items():
            order = ["lightloom-emulate", kind, "--port", str(port), "--scenario", "bench.yaml", "--bus", f"bus-{name}"]
            self.testbed.append(subprocess.Popen(order, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                                 text=True, stderr=subprocess.DEVNULL))
        for emulator in self.testbed:
            emulator.stdout.readline()  # its port: it listens

    def state(self, name):
        path = self.folder / ("state-" + re.sub(r"\W", "-", name))
        if path not in self.states:
            self.states.append(path)
            return path, True
        return path, False

    def run(self, text, state, limit):
        """(exit code, what it said first and last, seconds). Its children end with it."""
        begun = time.monotonic()
        process = subprocess.Popen(["bash", "-o", "pipefail", "-c", text], cwd=self.folder, text=True, errors="replace",
                                   env={**self.environment, "LIGHTLOOM_STATE": str(state)}, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            said = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                said = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                said = process.communicate()
            return 124, f"not over after {limit} s", time.monotonic() - begun
        lines = [line for line in said[1].strip().splitlines() + said[0].strip().splitlines() if line.strip()]
        shown = lines if len(lines) <= 20 else lines[:8] + ["..."] + lines[-12:]
        return process.returncode, "\n    ".join(shown), time.monotonic() - begun

    def end_labs(self):
        """Those of a page that has been run: labs that train beside each other would leave the next page no processor."""
        for state in self.states:
            if (state / "lab.json").exists():
                self.run("loom lab down", state, 60)
        self.states = []

    def end(self):
        self.end_labs()
        for emulator in self.testbed:
            emulator.kill()
            emulator.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def run_block(block, scratch, counts, faults):
    mark, page = block.mark or "", name_of(block.page)
    usual = int(re.match(r"exit (\d+)", mark).group(1)) if mark.startswith("exit ") else 0
    if mark == "in a lab":
        state, is_new = scratch.state(page + "-lab")
        if is_new and not block.commands[0][1].startswith("loom lab up"):
            code, said, _ = scratch.run(f"loom lab up {LAB} && loom job submit vgg19 --nodes 32 && loom wait 1", state, LINE_S)
            if code != 0:
                faults.append(f"{page}:{block.line}: no lab to run it in: {said}")
                return
    else:
        state, _ = scratch.state(f"{page}-{block.line}" if mark == "in a folder of its own" else page)
    if mark == "on the emulated testbed":
        scratch.build_testbed()
    for line, text in block.commands:
        own = re.search(r"# exits with (\d+)", text)
        wanted = int(own.group(1)) if own else usual
        code, said, seconds = scratch.run(text, state, SLOW_LINE_S if mark == "slow" else LINE_S)
        counts["run"] += 1
        print(f"{'ok    ' if code == wanted else 'BROKEN'} {seconds:6.1f} s  {page}:{line}: {text}", flush=True)
        if code != wanted:
            faults.append(f"{page}:{line}: {text}\n    exit {code}, expected {wanted}: {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--slow", action="store_true", help="the blocks marked slow, and no others")
    parser.add_argument("--list", action="store_true", help="name the commands, run nothing")
    parser.add_argument("pages", nargs="*", help="only pages whose path has this in it")
    asked = parser.parse_args()
    programs = asked.programs.resolve()
    if not (programs / "loom").exists():
        print(f"there is no {programs}/loom")
        return 77
    faults, counts = [], {"run": 0, "marked": 0, "held against help": 0}
    help_, scratch = Help(programs), Scratch(programs)
    try:
        for page in pages():
            if asked.pages and not any(part in name_of(page) for part in asked.pages):
                continue
            blocks, spans = read_page(page, faults)
            for line, span in [] if asked.slow else spans:
                if span.startswith(("loom ", "./dev ", "build/release/bench/")):
                    counts["held against help"] += 1
                    if fault := fault_of_span(span, help_):
                        faults.append(f"{name_of(page)}:{line}: `{span}`: {fault}")
            for block in blocks:
                mark = block.mark or ""
                why_not = (mark[4:] if mark.startswith("no, ") else
                           "" if asked.slow == (mark == "slow") else
                           "slow: --slow runs it" if mark == "slow" else "not slow")
                if mark == "with data" and not scratch.data:
                    why_not = "public data is absent (LIGHTLOOM_DATA)"
                absent = [text.split()[0] for _, text in block.commands if not shutil.which(text.split()[0])]
                if mark == "where it is installed" and absent:
                    why_not = f"{absent[0]} is not installed"
                if why_not:
                    counts["marked"] += len(block.commands) if why_not != "not slow" else 0
                    if not asked.slow:
                        print(f"not run  {name_of(page)}:{block.line}: {len(block.commands)} commands: {why_not}", flush=True)
                elif asked.list:
                    print("\n".join(f"{name_of(page)}:{line}: {text}" for line, text in block.commands))
                else:
                    run_block(block, scratch, counts, faults)
            scratch.end_labs()
    finally:
        scratch.end()
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    print(f"commands documented: {counts['run'] + counts['marked']}, run now: {counts['run']}, not run now (slow, or marked with "
          f"the reason): {counts['marked']}")
    for fault in faults:
        print(f"BROKEN: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
