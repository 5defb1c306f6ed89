#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""rings.py FOLDER [laws|leases|disturbed]: what `loom device calibrate` found, judged by light of one's own (docs/wire.md).

Eight simulated rings stand up to a nanometre beside their fabric's figures. After a calibration this judge lights one
transmitter at a time (ProbeLight), steps the heater of one ring, reads the receiver behind its drop, and finds the voltage
at which most light drops: a ring's drop is a Lorentzian and heat goes with V^2, so 1/power is a parabola over V^2, whose
vertex is looked for by weighted least squares. The printed law only says which part of the range is worth steps; in each
bank a survey of all that one ring's heater can do says whether anything higher stands elsewhere. Then the vertex is
compared with the law. `disturbed` (by name only) is what becomes of a calibration in which another client of the same
key meddles.
"""
import math
import sys
import threading
import time

import lab as laboratory
from lab import wait_until
from peer import ROOT, error_name, query, values, wire

SCENARIO = ROOT / "configs" / "examples" / "rings_4.yaml"
BANKS = 4
ALLOWED_GHZ = 2.0       # the law against light; rings are 100 GHz wide, and may be 12.5 GHz off in use
STEPS_GHZ = (-55, -33, -11, 11, 33, 55)   # beside the place that is looked at
LEAD_GHZ = 20           # below the first of them; that look is thrown away
SURVEY_GHZ = 80.0       # between two steps of a survey: a ring between them drops three fifths of its top on both
LOOK_S = 5              # for a commit and a reading after it
DARK_S = 3              # for light to go out after it was asked to
LEASE_S = 2
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
        self.law_by_channel = sorted(calibration["rings"], key=lambda law: law["channel"])
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
        """Probes of its report that its heater reaches, one a frequency: the nearest, one between, the farthest."""
        found = {}
        for probe in self.row.lights:
            u = self.said(frequency_ghz(probe.slot))
            if u is not None and u * self.own > 30:
                found.setdefault(probe.slot.slot_n, (u, probe))
        ordered = [probe for _, probe in sorted(found.values(), key=lambda pair: pair[0])]
        return ordered if len(ordered) < 3 else [ordered[0], ordered[len(ordered) // 2], ordered[-1]]

    def scan(self, bench, probe, squares, others=None):
        """[(V^2, mW)]; V^2 of the millivolts that were asked for."""
        points = []
        for u in squares:
            drives = self.drives(u, others)
            points.append(((drives[self.row.ring_element_id] / 1000) ** 2,
                           bench.look(lit_to_measure(probe), drives, self.row.bank_device_id)))
        return points

    def peak(self, bench, probe, centre, others=None):
        """Of a scan upwards. Its first look is not believed: a part of the heat comes late, and it comes from far away."""
        steps = (STEPS_GHZ[0] - LEAD_GHZ, *STEPS_GHZ)
        squares = [u for u in (centre + step / self.own for step in steps) if 0 <= u <= self.most]
        return Peak(self.scan(bench, probe, squares, others)[1:])

    def survey(self, bench, probe):
        """The V^2 of the most light over all that the heater can do, less than once around."""
        reach = min(self.most, 0.98 * self.range_ghz / self.own if self.range_ghz else self.most)
        count = math.ceil(reach * self.own / SURVEY_GHZ)
        points = self.scan(bench, probe, [reach * i / count for i in range(count + 1)])
        return max(points, key=lambda point: point[1])[0], points


def judge_ring(ledger, bench, ring, survey):
    """Each of its lights with the other heaters off; [(light, peak, V^2 by the law)] of those that were found."""
    found = []
    for number, probe in enumerate(ring.lights()):
        light = frequency_ghz(probe.slot)
        said = ring.said(light)
        name = f"{ring.name} ({ring.bank_name}) on {light / 1000:.4f} THz"
        centre = said
        if survey and number == 0:
            centre, points = ring.survey(bench, probe)
            rest = max(power for u, power in points if abs(u - centre) * ring.own > 250) / max(power for _, power in points)
            ledger.promise(f"{name}: of all that its heater can do, most light drops beside where the law says",
                           abs(centre - said) * ring.own <= SURVEY_GHZ / 2 + ALLOWED_GHZ and rest < 0.1,
                           f"{len(points)} steps, most at {math.sqrt(centre):.3f} V, law {math.sqrt(said):.3f} V, "
                           f"elsewhere {100 * rest:.1f} % of it at most")
        peak = ring.peak(bench, probe, centre)
        off = (peak.at - said) * ring.own
        ledger.promise(f"{name}: most light drops where the law says, other heaters off",
                       peak.upright and peak.inside and abs(off) <= ALLOWED_GHZ,
                       f"{math.sqrt(max(0, peak.at)):.4f} V, law {math.sqrt(said):.4f} V: {off:+.2f} GHz, "
                       f"+-{peak.error * ring.own:.2f} GHz by the fit")
        heats = [said if channel == ring.row.channel_number else 0.0 for channel in range(len(ring.elements))]
        others = [f"{beside(law, light, ring.range_ghz, heats):+.0f}" for channel, law in enumerate(ring.law_by_channel)
                  if channel != ring.row.channel_number]
        ledger.note(f"{name}: width {2 * peak.half_width * ring.own:.1f} GHz (fabric {ring.row.fwhm_mhz / 1000:.0f}), "
                    f"the fit misses {100 * peak.misses:.2f} % of the top at most; the bank's other ring is "
                    f"{' and '.join(others)} GHz beside this light")
        if peak.upright and peak.inside:
            found.append((light, peak, said))
    return found


def note_law(ledger, ring, found):
    """How far the law is off by all lights of a ring, and a law of one's own: a straight line through what was found."""
    offs = [(peak.at - said) * ring.own for _, peak, said in found]
    middle_u = sum(peak.at for _, peak, _ in found) / len(found)
    middle = sum(light for light, _, _ in found) / len(found)
    own = -(sum((peak.at - middle_u) * (light - middle) for light, peak, _ in found)
            / sum((peak.at - middle_u) ** 2 for _, peak, _ in found))
    ledger.note(f"{ring.name} ({ring.bank_name}): off by {max(offs, key=abs):+.2f} GHz at most, residual said "
                f"{ring.law['residual_ghz']} GHz; cold by these lights {(middle + own * middle_u) / 1000:.6f} THz, law "
                f"{ring.law['cold_resonance_thz']}; {own:.4f} GHz/V^2, law {ring.own:.4f}, "
                f"{100 * (ring.own / own - 1):+.3f} %")
    return offs


