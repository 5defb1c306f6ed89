#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""training.py FOLDER [FAMILY ...]: training processes on the four nodes of a real lab; light comes when all have asked for it.

What they saw is held against docs/training_processes.md, `loom job show --json`, and the light that the simulated lasers
emitted. Families: pace (iterations), words (what nobody should say), deaths (of a process, the controller, an agent).
"""
import socket
import sys
import time

import lab as laboratory
from lab import percentile, wait_until
from trainer import ANSWER_S, HELD_S, ITERATION_S, NODES, Process, Site

STRAGGLERS = {1: 0.5, 3: 1.5}  # node: how much longer its process computes, once
AWAITED_S = 1 + ANSWER_S      # and two iterations: then job show says for whom it waits
CLOCK_NS = 1_000_000          # two readings of the wall clock, and its slewing
TAIL_NS = 50_000_000          # a quarter of a pass: the last timeslot's laser goes off while the word of the end travels
SPREAD_NS = 50_000_000        # between the instants of two nodes: far less than a pass; each agent reads the clock by itself
LINE_LIMIT = 4096
PROCESS_LIMIT = 64
UNREAD_LIMIT = 64 * 1024

# Lines that are not one object with one key of the table and a number above 0.
NONSENSE = [b"hello", b"", b"[]", b"{}", b"null", b"\xff\xfe\x00", b'{"ready": 0}', b'{"ready": -1}', b'{"ready": 1.5}',
            b'{"ready": "5"}', b'{"ready": true}', b'{"ready": 18446744073709551616}', b'{"ready": 7, "unsent": 3}',
            b'{"ready": 7}{"ready": 8}', b'{"processes": 0}', b'{"processes": 65}', b'{"unsent": -3}', b'{"sorry": 1}']


# -- judgements


def asked_by_all(team, number):
    """When the last process asked for the first time."""
    return max(process.asked[number] for process in team.everybody() if number in process.asked)


def beginnings(process):
    """[(number, at_ns)] of the first passes, in the order of the words."""
    return [(word["lit"], word["at_ns"]) for _, word in process.lits(again=False)]


def no_light_before_all_asked(ledger, team, first, last):
    early, spread, late, doubled, missing = [], [0], [], [], []
    for number in range(first, last + 1):
        instant = asked_by_all(team, number)
        rows = {process: process.lits(number, False) for process in team.everybody()}
        doubled += [f"{number} on node-{process.node}: {len(lits)}" for process, lits in rows.items() if len(lits) > 1]
        missing += [f"{number} on node-{process.node}" for process, lits in rows.items() if not lits]
        firsts = [lits[0] for lits in rows.values() if lits]
        early += [f"{number}: {(instant - min(at, word['at_ns'])) / 1e6:.3f} ms" for at, word in firsts
                  if min(at, word["at_ns"]) < instant]
        spread.append(max(word["at_ns"] for _, word in firsts) - min(word["at_ns"] for _, word in firsts) if firsts else 0)
        late += [(at - word["at_ns"]) / 1e6 for at, word in firsts]
    ledger.promise(f"iterations {first} to {last}: no light, and no word of it, before the last process has asked", not early,
                   early[:4] or "")
    ledger.promise("each number is lit once on every node (again apart)", not doubled and not missing,
                   f"twice {doubled[:4]}, never {missing[:4]}" if doubled or missing else "")
    ledger.promise(f"its nodes are told one instant, within {SPREAD_NS / 1e6:.0f} ms", max(spread) <= SPREAD_NS,
                   f"p50 {percentile(spread, .5)} max {max(spread)} ns apart")
    ledger.note(f"from the word of light to its instant: p50 {-percentile(late, .5):.2f} ms, at worst "
                f"{-max(late, default=0):.2f} ms; {sum(ms > 0 for ms in late)} of {len(late)} words came after their instant")


def over_follows_lit(ledger, team):
    wrong, again = [], 0
    for process in team.everybody():
        words = [word for _, word in process.heard if word.get("lit", 0) > 0 or word.get("over", 0) > 0]
        for before, after in zip(words, words[1:]):
            if "over" in after and after["over"] != before.get("lit"):
                wrong.append(f"node-{process.node}: over {after['over']} after {before}")
            if "lit" in after and "lit" in before:
                wrong.append(f"node-{process.node}: lit {after['lit']} while {before['lit']} is not over")
            if after.get("again") and after["lit"] != before.get("over"):
                wrong.append(f"node-{process.node}: {after['lit']} again after {before}")
            again += bool(after.get("again"))
        instants = [word["at_ns"] for word in words if "lit" in word]
        wrong += [f"node-{process.node}: instants do not ascend"] if instants != sorted(instants) else []
    ledger.promise("on every node each light is over before the next one, and again is said of the same number", not wrong,
                   wrong[:3] or "")
    ledger.note(f"{again // max(1, len(team.everybody()))} passes were played again")


def agrees_with_show(ledger, team):
    """How many and how long, by the clock of node-0's first process."""
    mine = beginnings(team.members[0][0])
    gaps = sorted(later[1] - earlier[1] for earlier, later in zip(mine, mine[1:]))
    wait_until(lambda: team.shown().get("iterations") == len(mine), ANSWER_S, 0.2)
    shown = team.shown()
    ledger.promise("job show counts the iterations that the processes counted", shown.get("iterations") == len(mine),
                   f"{shown.get('iterations')}, processes {len(mine)}")
    middle = len(gaps) // 2
    low, high = gaps[max(0, middle - 1)] - 10e6, gaps[min(len(gaps) - 1, middle + 1)] + 10e6
    ledger.promise("its p50 lies between the processes' two iterations beside the middle, 10 ms more or less",
                   low <= shown.get("iteration_p50_ns", 0) <= high,
                   f"{shown.get('iteration_p50_ns', 0) / 1e6:.1f} ms, processes {gaps[middle] / 1e6:.1f} ms "
                   f"({low / 1e6:.1f} .. {high / 1e6:.1f})")
    parts = shown.get("ledger", {})
    mean = sum(gaps) / len(gaps)
    ledger.promise("where the time went adds up to the processes' mean, within 5 % and 10 ms",
                   abs(sum(parts.values()) - mean) <= 0.05 * mean + 10e6,
                   f"{sum(parts.values()) / 1e6:.1f} ms of {mean / 1e6:.1f} ms: "
                   + ", ".join(f"{name[:-3]} {value / 1e6:.1f}" for name, value in parts.items()))


