# SPDX-License-Identifier: Apache-2.0
"""What the judges share: a lab in a folder of its own, the ledger of promises, and what can be seen from outside.

A judge is given the folder of the programs (first argument, or LIGHTLOOM_BIN), prints one line a promise and exits with 0 (all kept), 1
(one broken) or 77 (it cannot judge here, and says why). It ends by itself, and ends what it started: processes are found by the name
of the lab's own temporary folder in their command lines, never by their programs' names.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import peer

LIMIT_S = 88          # of a whole judge
POLL_S = 0.01


class Ledger:
    def __init__(self):
        self.broken = 0
        self.begun = time.monotonic()

    def promise(self, text, kept, detail=""):
        detail = " / ".join(str(detail).split("\n"))  # one line a promise, whatever a program said
        tail = f" ({detail})" if kept and detail else f": {detail}" if detail else ""
        print(f"{'kept' if kept else 'broken'}: {text}{tail}", flush=True)
        self.broken += not kept
        return kept

    def note(self, text):
        """A figure, or what was seen and is no promise."""
        print(f"note: {text}", flush=True)


def wait_until(fact, seconds, pause=POLL_S):
    """The first true answer of fact(), or its last one when the time is over."""
    until = time.monotonic() + seconds
    while True:
        answer = fact()
        if answer or time.monotonic() > until:
            return answer
        time.sleep(pause)


def percentile(samples, share):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def processes_of(folder):
    """{pid: argv} of living processes whose command line names this folder, this judge's own family left out."""
    found, own = {}, {os.getpid(), os.getppid()}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in own:
            continue
        try:
            argv = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        except OSError:
            continue
        program = os.path.basename(argv[0]) if argv else ""
        if program.startswith(("lightloom", "loom")) and any(str(folder) in word
                                                             for word in argv) and is_alive(int(entry.name)):
            found[int(entry.name)] = argv
    return found


def memory_mib(pid):
    """(VmRSS, VmHWM) of a process in MiB."""
    lines = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))


def forget_high_water(pid):
    try:
        pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        pass


