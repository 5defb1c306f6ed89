#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""keys.py FOLDER: keys are granted, revoked and rotated while the daemons run; what a viewer may; what the audit says.

Instants are of this process: a change counts from the moment that `loom keys` begins, which is harsher than from its write.
"""
import os
import pathlib
import signal
import threading
import time

import lab as laboratory
import peer
from lab import wait_until
from peer import query, report, values, wire

IN_FORCE_S = 1.0
REFUSED_S = 1.5         # so long no answer is "refused"
VIEWER_ORDERS = 2000
AUDIT_ROWS_OF_VIEWER = 100


def answered(connection, timeout_s=0.3):
    return connection.status(timeout_s) is not None


class Asker(threading.Thread):
    """Asks status on one live connection without end; knows when it was answered last. Owns its connection."""

    def __init__(self, lab, pair):
        super().__init__(daemon=True)
        self.arguments = (lab.address(), pair, lab.key("controller.pub")[0])
        self.count, self.last_asked, self.last_wall_ns, self.stopping, self.errors = 0, 0.0, 0, False, 0
        self.start()

    def run(self):
        with peer.Peer(*self.arguments) as connection:
            while not self.stopping:
                at, wall_ns = time.monotonic(), time.time_ns()
                reply = connection.ask(0.1, query=query(wire.NOUN_STATUS))
                if reply is None:
                    continue
                if reply.outcome.HasField("error"):
                    self.errors += 1
                    continue
                self.count, self.last_asked, self.last_wall_ns = self.count + 1, at, wall_ns
                time.sleep(0.002)

    def stop(self):
        self.stopping = True
        self.join(2)


def timed(lab, *words):
    begin = time.monotonic()
    answer = lab.loom(*words)
    return answer, begin, time.monotonic()


# --- SIGHUP, grant, revoke, rotate -------------------------------------------------------------------------------------------

def hang_up(ledger, lab):
    before = lab.processes()
    for pid in before:
        os.kill(pid, signal.SIGHUP)
    wait_until(lambda: set(lab.processes()) != set(before), 0.7)
    ended = [os.path.basename(argv[0]) for pid, argv in before.items() if pid not in lab.processes()]
    ledger.promise("SIGHUP ends no daemon", not ended, f"ended: {ended}" if ended else f"{len(before)} processes")
    if ended:
        lab.loom("lab", "down")
        lab.up()


def granted(ledger, lab):
    """The granted pair, or None."""
    answer, begin, end = timed(lab, "keys", "grant", "grace", "--role", "viewer")
    if answer.returncode != 0:
        ledger.promise("a granted key works within a second", False,
                       f"keys grant: exit {answer.returncode}: {answer.stderr.strip()}")
        return None
    with lab.connect("grace", role=report.ROLE_VIEWER) as connection:
        works = wait_until(lambda: answered(connection), 2, 0)
        took = time.monotonic() - begin
    ledger.promise("a granted key works within a second", works and took <= IN_FORCE_S,
                   f"{took * 1e3:.0f} ms from the command to the answer, of which the command took {(end - begin) * 1e3:.0f}")
    return lab.key("grace")


def revoked(ledger, lab, pair):
    asker = Asker(lab, pair)
    if not wait_until(lambda: asker.count > 5, 3):
        ledger.promise("a revoked key is refused", False, "it was never let in")
        return
    answer, begin, end = timed(lab, "keys", "revoke", "grace")
    count = asker.count
    time.sleep(REFUSED_S)
    still = asker.last_asked > end
    asker.stop()
    ledger.promise("a revoked key is refused on its live connection when `keys revoke` has returned", answer.returncode == 0
                   and not still,
                   f"its last question that was answered was asked {(asker.last_asked - begin) * 1e3:.0f} ms after the command began; "
                   f"the command took {(end - begin) * 1e3:.0f} ms; exit {answer.returncode} {answer.stderr.strip()[:200]}; "
                   f"{asker.count - count} answers behind it")
    with lab.connect(pair=pair, watch=True) as connection:
        shook = connection.handshake(1.0)
        ledger.promise("a revoked key is refused on a new connection", not answered(connection, 0.7), f"handshake {shook}")


def revocation_figures(ledger, lab):
    """From the write of the keyring to the last question of the revoked key that was still answered."""
    times = []
    for k in range(5):
        if lab.loom("keys", "grant", f"grace-{k}", "--role", "viewer").returncode != 0:
            return
        asker = Asker(lab, lab.key(f"grace-{k}"))
        wait_until(lambda: asker.count > 3, 2)
        lab.loom("keys", "revoke", f"grace-{k}")
        written_ns = (lab.state / "keys" / "keyring").stat().st_mtime_ns
        time.sleep(0.3)
        asker.stop()
        times.append((asker.last_wall_ns - written_ns) / 1e6)
    ledger.note(f"last question of a revoked key that was answered, ms behind the keyring's write (kernel's tick: 4 ms): "
                f"{', '.join(f'{one:.1f}' for one in times)}")


def revoked_orders(ledger, lab):
    """An operator whose key is revoked orders nothing more on its live connection."""
    if lab.loom("keys", "grant", "eve", "--role", "operator").returncode != 0:
        return ledger.promise("a revoked operator orders nothing", False, "no key could be granted")
    with lab.connect("eve") as connection:
        wait_until(lambda: answered(connection), 3, 0)
        first = connection.ask(2, node_request=wire.NodeRequest(node_id=7, order=wire.NODE_ACTION_DRAIN))
        answer = lab.loom("keys", "revoke", "eve")
        second = connection.ask(REFUSED_S, node_request=wire.NodeRequest(node_id=6, order=wire.NODE_ACTION_DRAIN))
    drained = {row["node"] for row in lab.json("node", "list").get("nodes", []) if row["drained"]}
    ledger.promise("a revoked operator orders nothing on a live connection", answer.returncode == 0 and 6 not in drained and
                   (second is None or second.outcome.HasField("error")),
                   f"first order answered: {first is not None}; drained: {sorted(drained)}")
    lab.loom("node", "undrain", "7")
    lab.loom("node", "undrain", "6")


def rotated(ledger, lab):
    if lab.loom("keys", "grant", "mallory", "--role", "operator").returncode != 0:
        return ledger.promise("a rotated key", False, "no key could be granted")
    old = lab.key("mallory")
    asker = Asker(lab, old)
    wait_until(lambda: asker.count > 5, 3)
    answer, _, end = timed(lab, "keys", "rotate", "mallory")
    new = lab.key("mallory")
    time.sleep(REFUSED_S)
    still = asker.last_asked > end
    asker.stop()
    ledger.promise("the old half of a rotated key is refused", answer.returncode == 0 and new != old and not still,
                   f"exit {answer.returncode}: {(answer.stderr.strip().splitlines() or [''])[-1]}")
    with lab.connect(pair=new) as connection:
        ledger.promise("the new half of a rotated key works", new != old and wait_until(lambda: answered(connection), 2, 0))


def rotated_agent(ledger, lab):
    """agents-0 takes up its new key while it runs; its light is not touched."""
    old, pid, rows = lab.key("agents-0"), lab.pid("lightloom-agent", 0), len(lab.light(0))
    answer, begin, end = timed(lab, "keys", "rotate", "agents-0")
    live = wait_until(lambda: lab.json("status").get("agents", {}).get("live") == 8, 5, 0.05)
    ledger.promise("an agent takes up a rotated key", answer.returncode == 0 and lab.key("agents-0") != old and bool(live),
                   f"exit {answer.returncode}: {(answer.stderr.strip().splitlines() or [''])[-1]}; all live "
                   f"{(time.monotonic() - begin) * 1e3:.0f} ms after the command began")
    ledger.promise("an agent's rotation touches no light", lab.pid("lightloom-agent", 0) == pid and len(lab.light(0)) == rows
                   and
                   len(lab.lit_devices(0)) == 4, f"{len(lab.light(0)) - rows} changes")
    with lab.connect(pair=old, watch=True) as connection:
        ledger.promise("the old key of an agent is refused", lab.key("agents-0") != old
                       and connection.handshake(1.0) != "succeeded")
    with lab.connect(to="agents-1", pair=old, watch=True) as connection:
        ledger.promise("the old key of an agent is refused by other agents", lab.key("agents-0") != old and
                       connection.handshake(1.0) != "succeeded")


# --- broken keyrings ---------------------------------------------------------------------------------------------------------

def replace(path, data, mode=0o600):
    draft = path.with_name("stranger-draft")
    draft.write_bytes(data)
    draft.chmod(mode)
    draft.rename(path)


def hang_up_all(lab):
    for pid in lab.processes():
        os.kill(pid, signal.SIGHUP)


def broken_keyrings(ledger, lab):
    keyring = lab.state / "keys" / "keyring"
    good = keyring.read_bytes()
    lines = good.count(b"\n")
    cases = {
        "a line that does not parse": lambda: replace(keyring, good + b"not a key at all\n"),
        "an unknown role": lambda: replace(keyring, good + peer.new_pair()[0].encode() + b" emperor nero\n"),
        "a truncated file": lambda: replace(keyring, good[:good.rstrip().rindex(b"\n") + 11]),
        "an empty file": lambda: replace(keyring, b""),
        "modes that let others in": lambda: replace(keyring, good, 0o666),
        "no file": lambda: keyring.rename(keyring.with_name("elsewhere")),
    }
    with lab.connect() as operator:
        for text, damage in cases.items():
            known = {row.get("evidence", "") for row in lab.json("alarm", "list").get("alarms", [])}
            damage()
            hang_up_all(lab)

            def named():
                rows = lab.json("alarm", "list").get("alarms", [])
                return [row["evidence"] for row in rows if "keyring" in row["evidence"] and row["evidence"] not in known]
            found = wait_until(named, 2.5, 0.05)
            ledger.promise(f"a broken keyring ({text}) leaves the old one in force", answered(operator, 1) and
                           lab.json("status").get("agents", {}).get("live") == 8)
            line = f":{lines + 1}" in str(found) if text in ("a line that does not parse", "an unknown role") else True
            ledger.promise(f"a broken keyring ({text}) is named by an alarm{' with its line' if 'line that' in text else ''}",
                           bool(found) and line, (found or ["no alarm"])[0])
            keyring.with_name("elsewhere").unlink(missing_ok=True)
            replace(keyring, good)
            hang_up_all(lab)
            time.sleep(0.1)
            if not lab.pid("lightloomd"):
                return ledger.promise("a broken keyring ends no daemon", False, f"after {text} the controller is gone")


# --- what a viewer may -------------------------------------------------------------------------------------------------------

def orders(job, node=6, device=0):
    setpoint = values.Setpoint(laser=values.TransmitterSetpoint(slot=values.FrequencySlot(slot_n=-256, slot_m=8), power_centi_dbm=0,
                                                          emit=False))
    spec = values.JobSpec(name=b"stranger", workload=b"vgg19", node_count=2, compute_ns=1000000,
                          collectives=[
        values.Collective(kind=values.COLLECTIVE_KIND_ALL_REDUCE, rank_numbers=[0, 1], size_bytes=1 << 20, repeat_count=1)])
    return {
        "submit_job": wire.SubmitJob(spec=spec), "cancel_job": wire.CancelJob(job_id=job),
        "change_job": wire.ChangeJob(job_id=job, spec=spec),
        "resize_job": wire.ResizeJob(job_id=job, node_count=2), "attend_job": wire.AttendJob(job_id=job),
        "adapt_job": wire.AdaptJob(job_id=job),
        "lasers_request": wire.LasersRequest(on=False), "node_request": wire.NodeRequest(node_id=node, order=wire.NODE_ACTION_DRAIN),
        "device_request": wire.DeviceRequest(device_id=device, setpoint=setpoint),
        "reset_request": wire.ResetRequest(device_id=device),
        "acknowledge_alarm": wire.AcknowledgeAlarm(alarm_id=1), "apply_schedule": wire.ApplySchedule(
            mode=wire.APPLY_MODE_SAFE, circuits=[], confirm_within_ns=0),
        "confirm_schedule": wire.ConfirmSchedule(), "roll_back_schedule": wire.RollBackSchedule(to_revision_number=1),
    }


def viewer_may(ledger, lab, job):
    if not (lab.state / "keys" / "curious").exists():
        return
    before, revision = lab.refusals(), lab.json("status")["revision"]
    with lab.connect("curious", role=report.ROLE_VIEWER) as viewer:
        wait_until(lambda: answered(viewer), 3, 0)
        for noun in ("STATUS", "NODES", "DEVICES", "CIRCUITS", "JOBS", "HISTORY", "ALARMS", "AUDIT"):
            reply = viewer.ask(2, query=query(wire.Noun.Value(f"NOUN_{noun}")))
            said = "nothing" if reply is None else peer.error_name(reply.outcome.error) if reply.outcome.HasField("error") else "ok"
            (ledger.note if noun == "AUDIT" else lambda text: ledger.promise(f"a viewer may ask for {noun.lower()}",
                    said == "ok", said))(
                f"a viewer who asks for the audit is answered: {said}")
        reply = viewer.ask(3, diff_schedule=wire.DiffSchedule())
        ledger.note(f"a viewer who asks for a diff is answered: {'nothing' if reply is None else str(reply.outcome).strip() or 'ok'}")
        for role in (report.ROLE_VIEWER, report.ROLE_ADMIN):
            viewer.role = role
            claims = "" if role == report.ROLE_VIEWER else ", though its envelope says admin"
            for kind, order in orders(job).items():
                reply = viewer.ask(2, **{kind: order})
                error = reply.outcome.error if reply is not None and reply.outcome.HasField("error") else None
                ledger.promise(f"a viewer may not {kind}{claims}", error is not None
                               and error.code == report.ERROR_CODE_REFUSED,
                               "no answer" if reply is None else error.message.decode() if error else "obeyed")
        asked = 2 * len(orders(job))
    count = wait_until(lambda: lab.refusals().get("role", 0) - before.get("role", 0) >= asked, 3, 0.1)
    ledger.promise("a viewer's refused orders are counted", bool(count), f"{asked} orders, counted {lab.refusals()}")
    status = lab.json("status")
    ledger.promise("a viewer's orders change nothing", status["revision"] == revision and not status["lasers_off"] and
                   lab.jobs()[job]["state"] == "lit", f"revision {status['revision']}, lasers off {status['lasers_off']}")


# --- the audit ---------------------------------------------------------------------------------------------------------------

def audit_rows(lab):
    answer = lab.loom("audit", "--json")
    return None if answer.returncode != 0 else lab.json("audit")


def rows_of(audit):
    return next((value for value in (audit or {}).values() if isinstance(value, list)), [])


def audit(ledger, lab, job):
    """Each kind of order once by an operator, then the audit is read."""
    harmless = {**orders(job), "cancel_job": wire.CancelJob(job_id=4242), "lasers_request": wire.LasersRequest(on=True),
                "roll_back_schedule": wire.RollBackSchedule(to_revision_number=4242), "change_job": wire.ChangeJob(
                    job_id=4242, spec=orders(job)["submit_job"].spec), "resize_job": wire.ResizeJob(job_id=4242, node_count=2),
                "submit_job": wire.SubmitJob(spec=orders(job)["submit_job"].spec, dry_run=True),
                "device_request": wire.DeviceRequest(device_id=4242, setpoint=orders(job)["device_request"].setpoint)}
    numbers = {}
    with lab.connect() as operator:
        for kind, order in harmless.items():
            reply = operator.ask(4, **{kind: order})
            numbers[kind] = (operator.next_request, None if reply is None else
                             reply.outcome.error.message.decode() if reply.outcome.HasField("error") else "ok")
    lab.loom("node", "undrain", "6")
    rows = wait_until(lambda: rows_of(audit_rows(lab)), 2, 0.1)
    if not rows:
        return ledger.promise("the audit names each order", False, f"loom audit: {lab.loom('audit', '--json').stderr.strip()}")
    text = [(row, str(row)) for row in rows]
    for kind, (number, outcome) in numbers.items():
        if kind == "attend_job":
            continue
        mine = [row for row, words in text if str(number) in words]
        fine = mine and all(row.get("principal") == "operator" and row.get("role") in ("admin", "operator")
                            and row.get("asked") for row in mine)
        ledger.promise(f"the audit names {kind}: who, what", bool(fine), mine[0].get("asked")
                       if fine else f"no record of request {number}: {mine[:1]}")
        said = outcome == "ok" or any(str(outcome)[:80] in words for row, words in text if row in mine)
        ledger.promise(f"the audit has the answer to {kind}", bool(mine) and said, outcome
                       if said else f"{outcome}: {mine[:1]}")
    names = {str(row.get("principal")) for row in rows}
    ledger.promise("the audit names the viewer's refused orders", "curious" in names, f"principals {sorted(names)}")


def audit_is_text(ledger, lab):
    """A job's name with an escape sequence and a line end reaches neither a terminal nor a line of the log as such."""
    hostile = b"x\x1b[2J\x1b]0;owned\x07\naudit: {\"principal\": \"operator\"}\r\xe2\x80\xae"
    spec = orders(1)["submit_job"].spec
    spec.name = hostile
    with lab.connect() as operator:
        reply = operator.ask(3, submit_job=wire.SubmitJob(spec=spec, dry_run=True))
        operator.ask(1, change_job=wire.ChangeJob(job_id=4242, spec=spec))
    printed = lab.loom("audit").stdout + lab.loom("audit", "--json").stdout + lab.loom("alarm", "list").stdout
    log = (lab.state / "lightloomd.log").read_text(errors="replace")
    raw = [what for what, text in (("loom's output", printed), ("the log", log))
           if any(mark in text for mark in "\x1b\x07\r\u202e")]
    forged = [line for line in log.splitlines() if line.startswith("audit: {\"principal\"")]
    ledger.promise("hostile names stay text in the audit and the log", not raw and not forged,
                   f"raw bytes in {raw}; {forged[:1]}" if raw or forged else
                   "no answer" if reply is None else peer.error_name(reply.outcome.error)
                   if reply.outcome.HasField("error") else "taken")