def dark_between(ledger, lab, team):
    """Ground truth: from a node's last over before an iteration to that iteration's instant none of its lasers is lit."""
    shift = time.time_ns() - time.monotonic_ns()
    devices = lab.json("device", "list").get("devices", [])
    owners = {row["device"]: row["node"] for row in devices if row["role"] == "transmitter"}
    wait_until(lambda: all(lab.whole_ns(process) > time.monotonic_ns() - int(1e9) for process in (0, 1)), 3)
    lit = {node: [] for node in range(NODES)}
    for process in (0, 1):
        since = {}
        for instant, device, emits in lab.light(process):
            if emits:
                since.setdefault(device, instant)
            elif device in since:
                lit[owners[device]].append((since.pop(device), instant))
    judged, wrong, sent, tails = 0, [], 0, [0]
    for node in range(NODES):
        process = team.members[node][0]
        words = [(at, word) for at, word in process.heard if "over" in word or "lit" in word]
        for (over_at, over), (_, begun) in zip(words, words[1:]):
            if "over" not in over or "lit" not in begun or begun["again"] or begun["lit"] < 2:
                continue
            dark = (over_at - shift + CLOCK_NS, begun["at_ns"] - shift - CLOCK_NS)
            judged += 1
            tails += [end - over_at + shift for begin, end in lit[node] if begin < dark[0] < end]
            wrong += [f"node-{node}: {(begin - dark[0]) / 1e6:.2f} ms after {over}, {(dark[1] - begin) / 1e6:.2f} to {begun}"
                      for begin, _ in lit[node] if dark[0] < begin < dark[1]]
        sent += any(begin > process.heard[0][0] - shift for begin, _ in lit[node])
    ledger.promise("no laser is lit between the end of an iteration and the next one's instant (light logs)",
                   judged > 0 and not wrong, wrong[:3] or f"{judged} intervals")
    ledger.promise(f"and none outlasts the word of the end by {TAIL_NS / 1e6:.0f} ms", max(tails) < TAIL_NS,
                   f"{len(tails) - 1} by more than {CLOCK_NS / 1e6:.0f} ms, at worst {max(tails) / 1e6:.2f} ms")
    ledger.promise("every node emitted in its iterations (light logs)", sent == NODES, f"{sent} of {NODES}")


