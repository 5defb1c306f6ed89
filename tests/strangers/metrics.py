#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""metrics.py FOLDER: read as Prometheus reads them. Both daemons of a lab serve text that a strict reader and promtool accept, on
loopback only, and say what `loom status` says. What they say of jobs, devices and journals is held against the light that was
ordered, the devices that there are, and the files on disk.
"""
import http.client
import re
import shutil
import sqlite3
import subprocess
import time

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
            if kinds.get(family) == "histogram" and not family.endswith("_seconds"):
                faults.append(f"a histogram of no seconds: {line}")
            if (name, labels) in samples:
                faults.append(f"twice: {line}")
            samples[(name, labels)] = float(match[3])
    return samples, kinds, faults + unlike_histograms(samples, kinds)


def unlike_histograms(samples, kinds):
    """Buckets of a histogram rise with their bound, and the last one, which has none, is the count."""
    buckets, faults = {}, []
    for (name, labels), value in samples.items():
        if name.endswith("_bucket") and kinds.get(name[:-7]) == "histogram":
            rest = tuple(label for label in labels if label[0] != "le")
            buckets.setdefault((name[:-7], rest), []).append((float(dict(labels)["le"]), value))
    for (name, labels), pairs in buckets.items():
        counts = [count for _, count in sorted(pairs)]
        whole = samples.get((f"{name}_count", labels))
        if counts != sorted(counts) or sorted(pairs)[-1] != (float("inf"), whole) or (f"{name}_sum", labels) not in samples:
            faults.append(f"no histogram: {name}{dict(labels)}: {counts}, count {whole}")
    return faults


def sample(port, name, **labels):
    """None: there is none."""
    return read(get(port)[2])[0].get((name, tuple(sorted(labels.items()))))


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
        late = subprocess.run([*command, "--metrics", f"127.0.0.1:{ports[name]}"], capture_output=True, text=True, timeout=20)
        ledger.promise(f"{name} says that a port is taken, and how to get one",
                       late.returncode == 1 and "another program listens on that port" in late.stderr
                       and "--metrics 127.0.0.1:0" in late.stderr, late.stderr.strip()[-200:])
        said = lab.state / ("controller.metrics" if name == "lightloomd" else "agents-0.metrics")
        ledger.promise(f"{name} writes into the state folder where its metrics are",
                       laboratory.wait_until(lambda: said.exists() and f":{ports[name]}/metrics" in said.read_text(), 15))
    return ports


DARK = "lightloom_dark_time_seconds_total"


def grows(port, job, seconds=3):
    """Does the job's darkness grow, and by no more than the time that passes? Two scrapes apart tell."""
    begin = time.monotonic()
    first = sample(port, DARK, job=job)
    laboratory.wait_until(lambda: sample(port, DARK, job=job) != first, seconds, 0.1)
    second = sample(port, DARK, job=job)
    passed = time.monotonic() - begin
    return first is not None and second is not None and first < second <= first + passed + 1


def stands(port, job, seconds=1.0):
    """It was read twice, with time between, in which a controller takes many steps."""
    first = sample(port, DARK, job=job)
    begin = time.monotonic()
    laboratory.wait_until(lambda: time.monotonic() - begin > seconds, seconds + 1, 0.1)
    return first is not None and sample(port, DARK, job=job) == first


def judge_darkness(lab, ledger, port):
    """Job 1 is lit; the lasers go off, another job comes and waits for them, and they come back."""
    first = sample(port, DARK, job="1")
    ledger.promise("a job was dark from its submission until it was lit, and no longer",
                   first is not None and 0 < first < 20 and stands(port, "1"), f"{first} s")
    lab.loom("lasers", "off")
    dark = laboratory.wait_until(lambda: lab.jobs().get(1, {}).get("state") == "dark", 10, 0.1)
    ledger.promise("a job whose lasers are off is dark, and its darkness grows", dark and grows(port, "1"))
    lab.loom("job", "submit", "vgg19", "--nodes", 4)
    waits = laboratory.wait_until(lambda: lab.jobs().get(2, {}).get("state") in ("pending", "waiting", "dark"), 10, 0.1)
    ledger.promise("a job that waits for light is dark, and its darkness grows", waits and grows(port, "2"))
    rearmed = lab.loom("lasers", "rearm")
    lit = laboratory.wait_until(lambda: {lab.jobs().get(job, {}).get("state") for job in (1, 2)} == {"lit"}, 20, 0.1)
    ledger.promise("lit, both stand", lit and stands(port, "1") and stands(port, "2"), rearmed.stderr.strip()[-200:])
    cancelled = lab.loom("job", "cancel", 1, "--wait")
    gone = laboratory.wait_until(lambda: sample(port, DARK, job="1") is None, 5, 0.1)
    ledger.promise("a job's series ends with the job, and another's does not",
                   gone and sample(port, DARK, job="2") is not None, cancelled.stderr.strip()[-200:])


