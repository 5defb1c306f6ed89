#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""flood.py FOLDER [ATTACK...]: a viewer's key and a stolen agent key send as much as they can; agents, jobs and operators must not notice.

Attackers are processes of their own (flood.py --attack NAME ...), so that they do not share the operator's interpreter. Meanwhile an
operator asks status every 20 ms, nodes and jobs every 200 ms, open loop: a late answer does not delay the next question.
"""
import json
import os
import random
import subprocess
import sys
import time

import lab as laboratory
import peer
from lab import percentile, wait_until
from peer import query, report, wire

STATUS_EVERY_S = 0.020
OTHERS_EVERY = 10             # statuses between questions about nodes and jobs
ATTACK_S = 2.5
SETTLE_S = 1.5                # counters are told in sums, about one a second
MEMORY_GROWTH_MIB = 256       # 64 MiB frames, four in flight: what more than that holds is not bounded
OPERATOR_LIMIT_S = 1.0
NODES = int(os.environ.get("LIGHTLOOM_STRANGER_NODES", "64"))  # in two agent processes
FABRIC = (f"schema_version: 1\nkind: fabric\nname: oddl-{NODES}\ntemplate: oddl\n"
          f"parameters: {{nodes: {NODES}, group_size: {16 if NODES <= 128 else 32}, channels: {24 if NODES <= 128 else 48}}}\n")
FIRST, SECOND = range(0, NODES // 2), range(NODES // 2, NODES)
SEED = 20260214
KINDS = {"malformed", "unauthorised", "conflict", "foreign", "implausible", "over_quota",
         "role"}  # RefusalCounts of report.proto


# --- attackers --------------------------------------------------------------------------------------------------------------

class Attack:
    """Counts what it sends and what it is answered; all loops end at the deadline."""

    def __init__(self, words):
        self.address, self.server = words.pop(0), words.pop(0)
        self.pair, self.devices = (words.pop(0), words.pop(0)), json.loads(words.pop(0))
        self.deadline = time.monotonic() + ATTACK_S
        self.sent = self.frames = self.malformed = 0
        self.answers = {}
        self.random = random.Random(SEED)

    def connect(self, **options):
        return peer.Peer(self.address, self.pair, self.server, role=report.ROLE_VIEWER, **options)

    def time_left(self):
        return time.monotonic() < self.deadline

    def collect(self, peers, quiet_s=1.0):
        """Reads answers until all are there, nothing comes for quiet_s, or the deadline and quiet_s are over."""
        until, last = self.deadline + quiet_s, time.monotonic()
        while time.monotonic() < until and time.monotonic() < last + quiet_s and sum(self.answers.values()) < self.sent:
            for one in peers:
                if one.receive(0.0 if len(peers) > 1 else 0.05):
                    last = time.monotonic()
                self.count(one)
            if len(peers) > 1:
                time.sleep(0.002)

    def count(self, one):
        for reply in one.replies.values():
            name = peer.error_name(reply.outcome.error) if reply.outcome.HasField("error") else "ok"
            self.answers[name] = self.answers.get(name, 0) + 1
        one.replies.clear()
        one.others.clear()

    def queries(self, one, count, noun=wire.NOUN_STATUS, frames_of=1, **options):
        first = one.next_request + 1
        for at in range(0, count, frames_of):
            if not self.time_left():
                return
            part = [peer.request(first + at + k, role=report.ROLE_VIEWER, query=query(noun, **options))
                    for k in range(frames_of)]
            one.send(*part)
            one.next_request += frames_of
            self.sent += frames_of
            self.frames += 1

    # each attack by its name

    def one_frame(self):
        with self.connect() as one:
            self.queries(one, 4000, frames_of=4000)
            self.collect([one])

    def one_frame_of_devices(self):
        with self.connect() as one:
            self.queries(one, 4000, noun=wire.NOUN_DEVICES, frames_of=4000)
            self.collect([one])

    def one_connection(self):
        with self.connect() as one:
            self.queries(one, 20000)
            self.collect([one])

    def fifty_connections(self):
        peers = [self.connect() for _ in range(50)]
        for _ in range(20):
            for one in peers:
                self.queries(one, 20)
                one.receive()
                self.count(one)
        self.collect(peers)
        for one in peers:
            one.close()

    def never_read(self):
        one = self.connect(receive_limit=1)
        while self.time_left():
            self.queries(one, 200, noun=wire.NOUN_DEVICES)
            time.sleep(0.01)
        one.close()

    def expensive(self):
        with self.connect() as one:
            nouns = [wire.NOUN_CIRCUITS, wire.NOUN_DEVICES, wire.NOUN_EXPLANATION, wire.NOUN_AUDIT, wire.NOUN_HISTORY,
                     wire.NOUN_NODES,
                     wire.NOUN_JOBS, wire.NOUN_ALARMS]
            while self.time_left() and self.sent < 10000:
                for noun in nouns:
                    row = self.random.randint(1, 64) if noun == wire.NOUN_EXPLANATION else None
                    self.queries(one, 10, noun=noun, row=row)
                one.next_request += 1
                one.send(peer.request(one.next_request, role=report.ROLE_VIEWER, diff_schedule=wire.DiffSchedule()))
                self.sent += 1
                one.receive()
                self.count(one)
            self.collect([one])

    def huge_frames(self):
        with self.connect(watch=True) as one:
            one.handshake()
            for fill in (b"\0", b"\xff", b"\x0a"):
                one.send_parts(fill * (64 << 20))
                self.frames += 1
            wait_until(lambda: not self.time_left(), ATTACK_S)

    def tiny_envelopes(self):
        with self.connect(watch=True) as one:
            one.handshake()
            for envelope in (b"", b"\x08\x01", b"\x08\x01\x10\x01") * 4:
                one.send(*[envelope] * 65536)
                self.frames += 1
            self.drain(one)

    def drain(self, one):
        """Lets what was sent leave, reads what comes."""
        while self.time_left():
            one.receive(0.1)
            self.count(one)

    def garbage(self):
        with self.connect(watch=True) as one:
            one.handshake()
            for _ in range(5000):
                if not self.time_left():
                    break
                one.send_parts(b"\xff" + self.random.randbytes(self.random.randint(1,
                        2000)))  # its first length is beyond its end
                self.frames += 1
            self.drain(one)

    def multi_part(self):
        with self.connect(watch=True) as one:
            one.handshake()
            for _ in range(500):
                if not self.time_left():
                    break
                one.next_request += 1
                frame = peer.batch([peer.request(one.next_request, role=report.ROLE_VIEWER, query=query(wire.NOUN_STATUS))])
                one.send_parts(frame, frame, frame)
                self.frames += 1
            one.send_parts(*[b"x"] * 1000)
            self.frames += 1
            self.drain(one)

    # with an agent's key

    def hellos_of(self, nodes, boot):
        return [peer.agent_envelope(node, hello=wire.Hello(software=b"stranger", boot_id=boot, devices=[
            wire.DeviceState(device_id=device, health=values_ready()) for device in self.devices.get(str(node), [])]))
            for node in nodes]

    def heartbeats(self):
        with self.connect(watch=True) as one:
            one.handshake()
            one.send(*self.hellos_of(SECOND, 1))
            frame = [peer.agent_envelope(node, heartbeat=wire.Heartbeat()) for node in SECOND] * max(1, 256 // len(SECOND))
            while self.time_left() and self.sent < 200000:
                one.send(*frame)
                self.sent += len(frame)
                one.receive()
                one.others.clear()

    def observations(self):
        with self.connect(watch=True) as one:
            one.handshake()
            one.send(*self.hellos_of(SECOND, 2))
            frame = []
            for node in SECOND:
                rows = [peer.values.Observation(device_id=device, health=values_ready(), proof=peer.values.PROOF_ASSUMED, read_at_ns=time.monotonic_ns(),
                                                fault=b"f" * 200,
                                                heater=peer.values.FilterObservation(ring_millivolts=range(0, 4096)))
                        for device in self.devices.get(str(node), [])]
                frame.append(peer.agent_envelope(node, observation_report=wire.ObservationReport(observations=rows * 32)))
            while self.time_left() and self.sent < 3000:
                for envelope in frame:
                    one.send(envelope)
                self.sent += len(frame)
                one.receive(0.005)
                one.others.clear()

    def hello_storm(self):
        with self.connect(watch=True) as one:
            one.handshake()
            while self.time_left() and self.sent < 100000:
                one.send(*self.hellos_of(SECOND, self.random.getrandbits(60) + 1))
                self.sent += len(SECOND)
                one.receive()
                one.others.clear()


def values_ready():
    return peer.values.DEVICE_HEALTH_READY


VIEWER_ATTACKS = {
    "one_frame": "one frame of 4,000 status queries",
    "one_frame_of_devices": "one frame of 4,000 queries for all devices",
    "one_connection": "20,000 queries over one connection",
    "fifty_connections": "20,000 queries over 50 connections",
    "never_read": "queries whose answers are never read",
    "expensive": "the most expensive queries",
    "huge_frames": "frames of 64 MiB",
    "tiny_envelopes": "frames of 65,536 tiny envelopes",
    "garbage": "frames of garbage",
    "multi_part": "messages of several parts",
}
AGENT_ATTACKS = {
    "heartbeats": "heartbeats by the thousand",
    "observations": "observation reports of the largest size",
    "hello_storm": "hellos by the thousand",
}


# --- the operator meanwhile -------------------------------------------------------------------------------------------------

class Watch:
    """What one operator saw between begin and end."""

    def __init__(self, operator, nodes, jobs):
        self.operator, self.nodes, self.jobs = operator, nodes, jobs
        self.latencies, self.sent, self.refused = [], {}, 0
        self.silence_ms, self.unlit, self.asked_jobs = 0.0, set(), 0
        self.seen_nodes, self.not_live, self.least_live = set(), set(), NODES

    def run(self, done, least_s):
        begin = due = time.monotonic()
        tick = 0
        while time.monotonic() < begin + least_s or not done():
            if time.monotonic() > begin + 12:
                break
            self.post(wire.NOUN_STATUS)
            if tick % OTHERS_EVERY == 0:
                self.post(wire.NOUN_NODES)
                self.post(wire.NOUN_JOBS)
            tick, due = tick + 1, due + STATUS_EVERY_S
            while (left := due - time.monotonic()) > 0:
                self.operator.receive(left)
                self.take()
        until = time.monotonic() + 3
        while self.sent and time.monotonic() < until:
            self.operator.receive(0.05)
            self.take()
        return self

    def post(self, noun, offset=0):
        self.sent[self.operator.post(query=query(noun, offset=offset))] = time.monotonic()

    def take(self):
        now = time.monotonic()
        for number, reply in self.operator.replies.items():
            at = self.sent.pop(number, None)
            if at is None:
                continue
            if reply.outcome.HasField("error"):
                self.refused += 1
                continue
            rows = reply.WhichOneof("rows")
            if rows == "status":
                self.latencies.append((now - at) * 1e3)
                self.least_live = min(self.least_live, reply.status.live_count)
            elif rows == "nodes":
                self.see_nodes(reply.nodes.rows, reply.total_row_count)
            elif rows == "jobs":
                self.asked_jobs += 1
                states = {job.job_id: job.state for job in reply.jobs.rows}
                self.unlit |= {(job, states.get(job, b"gone").decode()) for job in self.jobs if states.get(job) != b"lit"}
        self.operator.replies.clear()

    def see_nodes(self, rows, total):
        mine = [row for row in rows if row.node_id in self.nodes]
        self.seen_nodes |= {row.node_id for row in mine}
        self.not_live |= {(row.node_id, row.session.decode()) for row in mine if row.session != b"live"}
        self.silence_ms = max([self.silence_ms, *(row.silence_ns / 1e6 for row in mine)])
        if rows and rows[-1].node_id + 1 < total:  # a reply is a page
            self.post(wire.NOUN_NODES, rows[-1].node_id + 1)

    def all_live(self):
        """Every node that this watch is about, as often as anybody looked."""
        return self.seen_nodes == set(self.nodes) and not self.not_live and (len(self.nodes) < NODES
                or self.least_live == NODES)

    def figures(self):
        each = self.latencies
        return (f"status p50 {percentile(each, .5):.1f} p99 {percentile(each, .99):.1f} max {max(each, default=float('nan')):.1f} ms of "
                f"{len(each)}, longest silence of a node {self.silence_ms:.0f} ms")


def attack_words(lab, key, devices):
    return [lab.address(), lab.key("controller.pub")[0], *lab.key(key), json.dumps(devices)]


def counted(before, after):
    return {kind: after.get(kind, 0) - before.get(kind, 0) for kind in after if after.get(kind, 0) != before.get(kind, 0)}


def judge_attack(ledger, lab, watch_arguments, name, text, key, devices):
    """One attack beside a watching operator."""
    daemon, before = lab.pid("lightloomd"), lab.refusals()
    laboratory.forget_high_water(daemon)
    resident = laboratory.memory_mib(daemon)[0]
    # Niced: an attacker elsewhere would take no processor time from the agents; here there may be only two for all of them.
    command = ["nice", "-n", "10", sys.executable, __file__, "--attack", name, *attack_words(lab, key, devices)]
    attacker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        watch = Watch(*watch_arguments).run(lambda: attacker.poll() is not None, 1.0)
        said, errors = attacker.communicate(timeout=2)
    finally:
        attacker.kill()
    sent = json.loads(said.splitlines()[-1]) if said else {"error": errors.strip().splitlines()[-1:]}
    if lab.pid("lightloomd") != daemon:
        raise RuntimeError(f"the controller died of {text}")
    high = laboratory.memory_mib(daemon)[1]
    after = counted(before, wait_until(lambda: settled(lab, before, sent), SETTLE_S, 0.2) or lab.refusals())
    ledger.note(f"{text}: {watch.figures()}; sent {sent}; counted {after or 'nothing'}; memory {resident:.0f} -> {high:.0f} MiB")
    ledger.promise(f"{text}: every agent stays live", watch.all_live(),
                   f"{len(watch.seen_nodes)} of {len(watch.nodes)} nodes seen, "
                   f"{len({node for node, _ in watch.not_live})} were not live ({', '.join(sorted({state for _, state in watch.not_live}))}), {watch.least_live} of {NODES} live at the least")
    ledger.promise(f"{text}: every job stays lit", not watch.unlit and watch.asked_jobs > 0, ", ".join(
        f"job {job} was {state}" for job, state in sorted(watch.unlit)) or f"seen {watch.asked_jobs} times")
    worst = max(watch.latencies, default=float("inf"))
    late = len(watch.sent)
    ledger.promise(f"{text}: an operator's status is answered within {OPERATOR_LIMIT_S:.0f} s", not late and not watch.refused
                   and
                   worst <= OPERATOR_LIMIT_S * 1e3, f"max {worst:.0f} ms, {late} unanswered, {watch.refused} refused")
    ledger.promise(f"{text}: memory stays bounded", high - resident <= MEMORY_GROWTH_MIB, f"+{high - resident:.0f} MiB")
    judge_counts(ledger, name, text, sent, after)


def settled(lab, before, sent):
    """The refusals once they account for what was not answered, else None."""
    now = lab.refusals()
    missing = sent.get("sent", 0) - sum(sent.get("answers", {}).values())
    return now if sum(counted(before, now).values()) >= max(missing, 1) else None


def judge_counts(ledger, name, text, sent, after):
    answers = sent.get("answers", {})
    if name in ("one_frame", "one_frame_of_devices", "one_connection", "fifty_connections", "expensive"):
        taken, refused = answers.get("ok", 0), sum(after.values())
        ledger.promise(f"{text}: each is answered, or refused and counted", sent.get("sent", 0) > 0
                       and taken + refused >= sent["sent"],
                       f"{sent.get('sent')} sent, {taken} answered, {sum(answers.values()) - taken} refused by an answer, {refused} counted")
    elif name == "huge_frames":  # libzmq ends such a connection at the frame's length, before anybody is told
        ledger.note(f"{text}: {sent.get('frames')} frames, {after.get('malformed', 0)} counted: their connections end in the library")
    elif name in ("garbage", "multi_part"):
        ledger.promise(f"{text}: counted as malformed", after.get("malformed", 0) >= sent.get("frames", 1),
                       f"{sent.get('frames')} frames, {after.get('malformed', 0)} counted")
    elif name in ("tiny_envelopes", "never_read", "observations"):
        ledger.promise(f"{text}: refusals are counted", sum(after.values()) > 0, f"{after}")


def chosen(attacks):
    """Those that the command line names, or all."""
    return [(name, text) for name, text in attacks.items() if name in sys.argv[2:] or len(sys.argv) < 3]


# --- the judge --------------------------------------------------------------------------------------------------------------

def judge(ledger, programs):
    with laboratory.Lab(programs, "flood", fabric=FABRIC, in_memory=True) as lab:
        lab.generate_keys()
        lab.grant("curious", "viewer")
        lab.up()
        for nodes in (FIRST, SECOND):
            answer = lab.submit("vgg19", list(nodes))
            if answer.returncode != 0:
                raise RuntimeError(f"no job to watch: {answer.stderr}")
        jobs = sorted(lab.jobs())
        wait_until(lambda: all(job["state"] == "lit" for job in lab.jobs().values()), 5)
        devices = {}
        for row in lab.json("device", "list").get("devices", []):
            devices.setdefault(str(row["node"]), []).append(row["device"])
        ledger.promise("status has a counter for every kind of refusal", set(lab.refusals()) >= KINDS, f"{lab.refusals()}")
        daemon = lab.pid("lightloomd")
        begin = laboratory.memory_mib(daemon)[0]
        with lab.connect() as operator:
            everybody = set(FIRST) | set(SECOND)
            ledger.note("without a flood: " + Watch(operator, everybody, jobs).run(lambda: True, 2.0).figures())
            for name, text in chosen(VIEWER_ATTACKS):
                judge_attack(ledger, lab, (operator, everybody, jobs), name, text, "curious", devices)
            if chosen(AGENT_ATTACKS):
                stolen_key(ledger, lab, operator, jobs[:1], devices)
        ledger.note(f"memory of lightloomd {begin:.0f} MiB before, {laboratory.memory_mib(daemon)[0]:.0f} MiB behind all floods")


def stolen_key(ledger, lab, operator, jobs, devices):
    """agents-1 is stopped and its key used for the second half of the nodes; the first half and its job must not notice."""
    lab.kill(lab.pid("lightloom-agent", 1))
    for name, text in chosen(AGENT_ATTACKS):
        judge_attack(ledger, lab, (operator, set(FIRST), jobs), name, f"a stolen agent key, {text}", "agents-1", devices)


def attack(words):
    name = words.pop(0)
    one = Attack(words)
    getattr(one, name)()
    print(json.dumps({"sent": one.sent, "frames": one.frames, "answers": one.answers}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--attack"]:
        attack(sys.argv[2:])
    else:
        laboratory.main(judge)