def straggler_is_named(ledger, team):
    """It is retried where the machine itself was slower: that iteration then has another reason."""
    for node, straggle_s in STRAGGLERS.items():
        team.calm()
        team.train(2, late={team.members[node][0]: straggle_s})
        team.calm()
        rows = beginnings(team.members[0][0])
        gaps = {earlier[0]: later[1] - earlier[1] for earlier, later in zip(rows, rows[1:])}
        slowed = team.number - 2  # its light began before the straggler computed
        if gaps.get(slowed) == max(gaps.values()) and not team.members[0][0].lits(slowed, True):
            slowest = team.shown().get("slowest", "")
            named = f"node-{node} computed" in slowest
            ledger.promise("a straggler's node is named as the reason of the slowest iteration", named,
                           f"node-{node} computed {straggle_s} s longer, {gaps[slowed] / 1e6:.0f} ms by its clock: {slowest}")
            return
    ledger.note("the machine was slower than every straggler: none is judged")


def several_processes(ledger, team):
    """Three on node-1, the last of them late."""
    members = team.members[1]
    members += [Process(team.folder, 1), Process(team.folder, 1)]
    members[0].say({"processes": 3})
    team.calm()
    first = team.number + 1
    came = team.train(3, late={members[2]: HELD_S})
    ledger.promise("node-1 has three processes: its iterations come", came == 3, f"{came} of 3")
    no_light_before_all_asked(ledger, team, first, team.number)
    team.calm()
    for process in (members.pop(), members.pop()):
        process.close()
    members[0].say({"processes": 1})


def unsent_is_lit_again(ledger, team):
    team.train(1)
    team.calm()
    number, node = team.number, 2
    before = {process: len(process.lits(number, True)) for process in team.everybody()}
    replayed = team.shown().get("replayed", 0)
    team.members[node][0].say({"unsent": number})
    more = wait_until(lambda: all(len(process.lits(number, True)) > count for process, count in before.items()), ITERATION_S)
    ledger.promise("unsent of one node: its number is lit once more for all nodes (again)", more,
                   {f"node-{process.node}": len(process.lits(number, True)) - count for process, count in before.items()})
    team.calm()
    shown = wait_until(lambda: team.shown().get("replayed", 0) > replayed, ANSWER_S, 0.2)
    ledger.promise("job show counts it as played again", shown, f"{team.shown().get('replayed')} after {replayed}")
    came = team.train(1)
    ledger.promise("after it the next iteration comes", came == 1)


def pace(ledger, programs):
    """Iterations."""
    with Site(ledger, programs, "pace") as (lab, team):
        came = team.train(12)
        ledger.promise("twelve iterations of four nodes come", came == 12, f"{came} of 12")
        no_light_before_all_asked(ledger, team, 1, team.number)
        team.calm()
        agrees_with_show(ledger, team)
        dark_between(ledger, lab, team)
        straggler_is_named(ledger, team)
        several_processes(ledger, team)
        unsent_is_lit_again(ledger, team)
        team.calm()
        over_follows_lit(ledger, team)


# -- what nobody should say


def goes_on(ledger, team, what, count=1):
    came = team.train(count)
    ledger.promise(f"{what}: the job goes on", came == count, f"{came} of {count} iterations" if came != count else "")


def told_after_old_numbers(team):
    """Old numbers of all, and node-0's next one, said twice: what everybody hears after it."""
    team.calm()
    before = {process: len(process.heard) for process in team.everybody()}
    for process in team.everybody():
        for number in (team.number, team.number, team.number - 1, 1):
            process.say({"ready": number})
        process.say({"unsent": team.number + 1000})
    team.members[0][0].ready(team.number + 1)
    team.members[0][0].ready(team.number + 1)
    time.sleep(HELD_S)
    return [(process.node, word) for process, count in before.items() for _, word in process.heard[count:]]


def nothing_said_twice(ledger, team):
    """Twice, early, late: no light but what all have asked for once. Tried again where a busy machine played a pass again so
    late that it had looked over."""
    for _ in range(3):
        team.train(2)
        told = told_after_old_numbers(team)
        if not told:
            break
    ledger.promise("numbers that are old, said twice or never lit change nothing", not told, told[:3] or "")
    goes_on(ledger, team, "numbers that are old or said twice", 2)