def judge_crosstalk(ledger, bench, ring, found, other_ring):
    """A second heater of the bank on, beside what was found without it: at the most volts that lights ask of it, and at its
    ceiling (or the highest volts at which its own ring keeps away from this light). [GHz by which the law's row is off]"""
    probe, (light, without, _) = ring.lights()[0], found[0]
    channel, other = ring.row.channel_number, other_ring.row.channel_number
    in_use = max(other_ring.said(frequency_ghz(of.slot)) for of in other_ring.lights())
    offs = []
    for what, heats in (("in use", [in_use]), ("at most", [ring.most * (part / 20) ** 2 for part in range(20, 4, -1)])):
        for heat in heats:
            said = ring.said(light, {other: heat})
            squares = [heat if c == other else said or 0 for c in range(len(ring.elements))]
            if (said or 0) * ring.own > 30 and abs(beside(other_ring.law, light, ring.range_ghz, squares)) > 200:
                break
        else:
            ledger.note(f"{ring.name} ({ring.bank_name}): no volts {what} keep channel {other} away from its light")
            continue
        name = f"{ring.name} ({ring.bank_name}), {math.sqrt(heat):.2f} V on channel {other} ({what})"
        peak = ring.peak(bench, probe, said, {other: heat})
        moved = (without.at - peak.at) * ring.own
        row = ring.law["shift_ghz_per_square_volt"][other] * heat
        error = ring.own * math.hypot(peak.error, without.error)
        seen = peak.upright and peak.inside
        ledger.promise(f"{name}: its best voltage moves as the law's crosstalk says",
                       seen and abs(moved - row) <= ALLOWED_GHZ,
                       f"by {moved:.2f} GHz, law {row:.2f} GHz: {moved - row:+.2f} GHz, +-{error:.2f} GHz by the fits")
        off = (peak.at - said) * ring.own
        ledger.promise(f"{name}: most light drops where the law says", seen and abs(off) <= ALLOWED_GHZ,
                       f"{math.sqrt(max(0, peak.at)):.4f} V, law {math.sqrt(said):.4f} V: {off:+.2f} GHz")
        offs.append(moved - row)
    return offs


