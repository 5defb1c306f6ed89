#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""rings.py FOLDER [laws|leases]: what `loom device calibrate` found, judged by light of one's own (docs/wire.md).

Eight simulated rings stand up to a nanometre beside their fabric's figures. After a calibration this judge lights one
transmitter at a time (ProbeLight), steps the heater of one ring, reads the receiver behind its drop, and finds the voltage
at which most light drops: a ring's drop is a Lorentzian and heat goes with V^2, so 1/power is a parabola over V^2, whose
vertex is looked for by weighted least squares. The printed law only says which part of the range is worth steps; in each
bank a survey of all that one ring's heater can do says whether anything higher stands elsewhere. Then the vertex is
compared with the law.
"""
import math
import sys
import time

import lab as laboratory
from lab import wait_until
from peer import ROOT, error_name, query, values, wire

SCENARIO = ROOT / "configs" / "examples" / "rings_4.yaml"
BANKS = 4
ALLOWED_GHZ = 2.0       # the law against light; rings are 100 GHz wide, and may be 12.5 GHz off in use
STEPS_GHZ = (-60, -42, -24, -8, 8, 24, 42, 60)   # beside the place that is looked at
SURVEY_GHZ = 45.0       # less than half a width: no peak lies between two steps
LOOK_S = 5              # for a commit and a reading after it
DARK_S = 3              # for light to go out after it was asked to
LEASE_S = 3
LEASE_LATE_S = 2.5      # a plan and a commit on a machine that compiles beside it; the figure itself is printed
STANDING_THZ, STEP_GHZ = 193.1, 6.25             # ITU-T G.694.1, as values.proto has it


# --- arithmetic -----------------------------------------------------------------------------------------------------------

def frequency_ghz(slot):
    return STANDING_THZ * 1000 + slot.slot_n * STEP_GHZ


def solve(matrix, right):
    """Gauss, with pivots; the columns of right."""
    size = len(matrix)
    rows = [list(map(float, a)) + list(map(float, b)) for a, b in zip(matrix, right)]
    for i in range(size):
        best = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[best] = rows[best], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(size):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i])]
    return [row[size:] for row in rows]


class Peak:
    """The vertex of 1/power over V^2: at (V^2), its standard error, half a width, and what the fit misses of a power."""

    def __init__(self, points):
        top = max(power for _, power in points)
        middle = sum(u for u, _ in points) / len(points)
        scale = max(abs(u - middle) for u, _ in points)
        rows = [((u - middle) / scale, power / top) for u, power in points]
        # Noise of a photodiode is the same at every power, so that of 1/p goes with 1/p^2, and its weight with p^4.
        normal = [[sum(p ** 4 * x ** (i + j) for x, p in rows) for j in range(3)] for i in range(3)]
        right = [sum(p ** 4 * x ** i / p for x, p in rows) for i in range(3)]
        inverse = solve(normal, [[float(i == j) for j in range(3)] for i in range(3)])
        a, b, c = (sum(inverse[i][j] * right[j] for j in range(3)) for i in range(3))
        misses = [p * p * (1 / p - a - b * x - c * x * x) for x, p in rows]
        variance = sum(m * m for m in misses) / max(1, len(rows) - 3)
        slopes = [0.0, -1 / (2 * c), b / (2 * c * c)]
        spread = sum(slopes[i] * inverse[i][j] * slopes[j] for i in range(3) for j in range(3))
        self.upright = c > 0
        self.at = middle - scale * b / (2 * c)
        self.error = scale * math.sqrt(max(0.0, variance * spread))
        least = a - b * b / (4 * c)
        self.half_width = scale * math.sqrt(least / c) if c > 0 and least > 0 else float("nan")
        self.misses = max(abs(m) for m in misses)
        self.inside = min(u for u, _ in points) < self.at < max(u for u, _ in points)


def square_volts(law, channel, light_ghz, range_ghz, most, others=None):
    """The least V^2 of this channel's own heater that puts the ring on this light by its law, or None.

    others: V^2 by channel of the other heaters; one that is missing is off.
    """
    shifts = law["shift_ghz_per_square_volt"]
    cold = law["cold_resonance_thz"] * 1000 - sum(shifts[other] * u for other, u in (others or {}).items())
    own = shifts[channel]
    turn = math.ceil((light_ghz - cold) / range_ghz) if range_ghz else 0  # no range: one resonance
    at = (cold + turn * range_ghz - light_ghz) / own
    return at if 0 <= at <= most else None


def beside(law, light_ghz, range_ghz, heats):
    """How far from this light the nearest resonance of a ring is, by its law and these V^2."""
    shift = sum(k * u for k, u in zip(law["shift_ghz_per_square_volt"], heats))
    place = law["cold_resonance_thz"] * 1000 - shift - light_ghz
    return place - range_ghz * round(place / range_ghz) if range_ghz else place


# --- a client that measures -----------------------------------------------------------------------------------------------

class Bench:
    """A connection whose light is on as long as it asks for it."""

    def __init__(self, lab, key="operator"):
        self.peer = lab.connect(key)
        self.looks = self.unheeded = 0
        self.spent_s = 0.0
        self.slowest_s = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.peer.close()

    def rows(self, noun, field, row=None):
        reply = self.peer.ask(query=query(noun, row=row))
        if reply is None or reply.HasField("outcome") and reply.outcome.HasField("error"):
            raise RuntimeError(f"{field}: {'no answer' if reply is None else reply.outcome.error.message.decode()}")
        return list(getattr(reply, field).rows)

    def order(self, probes=(), drives=()):
        """The reply to one ProbeLight; drives: {ring element: millivolts}."""
        body = wire.ProbeLight(probes=probes, drives=[values.RingDrive(ring_element_id=ring, drive_millivolts=millivolts)
                                                      for ring, millivolts in dict(drives).items()])
        return self.peer.ask(probe_light=body)

    def light(self, probes, drives):
        """Until the revision that carries it out is confirmed."""
        reply = self.order(probes, drives)
        if refusal(reply):
            raise RuntimeError(f"light to measure by: {refusal(reply)}")
        if not wait_until(lambda: self.peer.status().revision_number >= reply.revision_number, LOOK_S):
            raise RuntimeError(f"revision {reply.revision_number} of light to measure by was not confirmed in {LOOK_S} s")

    def look(self, probe, drives, bank=None):
        """Milliwatts behind the drop with these heaters, and the millivolts that the bank was read to have."""
        begin = time.monotonic()
        self.light([probe], drives)

        def reading():
            rows = self.rows(wire.NOUN_RECEIVERS, "receivers", probe.receiver_element_id)
            return rows[0] if rows and rows[0].since_commit else None
        row = wait_until(reading, LOOK_S)
        if row is None:
            raise RuntimeError(f"receiver {probe.receiver_element_id} was not read after a commit in {LOOK_S} s")
        took = time.monotonic() - begin
        self.looks, self.spent_s, self.slowest_s = self.looks + 1, self.spent_s + took, max(self.slowest_s, took)
        if bank is not None:
            found = list(self.rows(wire.NOUN_DEVICES, "devices", bank)[0].observation.heater.ring_millivolts)
            self.unheeded += any(abs(is_ - asked) > 2 for is_, asked in zip(found, drives.values()))
        return 10 ** (row.power_centi_dbm / 1000)


def refusal(reply):
    """What a reply says against an order, or nothing."""
    if reply is None:
        return "no answer"
    error = reply.outcome.error
    return f"{error_name(error)}: {error.message.decode()}" if reply.outcome.HasField("error") else ""


def lit_to_measure(probe):
    out = values.Probe()
    out.CopyFrom(probe)
    out.emit = True
    return out


# --- what the law says, and what light says -------------------------------------------------------------------------------

class Ring:
    """A ring as its row, its bank's printed calibration and its neighbours have it."""

    def __init__(self, row, rows, calibration):
        self.row, self.name = row, row.name.decode()
        self.bank_name = calibration["name"]
        bank = [other for other in rows if other.bank_device_id == row.bank_device_id]
        bank.sort(key=lambda other: other.channel_number)
        self.elements = [other.ring_element_id for other in bank]
        self.law_by_channel = sorted(calibration["rings"], key=lambda law: law["ring"])  # there a ring is a channel
        self.law = self.law_by_channel[row.channel_number]
        self.own = self.law["shift_ghz_per_square_volt"][row.channel_number]
        self.range_ghz = row.free_spectral_range_mhz / 1000
        self.most = (row.heater_millivolts_max / 1000) ** 2

    def said(self, light, others=None):
        return square_volts(self.law, self.row.channel_number, light, self.range_ghz, self.most, others)

    def drives(self, u, others=None):
        """{ring element: millivolts} of the whole bank."""
        out = {}
        for channel, element in enumerate(self.elements):
            square = u if channel == self.row.channel_number else (others or {}).get(channel, 0.0)
            out[element] = round(1000 * math.sqrt(max(0.0, square)))
        return out

    def lights(self):
        """Probes of its report with frequencies that its heater reaches, one a frequency: those that lie farthest apart."""
        found = {}
        for probe in self.row.lights:
            u = self.said(frequency_ghz(probe.slot))
            if u is not None and u * self.own > 30:
                found.setdefault(probe.slot.slot_n, (u, probe))
        ordered = [probe for _, probe in sorted(found.values(), key=lambda pair: pair[0])]
        return ordered if len(ordered) < 2 else [ordered[0], ordered[-1]]

    def scan(self, bench, probe, squares, others=None):
        """[(V^2, mW)]; V^2 of the millivolts that were asked for."""
        points = []
        for u in squares:
            drives = self.drives(u, others)
            points.append(((drives[self.row.ring_element_id] / 1000) ** 2,
                           bench.look(lit_to_measure(probe), drives, self.row.bank_device_id)))
        return points

    def peak(self, bench, probe, centre, others=None):
        squares = [u for u in (centre + step / self.own for step in STEPS_GHZ) if 0 <= u <= self.most]
        return Peak(self.scan(bench, probe, squares, others))

    def survey(self, bench, probe):
        """The V^2 of the most light over all that the heater can do, less than once around."""
        reach = min(self.most, 0.98 * self.range_ghz / self.own if self.range_ghz else self.most)
        count = math.ceil(reach * self.own / SURVEY_GHZ)
        points = self.scan(bench, probe, [reach * i / count for i in range(count + 1)])
        return max(points, key=lambda point: point[1])[0], points


