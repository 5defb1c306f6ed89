#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""safety.py FOLDER [off|contacts]: darkness with the controller dead, and interlock contacts, judged by the light logs (docs/wire.md).

The contact of nodes 0 to 3 is a file; that of nodes 4 to 7 is a Modbus discrete input, served by Debian's python3-pymodbus, a stranger to
the product's libmodbus. Times are from just before the contact opens, or the command begins, to the last light in the log.
"""
import asyncio
import logging
import os
import pathlib
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

import lab as laboratory
from lab import percentile, wait_until
from peer import report, wire

try:
    from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
    from pymodbus.server import StartAsyncTcpServer
    HAS_MODBUS = True
    logging.getLogger("pymodbus").setLevel(logging.CRITICAL)
except ImportError:
    HAS_MODBUS = False

FILE_NODES, MODBUS_NODES = range(0, 4), range(4, 8)
UNIT, INPUT = 1, 3
DARK_MS = 1000          # for a contact or a command on a machine that compiles beside it; the figure itself is printed
LOST_MS = 2500          # a contact that vanished: its bound (docs/laser_safety.md: 250 ms) and a time-out of its bus
STAYS_S = 1.2
ROUNDS = 5


class FileContact:
    def __init__(self, folder):
        self.path = folder / "contact"
        self.set(True)

    def set(self, closed):
        draft = self.path.with_name("contact.draft")
        draft.write_text("closed\n" if closed else "open\n")
        draft.rename(self.path)

    def vanish(self):
        self.path.unlink()

    def back(self):
        self.set(True)

    def endpoint(self):
        return f"file://{self.path}"


class ModbusContact:
    """One discrete input of a pymodbus server on loopback; vanish() ends the server."""

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.block = ModbusSequentialDataBlock(0, [0] * 32)
        self.context = ModbusServerContext(slaves={UNIT: ModbusSlaveContext(di=self.block, zero_mode=True)}, single=False)
        self.set(True)
        self.back()

    def set(self, closed):
        self.block.setValues(INPUT, [1 if closed else 0])

    def back(self):
        self.set(True)
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()

        async def serve():
            self.task = asyncio.current_task()
            ready.set()
            await StartAsyncTcpServer(self.context, address=("127.0.0.1", self.port), allow_reuse_address=True)

        def run():
            asyncio.set_event_loop(self.loop)
            try:
                self.loop.run_until_complete(serve())
            except (asyncio.CancelledError, Exception):  # noqa: B014  (the end of a server by vanish())
                pass
        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        ready.wait(5)
        wait_until(self.listens, 5)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 0.2).close()
            return True
        except OSError:
            return False

    def vanish(self):
        """Every connection and the listener end; the loop stops answering at once."""
        def stop():
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.call_later(0.05, self.loop.stop)
        self.loop.call_soon_threadsafe(stop)
        self.thread.join(5)

    def endpoint(self):
        return f"modbus-tcp://127.0.0.1:{self.port}/{UNIT}/{INPUT}"


# --- with the controller dead ------------------------------------------------------------------------------------------------

def alarms(lab, word):
    """What standing alarms say that have this word in them."""
    return [row["evidence"] for row in lab.json("alarm", "list").get("alarms", []) if word in row.get("evidence", "")]


def dark_everywhere(lab, since_ns, seconds):
    """The slowest process's milliseconds, or None."""
    times = [lab.dark_ms(process, since_ns, seconds) for process in (0, 1)]
    return None if None in times else max(times)


def stays_dark(lab, processes=(0, 1)):
    """What was lit within STAYS_S."""
    return wait_until(lambda: [device for process in processes for device in lab.lit_devices(process)], STAYS_S, 0.02)


def lit_again(lab, count, seconds=10):
    return wait_until(lambda: sum(len(lab.lit_devices(process)) for process in (0, 1)) >= count, seconds, 0.02)


def rearm(lab, count):
    """Until everything is lit again, twice at most; the last answer."""
    answer = lab.loom("lasers", "rearm")
    if not lit_again(lab, count, 3):
        answer = lab.loom("lasers", "rearm")
        lit_again(lab, count, 3)
    return answer


