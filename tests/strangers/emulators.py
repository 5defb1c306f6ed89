#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""emulators.py FOLDER PART...: emulators, judged by clients that others wrote and by one written from docs/devices.md alone.

modbus  pymodbus over TCP and as RTU over the pseudo terminal
scpi    pyvisa-py and lxi-tools, and nc for one line that closes its side at once
itla    frames encoded here from the page's description: vectors, lighting a laser, tuning it, over TCP and a terminal
noise   100,000 bytes of noise at each emulator, which answers afterwards
faults  the menu: what each fault looks like from outside, and the sentence of one that does not apply

Each ends what it started. A client that is not installed is named; without any, the part is skipped (77).
"""
import os
import pathlib
import random
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SKIP = 77
PATIENCE_S = 30
GAP_S = 0.25  # silence after which a client tries again


class Ledger:
    broken = 0
    judged = 0

    def promise(self, text, kept, detail=""):
        print(f"{'kept' if kept else 'broken'}: {text}{f': {detail}' if detail and not kept else ''}", flush=True)
        self.broken += not kept
        self.judged += 1

    def absent(self, package):
        print(f"note: {package} is not installed and judges nothing (apt install {package})", flush=True)


ledger = Ledger()


class Emulator:
    """A process of its own on any free port or terminal."""

    def __init__(self, kind, *options, pty=False):
        place = ["--pty"] if pty else ["--port", "0"]
        self.process = subprocess.Popen([PROGRAM, kind, *place, *options], stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        assert words and words[0] == ("pty" if pty else "port"), words
        self.path = words[1] if pty else None
        self.port = None if pty else int(words[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)

    def is_alive(self):
        return self.process.poll() is None


class Wire:
    """Bytes to an emulator over either transport."""

    def __init__(self, emulator):
        if emulator.path:
            self.fd = os.open(emulator.path, os.O_RDWR | os.O_NOCTTY)
            self.socket = None
        else:
            self.socket = socket.create_connection(("127.0.0.1", emulator.port))
            self.fd = self.socket.fileno()
        os.set_blocking(self.fd, False)

    def close(self):
        self.socket.close() if self.socket else os.close(self.fd)

    def write(self, data):
        """All of it, while whatever comes back is read and forgotten."""
        until = time.monotonic() + PATIENCE_S
        while data and time.monotonic() < until:
            ready, able, _ = select.select([self.fd], [self.fd], [], 1)
            if ready:
                self.take()
            if able:
                try:
                    data = data[os.write(self.fd, data[:4096]):]
                except (BlockingIOError, InterruptedError):
                    pass
        return not data

    def take(self):
        try:
            return os.read(self.fd, 65536)
        except (BlockingIOError, InterruptedError):
            return b""

    def read(self, count=None, end=None, patience=GAP_S):
        """Until count bytes or an end are there, or nothing has come for `patience`."""
        got = b""
        while not ((count is not None and len(got) >= count) or (end is not None and got.endswith(end))):
            if not select.select([self.fd], [], [], patience)[0]:
                break
            part = self.take()
            if not part:
                break
            got += part
        return got


# --- ITLA, from docs/devices.md ------------------------------------------------------------------------------------------------


def bip4(frame):
    """The exclusive or of all eight nibbles but the checksum's own."""
    nibbles = [frame[0] & 15] + [nibble for byte in frame[1:] for nibble in (byte >> 4, byte & 15)]
    result = 0
    for nibble in nibbles:
        result ^= nibble
    return result


def itla_frame(register, data=0, write=False):
    frame = bytearray([1 if write else 0, register, data >> 8 & 255, data & 255])
    frame[0] |= bip4(frame) << 4
    return bytes(frame)


class Itla:
    def __init__(self, emulator):
        self.wire = Wire(emulator)

    def ask(self, register, data=0, write=False, tries=20):
        """(status, data) of a sound response about this register; what is on the line from before is read away."""
        for _ in range(tries):
            self.wire.write(itla_frame(register, data, write))
            response = self.wire.read(4)
            sound = len(response) == 4 and response[0] >> 4 == bip4(response) and response[1] == register
            if sound and not response[0] & 8:
                return response[0] & 3, response[2] << 8 | response[3]
            self.wire.read(patience=GAP_S)
        return None, None

    def until(self, fact):
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if fact():
                return True
        return False


