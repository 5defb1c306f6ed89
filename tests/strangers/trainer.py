# SPDX-License-Identifier: Apache-2.0
"""What the judges of training share: training processes written from docs/training_processes.md alone, and a lab for them.

A process sleeps (it computes), says that it is ready, waits for its light, sends while the light is there, and keeps its own
clock.
"""
import json
import random
import socket
import threading
import time

import lab as laboratory
from lab import wait_until

NODES = 4
SEED = 20
COMPUTE_S = (0.02, 0.12)      # jitter of a process
ITERATION_S = 15              # an iteration that takes longer has stopped; a busy machine plays passes again for seconds
HELD_S = 0.6                  # a process that asks later than all others
SUBMIT_S = 25                 # a commit that a busy machine plays too late is taken back, and tried again
ANSWER_S = 5                  # an agent on a busy machine answers a line


class Process:
    """One training process: its connection, the words that it heard at which instants of its own clock, and when it asked."""

    def __init__(self, folder, node):
        self.node = node
        self.heard, self.asked, self.ended = [], {}, None
        self.marks = {}  # how many words were heard when a number was asked for first
        self.news = threading.Condition()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(ITERATION_S)
        self.socket.connect(str(folder / f"node-{node}.sock"))
        self.socket.settimeout(None)
        threading.Thread(target=self._hear, daemon=True).start()

    def _hear(self):
        why = "end"
        try:
            for line in self.socket.makefile("rb"):
                with self.news:
                    self.heard.append((time.time_ns(), json.loads(line)))
                    self.news.notify_all()
        except (OSError, ValueError) as error:
            why = repr(error)
        with self.news:
            self.ended = why
            self.news.notify_all()

    def say(self, words):
        """False when nobody is there any more."""
        line = words if isinstance(words, bytes) else json.dumps(words).encode() + b"\n"
        try:
            self.socket.sendall(line)
        except OSError:
            return False
        return True

    def ready(self, number):
        self.asked.setdefault(number, time.time_ns())
        self.marks.setdefault(number, len(self.heard))
        return self.say({"ready": number})

    def find(self, fact, since=0, seconds=ITERATION_S):
        """(instant, word) of the first word that fits, heard or yet to be heard; None when it did not come in time."""
        until = time.monotonic() + seconds
        with self.news:
            seen = since
            while True:
                for row in self.heard[seen:]:
                    if fact(row[1]):
                        return row
                seen = len(self.heard)
                left = until - time.monotonic()
                if left <= 0 or self.ended:
                    return None
                self.news.wait(left)

    def iterate(self, number, computes_s):
        """One iteration; False when its light did not come."""
        time.sleep(computes_s)
        if not self.ready(number) or not self.find(lambda word: word.get("lit") == number, self.marks[number]):
            return False
        # it sends while there is light
        return self.find(lambda word: word.get("over") == number, self.marks[number]) is not None

    def lits(self, number=None, again=None):
        return [(at, word) for at, word in list(self.heard) if "lit" in word and word["lit"] > 0
                and number in (None, word["lit"]) and again in (None, word["again"])]

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


class Team:
    """The processes of all nodes; members[node] is a list of them. numbers go on where they were, over all of a judgement."""

    def __init__(self, lab, folder, chance):
        self.lab, self.folder, self.chance = lab, folder, chance
        self.members = {node: [Process(folder, node)] for node in range(NODES)}
        self.number = 0
        self.job = 0

    def everybody(self):
        return [process for node in sorted(self.members) for process in self.members[node]]

    def train(self, count, late=None):
        """count iterations; late: {process: seconds that it computes longer in the first of them}. How many came."""
        numbers = range(self.number + 1, self.number + count + 1)
        delays = {process: [self.chance.uniform(*COMPUTE_S) + ((late or {}).get(process, 0) if number == numbers[0] else 0)
                            for number in numbers] for process in self.everybody()}
        came = {}

        def run(process):
            came[process] = 0
            for number, delay in zip(numbers, delays[process]):
                if not process.iterate(number, delay):
                    return
                came[process] += 1
        threads = [threading.Thread(target=run, args=(process,), daemon=True) for process in self.everybody()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.number += min(came.values())  # who has got no light asks for the same number again
        return min(came.values())

    def calm(self, seconds=ITERATION_S):
        """Until no pass is played: each has heard last that one is over, and nothing since for longer than a lead."""
        def quiet():
            return all(process.heard and {"over", "laid", "node"} & set(process.heard[-1][1]) and time.time_ns() - process.heard[-1][0] > 4e8
                       for process in self.everybody())
        return wait_until(quiet, seconds, 0.05)

    def shown(self):
        return (self.lab.json("job", "show", self.job).get("jobs") or [{}])[0]

    def begin(self, ledger):
        """A job that is lit, and every process told so. Submitted again when a busy machine was late for its first light."""
        for _ in range(3):
            answer = self.lab.submit("dlrm", NODES, "--paced-by-training", "--timeout", f"{SUBMIT_S}s",
                                     timeout=SUBMIT_S + ANSWER_S)
            if answer.returncode == 0 or "was not settled for its first timeslot" not in answer.stderr:
                break
            ledger.note(f"this machine is too busy for a job: {answer.stderr.strip().splitlines()[-2].strip()}")
        jobs = self.lab.jobs()
        if answer.returncode != 0 or not jobs:
            raise RuntimeError(f"no job: exit {answer.returncode}: {answer.stderr.strip()}")
        self.job = max(jobs)
        for process in self.everybody():  # laid, and proven by a pass that nobody asked for
            if not process.find(lambda word: "laid" in word and word["job"] == self.job):
                raise RuntimeError(f"node-{process.node} was not told that its light is laid: {process.heard[-3:]}")

    def close(self):
        for process in self.everybody():
            process.close()


class Site:
    """A lab whose agents have sockets, its team, and the end of both."""

    def __init__(self, ledger, programs, name):
        self.ledger = ledger
        self.lab = laboratory.Lab(programs, f"training-{name}", fabric="oddl_4")
        self.folder = self.lab.folder / "sockets"
        self.folder.mkdir()
        self.team = None

    def __enter__(self):
        try:
            self.lab.up("--training-dir", self.folder)
            self.team = Team(self.lab, self.folder, random.Random(SEED))
            self.team.begin(self.ledger)
        except BaseException:
            self.lab.down()
            raise
        return self.lab, self.team

    def __exit__(self, *_):
        self.team.close()
        self.lab.down()