def lasers_off_without_a_controller(ledger, lab, count):
    argv = lab.kill(lab.pid("lightloomd"))
    begin = time.monotonic_ns()
    answer = lab.loom("lasers", "off", timeout=6)
    took = (time.monotonic_ns() - begin) / 1e6
    dark = dark_everywhere(lab, begin, 4)
    ledger.promise("controller killed: loom lasers off darkens every agent", answer.returncode == 0 and dark is not None,
                   f"last light {dark} ms after the command began, which took {took:.0f} ms; exit {answer.returncode}: "
                   f"{' / '.join((answer.stdout + answer.stderr).strip().splitlines())[:240]}")
    if dark is None:
        lab.restart_controller(argv)
        lab.loom("lasers", "off")
        dark_everywhere(lab, begin, 4)
        ledger.promise("controller killed: darkness outlives the controller's return", False, "it never came")
    else:
        answer = lab.loom("lasers", "off", "--direct", timeout=20)
        ledger.promise("lasers off once more, of dark lasers: exit 0", answer.returncode == 0, f"exit {answer.returncode}")
        lab.restart_controller(argv)
        lit = stays_dark(lab)
        ledger.promise("a controller that comes back lights nothing by itself", not lit, f"lit: {lit}" if lit else "")
        said = wait_until(lambda: alarms(lab, "latched"), 2, 0.1)
        ledger.promise("a controller that comes back says that lasers are latched off", bool(said),
                       f"{(said or ['no alarm'])[0]}")
    answer = rearm(lab, count)
    ledger.promise("loom lasers rearm brings light back", bool(lit_again(lab, count, 1)),
                   f"exit {answer.returncode}: {answer.stderr.strip()[:200]}")


def off_again_and_again(ledger, lab, count):
    """Darkness that agents latched by themselves, lifted each time: no number of times uses up the light."""
    for times in range(ROUNDS):
        lab.loom("lasers", "off", "--direct", timeout=6)
        wait_until(lambda: not any(lab.lit_devices(process) for process in (0, 1)), 2)
        time.sleep(0.3)
        begin, answer = time.monotonic(), rearm(lab, count)
        if not lit_again(lab, count, 0):
            why = [f"{row['state']}: {row['why']}" for row in lab.jobs().values()]
            return ledger.promise(f"lasers off --direct and rearm, {ROUNDS} times: light comes back each time", False,
                                  f"{times} times; then {answer.stderr.strip()}, {why}; {alarms(lab, 'still missing')[:1]}")
        ledger.note(f"light {time.monotonic() - begin:.2f} s after rearm {times + 1} of lasers off --direct")
    ledger.promise(f"lasers off --direct and rearm, {ROUNDS} times: light comes back each time", True)


def who_may_darken(ledger, lab, count):
    """At an agent's own door: a viewer's key nothing, an agent's key nothing, an operator's key darkness alone."""
    from peer import new_pair, request
    orders = {"lasers on": dict(lasers_request=wire.LasersRequest(on=True)), "node drain": dict(node_request=wire.NodeRequest(
        node_id=0, order=wire.NODE_ACTION_DRAIN)), "device reset": dict(reset_request=wire.ResetRequest(device_id=0))}
    darkness = dict(lasers_request=wire.LasersRequest(on=False))
    rows = len(lab.light(0))

    def send(key, role, asks, pair=None):
        with lab.connect(key, to="agents-0", pair=pair, role=role, watch=True) as door:
            shook = door.handshake(1.0)
            for number, ask in enumerate(asks):
                envelope = request(1000 + number, role=report.ROLE_ADMIN, **ask)
                for node in FILE_NODES:
                    envelope.node_id = node
                    door.send(envelope)
            door.receive(0.4)
            door.receive(0.2)
            return shook, [reply.outcome.error.message.decode() if reply.outcome.HasField("error") else "ok"
                           for reply in door.replies.values()]
    for text, key, role, pair in (("a viewer's key", "curious", report.ROLE_VIEWER, None),
                                  ("another agent's key", "agents-1", report.ROLE_AGENT, None),
                                  ("an unknown key", "operator", report.ROLE_ADMIN, new_pair())):
        shook, replies = send(key, role, [darkness], pair)
        ledger.promise(f"{text} darkens nobody at an agent's own door", len(lab.light(0)) == rows and "ok" not in replies,
                       f"handshake {shook}, {replies[:1]}")
    shook, replies = send("operator", report.ROLE_ADMIN, orders.values())
    ledger.promise("an operator's key orders nothing but darkness at an agent's own door", len(lab.light(0)) == rows
                   and "ok" not in replies,
                   f"handshake {shook}, {replies}")
    begin = time.monotonic_ns()
    shook, replies = send("operator", report.ROLE_ADMIN, [darkness])
    dark = lab.dark_ms(0, begin, 2)
    ledger.promise("an operator's key darkens at an agent's own door, by the protocol as documented", dark is not None
                   and "ok" in replies,
                   f"last light after {dark} ms, handshake {shook}, {replies[:1]}")
    rearm(lab, count)


