#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""liar.py FOLDER [FAMILY...]: one agent process is stopped and its key used by somebody who lies: about terms, revisions, instants, devices,
other nodes, commits, and to other agents over their links.

Each family of lies has a lab of its own: nodes 0 to 3 are an honest process with a job in light on 0 and 1, nodes 4 to 7 belong to the
stolen key. After every lie the controller must be at a sane term and revision, the honest half alive and its job lit, and the lie counted.
Then the honest process of nodes 4 to 7 is started again: it must join, and a new job there must get light.
"""
import random
import subprocess
import sys
import time

import lab as laboratory
import peer
from lab import wait_until
from peer import report, values, wire

HONEST, STOLEN = range(0, 4), range(4, 8)
FIRST_JOB, SECOND_JOB = (0, 1), (2, 3)
MOST_U64 = 2**64 - 1
MOST_I64 = 2**63 - 1
YEAR_NS = 365 * 86400 * 10**9
TERMS_GRANTED = 64        # what all lies together may cost of 2^64 terms or revisions
REVISIONS_GRANTED = TERMS_GRANTED * 3_001  # each believed hello raises them by what it says and 1,001
COUNT_S = 2.0             # refusals are told in sums, about one a second
GIVEN_UP_S = 8            # until a commit that nobody answers is over
JOIN_S = 10


class Liar:
    """Speaks for nodes 4 to 7 with the key of agents-1."""

    def __init__(self, lab):
        self.lab = lab
        self.devices = {}
        for row in lab.json("device", "list").get("devices", []):
            self.devices.setdefault(row["node"], []).append(row["device"])
        self.term = lab.json("status")["term"]
        self.argv = lab.kill(lab.pid("lightloom-agent", 1))
        self.peer = lab.connect("agents-1", role=report.ROLE_AGENT, watch=True)
        self.peer.handshake()
        self.clock = 0
        self.greet()

    def hello(self, node, **fields):
        fields.setdefault("boot_id", 77)
        fields.setdefault("term_seen_number", self.term)
        devices = [wire.DeviceState(device_id=device, health=values.DEVICE_HEALTH_READY) for device in self.devices[node]]
        return wire.Hello(software=b"stranger", devices=devices, **fields)

    def say(self, node, term=None, revision=0, **body):
        self.peer.send(peer.agent_envelope(node, clock=self.clock, term=self.term if term is None else term, revision=revision,
                                           **body))

    def greet(self, nodes=STOLEN, **fields):
        for node in nodes:
            self.say(node, hello=self.hello(node, **fields))
        self.listen(0.2)

    def listen(self, seconds=0.05):
        """Keeps the nodes alive and takes what the controller says; the bodies that came."""
        heard = []
        for envelope in self.peer.hear(seconds):
            self.clock = envelope.clock_id or self.clock
            heard.append(envelope)
        return heard

    def beat(self, **fields):
        for node in STOLEN:
            self.say(node, heartbeat=wire.Heartbeat(**fields))

    def close(self):
        self.peer.close(200)


class Family:
    """One lab, its lies, and the way back to honesty."""

    def __init__(self, ledger, programs, name):
        self.ledger, self.name = ledger, name
        self.lab = laboratory.Lab(programs, f"liar-{name}")
        self.liar = None

    def __enter__(self):
        try:
            return self.begun()
        except BaseException:
            self.lab.down()
            raise

    def begun(self):
        lab = self.lab
        lab.up()
        answer = lab.submit("vgg19", list(FIRST_JOB))
        if answer.returncode != 0:
            raise RuntimeError(f"no job to watch: {answer.stderr}")
        self.job = max(lab.jobs())
        self.daemon = lab.pid("lightloomd")
        self.liar = Liar(lab)
        self.begin = lab.json("status")
        return self

    def __exit__(self, *_):
        try:
            self.liar.close()
        finally:
            self.lab.down()

    def lie(self, text, tell, kinds=(), listen_s=0.2):
        """tell() lies; kinds: refusals of which one must be counted."""
        before = self.lab.refusals()
        tell()
        self.liar.listen(listen_s)
        wrong = self.wrong()
        counted = {}

        def look():
            self.liar.beat()
            self.liar.listen(0.05)
            now = self.lab.refusals()
            counted.update({kind: now[kind] - before.get(kind, 0) for kind in now if now[kind] > before.get(kind, 0)})
            return any(kind in counted for kind in kinds)
        refused = not kinds or wait_until(look, COUNT_S)
        if not refused:
            wrong.append(f"nothing counted as {' or '.join(kinds)}, only {counted or 'nothing'}")
        self.ledger.promise(f"{self.name}: {text}", not wrong, "; ".join(wrong) or f"{counted or 'taken without harm'}")

    def wrong(self):
        """What is wrong with the honest half of the fabric."""
        lab, found = self.lab, []
        if lab.pid("lightloomd") != self.daemon:
            return ["the controller died"]
        status = lab.json("status")
        if not status:
            return ["the controller does not answer"]
        for number, most in (("term", TERMS_GRANTED), ("revision", REVISIONS_GRANTED)):
            if not 0 <= status[number] - self.begin[number] <= most:
                found.append(f"{number} went from {self.begin[number]} to {status[number]}")
        down = {row["node"]: row["session"] for row in lab.json("node", "list")["nodes"]
                if row["node"] in HONEST and row["session"] != "live"}
        if down:
            found.append(f"honest nodes are not live: {down}")
        job = lab.jobs().get(self.job, {"state": "gone", "why": ""})
        if job["state"] != "lit":
            found.append(f"the honest job is {job['state']}: {job['why']}")
        return found

    def honest_again(self):
        """The process of the stolen key starts again: it must join, and a new job on its nodes must get light."""
        lab = self.lab
        self.liar.close()
        lab.start(self.liar.argv)
        begin = time.monotonic()

        def joined():
            return all(row["session"] == "live" for row in lab.json("node", "list").get("nodes", []))
        kept = bool(wait_until(joined, JOIN_S, 0.05))
        sessions = {row["node"]: row["session"] for row in lab.json("node", "list").get("nodes", [])}
        self.ledger.promise(f"{self.name}: afterwards the honest agents join", kept,
                            f"{(time.monotonic() - begin) * 1e3:.0f} ms" if kept else f"{sessions}")
        waiting = [job for job, row in lab.jobs().items() if set(row["nodes"]) & set(STOLEN)
                   and row["state"] not in ("refused", "ended")]
        for job in waiting:
            lab.loom("job", "cancel", job)
        begin = time.monotonic()
        answer = lab.submit("vgg19", list(STOLEN), "--timeout", "10s", timeout=12)
        lit = wait_until(lambda: lab.jobs() and lab.jobs()[max(lab.jobs())]["state"] == "lit", 3, 0.05)
        why = (answer.stderr.strip().splitlines() or [""])[-1]
        self.ledger.promise(f"{self.name}: afterwards a new job on their nodes gets light", answer.returncode == 0
                            and bool(lit),
                            f"{(time.monotonic() - begin) * 1e3:.0f} ms" if lit else f"exit {answer.returncode}: {why}")
        left = self.wrong()
        self.ledger.promise(f"{self.name}: afterwards the honest job is still lit", not left, "; ".join(left))


# --- the lies ---------------------------------------------------------------------------------------------------------------

def terms(family):
    liar = family.liar
    for text, term in (("2^64-2", 2**64 - 2), ("2^63", 2**63), ("2^64-1", MOST_U64)):
        family.lie(f"a hello that has seen term {text}", lambda: liar.greet(term_seen_number=term), ("implausible",))

    def creep():
        for _ in range(1000):
            term = max(liar.term, family.lab.json("status")["term"] if _ % 100 == 0 else liar.term) + 1
            liar.say(4, hello=liar.hello(4, term_seen_number=term))
            liar.peer.receive(0.001)
            for envelope in liar.peer.others:
                liar.term = max(liar.term, envelope.term_number)
            liar.peer.others.clear()
    family.lie("a thousand hellos that have each seen one term more", creep, ("implausible", "over_quota"))
    family.lie("a heartbeat of term 2^64-1", lambda: [liar.say(node, term=MOST_U64, heartbeat=wire.Heartbeat())
                                                      for node in STOLEN])
    family.honest_again()


def revisions(family):
    liar = family.liar
    for text, number in (("2^64-1", MOST_U64), ("2^63", 2**63)):
        family.lie(f"a hello that has applied revision {text}", lambda: liar.greet(applied_revision_number=number),
                   ("implausible",))
        family.lie(f"heartbeats with revision {text} applied and confirmed", lambda: liar.beat(
            applied_revision_number=number, confirmed_revision_number=number), ("implausible",))

    def creep():
        for k in range(1000):
            # what one hello is believed leaves room for 1,000 revisions that were prepared and never went (ADR 24)
            liar.say(4, hello=liar.hello(4, applied_revision_number=family.begin["revision"] + 2_000 * (k + 1)))
            liar.peer.receive(0.001)
    family.lie("a thousand hellos that have each applied 2,000 revisions more", creep, ("implausible", "over_quota"))
    family.lie("an envelope of revision 2^64-1", lambda: liar.say(4, revision=MOST_U64, heartbeat=wire.Heartbeat()))
    family.honest_again()


def laser(device, read_at_ns, emitting=False):
    return values.Observation(device_id=device, health=values.DEVICE_HEALTH_READY, proof=values.PROOF_DEVICE, read_at_ns=read_at_ns,
                              laser=values.TransmitterObservation(frequency_mhz=191500000, power_centi_dbm=0, emitting=emitting,
                                                            locked=True))


def reports(family):
    liar, now = family.liar, time.monotonic_ns
    own, foreign = liar.devices[4], liar.devices[0]

    def observe(node, *rows):
        liar.say(node, observation_report=wire.ObservationReport(observations=rows))
    family.lie("a reading of its own device in a hundred years", lambda: observe(4, laser(own[0], now() + 100 * YEAR_NS)),
               ("implausible",))
    family.lie("a reading of its own device at 2^63-1", lambda: observe(4, laser(own[0], MOST_I64)),
               ("implausible", "malformed"))
    family.lie("a reading at a negative instant", lambda: observe(4, laser(own[0], -5)), ("implausible", "malformed"))
    family.lie("a reading of a device that does not exist", lambda: observe(4, laser(4_000_000_000, now())),
               ("foreign", "malformed", "implausible"))
    family.lie("a dark laser of another node", lambda: observe(4, laser(foreign[0], now())), ("foreign",))
    family.lie("a dark laser of another node, in its name", lambda: observe(0, laser(foreign[0], now())),
               ("unauthorised", "foreign"))
    family.lie("an alarm of another node", lambda: liar.say(4, alarm_report=wire.AlarmReport(alarm=report.Alarm(
        code=report.ALARM_CODE_DEVICE_FAILED, node_id=0, device_id=foreign[0], evidence=b"laser-0 burns",
        next_command=b"cut node-0"))), ("foreign",))
    texts = [row.get("evidence", "") for row in family.lab.json("alarm", "list").get("alarms", [])]
    family.ledger.promise("reports: no alarm stands that another node's key made up",
                          not any("laser-0 burns" in text for text in texts))
    family.lie("an alarm in another node's name", lambda: liar.say(0, alarm_report=wire.AlarmReport(alarm=report.Alarm(
        code=report.ALARM_CODE_DEVICE_FAILED, node_id=0, evidence=b"node-0 burns", next_command=b"cut node-0"))),
        ("unauthorised", "foreign"))
    family.lie("hellos for nodes of another process", lambda: [liar.say(node, hello=liar.hello(node)) for node in HONEST],
               ("unauthorised", "foreign", "conflict"))
    family.lie("latched lasers of another node", lambda: liar.say(0, heartbeat=wire.Heartbeat(lasers_latched_off=True)),
               ("unauthorised", "foreign", "conflict"))
    family.lie("a reset of another node's device", lambda: liar.say(4, device_reset=wire.DeviceReset(
        device_id=foreign[0], request_number=1, outcome=report.Outcome(), observation=laser(foreign[0], now()))),
        ("foreign", "implausible"))
    family.lie("a hello with devices of another node",
               lambda: liar.say(4, hello=wire.Hello(software=b"stranger", boot_id=78, devices=[
        wire.DeviceState(device_id=device, health=values.DEVICE_HEALTH_FAILED) for device in foreign])), ("foreign",))
    family.lie("traffic of 2^63-1 bytes", lambda: liar.say(4,
                                                           traffic_report=wire.TrafficReport(report_number=MOST_U64,
                                                                   communicators=[
        wire.CommunicatorTraffic(communicator_id=1, rank_number=0, rank_count=2, period_ns=1, period=[wire.RepeatedCollective(
            kind=values.COLLECTIVE_KIND_ALL_REDUCE, size_bytes=MOST_I64, repeat_count=2**32 - 1)])])),
            ("implausible", "malformed", "foreign"))
    family.lie("an order, with an agent's key",
               lambda: liar.peer.send(peer.request(1, role=report.ROLE_ADMIN, lasers_request=wire.LasersRequest(on=False))),
               ("role", "unauthorised"))
    family.honest_again()


def commits(family):
    """Answers to a commit that it does take part in, and to others that do not exist."""
    liar, lab = family.liar, family.lab
    errorless = report.Outcome()
    bodies = [dict(prepared=wire.Prepared(outcome=errorless, lead_ns=100 * YEAR_NS)),
              dict(prepared=wire.Prepared(outcome=errorless, lead_ns=-5)),
              dict(armed=wire.Armed(outcome=errorless, slack_ns=-MOST_I64)),
              dict(armed=wire.Armed(outcome=errorless, slack_ns=MOST_I64)),
              dict(darkened=wire.Darkened(outcome=errorless, lateness_ns=MOST_I64)),
              dict(settled=wire.Settled(outcome=errorless, settle_ns=MOST_I64)),
              dict(settled=wire.Settled(outcome=errorless, settle_ns=-1)),
              dict(applied=wire.Applied(outcome=errorless,
                                        fire=report.FireReport(slack_ns=MOST_I64, lateness_ns=-MOST_I64, settle_ns=MOST_I64,
                                                                                 dark_ns=MOST_I64, write_count=2**32 - 1))),
              dict(cycle_done=wire.CycleDone(cycle_count=2**32 - 1, underflow_count=2**32 - 1))]

    def answer_all(revision, times=1):
        for _ in range(times):
            for body in bodies:
                liar.say(4, revision=revision, **body)
            liar.peer.receive(0.001)
    family.lie("answers for a revision that does not exist", lambda: answer_all(family.begin["revision"] + 1000),
               ("implausible", "foreign", "malformed"))
    family.lie("answers for revision 2^64-1", lambda: answer_all(MOST_U64), ("implausible", "malformed"))
    family.lie("answers for the confirmed revision, replayed a hundred times",
               lambda: answer_all(family.begin["revision"], 100))

    def join_in(lead_ns, seconds=2.0):
        """Takes part in a commit: what it is asked it answers at once, twice, with this lead and the most that the fields hold."""
        answers = {"prepare": dict(prepared=wire.Prepared(outcome=errorless, lead_ns=lead_ns)), "arm": bodies[3],
                   "go": bodies[4],
                   "proceed": bodies[7]}
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for envelope in liar.listen(0.05):
                body = answers.get(envelope.WhichOneof("body"))
                for _ in range(2 if body else 0):
                    liar.say(envelope.node_id, revision=envelope.revision_number, **body)
            liar.beat()

    def is_wanted():
        return any(row["nodes"] == list(STOLEN) and row["state"] in ("waiting", "pending") for row in lab.jobs().values())

    def is_moving():
        return lab.json("status")["under_way"] != 0
    for text, lead_ns in (("a hundred years", 100 * YEAR_NS), ("a year", YEAR_NS), ("an hour", 3600 * 10**9)):
        if is_wanted():  # its commit is given up 5 s after its begin, whoever lied in it: each lie has a new one
            lab.loom("job", "cancel", str(max(lab.jobs())))
        wait_until(lambda: not (liar.beat() or liar.listen(0.05)) and not is_moving(), 2 * GIVEN_UP_S)
        lab.loom("job", "submit", "vgg19", "--ranks", ",".join(map(str, STOLEN)))
        family.lie(f"a lead of {text} in a commit that it takes part in", lambda: join_in(lead_ns),
                   ("implausible", "malformed"))
    order = subprocess.Popen([lab.programs / "loom", "--state", lab.state, "--timeout", "10s", "job", "submit", "vgg19",
                              "--wait", "--ranks",
                              ",".join(map(str, SECOND_JOB))], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    begin = time.monotonic()
    while order.poll() is None and time.monotonic() < begin + 12:
        join_in(3600 * 10**9, 0.1)
    order.kill()
    why = order.communicate()[1].strip().splitlines()[-1:]
    family.ledger.promise("commits: a new job on honest nodes gets light beside the liar", order.returncode == 0,
                          f"{(time.monotonic() - begin) * 1e3:.0f} ms"
                          if order.returncode == 0 else f"exit {order.returncode}: {why}")
    family.ledger.note(f"commits: the jobs beside the liar: {[(row['nodes'], row['state'], row['why']) for row in lab.jobs().values()]}")
    family.honest_again()


def links(family):
    """To agents-0 over the link between agents, with the key of agents-1: as a controller, and about grants."""
    liar, lab = family.liar, family.lab
    agent = lab.pid("lightloom-agent", 0)
    rows = len(lab.light(0))
    with lab.connect("agents-1", to="agents-0", role=report.ROLE_AGENT, watch=True) as link:
        family.ledger.note(f"links: handshake of the stolen key at agents-0: {link.handshake()}")

        def send(term=1, node_from=4, revision=None, times=1, **body):
            envelope = peer.agent_envelope(node_from, clock=liar.clock, term=term, revision=family.begin["revision"]
                                           if revision is None else revision, **body)
            for role in (report.ROLE_AGENT, report.ROLE_CONTROLLER):
                envelope.role = role
                for _ in range(times):
                    link.send_parts(peer.link_batch((node, envelope) for node in HONEST))

        def steady():
            found = []
            if lab.pid("lightloom-agent", 0) != agent:
                found.append("agents-0 died")
            elif len(lab.light(0)) != rows:
                found.append(f"its lasers changed: {lab.light(0)[rows:][:4]}")
            return found

        def lie(text, tell):
            family.lie(text, tell)
            found = steady()
            family.ledger.promise(f"links: no laser follows {text}", not found, "; ".join(found))
        lie("SetLasers{off}", lambda: send(term=2**40, set_lasers=wire.SetLasers(on=False, request_number=MOST_U64)))
        lie("Abandon, Go, Arm and Proceed", lambda: [send(abandon=wire.Abandon()), send(go=wire.Go()),
                                                     send(arm=wire.Arm(fire_at_ns=1)),
                                                     send(proceed=wire.Proceed(phase=wire.COMMIT_PHASE_MOVE, at_ns=1))])
        lie("Prepare of an empty plan of revision 2^64-1", lambda: [send(revision=MOST_U64, prepare=wire.Prepare(
            plan=values.NodePlan(revision_number=MOST_U64, node_id=node))) for node in HONEST])
        lie("a device's reset", lambda: send(reset_device=wire.ResetDevice(device_id=liar.devices[0][0],
                request_number=MOST_U64)))
        lie("an operator's order", lambda: send(operator_request=wire.OperatorRequest(request_id=9,
                lasers_request=wire.LasersRequest(on=False))))
        lie("grant words with leads of years", lambda: grant_words(send))
        lie("words in another node's name", lambda: grant_words(lambda **body: send(node_from=0, **body)))
        chance = random.Random(7)
        lie("20,000 frames of garbage", lambda: [link.send_parts(chance.randbytes(chance.randint(0, 200)))
                                                 for _ in range(20000)])
        lie("a flood of 50,000 grant words", lambda: grant_words(send, 500))
    family.honest_again()


def grant_words(send, times=1):
    from proto import grant_pb2 as grant
    stream = grant.GrantStream(job_id=1, collective_number=0, source_id=4, destination_id=0)
    key = grant.GrantKey(epoch_number=MOST_U64, sequence_number=MOST_U64)
    for word in (dict(request=grant.StreamRequest(request_number=MOST_U64, remaining_bytes=MOST_I64, since_ns=MOST_I64)),
                 dict(grant=grant.StreamGrant(request_number=1, key=key, start_ns=100 * YEAR_NS, end_ns=101 * YEAR_NS,
                                              granted_bytes=MOST_I64)),
                 dict(accept=grant.StreamAccept(key=key, until_ns=100 * YEAR_NS)),
                 dict(release=grant.StreamRelease(key=key, dark_at_ns=MOST_I64, remaining_bytes=-1)),
                 dict(refusal=grant.StreamRefusal(key=key, reason=grant.REFUSAL_REASON_TAKEN, dark_at_ns=MOST_I64,
                                                  free_at_ns=MOST_I64)),
                 dict(queued=grant.StreamQueued(request_number=1, arbiter_epoch_number=MOST_U64, is_next=True))):
        for epoch in (1, MOST_U64):
            send(times=times, grant_plane_message=grant.GrantPlaneMessage(stream=stream, sender_epoch_number=epoch, **word))


def pulses(family):
    """One word for all nodes of a key, as docs/wire.md has it: honest ones keep them live without a heartbeat, others nobody."""
    liar, lab = family.liar, family.lab

    def sessions():
        return {row["node"]: row.get("session") for row in lab.json("node", "list")["nodes"] if row["node"] in STOLEN}

    def pulse(*nodes, speaker=4):
        liar.say(speaker, pulse=wire.Pulse(node_ids=nodes))
    liar.greet()
    until = time.monotonic() + 2
    while time.monotonic() < until:
        pulse(*STOLEN)
        liar.listen(0.05)
    found = sessions()
    family.ledger.promise("pulses: nodes live by pulses of one of them", all(state == "live" for state in found.values()),
                          str(found))
    time.sleep(1)
    found = sessions()
    family.ledger.promise("pulses: and are dead when those end", all(state == "dead" for state in found.values()), str(found))
    liar.greet()
    family.lie("a pulse for nodes of another process", lambda: pulse(*HONEST), ("foreign",))
    family.lie("a pulse through a node of another process", lambda: pulse(*HONEST, speaker=0),
               ("unauthorised", "foreign", "conflict"))
    family.lie("a pulse for a node that does not exist", lambda: pulse(4, 4_000), ("malformed",))
    family.lie("a pulse that names its node 60,000 times", lambda: pulse(*[4] * 60_000), ("malformed",))
    family.honest_again()


FAMILIES = {lies.__name__: lies for lies in (terms, revisions, reports, commits, links, pulses)}


def judge(ledger, programs):
    for lies in [FAMILIES[name] for name in sys.argv[2:] or FAMILIES]:
        with Family(ledger, programs, lies.__name__) as family:
            lies(family)


if __name__ == "__main__":
    laboratory.main(judge)