def judge_ring(ledger, bench, ring, survey):
    """Each of its lights with the other heaters off; [(light, u)] that were measured."""
    found = []
    for number, probe in enumerate(ring.lights()):
        light = frequency_ghz(probe.slot)
        said = ring.said(light)
        name = f"{ring.name} ({ring.bank_name}) on {light / 1000:.4f} THz"
        centre = said
        if survey and number == 0:
            centre, points = ring.survey(bench, probe)
            ledger.promise(f"{name}: of all that its heater can do, most light drops beside where the law says",
                           abs(centre - said) * ring.own <= SURVEY_GHZ,
                           f"{len(points)} steps, most at {math.sqrt(centre):.3f} V, law {math.sqrt(said):.3f} V")
        peak = ring.peak(bench, probe, centre)
        off = (peak.at - said) * ring.own
        heats = [0.0] * len(ring.elements)
        heats[ring.row.channel_number] = said
        others = [beside(law, light, ring.range_ghz, heats) for channel, law in enumerate(ring.law_by_channel)
                  if channel != ring.row.channel_number]
        ledger.promise(f"{name}: most light drops where the law says, other heaters off",
                       peak.upright and peak.inside and abs(off) <= ALLOWED_GHZ,
                       f"{math.sqrt(max(0, peak.at)):.4f} V, law {math.sqrt(said):.4f} V: {off:+.2f} GHz, "
                       f"+-{peak.error * ring.own:.2f} GHz by the fit")
        ledger.note(f"{name}: width {2 * peak.half_width * ring.own:.1f} GHz (fabric {ring.row.fwhm_mhz / 1000:.0f}), "
                    f"the fit misses {100 * peak.misses:.2f} % of the top at most; the bank's other ring is "
                    f"{' and '.join(f'{other:+.0f}' for other in others)} GHz beside this light")
        if peak.upright and peak.inside:
            found.append((light, peak.at, said))
    return found