def audit_outlives(ledger, lab):
    """`loom audit` reads the journal of a dead controller, and the next life still has what the last one recorded."""
    before = [row for row in rows_of(audit_rows(lab)) if row.get("principal") == "operator"]
    argv = lab.kill(lab.pid("lightloomd"))
    dead = rows_of(audit_rows(lab))
    ledger.promise("loom audit works with the controller dead", bool(before) and all(row in dead for row in before),
                   f"{len(dead)} records")
    lab.restart_controller(argv)
    after = rows_of(audit_rows(lab))
    lost = [row for row in before if row not in after]
    ledger.promise("the audit outlives its controller", bool(before) and not lost,
                   f"{len(before)} records of the operator, {len(lost)} lost")


def audit_is_full(ledger, lab):
    """A viewer orders two thousand times: it pushes nobody out, and grows no journal."""
    def size():
        return sum(path.stat().st_size for path in lab.state.glob("controller.db*"))
    first, bytes_before = rows_of(audit_rows(lab)), size()
    with lab.connect("curious", role=report.ROLE_VIEWER) as viewer:
        begin = time.monotonic()
        for k in range(VIEWER_ORDERS):
            viewer.post(node_request=wire.NodeRequest(node_id=k % 8, order=wire.NODE_ACTION_DRAIN))
            viewer.receive(0.001)
            if time.monotonic() > begin + 6:
                break
        viewer.receive(0.5)
    time.sleep(1.2)
    rows = rows_of(audit_rows(lab))
    viewers = [row for row in rows if row.get("principal") == "curious"]
    lost = [row for row in first if row.get("principal") == "operator" and row not in rows]
    ledger.promise("a viewer cannot fill the audit", bool(rows) and len(viewers) <= AUDIT_ROWS_OF_VIEWER and not lost,
                   f"{VIEWER_ORDERS} orders, {len(viewers)} rows of the viewer, {len(lost)} rows of the operator lost")
    ledger.promise("a viewer cannot grow the journal", size() - bytes_before < 1 << 20,
                   f"+{(size() - bytes_before) / 1024:.0f} KiB")