class Lab:
    """A scenario in soft mode in a temporary folder; state is its state folder. fabric: a file's name in configs/fabrics, or a text."""

    def __init__(self, programs, name, fabric="oddl_8", processes=2, interlocks="", in_memory=False):
        self.programs = pathlib.Path(programs).resolve()
        # In memory: where a disk that is busy with other work (agents wait for it) would be judged instead of what is to be judged.
        memory = "/dev/shm" if in_memory and os.access("/dev/shm", os.W_OK) else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"loom-stranger-{name}-", dir=memory))
        self.state = self.folder / "lab"
        self.scenario = self.folder / "scenario.yaml"
        self.started, self.nodes = [], 0
        fabric_file = peer.ROOT / "configs" / "fabrics" / f"{fabric}.yaml"
        if interlocks or "\n" in fabric:
            text = fabric if "\n" in fabric else fabric_file.read_text()
            fabric_file = self.folder / "fabric.yaml"
            fabric_file.write_text(text + interlocks)
        self.scenario.write_text(f"schema_version: 1\nkind: scenario\nname: stranger\nmode: soft\nmodes: [soft, sim]\n"
                                 f"fabric: {fabric_file}\nagents: {{processes: {processes}}}\n")

    # -- the operator's program

    def loom(self, *words, timeout=20, state=None):
        """CompletedProcess; returncode -1 when it did not end in time."""
        command = [str(self.programs / "loom"), "--state", str(state or self.state), *map(str, words)]
        try:
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired as late:
            return subprocess.CompletedProcess(command, -1, "", f"did not end in {timeout} s: {late.stderr}")

    def json(self, *words, timeout=20):
        answer = self.loom(*words, "--json", timeout=timeout)
        try:
            return json.loads(answer.stdout)
        except ValueError:
            return {}

    def has_command(self, *words):
        return ("Usage: loom " + " ".join(words)) in self.loom(*words, "--help").stdout

    def up(self, *options):
        answer = self.loom("lab", "up", self.scenario, *options, timeout=40)
        if answer.returncode != 0:
            raise RuntimeError(f"lab up: exit {answer.returncode}: {answer.stderr.strip()}")
        self.nodes = self.json("status").get("nodes", 0)
        return answer

    def submit(self, workload, nodes, *options, timeout=20):
        """Lit, or an error; nodes is a number or a list of node numbers."""
        which = ["--nodes", nodes] if isinstance(nodes, int) else ["--ranks", ",".join(map(str, nodes))]
        return self.loom("job", "submit", workload, *which, "--wait", *options, timeout=timeout)

    def jobs(self):
        return {job["job"]: job for job in self.json("job", "list").get("jobs", [])}

    def refusals(self):
        """Counters of refusals by kind; of a build that has none, what it counted as malformed."""
        status = self.json("status")
        return dict(status.get("refusals", {"malformed": status.get("malformed_messages", 0)}))

    # -- keys

    def key(self, name):
        return peer.read_pair(self.state / "keys" / name)

    def grant(self, name, role, nodes=""):
        """A pair for this name; by `loom keys grant` where it exists, else by a line of the keyring (before the lab is up)."""
        if self.has_command("keys", "grant"):
            options = ["--nodes", nodes] if nodes else []
            answer = self.loom("keys", "grant", name, "--role", role, *options)
            if answer.returncode != 0:
                raise RuntimeError(f"keys grant: exit {answer.returncode}: {answer.stderr.strip()}")
            return
        public, secret = peer.new_pair()
        (self.state / "keys" / name).write_text(f"public {public}\nsecret {secret}\n")
        (self.state / "keys" / name).chmod(0o600)
        with open(self.state / "keys" / "keyring", "a") as keyring:
            keyring.write(f"{public} {role} {name} {nodes}\n")

    def generate_keys(self):
        answer = self.loom("keys", "generate", self.scenario)
        if answer.returncode != 0:
            raise RuntimeError(f"keys generate: exit {answer.returncode}: {answer.stderr.strip()}")

    # -- connections

    def address(self, name="controller"):
        return (self.state / f"{name}.address").read_text().strip()

    def connect(self, key="operator", to="controller", pair=None, **options):
        return peer.Peer(self.address(to), pair or self.key(key), self.key(f"{to}.pub")[0], **options)

    # -- processes

    def processes(self):
        return processes_of(self.state)

    def pid(self, program, number=None):
        for pid, argv in self.processes().items():
            which = argv[argv.index("--process") + 1] if "--process" in argv else None  # a relay is of the same program
            if os.path.basename(argv[0]) == program and (number is None or which == str(number)):
                return pid
        return None

    def kill(self, pid, how=signal.SIGKILL):
        """The argv that starts it again."""
        argv = self.processes()[pid]
        os.kill(pid, how)
        wait_until(lambda: not is_alive(pid), 10)
        return argv

    def start(self, argv):
        log = open(self.folder / f"started-{len(self.started)}.log", "w")
        self.started.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))
        return self.started[-1]

    def restart_controller(self, argv):
        """At its address again, by `loom lab restart` where it exists; argv is what it was started with. Waits for all agents."""
        address = self.address()
        if self.has_command("lab", "restart"):
            self.loom("lab", "restart", "controller", timeout=30)
        if self.pid("lightloomd") is None:
            self.start([*argv, "--listen", address] if "--listen" not in argv else argv)
        wait_until(lambda: self.json("status").get("agents", {}).get("live") == self.nodes, 8, 0.05)

    # -- light

    def light(self, process):
        """[(instant_ns, device, emits)] of the lasers in a light log; instants are CLOCK_MONOTONIC."""
        rows = []
        for line in (self.state / f"agents-{process}.light").read_text().splitlines():
            words = line.split()
            if len(words) >= 7 and words[3] == "laser":
                rows.append((int(words[0]), int(words[1]), words[4] == "1"))
        return rows

    def whole_ns(self, process):
        """The light log tells everything up to this instant."""
        return int((self.state / f"agents-{process}.light.whole").read_text())

    def lit_devices(self, process):
        last = {}
        for _, device, emits in self.light(process):
            last[device] = emits
        return {device for device, emits in last.items() if emits}

    def dark_ms(self, process, since_ns, seconds=5, devices=None):
        """Milliseconds from since_ns to the last light of these devices of a process, or None: something still emits."""
        def lit():
            return {device for device in self.lit_devices(process) if devices is None or device in devices}
        wait_until(lambda: self.whole_ns(process) > since_ns and not lit(), seconds)
        if lit():
            return None
        offs = [instant for instant, device, emits in self.light(process)
                if instant >= since_ns and not emits and (devices is None or device in devices)]
        return (max(offs) - since_ns) / 1e6 if offs else 0.0

    # -- the end

    def down(self):
        self.loom("lab", "down")
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
        if os.environ.get("LIGHTLOOM_STRANGER_KEEP"):
            print(f"note: kept {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.down()


def _out_of_time(*_):
    raise TimeoutError(f"the judge ran out of its {LIMIT_S} s")


def main(judge, words=None):
    """Runs judge(ledger, programs) within its time and exits."""
    words = sys.argv[1:] if words is None else words
    programs = words[0] if words else os.environ.get("LIGHTLOOM_BIN", "")
    if not programs or not (pathlib.Path(programs) / "loom").exists():
        print(f"usage: {sys.argv[0]} FOLDER, or LIGHTLOOM_BIN=FOLDER: where loom, lightloomd and lightloom-agent are",
              file=sys.stderr)
        sys.exit(2)
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.alarm(LIMIT_S)
    ledger = Ledger()
    try:
        judge(ledger, programs)
    except Exception as error:  # a judge that cannot go on has not seen its promises kept
        road = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)
                if "strangers" in frame.filename]
        ledger.promise("the judge came to its end", False, f"{type(error).__name__}: {error} (in {' > '.join(road[1:])})")
    signal.alarm(0)
    ledger.note(f"{time.monotonic() - ledger.begun:.1f} s")
    sys.exit(1 if ledger.broken else 0)