# --- contacts ----------------------------------------------------------------------------------------------------------------

def one_opening(lab, contact, process, act, limit_ms):
    """Milliseconds to darkness, or None: it stayed lit, or there was no light to judge."""
    if not lab.lit_devices(process):
        return None
    begin = time.monotonic_ns()
    act(contact)
    return lab.dark_ms(process, begin, limit_ms / 1e3 + 1)


def contact_life(ledger, lab, name, contact, process, count):
    """Opened with the controller dead: dark, latched; closed: still dark; rearmed by the controller that came back: lit."""
    argv = lab.kill(lab.pid("lightloomd"))
    dark = one_opening(lab, contact, process, lambda one: one.set(False), DARK_MS)
    ledger.promise(f"{name} opens, controller dead: its nodes are dark", dark is not None and dark <= DARK_MS, f"{dark} ms")
    other = 1 - process
    ledger.promise(f"{name} opens: nodes that it does not cover stay lit", len(lab.lit_devices(other)) == 4,
                   f"lit {sorted(lab.lit_devices(other))}")
    contact.set(True)
    lit = stays_dark(lab, (process,))
    ledger.promise(f"{name} closes again: its nodes stay dark", not lit, f"lit {lit}" if lit else f"for {STAYS_S} s")
    lab.restart_controller(argv)
    lit = stays_dark(lab, (process,))
    ledger.promise(f"{name}: the controller that comes back lights nothing by itself", not lit, f"lit {lit}"
                   if lit else f"for {STAYS_S} s")
    contact.set(False)
    answer = lab.loom("lasers", "rearm")
    lit = stays_dark(lab, (process,))
    ledger.promise(f"{name}: rearmed while open, its nodes stay dark", not lit, f"exit {answer.returncode}; lit {lit}")
    contact.set(True)
    time.sleep(0.3)
    answer = rearm(lab, count)
    ledger.promise(f"{name}: closed and rearmed, its nodes are lit", bool(lit_again(lab, count, 1)),
                   f"exit {answer.returncode}: {answer.stderr.strip()[:160]}")


def contact_figures(ledger, lab, name, contact, process, count):
    """Opened, closed and rearmed again and again, as a door is on a busy day."""
    times, back, answer = [], [], None
    for _ in range(ROUNDS):
        dark = one_opening(lab, contact, process, lambda one: one.set(False), DARK_MS)
        if dark is None:
            break
        times.append(dark)
        contact.set(True)
        time.sleep(0.3)
        begin = time.monotonic()
        answer = rearm(lab, count)
        if not lit_again(lab, count, 0):
            break
        back.append(time.monotonic() - begin)
    ledger.note(f"{name}: from the opening to darkness, {len(times)} times: p50 {percentile(times, .5):.1f} max {max(times, default=float('nan')):.1f} ms; "
                f"from the rearm to light: max {max(back, default=float('nan')):.2f} s")
    why = [f"{row['state']}: {row['why']}" for row in lab.jobs().values()]
    ledger.promise(f"{name} opens {ROUNDS} times one after the other: each rearm brings the light back", len(back) == ROUNDS,
                   f"{len(back)} times; then {answer and answer.stderr.strip()}, {why}; {alarms(lab, 'still missing')[:1]}"
                   if len(back) < ROUNDS else "")


def contact_vanishes(ledger, lab, name, contact, process, count):
    dark = one_opening(lab, contact, process, lambda one: one.vanish(), LOST_MS)
    ledger.promise(f"{name} that vanishes counts as open", dark is not None and dark <= LOST_MS, f"{dark} ms")
    said = wait_until(lambda: alarms(lab, name.split()[0]), 2, 0.1)
    ledger.promise(f"{name} that vanishes is named by an alarm", bool(said), f"{(said or ['no alarm'])[0]}")
    contact.back()
    lit = stays_dark(lab, (process,))
    ledger.promise(f"{name} that comes back lights nothing", not lit, f"lit {lit}" if lit else f"for {STAYS_S} s")
    rearm(lab, count)