def judge_slope(ledger, ring, found):
    """A note: the law of one's own from two lights; what is not told by light of one resonance is the order in between."""
    (light_1, at_1, said_1), (light_2, at_2, said_2) = found
    span = (said_2 - said_1) * ring.own
    own = span / (at_2 - at_1)
    ledger.note(f"{ring.name}: {own:.4f} GHz/V^2 by two lights {abs(light_1 - light_2):.0f} GHz apart, law {ring.own:.4f} "
                f"({100 * (ring.own / own - 1):+.3f} %)")


def judge_crosstalk(ledger, bench, ring):
    """A second heater of the bank at volts that keep its own ring away from this light."""
    probe = ring.lights()[0]
    light, channel = frequency_ghz(probe.slot), ring.row.channel_number
    alone = ring.said(light)
    other = next(c for c in range(len(ring.elements)) if c != channel)
    best = None
    for part in range(10, 3, -1):
        heat = ring.most * part / 10
        said = ring.said(light, {other: heat})
        if said is None or said * ring.own < 30:
            continue
        heats = [heat if c == other else said for c in range(len(ring.elements))]
        away = abs(beside(ring.law_by_channel[other], light, ring.range_ghz, heats))
        if away > 200:
            best = heat, said
            break
    name = f"{ring.name} ({ring.bank_name})"
    if best is None:
        ledger.note(f"{name}: no volts of channel {other} keep its ring away from {light / 1000:.4f} THz")
        return
    heat, said = best
    with_it, without = ring.peak(bench, probe, said, {other: heat}), ring.peak(bench, probe, alone)
    moved = (without.at - with_it.at) * ring.own
    row = ring.law["shift_ghz_per_square_volt"][other] * heat
    error = ring.own * math.hypot(with_it.error, without.error)
    ledger.promise(f"{name}: {math.sqrt(heat):.2f} V on channel {other} move its best voltage as the law's crosstalk says",
                   with_it.upright and with_it.inside and without.inside and abs(moved - row) <= ALLOWED_GHZ,
                   f"by {moved:.2f} GHz, law {row:.2f} GHz: {moved - row:+.2f} GHz, +-{error:.2f} GHz by the fits")
    off = (with_it.at - said) * ring.own
    ledger.promise(f"{name}: with that heater on, most light drops where the law says", abs(off) <= ALLOWED_GHZ,
                   f"{math.sqrt(max(0, with_it.at)):.4f} V, law {math.sqrt(said):.4f} V: {off:+.2f} GHz")