def judge(ledger, programs):
    with laboratory.Lab(programs, "keys") as lab:
        lab.generate_keys()
        lab.grant("curious", "viewer")
        lab.up()
        if lab.submit("vgg19", [0, 1, 2, 3]).returncode != 0:
            raise RuntimeError("no job to watch")
        hang_up(ledger, lab)
        if not lab.jobs():
            lab.submit("vgg19", [0, 1, 2, 3])
        job = max(lab.jobs())
        wait_until(lambda: lab.jobs()[job]["state"] == "lit", 5, 0.05)
        pair = granted(ledger, lab)
        if pair:
            revoked(ledger, lab, pair)
            revocation_figures(ledger, lab)
        revoked_orders(ledger, lab)
        rotated(ledger, lab)
        rotated_agent(ledger, lab)
        viewer_may(ledger, lab, job)
        audit(ledger, lab, job)
        audit_is_text(ledger, lab)
        audit_is_full(ledger, lab)
        audit_outlives(ledger, lab)
        broken_keyrings(ledger, lab)
        for name in ("mallory", "eve"):
            lab.loom("keys", "revoke", name)
        answer = lab.loom("keys", "revoke", "operator")
        ledger.promise("the last key that may order is not revoked unasked", answer.returncode not in (0, 2),
                       f"exit {answer.returncode}: "
                       f"{answer.stderr.strip().splitlines()[:1]}")
        mode = {path.name: oct(path.stat().st_mode & 0o777) for path in pathlib.Path(lab.state / "keys").iterdir()
                if not path.name.endswith(".pub") and path.stat().st_mode & 0o077}
        ledger.promise("no secret of the keys' folder is readable by others", not mode, f"{mode}" if mode else "")


if __name__ == "__main__":
    laboratory.main(judge)