def itla_part():
    for text, frame in (("NOP", itla_frame(0)), ("output on", itla_frame(0x32, 8, True)),
                        ("10.00 dBm", itla_frame(0x31, 1000, True)), ("193 THz", itla_frame(0x35, 193, True)),
                        ("100.0 GHz", itla_frame(0x36, 1000, True)), ("channel 1", itla_frame(0x30, 1, True))):
        page = {"NOP": "00000000", "output on": "81320008", "10.00 dBm": "613103E8", "193 THz": "A13500C1",
                "100.0 GHz": "113603E8", "channel 1": "31300001"}[text]
        ledger.promise(f"the frame of '{text}' is the page's vector", frame.hex().upper() == page, frame.hex())
    for pty in (False, True):
        over = "a terminal" if pty else "TCP"
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "laser.light"
            with Emulator("itla", "--retune-us", "20000", "--light-log", str(log), pty=pty) as emulator:
                laser = Itla(emulator)
                ledger.promise(f"ITLA over {over}: ready", laser.ask(0) == (0, 0x10))
                ledger.promise(f"ITLA over {over}: power, then channel", laser.ask(0x31, 1000, True)[0] == 0)
                status, _ = laser.ask(0x30, 9, True)
                ledger.promise(f"ITLA over {over}: tuning is pending or done", status in (0, 3), status)
                ledger.promise(f"ITLA over {over}: nothing is pending in the end",
                               laser.until(lambda: laser.ask(0)[1] == 0x10))
                ledger.promise(f"ITLA over {over}: output on", laser.ask(0x32, 8, True)[0] in (0, 3))
                ledger.promise(f"ITLA over {over}: 10 dBm come out", laser.until(lambda: laser.ask(0x42)[1] == 1000))
                at = tuple(laser.ask(register)[1] for register in (0x40, 0x41, 0x68))
                ledger.promise(f"ITLA over {over}: at channel 9, 191.750 THz", at == (191, 7500, 0), at)
                ledger.promise(f"ITLA over {over}: an unknown register is an execution error", laser.ask(0x7E)[0] == 1)
                ledger.promise(f"ITLA over {over}: ... which NOP names, once",
                               (laser.ask(0)[1] & 15, laser.ask(0)[1] & 15) == (1, 0))
                ledger.promise(f"ITLA over {over}: output off", laser.ask(0x32, 0, True)[0] == 0)
                ledger.promise(f"ITLA over {over}: dark", laser.until(lambda: laser.ask(0x42)[1] != 1000))
                lit = [line.split() for line in log.read_text().splitlines() if line.split()[3:5] == ["laser", "1"]]
                ledger.promise(f"ITLA over {over}: the light log has that light", bool(lit) and lit[-1][5:] == ["191750000", "1000"],
                               lit)


# --- Modbus, by pymodbus -------------------------------------------------------------------------------------------------------


def modbus_client(emulator, client):
    def value(address, count=1, unit=1):
        reply = client.read_holding_registers(address, count, slave=unit)
        return reply.exception_code if reply.isError() and hasattr(reply, "exception_code") else getattr(reply, "registers", None)

    over = "RTU" if emulator.path else "TCP"
    ledger.promise(f"pymodbus over {over} connects", client.connect())
    ledger.promise(f"pymodbus over {over}: all off", value(0, 8) == [0] * 8)
    client.write_registers(2, [1000, 2000, 3000], slave=1)
    client.write_register(0, 10000, slave=1)
    ledger.promise(f"pymodbus over {over}: what was written is read", value(0, 8) == [10000, 0, 1000, 2000, 3000, 0, 0, 0],
                   value(0, 8))
    ledger.promise(f"pymodbus over {over}: version 1.00", value(0x8000) == [0x64], value(0x8000))
    reply = client.write_register(1, 10001, slave=1)
    ledger.promise(f"pymodbus over {over}: 10.001 V is exception 3", getattr(reply, "exception_code", 0) == 3, reply)
    ledger.promise(f"pymodbus over {over}: no ninth channel, exception 2", value(8) == 2, value(8))
    reply = client.read_coils(0, 1, slave=1)
    ledger.promise(f"pymodbus over {over}: no coils, exception 1", getattr(reply, "exception_code", 0) == 1, reply)
    if not emulator.path:
        ledger.promise("pymodbus over TCP: no such unit, exception 11", value(0, 1, 9) == 11, value(0, 1, 9))
    client.close()