def calibrations(lab):
    """{device: newest calibration of its bank}, as printed."""
    out = {}
    for number in range(BANKS):
        rows = lab.json("calibration", "show", f"heater-{number}").get("calibrations", [])
        row = max(rows, key=lambda version: version["version"], default={})
        out[row.get("device")] = row
    return out


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
            printed = calibrations(lab)
            rings = [Ring(row, rows, printed[row.bank_device_id]) for row in rows]
            for ring in rings:
                was = before[ring.row.ring_element_id]
                lights = sorted({frequency_ghz(light.slot) / 1000 for light in ring.row.lights})
                ledger.note(f"{ring.name} ({ring.bank_name}, channel {ring.row.channel_number}): cold "
                            f"{ring.law['cold_resonance_thz']} THz, fabric {was.cold_resonance_mhz / 1e6}; GHz/V^2 "
                            f"{ring.law['shift_ghz_per_square_volt']}, fabric {was.shift_khz_per_square_volt / 1e6}; "
                            f"residual {ring.law['residual_ghz']} GHz; lights {lights} THz")
            surveyed, alone, together = set(), [], []
            for ring in rings:
                found = judge_ring(ledger, bench, ring, ring.bank_name not in surveyed)
                surveyed.add(ring.bank_name)
                if ledger.promise(f"{ring.name} ({ring.bank_name}): its report names two lights, and all were found",
                                  len(found) == len(ring.lights()) > 1, f"{len(found)} lights"):
                    alone += note_law(ledger, ring, found)
                    neighbour = next(other for other in rings if other is not ring and other.bank_name == ring.bank_name)
                    together += judge_crosstalk(ledger, bench, ring, found, neighbour)
            for what, offs in (("laws with other heaters off", alone), ("crosstalk", together)):
                ledger.note(f"{what}: off by {max(offs, key=abs, default=0.0):+.2f} GHz at most, "
                            f"{math.sqrt(sum(off * off for off in offs) / max(1, len(offs))):.2f} GHz rms, of {len(offs)}")
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


def darkenings(lab, since_ns):
    """How often a laser went out since then, and for how many milliseconds altogether it did until light came again."""
    count, total, off = 0, 0, {}
    for process in processes(lab):
        for instant, device, emits in lab.light(process):
            if instant >= since_ns and not emits:
                count, off[device] = count + 1, instant
            elif emits and device in off:
                total += instant - off.pop(device)
    return count, total / 1e6


def emitted(lab):
    """{device: GHz} of all lasers that emit now, by the light logs."""
    last = {}
    for process in processes(lab):
        for line in (lab.state / f"agents-{process}.light").read_text().splitlines():
            words = line.split()
            if len(words) >= 7 and words[3] == "laser":
                last[int(words[1])] = int(words[5]) / 1000 if words[4] == "1" else None
    return {device: light for device, light in last.items() if light is not None}


