#!/usr/bin/python3
"""metrics.py FOLDER: read as Prometheus reads them. Both daemons of a lab serve text that a strict reader and promtool accept, on
loopback only, and say what `loom status` says.
"""
import http.client
import re
import shutil
import subprocess

import lab as laboratory

SAMPLE = re.compile(r'^([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def get(port, path="/metrics", method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path)
    answer = connection.getresponse()
    return answer.status, answer.getheader("Content-Type"), answer.read().decode()


def read(text):
    """{(name, labels): value}, {name: kind}, faults. Stricter than Prometheus: HELP and TYPE before each family, all under one prefix."""
    samples, kinds, helped, faults = {}, {}, set(), []
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped.add(line.split()[2])
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            if name in kinds or name not in helped:
                faults.append(f"TYPE twice or without HELP: {line}")
            kinds[name] = kind
        elif line:
            match = SAMPLE.match(line)
            if not match:
                faults.append(f"no sample: {line}")
                continue
            name, labels = match[1], tuple(sorted(LABEL.findall(match[2] or "")))
            family = re.sub(r"_(bucket|sum|count)$", "", name) if name not in kinds else name
            if family not in kinds or not name.startswith("lightloom_"):
                faults.append(f"of no family of ours: {line}")
            elif (kinds[family] == "counter") != name.endswith("_total"):
                faults.append(f"a counter is what ends in _total: {line}")
            if (name, labels) in samples:
                faults.append(f"twice: {line}")
            samples[(name, labels)] = float(match[3])
    return samples, kinds, faults


def port_of(log):
    said = re.search(r"metrics at http://127\.0\.0\.1:(\d+)/metrics", log.read_text(errors="replace") if log.exists() else "")
    return int(said[1]) if said else 0


def start_both(lab, ledger):
    """{program: port of its metrics}; both by hand, as a service manager would."""
    lab.generate_keys()
    ports = {}
    for name, options in (("lightloomd", []), ("lightloom-agent", ["--process", "0"])):
        command = [str(lab.programs / name), "--scenario", str(lab.scenario), "--state", str(lab.state), *options]
        refused = subprocess.run([*command, "--metrics", "0.0.0.0:0"], capture_output=True, text=True, timeout=20)
        ledger.promise(f"{name} refuses an address that others could read, with a sentence",
                       refused.returncode == 1 and "loopback" in refused.stderr, refused.stderr.strip()[-200:])
        log = lab.folder / f"started-{len(lab.started)}.log"
        lab.start([*command, "--metrics", "127.0.0.1:0"])
        ports[name] = laboratory.wait_until(lambda: port_of(log), 15)
        if name == "lightloomd":
            laboratory.wait_until((lab.state / "controller.address").exists, 15)
    return ports


def unlike(lab, port):
    """{what: (metrics say, status says)} where they differ."""
    samples, _, _ = read(get(port)[2])
    status = lab.json("status")
    pairs = {f"agents {state}": (samples.get(("lightloom_agents", (("state", state),))), status["agents"][state])
             for state in ("live", "suspect", "dead")}
    pairs |= {f"drift {kind}": (samples.get(("lightloom_drift_devices", (("class", kind),))), status["drift"][kind])
              for kind in ("missing", "foreign", "detuned", "dim", "stale")}
    pairs |= {f"refused {kind}": (samples.get(("lightloom_refusals_total", (("kind", kind),))), count)
              for kind, count in status["refusals"].items()}
    pairs |= {what: (samples.get((name, ())), status[what])
              for what, name in (("jobs", "lightloom_jobs"), ("term", "lightloom_controller_term"),
                                 ("revision", "lightloom_confirmed_revision"))}
    return {what: pair for what, pair in pairs.items() if pair[0] != pair[1]}


def judge_text(ledger, name, port):
    status, kind, text = get(port)
    samples, kinds, faults = read(text)
    ledger.promise(f"{name} serves text that a strict reader accepts",
                   status == 200 and kind.startswith("text/plain; version=0.0.4") and len(kinds) > 10 and not faults,
                   "; ".join(faults[:5]) or f"{len(kinds)} families, {len(samples)} samples")
    ledger.promise(f"{name} has nothing else to give", get(port, "/")[0] == 404 and get(port, method="POST")[0] == 405)
    promtool = shutil.which("promtool")
    if not promtool:
        ledger.note("promtool is not here (apt install prometheus): it did not judge")
        return
    lint = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=30)
    ledger.promise(f"promtool accepts {name}'s metrics", lint.returncode == 0 and not lint.stderr.strip(), lint.stderr.strip())


def judge(ledger, programs):
    with laboratory.Lab(programs, "metrics", processes=1) as lab:
        ports = start_both(lab, ledger)
        if not ledger.promise("both say where their metrics are", all(ports.values()), f"{ports}"):
            return
        lab.nodes = 8
        joined = laboratory.wait_until(lambda: lab.json("status").get("agents", {}).get("live") == lab.nodes, 20, 0.1)
        ledger.promise("the agents join", joined)
        lit = lab.submit("vgg19", 4)
        ledger.promise("a job is lit", lit.returncode == 0, lit.stderr.strip()[-200:])
        for name, port in ports.items():
            judge_text(ledger, name, port)
        # Read one after the other, so until both were read of one state.
        ledger.promise("lightloomd's metrics and loom status say the same",
                       laboratory.wait_until(lambda: not unlike(lab, ports["lightloomd"]), 10, 0.1),
                       f"{unlike(lab, ports['lightloomd']) or ''}")
        samples, _, _ = read(get(ports["lightloomd"])[2])
        committed = samples.get(("lightloom_commit_total", (("outcome", "committed"),)), 0)
        timed = samples.get(("lightloom_commit_duration_seconds_count", (("stage", "total"),)), 0)
        ledger.promise("every committed revision is counted and timed", committed == timed >= 1, f"{committed:.0f}")
        samples, _, _ = read(get(ports["lightloom-agent"])[2])
        ledger.promise("the agents' process counts the nodes that joined",
                       samples.get(("lightloom_agent_nodes", (("session", "joined"),))) == lab.nodes)


if __name__ == "__main__":
    laboratory.main(judge)