def table_laser_client(connect):
    """The register map of docs/devices.md, Table laser."""
    with Emulator("table-laser", "--retune-us", "10", "--trigger") as emulator:
        client = connect(emulator)

        def words(address, count):
            return getattr(client.read_holding_registers(address, count, slave=1), "registers", None)

        ledger.promise("pymodbus at a table laser: dark, no channel", client.connect() and words(0, 2) == [0, 0], words(0, 6))
        client.write_registers(0, [1, 9, 1000], slave=1)
        ledger.promise("pymodbus at a table laser: tuned and emitting at channel 9, 10 dBm",
                       wait(lambda: words(0, 6) == [1, 9, 1000, 3, 0, 1000]), words(0, 6))
        client.write_registers(6, [1, 20, 1000], slave=1)
        ledger.promise("pymodbus at a table laser: what waits changes nothing", words(1, 1) == [9], words(0, 6))
        client.write_register(9, 1, slave=1)
        ledger.promise("pymodbus at a table laser: the trigger takes it over",
                       wait(lambda: words(0, 6) == [1, 20, 1000, 3, 0, 1000]), words(0, 6))
        reply = client.write_register(1, 97, slave=1)
        ledger.promise("pymodbus at a table laser: no channel 97, exception 3", getattr(reply, "exception_code", 0) == 3, reply)
        client.write_register(0, 0, slave=1)
        ledger.promise("pymodbus at a table laser: dark again", wait(lambda: words(3, 1) == [1]), words(0, 6))
        client.close()


def photodiode_client(connect):
    """4095 counts are 2 mA at 0.95 A/W: -3 dBm (0.501 mW) is 975 of them, but for noise."""
    with Emulator("photodiode", "--channels", "4", "--dbm", "-3") as emulator:
        client = connect(emulator)
        ledger.promise("pymodbus at photodiodes connects", client.connect())
        counts = getattr(client.read_input_registers(0, 4, slave=1), "registers", [])
        ledger.promise("pymodbus at photodiodes: four of -3 dBm", len(counts) == 4 and all(900 < count < 1050 for count in counts),
                       counts)
        reply = client.read_input_registers(4, 1, slave=1)
        ledger.promise("pymodbus at photodiodes: no fifth, exception 2", getattr(reply, "exception_code", 0) == 2, reply)
        client.close()


def gain_client(connect):
    """The register map of docs/devices.md, Gain stages: -10 dBm into an amplifier of 12 dB."""
    with Emulator("gain-registers", "--amplifier", "--settle-ms", "20", "--dbm", "-10") as emulator:
        client = connect(emulator)

        def words(address, count):
            return getattr(client.read_holding_registers(address, count, slave=1), "registers", None)

        def signed(word):
            return word - 65536 if word > 32767 else word

        ledger.promise("pymodbus at an amplifier: off", client.connect() and words(0, 2) == [0, 0], words(0, 6))
        client.write_registers(0, [1, 1200], slave=1)
        ledger.promise("pymodbus at an amplifier: 12 dB, standing", wait(lambda: words(0, 4) == [1, 1200, 0, 1200]), words(0, 6))
        powers = [signed(word) for word in words(4, 2) or [0, 0]]
        ledger.promise("pymodbus at an amplifier: -10 dBm in, 2 dBm out", powers == [-1000, 200], powers)
        reply = client.write_register(1, 3001, slave=1)
        ledger.promise("pymodbus at an amplifier: no 30.01 dB, exception 3", getattr(reply, "exception_code", 0) == 3, reply)
        reply = client.write_register(3, 0, slave=1)
        ledger.promise("pymodbus at an amplifier: its state is read only", getattr(reply, "exception_code", 0) == 2, reply)
        client.write_register(0, 0, slave=1)
        ledger.promise("pymodbus at an amplifier: off again, and dark behind it",
                       wait(lambda: words(0, 1) == [0] and signed(words(5, 1)[0]) <= -4000), words(0, 6))
        client.close()