def drivers_of(lab):
    """{model: how many devices}."""
    models = {}
    for device in lab.json("device", "list").get("devices", []):
        models[device.get("model")] = models.get(device.get("model"), 0) + 1
    return models


def judge_devices(lab, ledger, port):
    models = drivers_of(lab)
    samples, _, _ = read(get(port)[2])
    told = {dict(labels)["driver"] for name, labels in samples if name == "lightloom_device_op_seconds_count"}
    ledger.promise("operations of devices are told by the models that the lab has, and no others", told == set(models),
                   f"{sorted(told)}, the lab has {models}")
    short = {}
    for model, count in models.items():
        for op, least in (("audit", count), ("fire", 1)):
            done = samples.get(("lightloom_device_op_seconds_count", (("driver", model), ("op", op))), 0)
            took = samples.get(("lightloom_device_op_seconds_sum", (("driver", model), ("op", op))), 0)
            if done < least or not 0 < took < 5 * done:
                short[(model, op)] = (done, took)
    ledger.promise("each was read, each model was moved, and in a time that devices take", not short, short or "")
    wrong = {labels: value for (name, labels), value in samples.items() if name == "lightloom_device_errors_total" and value}
    ledger.promise("nothing went wrong between drivers and healthy devices", not wrong, wrong or "")


def journal_on_disk(path):
    """(rows, bytes) as SQLite and the file system have them."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as journal:
        rows = journal.execute("SELECT count(*) FROM journal").fetchone()[0]
    return rows, sum(part.stat().st_size for part in (path, path.with_name(path.name + "-wal")) if part.exists())


def judge_journal(ledger, name, port, path):
    def pair():
        return (sample(port, "lightloom_journal_rows"), sample(port, "lightloom_journal_bytes")), journal_on_disk(path)
    same = laboratory.wait_until(lambda: len(set(pair())) == 1, 10, 0.1)
    ledger.promise(f"{name} says how much its journal holds, and its size on disk", same, f"{pair()}")


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
        judge_devices(lab, ledger, ports["lightloom-agent"])
        judge_journal(ledger, "lightloomd", ports["lightloomd"], lab.state / "controller.db")
        judge_journal(ledger, "lightloom-agent", ports["lightloom-agent"], lab.state / "agents-0.db")
        # Read one after the other, so until both were read of one state.
        ledger.promise("lightloomd's metrics and loom status say the same",
                       laboratory.wait_until(lambda: not unlike(lab, ports["lightloomd"]), 10, 0.1),
                       f"{unlike(lab, ports['lightloomd']) or ''}")
        samples, _, _ = read(get(ports["lightloomd"])[2])
        committed = samples.get(("lightloom_commit_total", (("outcome", "committed"),)), 0)
        timed = samples.get(("lightloom_commit_duration_seconds_count", (("stage", "total"),)), 0)
        ledger.promise("every committed revision is counted and timed", committed == timed >= 1, f"{committed:.0f}")
        planned = samples.get(("lightloom_schedule_compute_seconds_count", (("algorithm", "oddl"),)), 0)
        ledger.promise("every plan is timed", planned >= committed, f"{planned:.0f}")
        gap = samples.get(("lightloom_schedule_gap_ratio", (("algorithm", "oddl"),)))
        ledger.promise("a schedule is no better than its bound", gap is not None and gap >= 0, f"{gap}")
        samples, _, _ = read(get(ports["lightloom-agent"])[2])
        ledger.promise("the agents' process counts the nodes that joined",
                       samples.get(("lightloom_agent_nodes", (("session", "joined"),))) == lab.nodes)
        judge_darkness(lab, ledger, ports["lightloomd"])


if __name__ == "__main__":
    laboratory.main(judge)