def nonsense_is_refused(ledger, team):
    stranger = Process(team.folder, 0)
    unanswered, silent = [], []
    for line in NONSENSE:
        before = len(stranger.heard)
        stranger.say(line + b"\n")
        answer = stranger.find(lambda word: "error" in word, before, ANSWER_S)
        if not answer:
            unanswered.append(line)
        elif not answer[1]["error"]:
            silent.append(line)
    ledger.promise(f"{len(NONSENSE)} lines not of the table are answered with an error each, on a connection that stays",
                   not unanswered and not silent and stranger.ended is None, f"{unanswered} {silent} {stranger.ended}"
                   if unanswered or silent or stranger.ended else "")
    stranger.close()
    goes_on(ledger, team, "nonsense")


def endless_lines(ledger, team):
    whole, endless, half = (Process(team.folder, 0) for _ in range(3))
    line = b'{"sorry": 1}'
    whole.say(line + b" " * (LINE_LIMIT - 1 - len(line)) + b"\n")
    read = whole.find(lambda word: "error" in word, 0, ANSWER_S)
    ledger.promise(f"a line of {LINE_LIMIT} bytes, its end one of them, is read", bool(read))
    endless.say(b"x" * (LINE_LIMIT + 1))
    dropped = wait_until(lambda: endless.ended, ANSWER_S)
    ledger.promise("a line without an end is dropped with its connection", bool(dropped), dropped)
    half.say(b'{"ready": ')
    for process in (whole, endless, half):
        process.close()
    goes_on(ledger, team, "too long a line, and half a line")


def deaf_process(ledger, team):
    """It asks for answers and reads none of them."""
    deaf = socket.socket(socket.AF_UNIX)
    deaf.settimeout(ANSWER_S)
    deaf.connect(str(team.folder / "node-1.sock"))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    said, why = 0, "took all"
    try:
        for said in range(200_000):  # far more than the limit, and than any buffer of a socket
            deaf.sendall(b'{"x": 1}\n')
    except OSError as error:
        why = error
    ledger.promise(f"a process that reads nothing for {UNREAD_LIMIT // 1024} kB of words is dropped", why != "took all",
                   f"after {said} lines: {why}")
    goes_on(ledger, team, "a process that reads nothing")
    deaf.close()


def too_many(ledger, team):
    """65 connections at node-3, one of which trains."""
    crowd = [Process(team.folder, 3) for _ in range(PROCESS_LIMIT)]
    gone = wait_until(lambda: [process for process in crowd if process.ended], ANSWER_S)
    greeted = wait_until(lambda: sum(bool(process.heard) for process in crowd) == PROCESS_LIMIT - 1, ANSWER_S)
    ledger.promise(f"the {PROCESS_LIMIT + 1}th process of a node is dropped, and no other", greeted and gone == crowd[-1:],
                   f"{len(gone or [])} dropped, {sum(bool(process.heard) for process in crowd)} greeted")
    for process in crowd:
        process.close()
    goes_on(ledger, team, f"{PROCESS_LIMIT + 1} processes")


def words(ledger, programs):
    """What nobody should say."""
    with Site(ledger, programs, "words") as (_, team):
        nothing_said_twice(ledger, team)
        nonsense_is_refused(ledger, team)
        endless_lines(ledger, team)
        deaf_process(ledger, team)
        too_many(ledger, team)
        team.calm()
        over_follows_lit(ledger, team)


# -- who dies


