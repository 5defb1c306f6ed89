#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""relay.py FOLDER: agents behind relays, and who lies to a relay, through one, or with its key.

Four labs of eight nodes in two agent processes. In the first both are behind one relay: a stranger with the key of agents-1 joins
through it, then lies; after every lie the honest half is alive and lit, and the lie is counted where an operator can see it (`loom
status`, the relay's metrics, or its log). In the second each process has its own relay, and a stranger has the key of relay-0: it speaks
for the nodes of that relay, and for nobody else. In the third the relay is killed, hangs and comes back, and keys are revoked, granted
and rotated, while a job is in light on both sides of the fabric: light stays. In the fourth each host has nothing but its bundle.
"""
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import lab as laboratory
import peer
from lab import wait_until
from peer import query, report, values, wire

NODES, FIRST, SECOND = range(8), range(0, 4), range(4, 8)
FIRST_JOB, SECOND_JOB = (0, 1), (4, 5)
TERMS_GRANTED = 64
REVISIONS_GRANTED = TERMS_GRANTED * 3_001
COUNT_S = 1.2             # refusals are told in sums, about one a second
DEAD_S = 1.5              # dead_after is 300 ms
BACK_S = 6                # who was refused dials again every 2 s
FLOOD_S = 1.2
PRINCIPALS = 400          # that one relay's key makes up
ALARMS_GRANTED = 8        # docs/threat_model.md: at most one a key; a few, since honest ones may come and go meanwhile
OTHERS_WORD = b"agents-0"
LENGTH_DELIMITED, START_GROUP = 2, 3


class NodesLab(laboratory.Lab):
    def sessions(self, nodes=NODES):
        return {row["node"]: row["session"] for row in self.json("node", "list").get("nodes", []) if row["node"] in nodes}

    def are(self, state, nodes=NODES):
        found = self.sessions(nodes)
        return len(found) == len(nodes) and set(found.values()) == {state}


class RelayLab(NodesLab):
    """Two agent processes, so many relays; process k behind relay k modulo their number."""

    def __init__(self, programs, name, relays):
        super().__init__(programs, f"relay-{name}")
        self.relays = relays
        with open(self.scenario, "a") as scenario:
            scenario.write("relays: [" + ", ".join(['"tcp://127.0.0.1:*"'] * relays) + "]\n")

    def __enter__(self):
        try:
            self.up("--metrics")
        except BaseException:
            self.down()
            raise
        return self

    def numbered(self, option, number):
        """The pid of `lightloom-agent OPTION NUMBER`."""
        return next((pid for pid, argv in self.processes().items() if option in argv
                     and argv[argv.index(option) + 1] == str(number)), None)

    def agents(self, number):
        return self.numbered("--process", number)

    def relay(self, number):
        return self.numbered("--relay", number)

    def job_state(self, job):
        return self.jobs().get(job, {"state": "gone"})["state"]

    def alarms(self, *codes):
        return [row for row in self.json("alarm", "list").get("alarms", []) if row.get("code") in codes]

    def audit(self):
        return self.json("audit").get("audit", [])

    def counters(self):
        """What an operator can see of refusals: by kind in status; of each relay its page of metrics and what its log has."""
        found = dict(self.refusals())
        for row in self.json("lab", "status").get("processes", []):
            if row["name"].startswith("relay-"):
                found[f"{row['name']} log"] = len((self.state / f"{row['name']}.log").read_text().splitlines())
                try:
                    page = urllib.request.urlopen(row["metrics"], timeout=2).read().decode()
                except (OSError, KeyError, ValueError):  # it does not run
                    continue
                for line in page.splitlines():
                    if "_dropped_total{" in line or "_refused_total{" in line or "_refusals_total{" in line:
                        name, number = line.rsplit(" ", 1)
                        cause = f"{row['name']} {name.split(chr(34))[1]}"  # of both sides of a relay
                        found[cause] = found.get(cause, 0) + int(float(number))
        return found

    def rows(self):
        return [len(self.light(process)) for process in (0, 1)]


def grown(before, after):
    return {name: after[name] - before.get(name, 0) for name in after if after[name] > before.get(name, 0)}


class Stranger:
    """Speaks as an agent, or as a relay, with somebody's key. principal: what its envelopes say of whose words they are."""

    def __init__(self, lab, key, to, nodes, principal=None, pair=None):
        self.lab, self.nodes, self.principal, self.clock, self.term = lab, list(nodes), principal, 0, lab.json("status")["term"]
        self.devices = {}
        for row in lab.json("device", "list").get("devices", []):
            self.devices.setdefault(row["node"], []).append(row["device"])
        self.peer = lab.connect(key, to=to, pair=pair, role=report.ROLE_AGENT, watch=True)
        self.peer.socket.sndtimeo = 20  # whose connection is cut has nowhere to send to
        self.handshake = self.peer.handshake()
        self.welcomed = set()

    def bytes_of(self, node, principal=None, **body):
        """An envelope, and behind it a principal, if this stranger says one."""
        envelope = peer.agent_envelope(node, clock=self.clock, term=self.term, **body)
        word = self.principal if principal is None else principal
        if word is None:
            return envelope.SerializeToString()
        return envelope.SerializeToString() + field(7, LENGTH_DELIMITED) + peer.varint(len(word)) + word

    def say(self, node, principal=None, **body):
        self.peer.send(self.bytes_of(node, principal, **body))

    def hello(self, node):
        devices = [wire.DeviceState(device_id=device, health=values.DEVICE_HEALTH_READY) for device in self.devices[node]]
        return wire.Hello(software=b"stranger", boot_id=77, term_seen_number=self.term, devices=devices)

    def greet(self, nodes=None):
        """Says hello twice: the first answer tells which clock the controller's instants are of."""
        for _ in range(2):
            for node in nodes or self.nodes:
                self.say(node, hello=self.hello(node))
            self.listen(0.15)

    def pulse(self, nodes=None, speaker=None, principal=None):
        nodes = nodes or self.nodes
        self.say(nodes[0] if speaker is None else speaker, principal, pulse=wire.Pulse(node_ids=nodes))

    def listen(self, seconds=0.05):
        """The bodies that came."""
        heard = []
        for envelope in self.peer.hear(seconds):
            self.clock = envelope.clock_id or self.clock
            heard.append(envelope.WhichOneof("body"))
            if heard[-1] == "welcome":
                self.welcomed.add(envelope.node_id)
        return heard

    def live(self, seconds, tell=lambda: None):
        """Its own nodes are kept alive meanwhile."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            tell()
            self.pulse()
            self.listen(0.04)

    def close(self):
        self.peer.close(200)


def field(number, kind):
    return peer.varint(number << 3 | kind)


class Judge:
    """A lab, its honest half with a job in light, and a stranger who lies."""

    def __init__(self, ledger, lab, name, honest, job, stranger):
        self.ledger, self.lab, self.name, self.honest, self.job, self.stranger = ledger, lab, name, honest, job, stranger
        self.daemon, self.begin, self.operator = lab.pid("lightloomd"), lab.json("status"), lab.connect()

    def close(self):
        self.stranger.close()
        self.operator.close()

    def promise(self, text, kept, detail=""):
        return self.ledger.promise(f"{self.name}: {text}", kept, detail)

    def wrong(self):
        """What is wrong with the honest half of the fabric."""
        if not laboratory.is_alive(self.daemon):
            return ["the controller died"]
        status, found = self.operator.status(2), []
        nodes, jobs = (self.operator.ask(2, query=query(noun)) for noun in (wire.NOUN_NODES, wire.NOUN_JOBS))
        if status is None or nodes is None or jobs is None:
            return ["the controller does not answer"]
        for number, now, most in (("term", status.term_number, TERMS_GRANTED), ("revision", status.revision_number, REVISIONS_GRANTED)):
            if not 0 <= now - self.begin[number] <= most:
                found.append(f"{number} went from {self.begin[number]} to {now}")
        rows = [row for row in nodes.nodes.rows if row.node_id in self.honest]
        if len(rows) != len(self.honest) or any(row.session != b"live" for row in rows):
            found.append(f"honest nodes are not live: { {row.node_id: row.session.decode() for row in rows} }")
        if any(row.lasers_latched_off for row in rows) or status.lasers_off:
            found.append("lasers are latched off")
        state = next((row.state.decode() for row in jobs.jobs.rows if row.job_id == self.job), "gone")
        if state != "lit":
            found.append(f"the honest job is {state}")
        return found

    def lie(self, text, tell, kinds=(), times=1):
        """tell() lies: without effect, and one of the kinds is counted, in status or at a relay."""
        before = self.lab.counters() if kinds else {}
        for _ in range(times):
            tell()
        self.stranger.live(0.06)
        wrong = self.wrong()
        self.promise(f"{text}: without effect", not wrong, "; ".join(wrong))
        if kinds:
            self.counted(text, before, kinds, 1)

    def counted(self, text, before, kinds, least):
        """So many refusals of these kinds since then, in status or of a relay; or as many lines in a relay's log that tell sums of them."""
        found = {}

        def look():
            self.stranger.live(0.05)
            found.update(grown(before, self.lab.counters()))
            return (sum(number for name, number in found.items() if name.split(" ")[-1] in kinds) >= least
                    or any(name.endswith(" log") for name in found))
        seen = wait_until(look, COUNT_S)
        self.promise(f"{text}: counted as {' or '.join(kinds)}", bool(seen), f"{found}" if seen else
                     f"at least {least} expected, in status, a relay's metrics or its log; counted: {found or 'nothing'}")


class Counted:
    """Lies that are refused by one door, counted together behind the last of them."""

    def __init__(self, judge, text, kinds, least):
        self.judge, self.arguments = judge, (kinds, least)
        self.text, self.before = text, judge.lab.counters()

    def __enter__(self):
        return self.judge

    def __exit__(self, kind, *_):
        if kind is None:
            self.judge.counted(self.text, self.before, *self.arguments)


def lit(lab, ranks):
    """The number of a new job that has light, or an error."""
    answer = lab.submit("vgg19", list(ranks), "--timeout", "10s")
    if answer.returncode != 0:
        raise RuntimeError(f"no job to watch: exit {answer.returncode}: {answer.stderr.strip()}")
    return max(lab.jobs())


def lies_alive(ledger, lab, text, nodes, tell, seconds=0.4):
    """tell(), again and again, makes none of these nodes live, whose process is stopped."""
    seen, until = set(), time.monotonic() + seconds
    while time.monotonic() < until:
        tell()
        seen |= set(lab.sessions(nodes).values())
    ledger.promise(text, "live" not in seen and "dead" in seen, f"were {', '.join(sorted(seen))}")


# --- one relay before both processes ----------------------------------------------------------------------------------------

def behind_a_relay(ledger, lab):
    name = f"{lab.relays} relay{'s' if lab.relays > 1 else ''}"
    ledger.promise(f"{name}: all nodes are live", lab.are("live"), f"{lab.sessions()}")
    rows = {row["principal"]: row for row in lab.json("keys", "list").get("keys", [])}
    expected = {f"relay-{relay}" for relay in range(lab.relays)}
    found = {name for name, row in rows.items() if row.get("role") == "relay"}
    ledger.promise(f"{name}: `keys list` knows the relays by their role", found == expected, f"{sorted(found)}")
    said = next((row["asked"] for row in lab.audit() if "keys in force" in row["asked"]), "")
    ledger.promise(f"{name}: the audit names a relay's key, with the role agent", "relay-0 (agent," in said,
                   said[max(0, said.find("relay-0")):][:45])


def one_relay(ledger, programs):
    with RelayLab(programs, "one", 1) as lab:
        behind_a_relay(ledger, lab)
        job = lit(lab, FIRST_JOB)
        ledger.promise("1 relay: a job gets light", lab.job_state(job) == "lit")
        argv = lab.kill(lab.agents(1))
        liar = Stranger(lab, "agents-1", "relay-0", SECOND)
        judge = Judge(ledger, lab, "a stolen agent key", FIRST, job, liar)
        try:
            joins(judge)
            foreign_words(judge)
            principals(judge)
            frames(judge)
            operators(judge)
            flood(judge)
            stopped_neighbour(judge)
            revoked_liar(judge)
            liar.close()
            honest_again(judge, argv)
        finally:
            judge.close()


def joins(judge):
    lab, liar = judge.lab, judge.stranger
    liar.greet()
    judge.promise("hellos through a relay are answered by Welcome", liar.welcomed == set(SECOND),
                  f"handshake {liar.handshake}, welcomed {sorted(liar.welcomed)}")
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        for node in SECOND:
            liar.say(node, heartbeat=wire.Heartbeat())
        liar.listen(0.05)
    judge.promise("its nodes are live by heartbeats", lab.are("live", SECOND), f"{lab.sessions(SECOND)}")
    liar.live(0.5)
    judge.promise("its nodes are live by pulses", lab.are("live", SECOND), f"{lab.sessions(SECOND)}")
    liar.say(4)  # no body
    def named():
        liar.live(0.05)
        return any(row["principal"] == "relay-0/agents-1" for row in lab.audit())
    judge.promise("what does not decode is on record as relay-0/agents-1", bool(wait_until(named, COUNT_S)),
                  ", ".join(sorted({row["principal"] for row in lab.audit()})))


def foreign_words(judge):
    liar = judge.stranger
    latched = wire.Heartbeat(lasers_latched_off=True)
    alarm = wire.AlarmReport(alarm=report.Alarm(code=report.ALARM_CODE_DEVICE_FAILED, node_id=0, evidence=b"node-0 burns"))
    other, own = liar.bytes_of(0, heartbeat=latched), liar.bytes_of(4, heartbeat=wire.Heartbeat())
    with Counted(judge, "what the relay refuses of nodes of agents-0", ("unauthorised", "other_node"), 10):
        judge.lie("hellos for nodes of agents-0", lambda: [liar.say(node, hello=liar.hello(node)) for node in FIRST])
        judge.lie("heartbeats for nodes of agents-0, with lasers off", lambda: [liar.say(node, heartbeat=latched) for node in FIRST])
        judge.lie("an alarm in the name of node 0", lambda: liar.say(0, alarm_report=alarm))
        judge.lie("a pulse through a node of agents-0", lambda: liar.pulse(list(FIRST), speaker=0))
        for text, data in (("its own node before another's", b"\x18\x04" + other), ("another's node behind its own", own + b"\x18\x00"),
                           ("another's node before and behind its own", other + b"\x18\x04\x18\x00"),
                           ("node 2^32", other + field(3, 0) + peer.varint(1 << 32))):
            judge.lie(f"a heartbeat with {text}", lambda data=data: liar.peer.send(data), times=3)
    judge.lie("an alarm of node 0 in its own name", lambda: liar.say(4, alarm_report=alarm), ("foreign",))
    judge.lie("a pulse for nodes of agents-0", lambda: liar.pulse(list(FIRST), speaker=4), ("foreign",))
    texts = [row.get("evidence", "") for row in judge.lab.json("alarm", "list").get("alarms", [])]
    judge.promise("no alarm stands that a neighbour's key made up", not any("node-0 burns" in text for text in texts))
    judge.promise("an alarm names relay-0/agents-1", any("(key of relay-0/agents-1" in text for text in texts))
    judge.promise("and none says that relay-0/agents-0 lied", not any("(key of relay-0/agents-0" in text for text in texts))


def swallowing(data, word, behind):
    """A principal, and then an unknown field whose bytes are still to come: whatever is put behind it is its contents."""
    return data + field(7, LENGTH_DELIMITED) + peer.varint(len(word)) + word + field(1000, LENGTH_DELIMITED) + peer.varint(behind)


def principals(judge):
    """Whatever an agent's envelope says of a principal, the relay's word counts: these are pulses for the neighbour's nodes."""
    liar = judge.stranger
    data = liar.bytes_of(4, OTHERS_WORD, pulse=wire.Pulse(node_ids=FIRST))
    again = field(7, LENGTH_DELIMITED) + peer.varint(len(OTHERS_WORD)) + OTHERS_WORD
    with Counted(judge, "pulses for others, whatever principal they name", ("foreign",), 5):
        for text, word in (("'agents-0'", OTHERS_WORD), ("'relay-0/agents-0'", b"relay-0/agents-0"), ("of garbage", b"\xff\0 \n" * 100),
                           ("of no bytes", b"")):
            judge.lie(f"a foreign pulse with a principal {text}", lambda word=word: liar.pulse(list(FIRST), 4, word))
        judge.lie("a foreign pulse with a principal twice", lambda: liar.peer.send(data + again))
    with Counted(judge, "pulses that do not decode", ("malformed", "foreign"), 4):
        judge.lie("a foreign pulse with a principal, and a group that does not end",
                  lambda: liar.peer.send(data + field(1000, START_GROUP)))
        bare = liar.bytes_of(4, pulse=wire.Pulse(node_ids=FIRST))
        for behind in (8, 10, 18):
            judge.lie(f"a foreign pulse whose last field wants {behind} bytes that the relay is to put there",
                      lambda behind=behind: liar.peer.send(swallowing(bare, OTHERS_WORD, behind)))
    texts = [row.get("evidence", "") for row in judge.lab.alarms("malformed_message")]
    judge.promise("nobody else is named for these", not any("(key of relay-0/agents-0" in text for text in texts))


def frames(judge):
    liar = judge.stranger
    one = peer.batch([liar.bytes_of(4, heartbeat=wire.Heartbeat())])
    with Counted(judge, "frames that do not divide", ("malformed",), 5):
        for text, parts in (("a frame with a length beyond its end", [b"\x05ab"]),
                            ("a frame with a length that does not end", [b"\x80" * 20]),
                            ("a frame with a length of 2^70", [b"\xff" * 10 + b"\x01"]),
                            ("a frame of random bytes", [b"\xff" + os.urandom(500)]), ("a message of two parts", [one, one])):
            judge.lie(text, lambda parts=parts: liar.peer.send_parts(*parts))


def operators(judge):
    """Who is no agent: an admin, an agent of this lab who orders, a key that nobody knows."""
    lab, liar = judge.lab, judge.stranger
    off = wire.LasersRequest(on=False)

    def order(key, pair=None, role=report.ROLE_ADMIN):
        with lab.connect(key, to="relay-0", pair=pair, role=role, watch=True) as one:
            one.socket.sndtimeo = 20  # a socket whose key was refused has nowhere to send to
            shook = one.handshake(0.7)
            for number, (node, word) in enumerate(((0, b""), (0, b"operator"), (4, b"agents-1"))):
                envelope = peer.request(number + 1, role=role, lasers_request=off)
                envelope.node_id, envelope.principal = node, word
                one.send(envelope)
                one.post(query=query(wire.NOUN_STATUS))
            one.receive(0.3)
            return shook, len(one.replies) + len(one.others)
    found = {}
    with Counted(judge, "keys that the relay does not let in", ("unauthorised", "role"), 2):
        judge.lie("an admin's key orders through the relay", lambda: found.update(admin=order("operator")))
        judge.lie("a stranger's key orders through the relay", lambda: found.update(stranger=order("", peer.new_pair())))
    judge.promise("neither gets an answer", all(count == 0 for _, count in found.values()), f"(handshake, answers): {found}")

    def order_as_agent():
        for number, word in enumerate((None, b"operator")):
            envelope = peer.request(number + 1, role=report.ROLE_ADMIN, lasers_request=off)
            envelope.node_id = 4
            if word:
                envelope.principal = word
            liar.peer.send(envelope)
    judge.lie("an order in an agent's envelope", order_as_agent, ("role", "malformed", "foreign"))
    judge.promise("it gets no answer", not liar.peer.replies, f"{liar.peer.replies}")


def flood(judge):
    """As fast as it can, through the relay; its neighbour behind the same relay and the operator must not notice."""
    lab, liar = judge.lab, judge.stranger
    before, sent, slowest, seen = lab.counters(), 0, 0.0, set()
    frame = [liar.bytes_of(4, heartbeat=wire.Heartbeat())] * 256
    with lab.connect() as operator:
        until = time.monotonic() + FLOOD_S
        while time.monotonic() < until:
            for _ in range(20):
                liar.peer.send(*frame)
                sent += len(frame)
            liar.listen(0.01)
            begin = time.monotonic()
            reply = operator.ask(2, query=query(wire.NOUN_NODES))
            slowest = max(slowest, time.monotonic() - begin)
            rows = reply.nodes.rows if reply is not None else []
            seen |= {row.session.decode() for row in rows if row.node_id in FIRST} or {"unanswered"}
    judge.promise("a flood: its neighbours stay live", seen == {"live"}, f"{sent} heartbeats; {', '.join(sorted(seen))}")
    judge.promise("a flood: an operator is answered within a second", slowest < 1, f"{slowest * 1e3:.0f} ms at the most")
    liar.live(COUNT_S)
    counted = grown(before, lab.counters())
    over = sum(number for name, number in counted.items() if name.endswith("over_quota"))
    judge.promise("a flood: what is over quota is counted", over > sent // 2, f"{sent} sent, counted {counted or 'nothing'}")
    wrong = judge.wrong()
    judge.promise("a flood: without effect", not wrong, "; ".join(wrong))
    judge.promise("behind the flood its own nodes are live again", bool(wait_until(lambda: liar.live(0.1) or lab.are("live", SECOND), 2)))


def stopped_neighbour(judge):
    """agents-0 is stopped: its nodes must be dead, whatever its neighbour behind the same relay says."""
    lab, liar, ledger = judge.lab, judge.stranger, judge.ledger
    process = lab.agents(0)
    os.kill(process, signal.SIGSTOP)
    try:
        dead = wait_until(lambda: liar.live(0.05) or lab.are("dead", FIRST), DEAD_S)
        judge.promise("nodes of a stopped neighbour are dead", bool(dead), f"{lab.sessions()}")

        def pulsing(principal=None, nodes=list(FIRST), speaker=4):
            def tell():
                liar.pulse(nodes, speaker, principal)
                liar.pulse()
                liar.listen(0.04)
            return tell

        def swallowed():
            liar.peer.send(swallowing(liar.bytes_of(4, pulse=wire.Pulse(node_ids=FIRST)), OTHERS_WORD, 10))
            liar.peer.send(swallowing(liar.bytes_of(4, heartbeat=wire.Heartbeat()) + b"\x18\x00", OTHERS_WORD, 10))
            liar.pulse()
            liar.listen(0.04)
        for text, tell in (("pulses", pulsing()), ("pulses for all eight", pulsing(nodes=list(NODES))),
                           ("pulses through its node", pulsing(speaker=0)),
                           ("pulses with principal 'agents-0'", pulsing(OTHERS_WORD)),
                           ("pulses with principal 'relay-0/agents-0'", pulsing(b"relay-0/agents-0")),
                           ("pulses that swallow the principal", swallowed)):
            lies_alive(ledger, lab, f"{judge.name}: {text} keep no node of a stopped neighbour alive", FIRST, tell)
        judge.promise("meanwhile its own are live", lab.are("live", SECOND), f"{lab.sessions(SECOND)}")
    finally:
        os.kill(process, signal.SIGCONT)
    back = wait_until(lambda: liar.live(0.05) or not judge.wrong(), 4)
    judge.promise("the neighbour goes on, and everything is as before", bool(back), "; ".join(judge.wrong()))


def revoked_liar(judge):
    """Its key is revoked while it speaks."""
    lab, liar = judge.lab, judge.stranger
    answer = lab.loom("keys", "revoke", "agents-1")
    judge.promise("its key is revoked", answer.returncode == 0, answer.stderr.strip())
    dead = wait_until(lambda: liar.live(0.05) or lab.are("dead", SECOND), DEAD_S)
    judge.promise("revoked, it keeps nothing alive on the connection that it has", bool(dead), f"{lab.sessions(SECOND)}")
    again = Stranger(lab, "agents-1", "relay-0", SECOND)
    again.close()
    judge.promise("nor gets a new one", again.handshake == "refused", f"handshake {again.handshake}")
    wrong = judge.wrong()
    judge.promise("the others do not notice", not wrong, "; ".join(wrong))
    answer = lab.loom("keys", "grant", "agents-1", "--role", "agent", "--nodes", "4-7")
    judge.promise("its key is granted again", answer.returncode == 0, answer.stderr.strip())


def honest_again(judge, argv):
    """The process of the stolen key starts again; then the stranger claims its nodes beside it."""
    lab = judge.lab
    lab.start(argv)
    begin = time.monotonic()
    back = wait_until(lambda: lab.are("live"), BACK_S, 0.05)
    judge.promise("afterwards the honest agents join through the relay", bool(back),
                  f"{(time.monotonic() - begin) * 1e3:.0f} ms; {lab.sessions()}")
    answer = lab.submit("vgg19", list(SECOND_JOB), "--timeout", "10s")
    judge.promise("afterwards a new job on their nodes gets light", answer.returncode == 0, answer.stderr.strip())
    judge.honest = NODES
    judge.stranger = Stranger(lab, "agents-1", "relay-0", SECOND)
    judge.lie("a second connection for nodes that are held", judge.stranger.greet, ("conflict",))
    judge.promise("it is not welcomed", not judge.stranger.welcomed, f"{sorted(judge.stranger.welcomed)}")


# --- the key of a relay in a stranger's hands -------------------------------------------------------------------------------

def two_relays(ledger, programs):
    with RelayLab(programs, "two", 2) as lab:
        behind_a_relay(ledger, lab)
        lost, job = lit(lab, FIRST_JOB), lit(lab, SECOND_JOB)
        ledger.promise("2 relays: a job behind each has light", [lab.job_state(lost), lab.job_state(job)] == ["lit", "lit"])
        with lab.connect("agents-1", to="relay-0", role=report.ROLE_AGENT, watch=True) as one:
            shook = one.handshake(0.7)
            for node in SECOND:
                one.send(peer.agent_envelope(node, heartbeat=wire.Heartbeat(lasers_latched_off=True)))
            one.receive(0.3)
            ledger.promise("2 relays: an agent is not heard at the other one's relay", not one.others and lab.are("live"),
                           f"handshake {shook}")
        named = wait_until(lambda: {row["principal"] for row in lab.audit() if row.get("refused")}, COUNT_S)
        ledger.promise("2 relays: what the controller refuses of it is on record as relay-0/agents-1, not as the relay's own",
                       not named or named == {"relay-0/agents-1"}, f"{named or 'nothing is on record'}")
        lab.kill(lab.relay(0))
        dead = wait_until(lambda: lab.are("dead", FIRST), DEAD_S)
        ledger.promise("2 relays: one is killed, and its nodes alone are dead", bool(dead) and lab.are("live", SECOND),
                       f"{lab.sessions()}")
        thief = Stranger(lab, "relay-0", "controller", FIRST)
        judge = Judge(ledger, lab, "a stolen relay key", SECOND, job, thief)
        try:
            thief_without_principal(judge)
            thief_for_its_nodes(judge)
            thief_for_others(judge)
            thief_orders(judge)
            thief_makes_up_names(judge)
            thief.close()
            darkness_past_a_relay(judge)
        finally:
            judge.close()


def thief_without_principal(judge):
    thief = judge.stranger
    judge.lie("hellos without a principal", thief.greet, ("malformed",))
    judge.promise("they are not welcomed, and its nodes stay dead", not thief.welcomed and judge.lab.are("dead", FIRST),
                  f"{judge.lab.sessions(FIRST)}")
    texts = []

    def explained():  # an alarm has the words of the refusal that was told last
        thief.say(0, heartbeat=wire.Heartbeat())
        texts[:] = [row.get("evidence", "") for row in judge.lab.alarms("malformed_message")]
        return any("relay-0" in text and "whose" in text for text in texts)
    judge.promise("an alarm says why", bool(wait_until(explained, 2 * COUNT_S, 0.1)), f"{texts}"[:200])


def thief_for_its_nodes(judge):
    lab, thief = judge.lab, judge.stranger
    thief.principal = OTHERS_WORD
    thief.greet()
    thief.live(0.5)
    judge.promise("with a principal it speaks for the nodes of the relay", thief.welcomed == set(FIRST) and lab.are("live", FIRST),
                  f"welcomed {sorted(thief.welcomed)}, {lab.sessions(FIRST)}")
    with Counted(judge, "principals that are none", ("malformed", "unauthorised"), 6):
        for text, word in (("no bytes", b""), ("two words", b"a b"), ("two lines", b"a\nb"), ("256 characters", b"x" * 256),
                           ("a NUL", b"agents-0\0"), ("no UTF-8", b"\xff\xfe")):
            judge.lie(f"a principal of {text}", lambda word=word: thief.say(0, word, heartbeat=wire.Heartbeat()))
    judge.lie("a pulse in the name of another host behind the relay", lambda: thief.pulse(principal=b"agents-7"), ("foreign", "unauthorised"))


def thief_for_others(judge):
    """Nodes of relay-1 are outside of its grant, whoever it says to speak for."""
    lab, thief = judge.lab, judge.stranger
    latched, before = wire.Heartbeat(lasers_latched_off=True), set(thief.welcomed)
    for word in (OTHERS_WORD, b"agents-1", b"relay-1/agents-1"):
        text = f"nodes of relay-1, in the name of {word.decode()}"

        def words(word=word):
            for node in SECOND:
                thief.say(node, word, hello=thief.hello(node))
                thief.say(node, word, heartbeat=latched)
        judge.lie(f"hellos and latched lasers for {text}", words, ("unauthorised",))
        judge.lie(f"a pulse for {text}", lambda word=word: thief.pulse(list(SECOND), 0, word), ("foreign", "unauthorised"))
    judge.promise("it is welcomed for none of them", thief.welcomed == before, f"{sorted(thief.welcomed)}")
    process = lab.agents(1)
    os.kill(process, signal.SIGSTOP)
    try:
        def tell():
            for word in (b"agents-1", b"relay-1/agents-1"):
                thief.pulse(list(SECOND), 0, word)
                thief.pulse(list(SECOND), 4, word)
            thief.live(0.04)
        wait_until(lambda: thief.live(0.05) or lab.are("dead", SECOND), DEAD_S)
        lies_alive(judge.ledger, lab, f"{judge.name}: its pulses keep no stopped node of relay-1 alive", SECOND, tell)
    finally:
        os.kill(process, signal.SIGCONT)
    back = wait_until(lambda: thief.live(0.05) or not judge.wrong(), 4)
    judge.promise("they come back by themselves", bool(back), "; ".join(judge.wrong()))


def thief_orders(judge):
    lab, thief = judge.lab, judge.stranger

    def order():
        for number, role in enumerate((report.ROLE_ADMIN, report.ROLE_OPERATOR, report.ROLE_AGENT)):
            for k, word in enumerate((b"", b"operator", OTHERS_WORD)):
                envelope = peer.request(10 * number + k + 1, role=role, lasers_request=wire.LasersRequest(on=False))
                envelope.node_id, envelope.principal = 0, word
                thief.peer.send(envelope)
    judge.lie("orders", order, ("role", "malformed", "unauthorised"))
    judge.promise("they get no answer", not thief.peer.replies, f"{thief.peer.replies}")
    before = lab.lit_devices(0)
    with lab.connect("relay-0", to="agents-0", watch=True) as one:
        shook = one.handshake(0.7)
        for node in FIRST:
            envelope = peer.request(node + 1, role=report.ROLE_ADMIN, lasers_request=wire.LasersRequest(on=False))
            envelope.node_id = node
            one.send(envelope)
        one.receive(0.5)
        thief.live(0.3)
        after = lab.lit_devices(0)
        judge.promise("an agent's own door follows no order of it", bool(before) and after == before,
                      f"handshake {shook}, {len(one.replies)} answers, lit {sorted(before)} and then {sorted(after)}")


def thief_makes_up_names(judge):
    """One key, a thousand principals: it must not fill the alarms, nor the controller's memory, nor raise terms without end."""
    lab, thief = judge.lab, judge.stranger
    alarms, records = len(lab.alarms("malformed_message")), len(lab.audit())
    memory, terms = laboratory.memory_mib(judge.daemon)[0], lab.json("status")["term"]
    for number in range(PRINCIPALS):
        word = f"host-{number}".encode()
        thief.say(0, word, pulse=wire.Pulse(node_ids=[0, 0]))
        if number % 25 == 0:
            hello = thief.hello(0)
            hello.term_seen_number = lab.json("status")["term"] + 1
            thief.say(0, word, hello=hello)
            thief.live(0.02)
    thief.live(0.6)
    wrong = judge.wrong()
    judge.promise(f"{PRINCIPALS} made-up principals: without effect", not wrong, "; ".join(wrong))
    grown_by = len(lab.alarms("malformed_message")) - alarms
    judge.promise(f"{PRINCIPALS} made-up principals: one key has one alarm, or a few", grown_by <= ALARMS_GRANTED,
                  f"{grown_by} more rows in `loom alarm list`")
    records = len(lab.audit()) - records
    judge.promise(f"{PRINCIPALS} made-up principals: the audit is not filled", records <= 64, f"{records} more records")
    judge.ledger.note(f"{PRINCIPALS} made-up principals: the controller's memory {memory:.1f} -> "
                      f"{laboratory.memory_mib(judge.daemon)[0]:.1f} MiB, term {terms} -> {lab.json('status')['term']}")


def darkness_past_a_relay(judge):
    """No relay, but its agents are lit: `lasers off` goes past it. Then the relay comes back, and light with it."""
    lab = judge.lab
    before, since = lab.lit_devices(0), time.monotonic_ns()
    answer = lab.loom("lasers", "off")
    dark = lab.dark_ms(0, since)
    judge.promise("`lasers off` darkens agents whose relay is gone",
                  answer.returncode == 0 and bool(before) and dark is not None,
                  f"exit {answer.returncode}: {(answer.stdout + answer.stderr).strip()}; lit {sorted(before)}, dark after {dark} ms")
    answer = lab.loom("lasers", "off", "--direct")
    judge.promise("`lasers off --direct` finds them dark", answer.returncode == 0, f"exit {answer.returncode}")
    answer = lab.loom("lab", "restart", "relay-0", timeout=30)
    judge.promise("the relay comes back with its key, and its nodes are live", answer.returncode == 0 and lab.are("live"),
                  f"exit {answer.returncode}: {answer.stderr.strip()[-200:]}; {lab.sessions()}")

    def rearmed():
        lab.loom("lasers", "rearm")
        return wait_until(lambda: {row["state"] for row in lab.jobs().values()} == {"lit"}, 1.5, 0.1)
    judge.promise("rearmed, both jobs are lit", bool(wait_until(rearmed, 5)), f"{ {job: row['state'] for job, row in lab.jobs().items()} }")


# --- a relay that ends, and keys --------------------------------------------------------------------------------------------

def ends(ledger, programs):
    with RelayLab(programs, "ends", 1) as lab:
        job = lit(lab, (*FIRST_JOB, *SECOND_JOB))
        killed(ledger, lab, job)
        started_by_hand(ledger, lab, job)
        hangs(ledger, lab, job)
        keys(ledger, lab, job)
        keys_of_the_relay(ledger, lab, job)


class Unchanged:
    """Light between begin and end of something: not a laser's row more."""

    def __init__(self, ledger, lab, job, text):
        self.ledger, self.lab, self.job, self.text = ledger, lab, job, text
        wait_until(lambda: lab.job_state(job) == "lit", 5, 0.05)
        self.rows, self.pids, self.revision = lab.rows(), [lab.agents(0), lab.agents(1)], lab.json("status")["revision"]

    def judge(self):
        lab = self.lab
        lit_again = wait_until(lambda: lab.job_state(self.job) == "lit", 3, 0.05)
        now = time.monotonic_ns()
        wait_until(lambda: min(lab.whole_ns(0), lab.whole_ns(1)) > now, 2)
        changed, revision = [new - old for new, old in zip(lab.rows(), self.rows)], lab.json("status")["revision"]
        self.ledger.promise(f"{self.text}: light stayed, and the job is lit", bool(lit_again) and not any(changed)
                            and [lab.agents(0), lab.agents(1)] == self.pids,
                            f"{changed} changes of lasers, job {lab.job_state(self.job)}, revision {self.revision} -> {revision}")


def killed(ledger, lab, job):
    light = Unchanged(ledger, lab, job, "a relay is killed")
    lab.kill(lab.relay(0))
    begin = time.monotonic()
    dead = wait_until(lambda: lab.are("dead"), DEAD_S)
    ledger.promise("a relay is killed: all nodes behind it are dead", bool(dead),
                   f"{(time.monotonic() - begin) * 1e3:.0f} ms; {lab.sessions()}")
    ledger.promise("a relay is killed: alarms say so of each node", len(lab.alarms("agent_dead")) == len(NODES))
    time.sleep(0.5)
    ledger.note(f"a relay is killed: the job on its nodes is {lab.job_state(job)}, {lab.rows()} rows of light, before {light.rows}")
    begin = time.monotonic()
    answer = lab.loom("lab", "restart", "relay-0", timeout=30)
    took = (time.monotonic() - begin) * 1e3
    ledger.promise("a relay is killed: `lab restart relay-0` brings all nodes back", answer.returncode == 0 and lab.are("live"),
                   f"{took:.0f} ms, exit {answer.returncode}: {answer.stderr.strip()[-200:]}")
    light.judge()
    answer = lab.submit("vgg19", [2, 6], "--timeout", "10s")
    ledger.promise("a relay is killed: then a new job across both processes gets light", answer.returncode == 0,
                   answer.stderr.strip()[-200:])


def started_by_hand(ledger, lab, job):
    """As a supervisor would: the same command line again."""
    light, address = Unchanged(ledger, lab, job, "a relay is started by hand"), lab.address("relay-0")
    argv = lab.kill(lab.relay(0))
    wait_until(lambda: lab.are("dead"), DEAD_S)
    begin = time.monotonic()
    lab.start(argv)
    back = wait_until(lambda: lab.are("live"), BACK_S, 0.05)
    ledger.promise("a relay is started by hand: agents find it again", bool(back), f"{(time.monotonic() - begin) * 1e3:.0f} ms; it "
                   f"listened at {address}, listens at {lab.address('relay-0')}; {lab.sessions()}")
    light.judge()
    lab.kill(lab.relay(0))  # a process of ours, of which the lab knows nothing
    answer = lab.loom("lab", "restart", "relay-0", timeout=30)
    ledger.promise("a relay that died in other hands is the lab's again", answer.returncode == 0 and lab.are("live"),
                   f"exit {answer.returncode}: {answer.stderr.strip()[-200:]}")


def hangs(ledger, lab, job):
    light, relay = Unchanged(ledger, lab, job, "a relay hangs"), lab.relay(0)
    os.kill(relay, signal.SIGSTOP)
    dead = wait_until(lambda: lab.are("dead"), DEAD_S)
    time.sleep(1)
    os.kill(relay, signal.SIGCONT)
    back = wait_until(lambda: lab.are("live"), BACK_S, 0.05)
    ledger.promise("a relay hangs for more than a second: its nodes are dead, and then live", bool(dead and back), f"{lab.sessions()}")
    light.judge()


def keys(ledger, lab, job):
    light, process = Unchanged(ledger, lab, job, "agents-1 is revoked, granted and rotated"), lab.agents(1)
    answer = lab.loom("keys", "revoke", "agents-1")
    begin, others = time.monotonic(), set()

    def lost():
        others.update(lab.sessions(FIRST).values())
        return lab.are("dead", SECOND)
    gone = wait_until(lost, DEAD_S)
    ledger.promise("revoked: nodes of agents-1 are dead as soon as a silent one's are", answer.returncode == 0 and bool(gone),
                   f"{(time.monotonic() - begin) * 1e3:.0f} ms behind the command; {lab.sessions(SECOND)}")
    time.sleep(2.2)  # it dials again every 2 s
    others.update(lab.sessions(FIRST).values())
    ledger.promise("revoked: the others behind the same relay are live all the while", others == {"live"}, f"{others}")
    ledger.promise("revoked: it does not come back", lab.are("dead", SECOND), f"{lab.sessions(SECOND)}")
    ledger.promise("revoked: who is refused at the relay's door is named somewhere", lab.refusals()["unauthorised"] > 0
                   or "refuse" in (lab.state / "relay-0.log").read_text() or "agents-1" in " ".join(
        row["asked"] for row in lab.audit() if row.get("refused")), f"status {lab.refusals()}; nothing in the relay's log or the audit")
    answer = lab.loom("keys", "grant", "agents-1", "--role", "agent", "--nodes", "4-7")
    begin = time.monotonic()
    back = wait_until(lambda: lab.are("live"), BACK_S, 0.05)
    ledger.promise("granted: they come back without a restart", answer.returncode == 0 and bool(back) and lab.agents(1) == process,
                   f"{(time.monotonic() - begin) * 1e3:.0f} ms; {lab.sessions()}")
    old = lab.key("agents-1")
    answer = lab.loom("keys", "rotate", "agents-1")
    said = f"exit {answer.returncode}: {(answer.stdout + answer.stderr).strip()[-160:]}"
    ledger.promise("rotated: the agents take up the new key behind a relay",
                   answer.returncode == 0 and lab.key("agents-1") != old and lab.are("live"),
                   f"{said}; {lab.sessions(SECOND)}")
    rows = {row["principal"]: row for row in lab.json("keys", "list").get("keys", [])}
    fingerprint = str(rows.get("agents-1", {}).get("fingerprint") or rows.get("agents-1", {}).get("key", "?"))
    ledger.promise("rotated: the process says that it has the key that `keys list` names", f"our key is {fingerprint}" in
                   (lab.state / "agents-1.log").read_text(), fingerprint)
    thief = Stranger(lab, "", "relay-0", SECOND, pair=old)
    thief.close()
    ledger.promise("rotated: the old pair is refused at the relay", thief.handshake == "refused", f"handshake {thief.handshake}")
    light.judge()


def keys_of_the_relay(ledger, lab, job):
    """docs/adr/0094: a relay's own pair is read at its start; another one needs a restart."""
    light = Unchanged(ledger, lab, job, "relay-0 is revoked and granted")
    answer = lab.loom("keys", "revoke", "relay-0")
    dead = wait_until(lambda: lab.are("dead"), DEAD_S)
    ledger.promise("a relay's key is revoked: all nodes behind it are dead", answer.returncode == 0 and bool(dead), f"{lab.sessions()}")
    answer = lab.loom("keys", "grant", "relay-0", "--role", "relay", "--nodes", "0-7")
    begin = time.monotonic()
    back = wait_until(lambda: lab.are("live"), BACK_S, 0.05)
    ledger.promise("a relay's key is granted again: they come back without a restart", answer.returncode == 0 and bool(back),
                   f"{(time.monotonic() - begin) * 1e3:.0f} ms; exit {answer.returncode}: {answer.stderr.strip()}; {lab.sessions()}")
    light.judge()
    light = Unchanged(ledger, lab, job, "relay-0 is rotated and started again")
    old, command = lab.key("relay-0"), [str(lab.programs / "loom"), "--state", str(lab.state), "keys", "rotate", "relay-0"]
    rotation = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait_until(lambda: lab.key("relay-0") != old, 2)
    said = rotation.communicate(timeout=15)[0].strip()
    ledger.promise("a relay's key is rotated: the relay and the agents take it up while they run", rotation.returncode == 0 and
                   bool(wait_until(lambda: lab.are("live"), BACK_S, 0.05)), f"exit {rotation.returncode}: {said}; {lab.sessions()}")
    answer = lab.loom("lab", "restart", "relay-0", timeout=30)
    ledger.promise("a relay's key is rotated: started again, it has all nodes back", answer.returncode == 0 and lab.are("live"),
                   f"exit {answer.returncode}: {answer.stderr.strip()[-200:]}")
    light.judge()


# --- hosts and a relay that share no folder ---------------------------------------------------------------------------------

class BundledLab(NodesLab):
    """Two hosts behind a relay, all on loopback, each with a folder of its own and what its bundle brings there."""

    def __init__(self, programs):
        super().__init__(programs, "relay-bundles")
        fabric = peer.ROOT / "configs" / "fabrics" / "oddl_8.yaml"
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
        controller, first, second, relay = [one.getsockname()[1] for one in sockets]
        for one in sockets:
            one.close()
        self.scenario.write_text(f"""schema_version: 1
kind: scenario
name: stranger
mode: soft
modes: [soft, sim]
fabric: {fabric}
controller: {{listen: "tcp://127.0.0.1:{controller}"}}
hosts:
  rack-a: {{address: 127.0.0.1, port: {first}, nodes: 0-3}}
  rack-b: {{address: 127.0.0.1, port: {second}, nodes: 4-7}}
relays: ["tcp://127.0.0.1:{relay}"]
""")
        self.running = {}

    def bundle(self, name):
        """The answer of `keys bundle`; the bundle takes an old one's place."""
        file = self.folder / f"{name}.keys.tar"
        answer = self.loom("keys", "bundle", name, "-o", f"{file}.new")
        os.replace(f"{file}.new", file)
        return answer

    def run(self, name, *options):
        clock = ("--scenario", str(self.scenario), "--clock", "monotonic")
        if name == "controller":
            argv = [str(self.programs / "lightloomd"), *clock, "--state", str(self.state)]
        else:
            argv = [str(self.programs / "lightloom-agent"), *clock, *options, "--keys", str(self.folder / f"{name}.keys.tar"),
                    "--state", str(self.folder / name)]
        self.running[name] = self.start(argv)

    def __enter__(self):
        try:
            self.generate_keys()
            self.answers = {name: self.bundle(name) for name in ("rack-a", "rack-b", "relay-0")}
            self.run("controller")
            self.run("relay-0", "--relay", "0")
            self.run("rack-a", "--host", "rack-a")
            self.run("rack-b", "--host", "rack-b")
        except BaseException:
            self.down()
            raise
        return self


def bundles(ledger, programs):
    """docs/hosts.md: revoking a key counts at the controller at once; hosts know by their bundle, which they unpack at SIGHUP."""
    with BundledLab(programs) as lab:
        back = wait_until(lambda: lab.are("live"), BACK_S, 0.05)
        ledger.promise("bundles: two hosts join through a relay that has its bundle alone", bool(back), f"{lab.sessions()}")
        said = (lab.answers["relay-0"].stdout + lab.answers["relay-0"].stderr).strip()
        ledger.promise("bundles: `keys bundle relay-0` says how a relay is started with it", "--relay 0" in said, said)
        lit(lab, (*FIRST_JOB, *SECOND_JOB))
        answer = lab.loom("keys", "revoke", "agents-1")
        begin = time.monotonic()
        dead = wait_until(lambda: lab.are("dead", SECOND), DEAD_S)
        ledger.promise("bundles: a host's key is revoked, and its nodes are dead to the controller", answer.returncode == 0 and bool(dead),
                       f"exit {answer.returncode}: {(answer.stdout + answer.stderr).strip()}; "
                       f"{(time.monotonic() - begin) * 1e3:.0f} ms later "
                       f"{lab.sessions(SECOND)}")
        answer = lab.submit("vgg19", [6, 7], "--timeout", "2s")
        ledger.promise("bundles: no new job gets light on nodes of a revoked key", answer.returncode != 0, answer.stderr.strip())
        lab.bundle("relay-0")
        lab.running["relay-0"].send_signal(signal.SIGHUP)
        dead = wait_until(lambda: lab.are("dead", SECOND), DEAD_S)
        keyring = (lab.folder / "relay-0" / "keys" / "keyring").read_text()
        ledger.promise("bundles: a relay unpacks its new bundle at SIGHUP", " agents-1 " not in keyring, "its keyring still has agents-1"
                       if " agents-1 " in keyring else "")
        ledger.promise("bundles: and then the revoked host is not heard", bool(dead), f"{lab.sessions()}")
        ledger.promise("bundles: the other host is live", lab.are("live", FIRST), f"{lab.sessions(FIRST)}")
        lab.running["relay-0"].terminate()
        lab.running["relay-0"].wait()
        lab.run("relay-0", "--relay", "0")
        back = wait_until(lambda: lab.are("live", FIRST) and lab.are("dead", SECOND), BACK_S, 0.05)
        ledger.promise("bundles: a relay that starts with its new bundle hears the other host alone", bool(back), f"{lab.sessions()}")


LABS = {part.__name__: part for part in (one_relay, two_relays, ends, bundles)}


def judge(ledger, programs):
    for part in [LABS[name] for name in sys.argv[2:] or LABS]:
        begin = time.monotonic()
        part(ledger, programs)
        ledger.note(f"{part.__name__}: {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    laboratory.main(judge)
