#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""gains.py FOLDER [hand|refusals|job|faults|power]: gain stages (attenuators, amplifiers), judged by devices written here.

An attenuator mainframe (SCPI over TCP, after Keysight's 8163B and N77xx guides), an amplifier behind lines and one behind
registers, the last two by the words and the map of docs/devices.md alone. They slew, are shut at power-up, have queues of
errors, noise and lag in their sensors, spontaneous emission, and faults. Lasers are simulated; their light log says what
enters the devices. Lightloom is given orders by `loom`; what came of them is read in the devices' own state.
"""
import collections
import contextlib
import math
import random
import re
import socket
import struct
import sys
import threading
import time

import lab as laboratory
from lab import wait_until

DARK_DBM = -60.0
ASE_DBM = -27.5          # of a C band amplifier before its gain: h nu B (4.4 THz) and a noise figure of 5 dB
NEAR_DB = 0.3            # docs/devices.md: the gain that is read back
ORDER_S, ALARM_S, REPAIR_S = 15, 20, 25   # an order with --wait; docs/devices.md has first alarms after 8.6 s at most
MOVES = []               # (CLOCK_MONOTONIC in ns, what): every change of a gain, a shutter or a pump that was ordered


def together(*powers):
    return 10 * math.log10(sum(10 ** (power / 10) for power in powers))


# --- devices --------------------------------------------------------------------------------------------------------------

class Move:
    """A value that goes from where it is to a target in a given time, linearly."""

    def __init__(self, value):
        self.start = self.target = value
        self.begun = self.lasts = 0.0

    def to(self, target, lasts):
        self.start, self.target, self.begun, self.lasts = self.now(), target, time.monotonic(), lasts
        MOVES.append((time.monotonic_ns(), f"{self.start} to {target}"))

    def now(self, ago=0.0):
        share = (time.monotonic() - ago - self.begun) / self.lasts if self.lasts else 1.0
        return self.start + (self.target - self.start) * min(1.0, max(0.0, share))

    def is_moving(self):
        return time.monotonic() < self.begun + self.lasts


class Served:
    """A TCP device with a power switch. A subclass has power_up(), and take(buffer): a reply or nothing, and the rest."""

    def __init__(self):
        self.port, self.delay_s, self.is_mute, self.connections = 0, 0.0, False, []
        self.faults, self.lock = set(), threading.RLock()
        self.power_on()

    def power_on(self):
        self.power_up()
        self.listener = socket.create_server(("127.0.0.1", self.port))  # with SO_REUSEADDR
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
            threading.Thread(target=self.attend, args=(connection,), daemon=True).start()

    def attend(self, connection):
        buffer = b""
        with contextlib.suppress(OSError, ValueError):
            while part := connection.recv(4096):
                buffer += part
                while (taken := self.take(buffer)) is not None:
                    reply, buffer = taken
                    if reply and not self.is_mute:
                        time.sleep(self.delay_s)
                        connection.sendall(reply[:3])  # in two segments, as TCP may
                        connection.sendall(reply[3:])
        connection.close()

    def power_off(self):
        for end in (self.listener, *self.connections):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self.connections = []


class ScpiError(Exception):
    TEXTS = {-104: "Data type error", -109: "Missing parameter", -113: "Undefined header", -131: "Invalid suffix",
             -222: "Data out of range", -224: "Illegal parameter value", -240: "Hardware error"}


def decibels(text, most):
    match = re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)", text)
    if not match or match.group(2).upper() not in ("", "DB"):
        raise ScpiError(-131 if match else -104 if text else -109)
    if not 0 <= float(match.group(1)) <= most:
        raise ScpiError(-222)
    return float(match.group(1))


def boolean(text):
    if text.upper() not in ("0", "OFF", "1", "ON"):
        raise ScpiError(-224 if text else -109)
    return text.upper() in ("1", "ON")


class Scpi(Served):
    """Path memory (SCPI-99 volume 1, 6.2.4), a FIFO of errors (21.8), *OPC? that waits (IEEE 488.2, 12.5.3)."""
    end, good = "\n", '0,"No error"'

    def power_up(self):
        self.errors = collections.deque()
        self.reset()

    def take(self, buffer):
        line, whole, rest = buffer.partition(b"\n")
        if not whole:
            return None
        answers = [] if self.is_mute else self.run(line.decode(errors="replace").strip())
        return ((";".join(answers) + self.end).encode() if answers else b""), rest

    def run(self, line):
        answers, path = [], ""
        for unit in filter(None, (unit.strip() for unit in line.split(";"))):
            head, _, argument = unit.partition(" ")
            if not head.startswith("*"):
                head = head if head.startswith(":") else f"{path}:{head}"
                path = head.rpartition(":")[0]
            try:
                answer = self.common(head.upper()) if head.startswith("*") else self.subsystem(head, argument.strip())
            except ScpiError as error:
                self.errors.append(error.args[0])
                continue
            answers += [] if answer is None else [answer]
        return answers

    def common(self, head):
        if head == "*IDN?":
            return self.identity
        if head != "*OPC?":
            raise ScpiError(-113)
        return "1" if wait_until(lambda: not self.is_moving(), 10, 0.002) else None

    def subsystem(self, head, argument):
        if re.fullmatch(r":SYST(EM)?:ERR(OR)?(:NEXT)?\?", head, re.IGNORECASE):
            number = self.errors.popleft() if self.errors else 0
            return f'{number},"{ScpiError.TEXTS[number]}"' if number else self.good
        for pattern, action in self.headers:
            match = re.fullmatch(pattern, head.rstrip("?"), re.IGNORECASE)
            if match and int(match.group(1) or 1) in self.slots:
                with self.lock:
                    return action(self, self.slots[int(match.group(1) or 1)], None if head.endswith("?") else argument)
        raise ScpiError(-113)

    @staticmethod
    def number(value):
        return f"{value:+.8E}".replace("E+", "E+0").replace("E-", "E-0")


class Attenuator:
    launch = staticmethod(lambda: DARK_DBM)

    def reset(self):
        self.figure, self.passes, self.shutter = Move(0.0), False, Move(0.0)

    def output(self):
        return max(DARK_DBM, self.launch() - 1.0 - self.figure.now()) if self.passes else DARK_DBM


class Mainframe(Scpi):
    """Two attenuators of 35 dB, which go there in 50 to 150 ms. Powers up shut, at 0 dB."""
    identity, good, most = "Keysight Technologies,N7752A,MY49700123,V1.234", '+0,"No error"', 35.0

    def reset(self):
        self.slots = getattr(self, "slots", None) or {1: Attenuator(), 2: Attenuator()}
        for slot in self.slots.values():
            slot.reset()

    def is_moving(self):
        return any(move.is_moving() for slot in self.slots.values() for move in (slot.figure, slot.shutter))

    def attenuation(self, slot, argument):
        if argument is None:
            return self.number(slot.figure.target)
        value = decibels(argument, self.most)
        if "sticks" not in self.faults and value != slot.figure.target:
            slot.figure.to(value, 0.05 + 0.1 * abs(value - slot.figure.now()) / self.most)

    def state(self, slot, argument):
        if argument is None:
            return "1" if slot.passes else "0"
        wanted = boolean(argument)
        if wanted and "shut" in self.faults:
            raise ScpiError(-240)
        if wanted != slot.passes:
            slot.shutter.to(float(wanted), 0.03)
        slot.passes = wanted

    def power(self, slot, _):
        power = slot.output() + random.gauss(0, 0.02)
        return self.number(power if power > DARK_DBM + 1 else -9.9e37)  # SCPI-99 volume 1, 7.2.1: as little as nothing

    headers = ((r":INP(?:UT)?(\d*)(?::CHAN(?:NEL)?1?)?:ATT(?:ENUATION)?", attenuation),
               (r":OUTP(?:UT)?(\d*)(?::CHAN(?:NEL)?1?)?(?::STAT(?:E)?)?", state),
               (r":READ(\d*)(?::CHAN(?:NEL)?1?)?:POW(?:ER)?(?::DC)?", power))


class Amplifier:
    """In gain mode: ramps for 100 ms; its sensors are 60 ms late, have 0.1 dB of noise, and see its own emission."""

    source, aged_db = staticmethod(lambda: DARK_DBM), 0.0

    def reset(self):
        self.wanted, self.passes, self.figure = 0.0, False, Move(0.0)

    def set(self, wanted=None, is_on=None):
        self.wanted = self.wanted if wanted is None else wanted
        self.passes = self.passes if is_on is None else is_on
        target = self.wanted if self.passes else 0.0
        if target != self.figure.target:
            self.figure.to(target, 0.1)

    def signal(self):
        return max(DARK_DBM, self.source() + self.figure.now() - self.aged_db) if self.passes else DARK_DBM

    def input(self):
        return self.source() + random.gauss(0, 0.1)

    def output(self):
        gain = self.figure.now(0.06) - self.aged_db
        power = together(self.source() + gain, ASE_DBM + gain) if self.passes else DARK_DBM
        return min(20.0, power) + random.gauss(0, 0.1)


class AmplifierLines(Scpi):
    """The words of docs/devices.md; ends its lines with CR LF."""
    identity, end = "Fibre Works,EDFA-C-20,0042,1.0", "\r\n"

    def reset(self):
        self.slots = getattr(self, "slots", None) or {1: Amplifier()}
        self.slots[1].reset()

    def is_moving(self):
        return self.slots[1].figure.is_moving()

    headers = ((r":AMPL(?:IFIER)?(\d*):GAIN", lambda self, slot, text: self.number(slot.wanted) if text is None
                else slot.set(wanted=decibels(text, 25.0))),
               (r":AMPL(?:IFIER)?(\d*):STAT(?:E)?", lambda self, slot, text: ("ON" if slot.passes else "OFF")
                if text is None else slot.set(is_on=boolean(text))),
               (r":AMPL(?:IFIER)?(\d*):INP(?:UT)?:POW(?:ER)?", lambda self, slot, _: self.number(slot.input())),
               (r":AMPL(?:IFIER)?(\d*):OUTP(?:UT)?:POW(?:ER)?", lambda self, slot, _: self.number(slot.output())))


class AmplifierRegisters(Served):
    """Modbus TCP, functions 03h, 06h, 10h; registers of docs/devices.md. Register 3 is the gain that it has: off, none."""

    def power_up(self):
        self.amplifier = getattr(self, "amplifier", None) or Amplifier()
        self.amplifier.reset()

    def take(self, buffer):
        size = 6 + int.from_bytes(buffer[4:6], "big")
        if len(buffer) < max(8, size):
            return None
        with self.lock:
            body = b"" if self.is_mute else self.answer(buffer[7:size])
        return buffer[:4] + struct.pack(">HB", len(body) + 1, buffer[6]) + body, buffer[size:]

    def answer(self, request):
        function, address, count = struct.unpack(">BHH", request[:5])
        if function == 3:
            if not 1 <= count <= 125 or address + count > 6:
                return bytes([0x83, 2 if 1 <= count <= 125 else 3])
            it = self.amplifier
            words = (it.passes / 100, it.wanted, it.figure.is_moving() / 100, it.figure.now(), it.input(), it.output())
            words = [round(100 * word) & 0xFFFF for word in words[address:address + count]]
            return struct.pack(f">BB{count}H", 3, 2 * count, *words)
        values = {6: request[3:5], 16: request[6:6 + 2 * count]}.get(function, b"")
        values = struct.unpack(f">{len(values) // 2}H", values)
        wrong = 1 if not values else 2 if address + len(values) > 2 else 0
        if wrong or any(value > (1, 2500)[register] for register, value in enumerate(values, address)):
            return bytes([function | 0x80, wrong or 3])
        for register, value in enumerate(values, address):
            self.amplifier.set(**({"wanted": value / 100} if register else {"is_on": bool(value)}))
        return request[:5]


# --- the lab --------------------------------------------------------------------------------------------------------------

WAY = ("combiner", "edfa-0", "voa-0", "wss-0", "wss-1", "voa-1", "edfa-1", "awg")  # of both lasers
FABRIC = "schema_version: 1\nkind: fabric\nname: gains\narchitecture: gains\n" + "".join(
    f"{section}:\n" + "".join(f"  - {{{line.replace('#', str(number))}}}\n" for line in lines
                              for number in ((0, 1) if "#" in line else (0,)))
    for section, lines in {
        "nodes": ("name: node-#, transmitters: [tx-#], receivers: [rx-#]",),
        "elements": (
            "name: tx-#, kind: transmitter, rate: 100 Gb/s, first_channel: 193.1 THz, channels: 4, retune_max: 10 ms",
            "name: rx-#, kind: receiver, sensitivity: -10 dBm, overload: 2 dBm",
            "name: voa-#, kind: attenuator, insertion_loss: 1 dB, loss_max: 40 dB, settle_max: 250 ms",
            "name: edfa-#, kind: amplifier, gain: 12 dB, gain_min: 5 dB, gain_max: 25 dB, settle_max: 250 ms",
            "name: combiner, kind: coupler, inputs: 2, outputs: 1, insertion_loss: 4 dB",
            "name: wss-#, kind: wavelength_selective_switch, inputs: 1, outputs: 1, insertion_loss: 6.5 dB",
            "name: awg, kind: arrayed_waveguide_grating, inputs: 1, outputs: 2, insertion_loss: 5 dB, "
            "first_channel: 193.1 THz, channels: 4"),
        "fibres": ("from: tx-#, to: 'combiner:#'", "from: 'awg:#', to: rx-#",
                   *(f"from: {start}, to: {end}" for start, end in zip(WAY, WAY[1:]))),
        "buses": ("name: itla-#, agent: node-#", "name: wss-#, agent: node-0", "name: mainframe, agent: node-0",
                  "name: registers, agent: node-0", "name: lines, agent: node-1"),
        "devices": (
            "name: laser-#, kind: itla_laser, agent: node-#, bus: itla-#, elements: [tx-#]",
            "name: wss-#, kind: wss, agent: node-0, bus: wss-#, elements: [wss-#]",
            "name: voa-#, kind: scpi_voa, agent: node-0, bus: mainframe, elements: [voa-#], %s#",
            "name: edfa-0, kind: modbus_edfa, agent: node-0, bus: registers, elements: [edfa-0]",
            "name: edfa-1, kind: scpi_edfa, agent: node-1, bus: lines, elements: [edfa-1]")}.items())
FABRIC = FABRIC.replace("%s0", "profile: {output_query: ':READ{slot}:POW?'}").replace("%s1", "bus_address: 2")
SCENARIO = """{{schema_version: 1, kind: scenario, name: gains, mode: mixed, fabric: {fabric}, algorithm: oddl,
agents: {{processes: 1}}, inventory: {{mainframe: 'tcp://127.0.0.1:{mainframe}',
registers: 'modbus-tcp://127.0.0.1:{registers}', lines: 'tcp://127.0.0.1:{lines}'}}}}
"""


class Bench(laboratory.Lab):
    """A lab, devices of one's own that it drives, and the light between them: lasers of 0 dBm, through all four stages."""

    def __init__(self, programs, name, fabric=FABRIC):
        self.mainframe = Mainframe()
        self.registers, self.lines, self.lit = AmplifierRegisters(), AmplifierLines(), 0
        self.voa = [self.mainframe.slots[1], self.mainframe.slots[2]]
        self.edfa = [self.registers.amplifier, self.lines.slots[1]]
        self.served = {"voa-0": self.mainframe, "edfa-0": self.registers, "edfa-1": self.lines}
        self.stages = dict(zip(("voa-0", "voa-1", "edfa-0", "edfa-1"), self.voa + self.edfa))
        self.edfa[0].source = lambda: together(DARK_DBM, *self.lit * [-4.0])
        self.voa[0].launch = self.edfa[0].signal
        self.voa[1].launch = lambda: self.voa[0].output() - 13.0
        self.edfa[1].source = self.voa[1].output
        super().__init__(programs, name, fabric=fabric)
        self.scenario.write_text(SCENARIO.format(fabric=self.folder / "fabric.yaml", mainframe=self.mainframe.port,
                                                 registers=self.registers.port, lines=self.lines.port))

    def begin(self, with_revision=True):
        """All are ready; with a job that came and went."""
        self.up("--no-emulators")
        threading.Thread(target=self.follow_light, daemon=True).start()
        ready = wait_until(lambda: all(device["health"] == "ready" for device in self.devices().values()), 10, 0.2)
        if with_revision:
            self.job()
            self.no_job()
        return ready

    def follow_light(self):
        while self.folder.exists():
            with contextlib.suppress(OSError):
                self.lit = len(self.lit_devices(0))
            time.sleep(0.05)

    def devices(self):
        return {device["name"]: device for device in self.json("device", "list").get("devices", [])}

    def set(self, name, *words):
        begin = time.monotonic()
        answer = self.loom("device", "set", name, *words, "--wait", "--timeout", f"{ORDER_S}s", timeout=ORDER_S + 5)
        said = " ".join((answer.stdout + answer.stderr).split())
        return answer.returncode, f"{time.monotonic() - begin:.2f} s, exit {answer.returncode}: {said}"

    def reset(self, name):
        self.loom("device", "reset", name)
        return wait_until(lambda: self.devices()[name]["health"] == "ready", REPAIR_S, 0.2)

    def evidence(self):
        """{(alarm, how often): its words}"""
        return {(row["id"], row["count"]): row["evidence"] for row in self.json("alarm", "list").get("alarms", [])}

    def alarm_of(self, name, known, seconds=ALARM_S):
        begin = time.monotonic()
        found = wait_until(lambda: [words for key, words in self.evidence().items() if key not in known and name in words],
                           seconds, 0.2)
        return "".join(found[:1]), f"{time.monotonic() - begin:.1f} s: {found[:1]}"

    def job(self):
        answer = self.submit("vgg19", 2, "--timeout", "15s")
        wait_until(lambda: answer.returncode or self.lit == 2, 3)
        return answer

    def no_job(self):
        for job in list(self.jobs()):
            self.loom("job", "cancel", job, "--wait")
        wait_until(lambda: self.lit == 0, 5, 0.05)

    def is_lit(self):
        circuits = self.json("circuit", "list").get("circuits", [])
        return len(circuits) == 2 and all(circuit["light"] == "lit" for circuit in circuits) and -10 <= self.received() <= 2

    def received(self):  # dBm of one laser at its receiver
        return self.edfa[1].signal() - 10 * math.log10(max(1, self.lit)) - 5.0


def state(stage):
    return f"{stage.figure.now():.2f} dB, {'on' if stage.passes else 'off'}"


def has(stage, db):  # by the device itself; None: it passes no light
    return not stage.passes if db is None else stage.passes and abs(stage.figure.now() - db) <= NEAR_DB


def judge_moves(ledger, bench, since):
    """By the lasers' own light log."""
    rows, lit = sorted(bench.light(0)), []
    for instant, what in MOVES[since:]:
        if any({device: emits for at, device, emits in rows if at <= instant}.values()):
            lit.append(what)
    ledger.promise("nothing moved under light", not lit, f"{len(MOVES) - since} moves, lit: {lit}")


# --- judges ---------------------------------------------------------------------------------------------------------------

def judge_hand(ledger, programs):
    with Bench(programs, "gains-hand") as bench:
        begun, stages = len(MOVES), bench.stages
        ledger.promise("all devices are ready", bench.begin(False))
        ledger.promise("what is off at power-up stays off until somebody asks for light", len(MOVES) == begun, MOVES)
        code, words = bench.set("voa-0", "gain=-3dB")
        ledger.promise("a gain is set by hand in a lab that had no job yet", code == 0 and has(bench.voa[0], 3), words)
        bench.job()  # a first revision
        bench.no_job()
        for name, db in (("voa-0", 3), ("voa-1", 7.55), ("voa-0", 20), ("voa-0", 0), ("voa-1", 35), ("edfa-0", 14),
                         ("edfa-1", 6.25), ("edfa-0", 25), ("edfa-1", 5)):
            code, words = bench.set(name, f"gain={'-' if name[0] == 'v' else ''}{db}dB")
            ledger.promise(f"{name}: {db} dB by hand, and it passes light and stands when the command says so",
                           code == 0 and has(stages[name], db), f"{state(stages[name])}; {words}")
        reads = {name: bench.devices()[name]["reading"]["gain_db"] for name in stages}
        ledger.promise("`device list` reads what they have", list(reads.values()) == [0, -35, 25, 5], reads)
        for name, stage in stages.items():
            code, words = bench.set(name, "gain=off")
            ledger.promise(f"{name}: gain=off shuts it", code == 0 and has(stage, None), words)
        errors = [*bench.mainframe.errors, *bench.lines.errors]
        ledger.promise("no device was told a word that it does not know", not errors, errors)


def judge_refusals(ledger, programs):
    with Bench(programs, "gains-refusals") as bench:
        bench.begin()
        bench.set("voa-0", "gain=-6dB")
        before, low, high, form = len(MOVES), "-40.00 dB to 0.00 dB", "5.00 dB to 25.00 dB", "gain=-3dB"
        for name, order, wants in (("voa-0", "gain=-50dB", low), ("voa-0", "gain=3dB", low), ("edfa-0", "gain=-3dB", high),
                                   ("edfa-0", "gain=2dB", high), ("edfa-1", "gain=30dB", high), ("voa-0", "gain=-3", form),
                                   ("voa-0", "gain=nandB", form), ("voa-0", "loss=3dB", form)):
            code, words = bench.set(name, order)
            told = code in (2, 3) and name in words and wants in words
            ledger.promise(f"{name} {order} is refused, and told what it may be", told, words)
        ledger.promise("nothing has moved by that", len(MOVES) == before, MOVES[before:])
        code, words = bench.set("voa-1", "gain=-3.125dB")
        ledger.promise("a third decimal is taken, or told to be one too many", code == 0 or "0.01" in words, words)
        code, words = bench.set("voa-0", "gain=-38dB")
        ledger.promise("what the device itself refuses (35 dB are its most) is told in its own words", code == 3
                       and "voa-0" in words and "Data out of range" in words, words)
        ledger.promise("... and it is what it was", wait_until(lambda: has(bench.voa[0], 6), 5), state(bench.voa[0]))
        left = wait_until(lambda: not bench.mainframe.errors, 5) or f"{len(bench.mainframe.errors)} are left"
        ledger.promise("... and its queue of errors was emptied", left is True, left)
        code, words = bench.set("voa-0", "gain=-9dB")
        ledger.promise("an order to a device that gave up is refused or carried out, and not merely taken",
                       (code == 0) == has(bench.voa[0], 9), f"{state(bench.voa[0])}; {words}")
        bench.reset("voa-0")
        ledger.promise("after `device reset` it has what was asked for last",
                       wait_until(lambda: has(bench.voa[0], 9), REPAIR_S), state(bench.voa[0]))


def judge_job(ledger, programs):
    with Bench(programs, "gains-job") as bench:
        bench.begin(False)
        since, answer = len(MOVES), bench.job()
        ledger.promise("a job brings all four stages on, and light within what receivers read", answer.returncode == 0
                       and all(has(voa, 0) for voa in bench.voa) and all(has(edfa, 12) for edfa in bench.edfa)
                       and wait_until(bench.is_lit, 5, 0.2), f"{bench.received():.2f} dBm {answer.stderr}")
        code, words = bench.set("voa-1", "gain=-3dB")
        ledger.promise("by hand under light is refused, with the circuits", code == 3 and "circuit" in words, words)
        time.sleep(6)  # three rounds of audits
        ledger.promise("with noise and late sensors nothing is alarmed", not bench.evidence() and bench.is_lit())
        bench.no_job()
        bench.set("voa-1", "gain=-12dB")
        answer = bench.job()
        ledger.promise("a stage by hand takes 12 dB more: others, which have 13 dB to give each, bring a job to light",
                       answer.returncode == 0, answer.stderr.strip())
        bench.no_job()
        bench.set("voa-1", "gain=-22dB")
        bench.set("edfa-1", "gain=25dB")
        known, answer = bench.evidence(), bench.job()
        alarm, words = bench.alarm_of("edfa-1", known, 10)
        ledger.promise("an amplifier with 2 dB of its own emission beside a weak input is not at fault",
                       answer.returncode == 0 and not alarm, f"sound, input -26 dBm; {words}")
        judge_moves(ledger, bench, since)
    with Bench(programs, "gains-level", FABRIC.replace("gain: 12 dB", "gain: 16 dB")) as bench:
        bench.begin(False)
        answer = bench.job()
        ledger.promise("light that is 6 dB too strong by the fabric's figures is levelled",
                       wait_until(bench.is_lit, 5, 0.2), f"{bench.received():.2f} dBm {answer.stderr}")


def judge_stuck(ledger, bench):
    for fault, before, order in (("shut", "gain=off", "gain=-3dB"), ("sticks", "gain=-5dB", "gain=-9dB")):
        bench.set("voa-0", before)
        known = bench.evidence()
        bench.mainframe.faults.add(fault)
        code, words = bench.set("voa-0", order)
        ledger.promise(f"{fault}: the order fails, and the device is named", code == 3 and "voa-0" in words, words)
        ledger.promise(f"{fault}: an error that it queued for this is quoted, and none that it queued before",
                       ("Hardware error" in words) == (fault == "shut"), words)
        alarm, words = bench.alarm_of("voa-0", known)
        ledger.promise(f"{fault}: an alarm names it", alarm, words)
        bench.mainframe.faults.clear()
        bench.reset("voa-0")
        code, words = bench.set("voa-0", "gain=-5dB")
        ledger.promise(f"{fault}: healed and reset, it obeys", code == 0 and has(bench.voa[0], 5), words)


def judge_slow(ledger, bench):
    for name, device in bench.served.items():
        device.delay_s = 0.3
        code, words = bench.set(name, f"gain={'-' if name == 'voa-0' else ''}8dB")
        time.sleep(3)
        fault = bench.devices()[name]["fault"]
        done = code == 0 and has(bench.stages[name], 8) and not fault
        ledger.promise(f"{name} that answers after 300 ms obeys, and has not failed", done, f"{words} {fault}")
        device.delay_s, device.is_mute, known = 0.0, True, bench.evidence()
        alarm, words = bench.alarm_of(name, known)
        ledger.promise(f"{name} that answers nothing is alarmed by name", alarm, words)
        device.is_mute = False
        ready = wait_until(lambda: bench.devices()[name]["health"] == "ready", REPAIR_S, 0.2)
        ledger.promise("... and is ready once it answers", ready, bench.devices()[name]["fault"])
        bench.set(name, "--clear")


def judge_faults(ledger, programs):
    with Bench(programs, "gains-faults") as bench:
        bench.begin()
        judge_stuck(ledger, bench)
        judge_slow(ledger, bench)
        bench.set("voa-0", "--clear")
        for number, name in enumerate(("edfa-0", "edfa-1")):
            bench.job()
            wait_until(bench.is_lit, 5, 0.2)
            known, bench.edfa[number].aged_db = bench.evidence(), 3.0
            alarm, words = bench.alarm_of(name, known)
            ledger.promise(f"{name} that gives 3 dB less than it says is alarmed by name", alarm, words)
            ledger.promise("... with the gain that is wanted and the one that its light shows",
                           len(re.findall(r"\d+\.\d+ dB", alarm or "")) > 1, alarm)
            bench.edfa[number].aged_db = 0.0
            bench.reset(name)
            ledger.promise("... healed and reset, all is lit", wait_until(
                lambda: bench.is_lit() and bench.devices()[name]["drift"] == "none", REPAIR_S, 0.3), bench.devices()[name])
            bench.no_job()


def judge_power(ledger, programs):
    with Bench(programs, "gains-power") as bench:
        bench.begin()
        bench.set("voa-0", "gain=-4dB")
        since = len(MOVES)
        for light in ("dark", "lit"):
            if light == "lit":
                ledger.promise("a job is lit", bench.job().returncode == 0 and wait_until(bench.is_lit, 5, 0.2))
            for name, device in bench.served.items():
                known, stage, db = bench.evidence(), bench.stages[name], 4 if name == "voa-0" else 12
                device.power_off()
                alarm, words = bench.alarm_of(name, known, 10)
                ledger.promise(f"{name}, {light}: that its power is cut is alarmed by name", alarm, words)
                device.power_on()
                begin, off = time.monotonic(), has(stage, None)
                back = wait_until(lambda: has(stage, db), REPAIR_S, 0.05)
                ledger.promise(f"{name}, {light}: it was off at power-up, and has what it had", off and back,
                               f"{time.monotonic() - begin:.1f} s")
                ledger.promise("... and so has the light", light == "dark" or wait_until(bench.is_lit, REPAIR_S, 0.2),
                               f"{time.monotonic() - begin:.1f} s, {bench.received():.1f} dBm, {bench.lit} lasers")
        judge_moves(ledger, bench, since)


if __name__ == "__main__":
    laboratory.LIMIT_S = 300  # two minutes where nothing else runs
    parts = sys.argv[2:] or ("hand", "refusals", "job", "faults", "power")
    laboratory.main(lambda ledger, programs: [globals()[f"judge_{part}"](ledger, programs) for part in parts])