def modbus_part():
    try:
        import logging

        from pymodbus.client import ModbusSerialClient, ModbusTcpClient
        logging.getLogger("pymodbus").setLevel(logging.CRITICAL)
    except ImportError:
        ledger.absent("python3-pymodbus")
        return
    table_laser_client(lambda emulator: ModbusTcpClient("127.0.0.1", port=emulator.port, timeout=5))
    photodiode_client(lambda emulator: ModbusTcpClient("127.0.0.1", port=emulator.port, timeout=5))
    gain_client(lambda emulator: ModbusTcpClient("127.0.0.1", port=emulator.port, timeout=5))
    with Emulator("heater") as emulator:
        modbus_client(emulator, ModbusTcpClient("127.0.0.1", port=emulator.port, timeout=5))
    with Emulator("heater", pty=True) as emulator:
        modbus_client(emulator, ModbusSerialClient(emulator.path, baudrate=115200, timeout=5))


# --- SCPI and lines ------------------------------------------------------------------------------------------------------------


def scpi_part():
    with Emulator("ocs", "--settle-us", "1000", "--serial", "N7-1") as emulator:
        try:
            import pyvisa
            manager = pyvisa.ResourceManager("@py")
            switch = manager.open_resource(f"TCPIP0::127.0.0.1::{emulator.port}::SOCKET", read_termination="\n",
                                           write_termination="\n", timeout=10000)
            ledger.promise("pyvisa-py: *IDN? says maker and serial number", switch.query("*IDN?").startswith("Polatis,")
                           and "N7-1" in switch.query("*idn?"))
            ledger.promise("pyvisa-py: 16 by 16", switch.query(":OXC:SWITch:SIZE?") == "16,16")
            switch.write(":oxc:swit:conn:add (@1,2),(@17,18)")
            ledger.promise("pyvisa-py: the map is what was set", switch.query("*opc?") == "1" and wait(
                lambda: switch.query(":oxc:swit:conn:stat?") == "(@1,2),(@17,18)"))
            switch.write(":nonsense 1")
            ledger.promise("pyvisa-py: an undefined header is -113", switch.query(":syst:err?").startswith("-113"))
            switch.close()
        except ImportError:
            ledger.absent("python3-pyvisa-py")
        if shutil.which("lxi"):
            said = subprocess.run(["lxi", "scpi", "--address", "127.0.0.1", "--port", str(emulator.port), "--raw", "*idn?"],
                                  capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            ledger.promise("lxi scpi --raw: *idn?", said.stdout.startswith("Polatis,"), said)
        else:
            ledger.absent("lxi-tools")
        nc_one_shot(emulator, "*idn?\n", "Polatis,")
    with Emulator("powermeter", "--dbm", "-3") as emulator:
        try:
            import pyvisa
            meter = pyvisa.ResourceManager("@py").open_resource(f"TCPIP0::127.0.0.1::{emulator.port}::SOCKET",
                                                                read_termination="\n", write_termination="\n", timeout=10000)
            ledger.promise("pyvisa-py at a power meter: -3 dBm", abs(float(meter.query("READ?")) + 3) < 0.5)
            ledger.promise("pyvisa-py at a power meter: no error", meter.query(":SYST:ERR?").startswith("0"))
            meter.close()
        except ImportError:
            ledger.absent("python3-pyvisa-py")
    with Emulator("gain-lines", "--settle-ms", "50") as emulator:
        try:
            import pyvisa
            stage = pyvisa.ResourceManager("@py").open_resource(f"TCPIP0::127.0.0.1::{emulator.port}::SOCKET",
                                                                read_termination="\n", write_termination="\n", timeout=10000)
            # As public clients of Keysight's attenuators have it, short and long.
            stage.write(":INPut1:ATTenuation 3.25")
            stage.write("outp1 ON")
            ledger.promise("pyvisa-py at an attenuator: 3.25 dB, open", stage.query("*OPC?") == "1" and wait(
                lambda: abs(float(stage.query(":INP1:ATT?")) - 3.25) < 0.01 and stage.query(":OUTPut1:STATe?") == "1"))
            stage.write(":INP1:ATT 30.5")
            ledger.promise("pyvisa-py at an attenuator: 30.5 dB is out of range", stage.query(":SYSTem:ERRor?").startswith("-222"))
            stage.write(":INP2:ATT 3")
            ledger.promise("pyvisa-py at an attenuator: there is no second", stage.query(":SYST:ERR?").startswith("-113"))
            stage.close()
        except ImportError:
            ledger.absent("python3-pyvisa-py")
    lines_part()
    with Emulator("wss", "--settle-us", "1000", "--baud", "1000000", "--serial", "SN4711") as emulator:
        nc_one_shot(emulator, "SNO?\r\n", "SN4711\nOK")


def lines_part():
    """Electronics of heaters, and TL1, as their makers' manuals have it; docs/devices.md names them."""
    with Emulator("heater", "--dialect", "qontrol", "--bank-channels", "8") as emulator:
        for line, expected in (("NCHAN?\n", "8"), ("V3=2.5\n", "OK"), ("V9=1\n", "E12:09"), ("nonsense\n", "E10")):
            nc_one_shot(emulator, line, expected)
        volts = nc_answer(emulator, "V3?\n").split()
        ledger.promise("qontrol: channel 3 measures what it was set to", len(volts) == 2 and volts[1] == "V"
                       and abs(float(volts[0]) - 2.5) < 0.01, volts)
    with Emulator("heater", "--dialect", "nicslab", "--bank-channels", "8") as emulator:
        ledger.promise("nicslab: what is set is not answered", nc_answer(emulator, "CH:3:VOLT:2.5\n") == "")
        said = nc_answer(emulator, "CH:3:VAL?\n").split(":")
        ledger.promise("nicslab: channel 3 measures what it was set to", len(said) == 5 and said[:3] == ["CH", "3", "VAL"]
                       and abs(float(said[3]) - 2.5) < 0.01, said)
    with Emulator("ocs", "--dialect", "calient-tl1", "--size", "4x4", "--settle-us", "1000") as emulator:
        said = nc_answer(emulator, "ent-crs-fiber::10001,20002:7:;")
        ledger.promise("TL1: a cross-connect is completed", "M  7 COMPLD" in said, said)
        said = nc_answer(emulator, "rtrv-crs-fiber::all:8:;")
        ledger.promise("TL1: ... and read by another client", "M  8 COMPLD" in said and "10001" in said and "20002" in said, said)


def wait(fact):
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if fact():
            return True
    return False


def nc_answer(emulator, line):
    if not shutil.which("nc"):
        return ""
    return subprocess.run(["nc", "-N", "127.0.0.1", str(emulator.port)], input=line, capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False).stdout


def nc_one_shot(emulator, line, expected):
    if not shutil.which("nc"):
        ledger.absent("netcat-openbsd")
        return
    said = nc_answer(emulator, line)
    ledger.promise(f"nc -N: {line.strip()} is answered though the client has closed its side", said.startswith(expected), said)


# --- noise ---------------------------------------------------------------------------------------------------------------------

ALIVE = {"itla": (itla_frame(0), lambda reply: len(reply) == 4 and reply[1] == 0 and bip4(reply) == reply[0] >> 4),
         "ocs": (b"*idn?\n", lambda reply: reply.startswith(b"Polatis")),
         "wss": (b"SNO?\r\n", lambda reply: reply.endswith(b"OK\r\n")),
         "heater": (bytes.fromhex("000100000006010300000001"), lambda reply: reply == bytes.fromhex("00010000000501030200 00")),
         "table-laser": (bytes.fromhex("000100000006010300000001"), lambda reply: reply == bytes.fromhex("00010000000501030200 00")),
         "photodiode": (bytes.fromhex("000100000006010400000001"), lambda reply: reply[:9] == bytes.fromhex("000100000005010402")),
         "gain-registers": (bytes.fromhex("000100000006010300000001"), lambda reply: reply[:9] == bytes.fromhex("000100000005010302")),
         "gain-lines": (b"*IDN?\n", lambda reply: reply.startswith(b"Lightloom,")),
         "powermeter": (b"*IDN?\n", lambda reply: reply.startswith(b"Lightloom,")),
         "waveshaper": (b"GET /waveshaper/devinfo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                        lambda reply: reply.startswith(b"HTTP/1.1 200")),
         "qontrol": (b"NCHAN?\n", lambda reply: reply == b"8\n"),
         "nicslab": (b"CH:1:VAL?\n", lambda reply: reply.startswith(b"CH:1:VAL:")),
         "calient-tl1": (b"rtrv-crs-fiber::all:8:;", lambda reply: b"M  8 COMPLD" in reply),
         "heater-rtu": (bytes.fromhex("010300000001840A"), lambda reply: reply == bytes.fromhex("0103020000B844"))}


def answers(emulator, question, is_answer):
    """A client of its own, which is patient: what noise left on a line is read away first."""
    until = time.monotonic() + PATIENCE_S
    got = b""
    while time.monotonic() < until and not is_answer(got):
        wire = Wire(emulator)
        try:
            wire.read(patience=GAP_S)
            wire.write(question)
            got = wire.read(end=b"\xff" * 32)
        except OSError:  # it boots
            pass
        wire.close()
    return is_answer(got), got


def noise_part():
    seed = int(os.environ.get("LIGHTLOOM_SEED", "17"))
    print(f"note: noise of seed {seed}", flush=True)
    for kind, pty in (("itla", False), ("itla", True), ("ocs", False), ("ocs", True), ("wss", False), ("wss", True),
                      ("heater", False), ("heater", True), ("table-laser", False), ("photodiode", False), ("powermeter", False),
                      ("gain-registers", False), ("gain-lines", False), ("gain-lines", True),
                      ("waveshaper", False), ("qontrol", False), ("qontrol", True), ("nicslab", False), ("calient-tl1", False)):
        program = {"qontrol": "heater", "nicslab": "heater", "calient-tl1": "ocs"}.get(kind, kind)
        options = ["--baud", "1000000"] if program in ("itla", "wss", "heater", "table-laser") else []
        options += ["--dialect", kind] if program != kind else []
        with Emulator(program, *options, pty=pty) as emulator:
            noise = random.Random(seed).randbytes(100_000)
            wire = Wire(emulator)
            try:
                whole = wire.write(noise)
            except OSError:  # a connection on which no frame can follow is dropped
                whole = True
            try:
                wire.close()
            except OSError:
                pass
            over = "a terminal" if pty else "TCP"
            question, is_answer = ALIVE["heater-rtu" if (kind, pty) == ("heater", True) else kind]
            good, got = answers(emulator, question, is_answer)
            ledger.promise(f"{kind} over {over} takes 100,000 bytes of noise and answers afterwards",
                           whole and good and emulator.is_alive(), (whole, got[:40].hex()))


# --- the menu ------------------------------------------------------------------------------------------------------------------


def refused(kind, fault):
    run = subprocess.run([PROGRAM, kind, "--port", "0", "--fault", fault], capture_output=True, text=True, timeout=PATIENCE_S,
                         check=False)
    return run.returncode == 1, run.stderr.strip()


def faults_part():
    for kind, fault, words in (("itla", "wss-stuck", "expected a device that can have wss-stuck: wavelength_switch"),
                               ("wss", "stuck-pending", "transmitter, circuit_switch"), ("ocs", "bus-crc", "expected a device"),
                               ("heater", "late", "late needs a value"), ("heater", "heater-open=8", "has 8"),
                               ("itla", "silent=0%", "expected 1% to 100%"), ("itla", "nonsense", "there is no fault 'nonsense'"),
                               ("itla", "late=20", "late=20:"), ("ocs", "silent,often=3", "expected times=, after= or lasts=")):
        code, said = refused(kind, fault)
        ledger.promise(f"{kind} --fault {fault} is refused in a sentence", code and words in said and "\n" not in said, said)
    with Emulator("itla", "--fault", "silent") as emulator:
        ledger.promise("silent: nothing is said", Itla(emulator).ask(0, tries=1) == (None, None))
    with Emulator("itla", "--fault", "late=300ms,times=1") as emulator:
        wire = Wire(emulator)
        begun = time.monotonic()
        wire.write(itla_frame(0))
        reply = wire.read(4, patience=5)
        ledger.promise("late: the answer comes 300 ms late", len(reply) == 4 and time.monotonic() - begun >= 0.3)
    with Emulator("itla", "--fault", "damaged=50%", "--seed", "3") as emulator:
        laser, sound, broken = Itla(emulator), 0, 0
        for _ in range(40):
            laser.wire.write(itla_frame(0))
            reply = laser.wire.read(4)
            good = len(reply) == 4 and bip4(reply) == reply[0] >> 4
            sound, broken = sound + good, broken + (not good)
        ledger.promise("damaged: half of the answers fail their check", sound > 5 and broken > 5, (sound, broken))
    with Emulator("itla", "--fault", "bus-crc", "--seed", "3") as emulator:
        laser, unread = Itla(emulator), 0
        for _ in range(20):
            laser.wire.write(itla_frame(0))
            reply = laser.wire.read(4)
            unread += len(reply) == 4 and bip4(reply) == reply[0] >> 4 and bool(reply[0] & 8)
        ledger.promise("bus-crc: some requests are answered with CE", 0 < unread < 20, unread)
    with Emulator("itla", "--fault", "stuck-pending", "--retune-us", "1000") as emulator:
        laser = Itla(emulator)
        laser.ask(0x30, 9, True)
        ledger.promise("stuck-pending: it goes on tuning", all(laser.ask(0)[1] & 0xFF00 for _ in range(50)))
    with Emulator("itla", "--fault", "laser-stuck") as emulator:
        laser = Itla(emulator)
        ledger.promise("laser-stuck: it says yes, and nothing changes",
                       laser.ask(0x30, 9, True)[0] == 0 and laser.ask(0x30) == (0, 1))
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "laser.light"
        with Emulator("itla", "--retune-us", "1000", "--light-log", str(log), "--fault", "wrong-channel") as emulator:
            laser = Itla(emulator)
            laser.ask(0x31, 1000, True)
            laser.ask(0x32, 8, True)
            laser.until(lambda: laser.ask(0x42)[1] == 1000)
            at = (laser.ask(0x40)[1], laser.ask(0x41)[1])
            lit = [line.split()[5] for line in log.read_text().splitlines() if line.split()[3:5] == ["laser", "1"]]
            ledger.promise("wrong-channel: it says 191.350 THz and emits 191.400", at == (191, 3500) and lit[-1:] == ["191400000"],
                           (at, lit))
    with Emulator("heater", "--fault", "reboot-mid-command=50ms", "--boot-ms", "50") as emulator:
        wire = Wire(emulator)
        wire.write(bytes.fromhex("000100000006 0106 0000 03E8"))
        lost = wire.read(12, patience=5) == b""
        wire.close()
        good, got = answers(emulator, *ALIVE["heater"])
        ledger.promise("reboot-mid-command: no answer, and afterwards nothing is set", lost and good, (lost, got.hex()))


PARTS = {"modbus": modbus_part, "scpi": scpi_part, "itla": itla_part, "noise": noise_part, "faults": faults_part}

if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve() / "lightloom-emulate")
    for part in sys.argv[2:] or PARTS:
        PARTS[part]()
    sys.exit(1 if ledger.broken else 0 if ledger.judged else SKIP)
