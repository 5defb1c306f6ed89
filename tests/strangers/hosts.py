#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""hosts.py FOLDER [ipv6]: one agent process a host, each host a network namespace with an address of its own, keys by bundle alone.

Five namespaces: four hosts (the controller's and three with agents) and the switch between them. All of them, their addresses and
links are this judge's own, and go with it. Skips where namespaces may not be made (ip netns add), and with `ipv6` where the
kernel has none. Over IPv6 one host turns its keys as well, and keeps its port.
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

import lab as laboratory
import peer
from lab import wait_until

IS_IPV6 = "ipv6" in sys.argv[2:]
HOSTS = {host: f"fd77::{end}" if IS_IPV6 else f"10.77.0.{end}"
         for host, end in {"head": 1, "rack-a": 11, "rack-b": 12, "rack-c": 13}.items()}
NODES = {"rack-a": "[0]", "rack-b": "1-2", "rack-c": "3"}
DEAD_S = 20           # patience, of a machine that does other work as well
LIT_S = 40
FABRIC = "schema_version: 1\nkind: fabric\nname: hosts-4\ntemplate: oddl\nparameters: {{nodes: 4, group_size: 4, channels: {channels}}}\n"


class Network:
    """Namespaces joined by a bridge that lies in one of its own."""

    def __init__(self):
        self.prefix = f"loom{os.getpid()}"
        self.made = []

    def namespace(self, host):
        return f"{self.prefix}-{host}"

    def ip(self, *words, within=None):
        command = ["ip", *(["-n", self.namespace(within)] if within else []), *words]
        subprocess.run(command, check=True, capture_output=True, text=True)

    def may_be_made(self):
        probe = subprocess.run(["ip", "netns", "add", self.namespace("switch")], capture_output=True, text=True)
        if probe.returncode == 0:
            self.made.append("switch")
        return probe.returncode == 0

    def has_ipv6(self):
        probe = subprocess.run(["ip", "-n", self.namespace("switch"), "addr", "add", "fd77::ff/64", "dev", "lo"],
                               capture_output=True, text=True)
        return probe.returncode == 0

    def make(self):
        self.ip("link", "add", "br0", "type", "bridge", within="switch")
        self.ip("link", "set", "br0", "up", within="switch")
        for number, (host, address) in enumerate(HOSTS.items()):
            self.ip("netns", "add", self.namespace(host))
            self.made.append(host)
            self.ip("link", "add", "eth0", "type", "veth", "peer", "name", f"port{number}", "netns", self.namespace("switch"),
                    within=host)
            self.ip("link", "set", f"port{number}", "master", "br0", "up", within="switch")
            # Nobody else has these addresses: without nodad one could not be bound for a second or two.
            self.ip("addr", "add", *([f"{address}/64", "nodad"] if IS_IPV6 else [f"{address}/24"]), "dev", "eth0", within=host)
            self.ip("link", "set", "lo", "up", within=host)
            self.ip("link", "set", "eth0", "up", within=host)

    def cut(self, host, is_cut):
        self.ip("link", "set", f"port{list(HOSTS).index(host)}", "down" if is_cut else "up", within="switch")

    def command(self, host, *words, monotonic_s=None):
        aside = ["unshare", "--time", "--monotonic", str(monotonic_s)] if monotonic_s else []
        return ["ip", "netns", "exec", self.namespace(host), *aside, *map(str, words)]

    def remove(self):
        for name in self.made:
            subprocess.run(["ip", "netns", "del", self.namespace(name)], capture_output=True)


class Site:
    """The hosts' folders and processes."""

    def __init__(self, programs, network):
        self.programs = pathlib.Path(programs).resolve()
        self.network = network
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="loom-stranger-hosts-"))
        self.running = {}
        self.clock = "auto"
        for host in HOSTS:
            self.write_files(host)

    def write_files(self, host, channels=8):
        """Each host has its own copies; nothing is shared."""
        place = self.folder / host
        place.mkdir(exist_ok=True)
        (place / "fabric.yaml").write_text(FABRIC.format(channels=channels))
        hosts = "".join(f"  {name}: {{address: \"{HOSTS[name]}\", nodes: {nodes}}}\n" for name, nodes in NODES.items())
        head = f"[{HOSTS['head']}]" if IS_IPV6 else HOSTS["head"]
        (place / "scenario.yaml").write_text(
            "schema_version: 1\nkind: scenario\nname: hosts\nmode: soft\nmodes: [soft, sim]\nfabric: fabric.yaml\n"
            f"controller: {{listen: \"tcp://{head}:7601\"}}\nhosts:\n{hosts}")

    def state(self, host):
        return self.folder / host / "state"

    def bundle(self, host):
        return self.folder / host / "keys.tar"

    def log(self, host):
        path = self.folder / host / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self, host, monotonic_s=None):
        program = ["lightloomd"] if host == "head" else ["lightloom-agent", "--host", host, "--keys", self.bundle(host)]
        words = [self.programs / program[0], *program[1:], "--scenario", self.folder / host / "scenario.yaml", "--state",
                 self.state(host), "--clock", self.clock]
        log = open(self.folder / host / "log", "w")
        self.running[host] = subprocess.Popen(self.network.command(host, *words, monotonic_s=monotonic_s),
                                              stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        return self.running[host]

    def stop(self, host):
        process = self.running.pop(host)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)  # a session of its own, begun above
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def loom(self, *words, timeout=15):
        command = self.network.command("head", self.programs / "loom", "--state", self.state("head"), *words)
        try:
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, -1, "", f"did not end in {timeout} s")

    def rows(self, noun):
        try:
            return json.loads(self.loom(noun, "list", "--json").stdout)[f"{noun}s"]
        except (ValueError, KeyError):
            return []

    def nodes(self):
        return {row["node"]: row for row in self.rows("node")}

    def sessions(self):
        return [row["session"] for row in self.rows("node")]

    def iterations(self):
        return max([job.get("iterations") or 0 for job in self.rows("job")], default=0)

    def end(self):
        for host in list(self.running):
            self.stop(host)
        self.network.remove()
        if os.environ.get("LIGHTLOOM_STRANGER_KEEP"):
            print(f"note: kept {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


# --- what is promised --------------------------------------------------------------------------------------------------------

def judge_bundles(ledger, site):
    made = site.loom("keys", "generate", site.folder / "head" / "scenario.yaml")
    ledger.promise("keys are made for a scenario with hosts", made.returncode == 0, made.stderr.strip())
    for host in NODES:
        answer = site.loom("keys", "bundle", host, "-o", site.bundle(host))
        mode = site.bundle(host).stat().st_mode & 0o777 if site.bundle(host).exists() else None
        ledger.promise(f"{host} has its keys in one file that nobody else reads", answer.returncode == 0 and mode == 0o600,
                       answer.stderr.strip() if answer.returncode else oct(mode or 0))
    again = site.loom("keys", "bundle", "rack-a", "-o", site.bundle("rack-a"))
    ledger.promise("a bundle that is there is not replaced", again.returncode != 0 and "exists already" in again.stderr,
                   again.stderr.strip())
    wrong = site.loom("keys", "bundle", "rack-z", "-o", site.folder / "z.tar")
    ledger.promise("a host that is none is refused with those that are",
                   wrong.returncode != 0 and "rack-a, rack-b, rack-c" in wrong.stderr, wrong.stderr.strip())


def judge_clock(ledger, site):
    """By itself the controller wants TAI here; where the kernel is not synchronised it says so, and is told otherwise."""
    process = site.start("head")
    wait_until(lambda: process.poll() is not None or "listening on" in site.log("head"), 15)
    if process.poll() is None:
        ledger.promise("a scenario on several hosts is timed by TAI", "instants are of TAI" in site.log("head"))
        return
    words = site.log("head")
    named = all(part in words for part in ("adjtimex says", "TAI offset", "error up to", "chronyc tracking"))
    ledger.promise("a host whose clock is not synchronised does not start, and says state, offset, error and what to type", named,
                   words.strip().splitlines()[-1][-300:] if words else "")
    site.running.pop("head")
    site.clock = "monotonic"  # one kernel is below all these namespaces
    process = site.start("head")
    wait_until(lambda: process.poll() is not None or "listening on" in site.log("head"), 15)
    ledger.promise("told that one kernel is below all, it starts", process.poll() is None, site.log("head")[-300:])


def judge_mismatches(ledger, site):
    site.write_files("rack-b", channels=7)
    site.start("rack-b")
    told = wait_until(lambda: (site.nodes().get(1) or {}).get("turned_away"), DEAD_S, 0.1) or ""
    ledger.promise("an agent with another fabric is turned away, and node list says both digests and where they differ",
                   "has digest" in told and "here and" in told and "differ" in told, told)
    ledger.promise("its log says it too", wait_until(lambda: "has digest" in site.log("rack-b"), 5))
    site.stop("rack-b")
    site.write_files("rack-b")
    if site.clock == "monotonic":
        site.start("rack-c", monotonic_s=100000)
        told = wait_until(lambda: (site.nodes().get(3) or {}).get("turned_away"), DEAD_S, 0.1) or ""
        ledger.promise("an agent whose monotonic clock is another one is turned away with both clocks named",
                       told.count("the monotonic clock of kernel") == 2, told)
        ledger.promise("and its log asks for TAI", wait_until(lambda: "--clock tai" in site.log("rack-c"), 5),
                       site.log("rack-c")[-300:])
        site.stop("rack-c")


def judge_light(ledger, site):
    for host in NODES:
        site.start(host)
    joined = wait_until(lambda: site.sessions() == ["live"] * 4, DEAD_S, 0.1)
    ledger.promise("agents of three hosts join with what their bundles hold", joined,
                   "" if joined else f"{site.sessions()}; {[site.log(host)[-200:] for host in NODES]}")
    foreign = [str(path) for host in NODES for path in (site.state(host) / "keys").iterdir()
               if path.suffix != ".pub" and path.name not in ("keyring", f"agents-{list(NODES).index(host)}")]
    ledger.promise("no host has another one's secret", not foreign, foreign)
    told = all((site.state("head") / f"agents-{process}.address").exists() for process in range(3))
    ledger.promise("the controller's host knows where the agents listen", told)
    begun = time.monotonic()
    submitted = site.loom("job", "submit", "dlrm", "--nodes", "4", "--grants", "--wait", timeout=LIT_S)
    ledger.promise("a job over three hosts comes into light", submitted.returncode == 0,
                   f"{time.monotonic() - begun:.1f} s" if submitted.returncode == 0 else submitted.stderr.strip()[-400:])
    carried = wait_until(lambda: site.iterations() >= 2, LIT_S, 0.2)
    ledger.promise("its nodes grant each other's light across hosts, iteration after iteration", carried,
                   f"{site.iterations()} iterations")


def judge_rotation(ledger, site):
    """rack-a gets a new pair while its light is on; who finds it finds it where it was."""
    where = site.state("head") / "agents-0.address"
    before = where.read_text()
    rotated = site.loom("keys", "rotate", "agents-0", timeout=60)  # it waits for a host that has no bundle yet, and says so
    ledger.promise("a host's keys are turned at the controller, and its light stays",
                   "the others' process has not taken it over" in rotated.stderr and "Their light stays" in rotated.stderr,
                   rotated.stderr.strip()[-300:])
    for host in NODES:
        site.bundle(host).unlink()
        site.loom("keys", "bundle", host, "-o", site.bundle(host))
        site.running[host].send_signal(signal.SIGHUP)
    taken = wait_until(lambda: "key files of host rack-a are in" in site.log("rack-a").split("instants are of", 1)[-1], 10)
    ledger.promise("a SIGHUP has a host take the bundle that was put there", taken, site.log("rack-a")[-300:])
    live = wait_until(lambda: site.sessions() == ["live"] * 4, DEAD_S, 0.1)
    ledger.promise("it is live with its new pair", live, site.sessions())
    ledger.promise("and listens where it did", where.read_text() == before, f"{before.strip()} then {where.read_text().strip()}")
    iterations = site.iterations()
    on = wait_until(lambda: site.iterations() > iterations, LIT_S, 0.2)
    ledger.promise("the job goes on over links that it keeps", on, f"{iterations} iterations, {site.iterations()} now")


def judge_cut(ledger, site):
    site.network.cut("rack-c", True)
    begun = time.monotonic()
    dead = wait_until(lambda: (site.nodes().get(3) or {}).get("session") == "dead", DEAD_S, 0.05)
    ledger.promise("a host whose link is cut is seen dead", dead, f"{time.monotonic() - begun:.2f} s")
    others = site.sessions()[:3]
    ledger.promise("the others are not", others == ["live"] * 3, others)
    before = site.iterations()
    site.network.cut("rack-c", False)
    begun = time.monotonic()
    back = wait_until(lambda: (site.nodes().get(3) or {}).get("session") == "live", DEAD_S, 0.05)
    ledger.promise("and alive again when the link is back", back, f"{time.monotonic() - begun:.2f} s")
    on = wait_until(lambda: site.iterations() > before, LIT_S, 0.2)
    ledger.promise("the job goes on", on, f"{before} iterations at the cut, {site.iterations()} now")


def judge(ledger, programs):
    network = Network()
    if not network.may_be_made():
        print("skip: network namespaces may not be made here (ip netns add)")
        sys.exit(peer.SKIP)
    if IS_IPV6 and not network.has_ipv6():
        network.remove()
        print("skip: this kernel has no IPv6 (ip addr add fd77::ff/64)")
        sys.exit(peer.SKIP)
    site = Site(programs, network)
    try:
        network.make()
        judge_bundles(ledger, site)
        judge_clock(ledger, site)
        if not IS_IPV6:
            judge_mismatches(ledger, site)
        judge_light(ledger, site)
        if IS_IPV6:
            judge_rotation(ledger, site)
        judge_cut(ledger, site)
    finally:
        site.end()


if __name__ == "__main__":
    if shutil.which("ip") is None:
        print("skip: ip is not installed (apt install iproute2)")
        sys.exit(peer.SKIP)
    laboratory.LIMIT_S = 170
    laboratory.main(judge)
