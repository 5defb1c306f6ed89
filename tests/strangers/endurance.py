#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""endurance.py FOLDER [SECONDS]: training for so long (./dev soak soft: an hour; 12 s in the suite). Two jobs repeat beside each
other; iterations go on, none takes longer and longer, nothing stays dark, and no daemon grows.

What grows is judged between the second quarter and the last one: before, caches and pools fill up.
"""
import sys
import time

import lab as laboratory
from lab import memory_mib, percentile, wait_until

SAMPLES = 120
GROWTH_MIB = 2        # beside 3 % of what it was: allocators round up
SLOWER = 1.25         # a busy machine; what grows with time grows by more


def quarter(samples, number):
    cut = len(samples) // 4
    return samples[number * cut:(number + 1) * cut] or samples[-1:]


def judge_growth(ledger, name, memory):
    before, after = max(quarter(memory, 1)), max(quarter(memory, 3))
    ledger.promise(f"{name} does not grow", after <= 1.03 * before + GROWTH_MIB, f"{before:.1f} MiB, then {after:.1f} MiB")


def judge_job(ledger, job, rows):
    done = [row["iterations"] for row in rows]
    lengths = [row.get("iteration_p50_ns", 0) / 1e6 for row in rows]
    tails = [row.get("iteration_p99_ns", 0) / 1e6 for row in rows]
    ledger.promise(f"job {job} goes on", all(b > a for a, b in zip(quarter(done, 1), quarter(done, 2))) and done[-1] > done[0],
                   f"{done[-1]} iterations, {rows[-1].get('replayed', 0)} passes played again")
    ledger.promise(f"an iteration of job {job} takes no longer at the end",
                   percentile(quarter(lengths, 3), 0.5) <= SLOWER * percentile(quarter(lengths, 1), 0.5),
                   f"p50 {percentile(quarter(lengths, 1), 0.5):.1f} ms, then {percentile(quarter(lengths, 3), 0.5):.1f} ms; "
                   f"p99 {percentile(quarter(tails, 1), 0.5):.1f} ms, then {percentile(quarter(tails, 3), 0.5):.1f} ms")
    ledger.note(f"job {job}: slowest of the last ones: {rows[-1].get('slowest')}")


def judge(ledger, programs):
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    with laboratory.Lab(programs, "endurance", in_memory=True) as lab:
        lab.up()
        for nodes in ([0, 1, 2, 3], [4, 5, 6, 7]):
            answer = lab.submit("dlrm", nodes)
            if answer.returncode != 0:
                raise RuntimeError(f"no job: {answer.stderr.strip()}")
        jobs = sorted(lab.jobs())
        wait_until(lambda: all(row["iterations"] > 1 for row in lab.jobs().values()), 20, 0.2)
        daemons = {pid: f"{argv[0].rsplit('/', 1)[-1]} {pid}" for pid, argv in lab.processes().items()}
        memory = {pid: [] for pid in daemons}
        rows = {job: [] for job in jobs}
        pause = max(0.5, seconds / SAMPLES)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for pid in daemons:
                memory[pid].append(memory_mib(pid)[0])
            for job, row in lab.jobs().items():
                rows[job].append(row)
            time.sleep(pause)
        ledger.promise("no daemon ended", set(lab.processes()) == set(daemons), f"{len(daemons)} daemons")
        for pid, name in daemons.items():
            judge_growth(ledger, name, memory[pid])
        for job in jobs:
            judge_job(ledger, job, rows[job])
            ledger.promise(f"job {job} is lit", lab.jobs()[job]["state"] == "lit", lab.jobs()[job].get("why", ""))
        alarms = lab.json("alarm", "list").get("alarms", [])
        ledger.note(f"{len(alarms)} alarms: {[alarm.get('evidence', '')[:100] for alarm in alarms[:3]]}")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        laboratory.LIMIT_S = int(sys.argv[2]) + 120
    laboratory.main(judge)
