#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""training_anew.py FOLDER [FAMILY ...]: training and light that begin anew.

Families: again (a process that was started again, one that connects and says nothing, a slow iteration with two reasons),
relaid (an iteration that is interrupted, an agent that starts again, the next job).
"""
import sys
import time

import lab as laboratory
from lab import wait_until
from trainer import ANSWER_S, HELD_S, NODES, Process, Site


def restarted_training(ledger, team, node):
    """A process that was started again counts from 1; the numbers of two nodes need not agree."""
    team.calm()
    team.members[node][0].close()
    time.sleep(HELD_S)
    anew = team.members[node][0] = Process(team.folder, node)
    others = [process for process in team.everybody() if process is not anew]
    for number in (1, 2):
        for process in others:
            process.ready(team.number + number)
        time.sleep(HELD_S / 2)
        before = len(anew.heard)
        anew.ready(number)
        if not anew.find(lambda word: word.get("lit") == number, before, ANSWER_S):
            break
    came = len({word["lit"] for _, word in anew.lits(again=False) if word["lit"] in (1, 2)})
    ledger.promise("a process that was started again counts from 1: it gets its light", came == 2,
                   f"{came} of 2 iterations; awaited: {team.shown().get('awaited')!r}" if came < 2 else "")
    if came < 2:  # that the rest can be judged
        for number in (1, 2):
            anew.ready(team.number + number)
            others[0].find(lambda word: word.get("over") == team.number + number)
    team.number += 2
    return came == 2


def reason_is_the_greatest_part(ledger, team):
    """A straggler whose iteration was also played again, for a fraction of the time that it took."""
    team.train(1)
    team.calm()
    number, node, straggle_s = team.number, 1, 3.0
    team.members[2][0].say({"unsent": number})
    team.members[2][0].find(lambda word: word.get("lit") == number and word["again"])
    team.train(1, late={team.members[node][0]: straggle_s})
    team.calm()
    shown = team.shown()
    ledger.promise("the slowest iteration's reason is what took longest, not what was played again beside it",
                   f"node-{node} computed" in shown.get("slowest", ""),
                   f"node-{node} computed {straggle_s} s longer: {shown.get('slowest')}")


def interrupted_iteration(ledger, lab, team):
    """Lasers off in the middle of an iteration: it is laid anew, and lit, and counted once."""
    team.calm()
    before = team.shown().get("iterations", 0)
    marks = {process: len(process.heard) for process in team.everybody()}
    number = team.number = team.number + 1
    for process in team.everybody():
        process.ready(number)
    team.members[0][0].find(lambda word: word.get("lit") == number)
    lab.loom("lasers", "off")
    none = all(process.find(lambda word: word.get("none"), marks[process], ANSWER_S) for process in team.everybody())
    ledger.promise("lasers off in the middle of an iteration: everybody is told that no light repeats", none)
    cut = [process.node for process, mark in marks.items()
           if not any(word.get("over") == number for _, word in process.heard[mark:])]
    lab.loom("lasers", "rearm")
    laid = all(process.find(lambda word: "laid" in word, marks[process]) for process in team.everybody())
    ledger.promise("rearm: everybody is told that its light is laid anew", laid)
    for process in team.everybody():
        process.ready(number)  # who has not got the bytes asks for N again
    done = all(process.find(lambda word: word.get("over") == number, marks[process]) for process in team.everybody())
    team.calm()
    wait_until(lambda: team.shown().get("iterations", 0) == before + 1, 2, 0.2)
    ledger.promise("the interrupted iteration is lit after it, and counted once", done and
                   (len(cut) < NODES or team.shown().get("iterations") == before + 1),
                   f"over {done}, interrupted on {cut}, {team.shown().get('iterations')} after {before}")


def next_job(ledger, lab, team):
    """Another job on the same nodes is lit for nobody who has not asked; its training counts as it likes."""
    team.calm()
    lab.loom("job", "cancel", team.job, "--wait")
    marks = {process: len(process.heard) for process in team.everybody()}
    team.begin(ledger)
    time.sleep(2 * HELD_S)
    told = [f"node-{process.node}: {word}" for process, mark in marks.items() for _, word in process.heard[mark:]
            if word.get("lit", 0) > 0]
    ledger.promise("the next job's light comes for no iteration of the job before, which was over", not told, told[:1] or "")
    team.close()
    time.sleep(HELD_S)
    team.members = {node: [Process(team.folder, node)] for node in range(NODES)}
    team.calm()
    for process in team.everybody():
        process.ready(1)
    lit = [process.node for process in team.everybody() if process.find(lambda word: word.get("lit") == 1, 1, ANSWER_S)]
    ledger.promise("the next job's training, processes started again, counts from 1: it gets its light", len(lit) == NODES,
                   f"on nodes {lit}")


def silent_connection(ledger, team):
    """Somebody connects, says half a line, and stays. The node has said how many train there."""
    team.members[0][0].say({"processes": 1})
    half = Process(team.folder, 0)
    half.say(b'{"ready": ')
    for process in team.everybody():
        process.ready(team.number + 1)
    lit = team.members[0][0].find(lambda word: word.get("lit") == team.number + 1, 0, ANSWER_S)
    ledger.promise("who connects and asks for nothing is not waited for where the node has said how many train", bool(lit),
                   f"awaited: {team.shown().get('awaited')!r}" if not lit else "")
    half.close()
    team.train(1)


def errors_say_what(ledger, team):
    stranger = Process(team.folder, 0)
    mute = []
    for line in (b"hello", b"[1]", b'{"ready": 7, "unsent": 3}', b'{"ready": "7"}', b'{"processes": 65}'):
        before = len(stranger.heard)
        stranger.say(line + b"\n")
        answer = stranger.find(lambda word: "error" in word, before, ANSWER_S)
        mute += [answer[1]["error"] if answer else line] if not answer or line.decode() not in answer[1]["error"] else []
    ledger.promise("an error says what was found", not mute, mute[:1] or "")
    stranger.close()


def agent_restarts(ledger, lab, team):
    """An agent process dies and is back; its nodes ask, the others have not asked since their last iteration was over."""
    team.calm()
    lab.kill(lab.pid("lightloom-agent", 1))
    marks = {node: len(team.members[node][0].heard) for node in (0, 1)}
    lab.loom("lab", "restart", "agents-1", timeout=30)
    for node in (2, 3):
        team.members[node][0].close()
        team.members[node][0] = Process(team.folder, node)
    laid = all(team.members[node][0].find(lambda word: "laid" in word, mark) for node, mark in marks.items())
    for node in (2, 3):
        team.members[node][0].ready(team.number + 1)
    team.calm()
    time.sleep(HELD_S)
    told = [f"node-{process.node}: {word['lit']}" for process in team.everybody()
            for _, word in process.heard[marks.get(process.node, 0):] if word.get("lit", 0) > 0]
    ledger.promise("an agent restarts, and two of four nodes ask: no light, for the others have not asked", laid and not told,
                   f"lit: {told}" if told else "")
    for node in (0, 1):
        team.members[node][0].ready(team.number + 1)
    came = team.train(2)
    ledger.promise("then all ask: the job goes on, all nodes with the number that they asked for", came == 2, f"{came} of 2")


def again(ledger, programs):
    """What is asked, by whom, and what took so long."""
    with Site(ledger, programs, "again") as (_, team):
        team.train(3)
        reason_is_the_greatest_part(ledger, team)
        errors_say_what(ledger, team)
        silent_connection(ledger, team)
        restarted_training(ledger, team, 2)


def relaid(ledger, programs):
    """Light that is laid anew: for the same job, or the next one."""
    with Site(ledger, programs, "relaid") as (lab, team):
        team.train(2)
        interrupted_iteration(ledger, lab, team)
        agent_restarts(ledger, lab, team)
        next_job(ledger, lab, team)


FAMILIES = {"again": again, "relaid": relaid}


def judge(ledger, programs):
    for name in sys.argv[2:] or FAMILIES:
        FAMILIES[name](ledger, programs)


if __name__ == "__main__":
    laboratory.main(judge)