def calibrate_all(lab):
    """A thread in which `loom device calibrate` runs, and where its answer will be."""
    done = {}

    def run():
        done["answer"] = lab.loom("device", "calibrate", "--all", "--wait", timeout=60)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, done


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

            since_ns, asked = time.monotonic_ns(), 0
            while time.monotonic_ns() < since_ns + (LEASE_S + 1.5) * 1e9:
                asked_ns = time.monotonic_ns()
                mine.order([probe], drives)
                asked += 1
                time.sleep(0.5)
            ledger.promise("light that is asked for again outlives its lease", wait_until(lambda: emitted(lab), 0.2) == lit,
                           f"{(time.monotonic_ns() - since_ns) / 1e9:.1f} s, lease {LEASE_S} s")
            count, dark_ms = darkenings(lab, since_ns)
            ledger.note(f"asked for {asked} times as it was, it went out {count} times, for {dark_ms:.1f} ms altogether")
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
            mine.order()

            measuring, done = calibrate_all(lab)
            wait_until(lambda: emitted(lab), LOOK_S)
            said = []
            while measuring.is_alive():
                said.append(refusal(hers.order([probe], drives)))
                time.sleep(0.1)
            # The command lets go before its process ends; an order that is taken then is no order beside it.
            while said and not said[-1]:
                said.pop()
            ledger.promise("somebody else's light is refused as long as a calibration measures, and told who measures",
                           len(said) > 5 and all(me in words for words in said),
                           f"{len(said)} times, {sorted(set(said))}")
            ledger.promise("a calibration goes on beside that", done["answer"].returncode == 0,
                           f"{done['answer'].stdout.strip()} {done['answer'].stderr.strip()}")


def judge_disturbed(ledger, programs):
    """Every `loom` of a lab has one key. What another client of it lights and heats while `loom device calibrate` measures
    is refused, or makes the command fail, or does no harm; a law that it spoilt is not in force."""
    with laboratory.Lab(programs, "disturbed") as lab:
        lab.scenario = SCENARIO
        lab.up()
        with Bench(lab) as other:
            row = other.rows(wire.NOUN_RINGS, "rings")[0]
            probe, answers = lit_to_measure(row.lights[0]), []
            measuring, done = calibrate_all(lab)
            time.sleep(1)
            for _ in range(3):
                answers.append(refusal(other.order([probe], {row.ring_element_id: 5000})) or "taken")
                time.sleep(0.3)
            measuring.join()
            disturbed, answer = calibrations(lab), done["answer"]
            ledger.note(f"{answers}; exit {answer.returncode}: {answer.stdout.strip()} {answer.stderr.strip()}")
            other.order()
        again = lab.loom("device", "calibrate", "--all", "--wait", timeout=40)
        ledger.note(f"again, alone: exit {again.returncode}: {again.stdout.strip()} {again.stderr.strip()}")
        far = {}  # where the two laws put a ring, cold and with 7 V on its own heater
        for device, bank in calibrations(lab).items():
            for law, was in zip(bank["rings"], disturbed.get(device, {}).get("rings", [])):
                cold = 1000 * (was["cold_resonance_thz"] - law["cold_resonance_thz"])
                shifts = [of["shift_ghz_per_square_volt"][law["channel"]] for of in (was, law)]
                far[f"{bank['name']}, channel {law['channel']}"] = max(cold, cold - 49 * (shifts[0] - shifts[1]), key=abs)
        worst = max(far, key=lambda ring: abs(far[ring]), default="")
        ledger.promise("a calibration in which a client of the same key meddles fails, or is right",
                       answer.returncode != 0 or bool(far) and abs(far[worst]) <= ALLOWED_GHZ,
                       f"exit {answer.returncode}; {worst}: {far.get(worst, 0):+.2f} GHz from where it is found alone")


def judge(ledger, programs):
    parts = {"laws": judge_laws, "leases": judge_leases, "disturbed": judge_disturbed}
    for word in sys.argv[2:] or ("laws", "leases"):
        parts[word](ledger, programs)


if __name__ == "__main__":
    laboratory.LIMIT_S = 150  # a minute where nothing else runs
    laboratory.main(judge)