def agent_restarts(ledger, lab, contact, count):
    """A latch outlives the agent's process; a process that starts with an open contact lights nothing."""
    contact.set(False)
    wait_until(lambda: not lab.lit_devices(0), 2)
    argv = lab.kill(lab.pid("lightloom-agent", 0))
    contact.set(True)
    lab.start(argv)
    wait_until(lambda: lab.json("status").get("agents", {}).get("live") == 8, 8, 0.05)
    lit = stays_dark(lab, (0,))
    ledger.promise("a latch outlives the process of its agent", not lit, f"lit {lit}"
                   if lit else f"dark for {STAYS_S} s after all have joined")
    rearm(lab, count)
    ledger.promise("a latch of a process that started again is lifted by rearm", bool(lit_again(lab, count, 2)))


def frozen_controller(ledger, lab, count):
    """A controller that hangs (SIGSTOP): lasers off goes past it."""
    pid = lab.pid("lightloomd")
    os.kill(pid, signal.SIGSTOP)
    begin = time.monotonic_ns()
    try:
        answer = lab.loom("lasers", "off", timeout=6)
        dark = dark_everywhere(lab, begin, 3)
    finally:
        os.kill(pid, signal.SIGCONT)
    ledger.promise("controller stopped (SIGSTOP): loom lasers off darkens every agent", answer.returncode == 0
                   and dark is not None,
                   f"last light {dark} ms after the command began; exit {answer.returncode}")
    time.sleep(0.5)
    rearm(lab, count)


def off(ledger, programs):
    """Darkness without a controller."""
    with laboratory.Lab(programs, "safety-off") as lab:
        lab.generate_keys()
        lab.grant("curious", "viewer")
        lab.up()
        count = begin(lab)
        lasers_off_without_a_controller(ledger, lab, count)
        frozen_controller(ledger, lab, count)
        who_may_darken(ledger, lab, count)
        off_again_and_again(ledger, lab, count)


def contacts(ledger, programs):
    """Interlock contacts."""
    if not HAS_MODBUS:
        ledger.note("python3-pymodbus is not installed (apt install python3-pymodbus): no Modbus contact is judged")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="loom-stranger-contact-"))
    try:
        known = {"door (a file)": (FileContact(folder), 0, FILE_NODES)}
        if HAS_MODBUS:
            known["rack (Modbus)"] = (ModbusContact(), 1, MODBUS_NODES)
        judge_contacts(ledger, programs, known)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


FAMILIES = {"off": off, "contacts": contacts}


def judge(ledger, programs):
    for name in sys.argv[2:] or FAMILIES:
        FAMILIES[name](ledger, programs)


def begin(lab):
    """One job on all nodes; how many lasers it lights."""
    answer = lab.submit("vgg19", 8)
    if answer.returncode != 0 or not lit_again(lab, 8, 5):
        raise RuntimeError(f"no light to judge: {answer.stderr.strip()}")
    return 8


def light_or_restart(lab, count):
    """Light for the next judgement, if need be by a controller that starts again."""
    if lit_again(lab, count, 0):
        return True
    lab.restart_controller(lab.kill(lab.pid("lightloomd")))
    rearm(lab, count)
    return lit_again(lab, count, 3)


def judge_contacts(ledger, programs, contacts):
    text = "interlocks:\n" + "".join(
        f"  - {{name: {name.split()[0]}, endpoint: \"{contact.endpoint()}\", first_node: node-{nodes[0]}, last_node: node-{nodes[-1]}}}\n"
        for name, (contact, _, nodes) in contacts.items())
    with laboratory.Lab(programs, "safety-contact", interlocks=text) as lab:
        try:
            lab.up()
        except RuntimeError as error:
            return ledger.promise("a fabric may have interlock contacts", False, str(error))
        count = begin(lab)
        for name, (contact, process, _) in contacts.items():
            contact_life(ledger, lab, name, contact, process, count)
            contact_vanishes(ledger, lab, name, contact, process, count)
        agent_restarts(ledger, lab, contacts["door (a file)"][0], count)
        for name, (contact, process, _) in contacts.items():
            if not light_or_restart(lab, count):
                ledger.promise(f"{name}: there is light to judge", False, "not even after a new start")
                continue
            contact_figures(ledger, lab, name, contact, process, count)


if __name__ == "__main__":
    laboratory.main(judge)