def process_stops(ledger, team):
    """node-3's process asks no more, dies, and another one asks in its place."""
    team.train(3)
    team.calm()
    for node in range(NODES - 1):
        team.members[node][0].ready(team.number + 1)
    rows = beginnings(team.members[0][0])
    iteration_s = max(later[1] - earlier[1] for earlier, later in zip(rows, rows[1:])) / 1e9
    awaited = wait_until(lambda: team.shown().get("awaited"), AWAITED_S + 2 * iteration_s, 0.2)
    ledger.promise("a process that asks no more: job show says whose training is waited for", "node-3" in (awaited or ""),
                   awaited or f"nobody after {AWAITED_S + 2 * iteration_s:.1f} s, an iteration took {iteration_s:.1f} s")
    team.members[3][0].close()
    time.sleep(HELD_S)
    lit = [process.node for process in team.everybody() if process.lits(team.number + 1)]
    ledger.promise("its end is no readiness: no light", not lit, lit or "")
    team.members[3][0] = Process(team.folder, 3)
    told = team.members[3][0].find(lambda word: "node" in word, 0, ANSWER_S)
    ledger.promise("who connects is told the node's name, and of no light that it has not asked for", bool(told) and
                   [word for _, word in team.members[3][0].heard] == [{"node": "node-3"}], team.members[3][0].heard)
    goes_on(ledger, team, "another process asks in its place", 2)
    back = wait_until(lambda: "node-3" not in team.shown().get("awaited", "node-3"), ANSWER_S, 0.2)
    ledger.promise("who came back is not waited for any more", back, team.shown().get("awaited"))


def controller_dies(ledger, lab, team):
    team.calm()
    before = team.shown().get("iterations", 0)
    argv = lab.kill(lab.pid("lightloomd"))
    goes_on(ledger, team, "kill -9 of the controller", 4)
    lab.restart_controller(argv)
    goes_on(ledger, team, "the controller is back", 2)
    team.calm()
    wait_until(lambda: team.shown().get("iterations") == before + 6, ANSWER_S, 0.2)
    ledger.promise("job show has counted those without a controller as well", team.shown().get("iterations") == before + 6,
                   f"{team.shown().get('iterations')} after {before} and 6")


def agent_dies(ledger, lab, team):
    """Of nodes 2 and 3, by kill -9; their processes hear the end and connect again."""
    team.calm()
    heard = {node: len(team.members[node][0].heard) for node in (0, 1)}
    lab.kill(lab.pid("lightloom-agent", 1))
    ended = wait_until(lambda: all(team.members[node][0].ended for node in (2, 3)), ANSWER_S)
    ledger.promise("kill -9 of an agent process: its training processes see the end of their connections", ended)
    for node in heard:
        team.members[node][0].ready(team.number + 1)  # "what was ready before is still ready"; training_anew.py asks later
    begin = time.monotonic()
    answer = lab.loom("lab", "restart", "agents-1", timeout=30)
    ledger.promise("loom lab restart brings it back", answer.returncode == 0,
                   answer.stderr.strip() if answer.returncode else "")
    for node in (2, 3):
        team.members[node][0] = Process(team.folder, node)
    for node, count in heard.items():
        none = team.members[node][0].find(lambda word: word.get("none"), count, ITERATION_S)
        laid = team.members[node][0].find(lambda word: "laid" in word, count, ITERATION_S)
        ledger.promise(f"node-{node}, whose agent lived, is told that no light repeats, and then that it is laid anew",
                       bool(none) and bool(laid) and none[0] <= laid[0],
                       [word for _, word in team.members[node][0].heard[count:]][:3])
    goes_on(ledger, team, "the agent is back, and all ask", 2)
    ledger.note(f"two iterations were over {time.monotonic() - begin:.1f} s after the restart began")
    state = wait_until(lambda: team.shown().get("state") == "lit", ITERATION_S, 0.2)
    ledger.promise("job show says that it is lit", state, f"{team.shown().get('state')}: {team.shown().get('why')}")


def deaths(ledger, programs):
    """Of a process, the controller, an agent."""
    with Site(ledger, programs, "deaths") as (lab, team):
        process_stops(ledger, team)
        controller_dies(ledger, lab, team)
        agent_dies(ledger, lab, team)
        team.calm()
        answer = lab.loom("job", "cancel", team.job, "--wait")
        told = [bool(process.find(lambda word: word.get("none") and word["job"] == team.job, len(process.heard) - 1, ANSWER_S))
                for process in team.everybody()]
        ledger.promise("the job is cancelled: everybody is told that no light repeats", answer.returncode == 0 and all(told),
                       f"exit {answer.returncode}, {told}")


FAMILIES = {"pace": pace, "words": words, "deaths": deaths}


def judge(ledger, programs):
    for name in sys.argv[2:] or FAMILIES:
        FAMILIES[name](ledger, programs)


if __name__ == "__main__":
    laboratory.main(judge)