def judge_laws(ledger, programs):
    with laboratory.Lab(programs, "rings") as lab:
        lab.scenario = SCENARIO
        lab.up()
        with Bench(lab) as bench:
            before = {row.ring_element_id: row for row in bench.rows(wire.NOUN_RINGS, "rings")}
        ledger.promise("a lab of eight rings that nobody has measured", len(before) == 8
                       and not any(row.calibrated for row in before.values()), f"{len(before)} rings")
        begin = time.monotonic()
        answer = lab.loom("device", "calibrate", "--all", "--wait", timeout=40)
        ledger.promise("every ring is found by light", answer.returncode == 0,
                       f"{time.monotonic() - begin:.1f} s; {answer.stdout.strip()} {answer.stderr.strip()}")
        listed = {row["name"]: row for row in lab.json("ring", "list").get("rings", [])}
        locks, trims = ({str(row.get(key)) for row in listed.values()} for key in ("lock", "trim_ghz"))
        ledger.promise("each ring has its row", len(listed) == 8, f"lock {sorted(locks)}, trim {sorted(trims)}")
        with Bench(lab) as bench:
            rows = bench.rows(wire.NOUN_RINGS, "rings")
            banks = {}
            for number in range(BANKS):
                answer = lab.json("calibration", "show", f"heater-{number}").get("calibrations", [{}])[0]
                banks[answer.get("device")] = answer
            rings = [Ring(row, rows, banks[row.bank_device_id]) for row in rows]
            for ring in rings:
                was = before[ring.row.ring_element_id]
                ledger.note(f"{ring.name} ({ring.bank_name}, channel {ring.row.channel_number}): cold "
                            f"{ring.law['cold_resonance_thz']} THz, fabric {was.cold_resonance_mhz / 1e6}; GHz/V^2 "
                            f"{ring.law['shift_ghz_per_square_volt']}, fabric {was.shift_khz_per_square_volt / 1e6}; "
                            f"residual {ring.law['residual_ghz']} GHz; lights "
                            f"{[frequency_ghz(light.slot) / 1000 for light in ring.row.lights]} THz")
            surveyed = set()
            for ring in rings:
                found = judge_ring(ledger, bench, ring, ring.bank_name not in surveyed)
                surveyed.add(ring.bank_name)
                if len(found) == 2:
                    judge_slope(ledger, ring, found)
            for bank in sorted(surveyed):
                judge_crosstalk(ledger, bench, next(ring for ring in rings if ring.bank_name == bank))
            ledger.promise("heaters were where this client had them", bench.unheeded == 0,
                           f"{bench.unheeded} of {bench.looks} looks not")
            ledger.note(f"{bench.looks} looks of {1000 * bench.spent_s / max(1, bench.looks):.0f} ms, the slowest "
                        f"{1000 * bench.slowest_s:.0f} ms")


# --- whose light it is ----------------------------------------------------------------------------------------------------

def principal_of(lab, key):
    """What the keyring says of a key of the folder."""
    public = lab.key(f"{key}.pub")[0]
    lines = [line.split() for line in (lab.state / "keys" / "keyring").read_text().splitlines()]
    return next(words[2] for words in lines if len(words) > 2 and words[0] == public)


def processes(lab):
    return [int(path.stem.split("-")[1]) for path in sorted(lab.state.glob("agents-*.light"))]


def emitted(lab):
    """{device: GHz} of all lasers that emit now, by the light logs."""
    last = {}
    for process in processes(lab):
        for line in (lab.state / f"agents-{process}.light").read_text().splitlines():
            words = line.split()
            if len(words) >= 7 and words[3] == "laser":
                last[int(words[1])] = int(words[5]) / 1000 if words[4] == "1" else None
    return {device: light for device, light in last.items() if light is not None}


def dark_after_s(lab, since_ns, seconds):
    """Seconds from since_ns until the last laser of all processes went out, or None."""
    times = [lab.dark_ms(process, since_ns, seconds) for process in processes(lab)]
    return None if None in times or not times else max(times) / 1000


def judge_leases(ledger, programs):
    with laboratory.Lab(programs, "leases") as lab:
        text = SCENARIO.read_text().replace("fabric: ../", f"fabric: {SCENARIO.parent.parent}/")
        lab.scenario.write_text(f"{text.rstrip()}\ncontroller: {{probe_lease: {LEASE_S} s}}\n")
        lab.generate_keys()
        lab.grant("grace", "operator")
        lab.grant("curious", "viewer")
        lab.up()
        me, her = principal_of(lab, "operator"), principal_of(lab, "grace")
        with Bench(lab) as mine, Bench(lab, "grace") as hers, Bench(lab, "curious") as nobody:
            rings = mine.rows(wire.NOUN_RINGS, "rings")
            row, far = rings[0], rings[-1]
            probe, drives = lit_to_measure(row.lights[0]), {row.ring_element_id: 1000}
            elsewhere = lit_to_measure(far.lights[0])
            said = refusal(nobody.order([probe], drives))
            ledger.promise("a viewer's light to measure by is refused", said.startswith("refused"), said)

            mine.light([probe], drives)
            light = frequency_ghz(probe.slot)
            lit = wait_until(lambda: emitted(lab), DARK_S)
            ledger.promise("light to measure by is one laser's, in its slot", len(lit) == 1
                           and all(abs(seen - light) < 2.5 for seen in lit.values()), f"{lit} GHz, slot {light} GHz")
            for what, order in (("the same light", ([probe], drives)), ("another bank's light", ([elsewhere], {})),
                                ("no light", ((), ()))):
                said = refusal(hers.order(*order))
                ledger.promise(f"somebody else who asks for {what} meanwhile is refused, and told who measures",
                               said.startswith(("refused", "conflict", "busy")) and me in said, said)
            ledger.promise("light is as it was after that", emitted(lab) == lit, f"{emitted(lab)}")

            until, dark = time.monotonic() + LEASE_S + 2, 0
            while time.monotonic() < until:
                asked_ns = time.monotonic_ns()
                mine.order([probe], drives)
                time.sleep(0.5)
                dark += emitted(lab) != lit
            ledger.promise("light that is asked for again outlives its lease", dark == 0,
                           f"{LEASE_S + 2} s, dark {dark} times")
            took = dark_after_s(lab, asked_ns, LEASE_S + LEASE_LATE_S)
            ledger.promise("light that nobody asks for again goes out by itself after its lease",
                           took is not None and LEASE_S - 0.1 <= took <= LEASE_S + LEASE_LATE_S,
                           f"after {'no time' if took is None else f'{took:.3f} s'}, lease {LEASE_S} s")

            said = refusal(hers.order([probe], drives))
            lit = wait_until(lambda: emitted(lab), LOOK_S)
            ledger.promise("then somebody else may measure", said == "" and bool(lit), said)
            said = refusal(mine.order([probe], drives))
            ledger.promise("and is named in turn", her in said, said)
            answer = lab.loom("device", "calibrate", "heater-0", "--wait", timeout=15)
            ledger.promise("a calibration beside somebody's light is refused by the same name",
                           answer.returncode == 3 and her in answer.stderr,
                           f"exit {answer.returncode}: {answer.stderr.strip()}")
            hers.order([probe], drives)
            lit = wait_until(lambda: emitted(lab), LOOK_S)
            asked_ns = time.monotonic_ns()
            said = refusal(hers.order())
            took = dark_after_s(lab, asked_ns, DARK_S)
            ledger.promise("light goes out when its owner asks for none", bool(lit) and said == "" and took is not None
                           and took < LEASE_S - 0.5, f"{said} {took if took is None else round(1000 * took)} ms")
            said = refusal(mine.order([probe], drives))
            ledger.promise("and the next one may measure at once", said == "", said)


def judge(ledger, programs):
    parts = {"laws": judge_laws, "leases": judge_leases}
    for word in sys.argv[2:] or parts:
        parts[word](ledger, programs)


if __name__ == "__main__":
    laboratory.main(judge)
