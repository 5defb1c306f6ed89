#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""folders.py FOLDER: `loom lab` in the wrong folder, stopped at the wrong moment, or killed. It touches what it made and nothing else.

Every wrong folder is hashed before and after, names, contents, modes, link targets and times of change included.
"""
import hashlib
import json
import os
import pathlib
import signal
import stat
import subprocess
import time

import lab as laboratory
from lab import is_alive, wait_until

REFUSED = 3
INTERRUPTED = 130
INSTANTS = 10
END_S = 6


def fingerprint(folder):
    """What a folder holds, deep, without following links."""
    digest = hashlib.sha256()
    for path in [folder, *sorted(folder.rglob("*"))]:
        seen = path.lstat()
        digest.update(f"{path} {seen.st_mode} {seen.st_uid} {seen.st_mtime_ns if path != folder else 0} {seen.st_size}".encode())
        if stat.S_ISLNK(seen.st_mode):
            digest.update(os.readlink(path).encode())
        elif stat.S_ISREG(seen.st_mode):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Wrong:
    """Folders that no lab made, each with what an attacker or an accident would put there, and a living stranger."""

    def __init__(self, root):
        self.root = root
        self.stranger = subprocess.Popen(["sleep", "300"], start_new_session=True)
        self.outside = root / "outside"
        self.outside.mkdir()
        (self.outside / "thesis.tex").write_text("six years of work\n")

    def folder(self, name):
        path = self.root / name
        path.mkdir()
        return path

    def cases(self):
        """[(what, state folder)]"""
        thesis = self.folder("thesis")
        (thesis / "thesis.tex").write_text("six years of work\n")
        (thesis / "data").mkdir()
        (thesis / "data" / "run.csv").write_text("1,2\n")

        foreign = self.folder("foreign-pid")
        (foreign / "postgres.pid").write_text(f"{self.stranger.pid}\n")

        ours = self.folder("lightloomd-pid")
        (ours / "lightloomd.pid").write_text(f"{self.stranger.pid}\n")
        (ours / "agents-0.pid").write_text(f"{self.stranger.pid}\n")
        (ours / "notes.txt").write_text("mine\n")

        links = self.folder("links")
        (links / "controller.db").symlink_to(self.outside / "thesis.tex")
        (links / "keys").symlink_to(self.outside)

        journal = self.folder("named-as-ours")
        (journal / "controller.db").write_text("not a journal\n")
        (journal / "agents-0.light").write_text("mine\n")

        hidden = self.folder("hidden")
        (hidden / ".git").mkdir()
        (hidden / ".git" / "HEAD").write_text("ref: refs/heads/main\n")

        linked = self.root / "linked"
        linked.symlink_to(self.outside)
        return [("a folder with a thesis", thesis), ("a folder with a foreign .pid", foreign),
                ("a folder with our .pid of a stranger", ours),
                ("a folder with links to outside", links), ("a folder with files of our names", journal),
                ("a folder with a hidden .git", hidden),
                ("a link to a foreign folder", linked)]

    def end(self):
        self.stranger.kill()
        self.stranger.wait()


def wrong_folders(ledger, lab, wrong):
    for text, folder in wrong.cases():
        for words in (["lab", "down"], ["lab", "up", lab.scenario], ["lab", "run", lab.scenario],
                      ["keys", "generate", lab.scenario]):
            before = fingerprint(wrong.root)
            answer = lab.loom(*words, state=folder, timeout=15)
            after = fingerprint(wrong.root)
            alive = is_alive(wrong.stranger.pid)
            started = laboratory.processes_of(folder)
            for pid in started:
                os.kill(pid, signal.SIGKILL)
            name = " ".join(map(str, words[:2]))
            what = [] if before == after else ["the tree has changed"]
            what += [] if alive else ["the stranger's process was killed"]
            what += [] if answer.returncode == REFUSED else [f"exit {answer.returncode}"]
            what += [f"left {len(started)} processes"] if started else []
            said = (answer.stderr.strip().splitlines() or ["nothing said"])[0]
            if name == "keys generate":  # no promise names it; it must not touch what is there
                ledger.note(f"keys generate on {text}: exit {answer.returncode}: {said}")
                continue
            ledger.promise(f"lab {words[1]} on {text}: exit 3, nothing touched", not what, "; ".join([*what, said]))
            if what:
                return_stranger(wrong)
        if not (wrong.outside / "thesis.tex").exists():
            (wrong.outside / "thesis.tex").write_text("six years of work\n")


def return_stranger(wrong):
    if not is_alive(wrong.stranger.pid):
        wrong.stranger.wait()
        wrong.stranger = subprocess.Popen(["sleep", "300"], start_new_session=True)


def keys_beside_a_thesis(ledger, lab, wrong):
    """Whatever `loom keys generate` makes of a folder, a lab there deletes nothing that was in it before."""
    folder = wrong.folder("keys-and-thesis")
    thesis = folder / "controller.db"  # as somebody's own database might be called
    thesis.write_text("six years of work\n")
    (folder / "thesis.tex").write_text("six years of work\n")
    said = []
    for words in (["keys", "generate", lab.scenario], ["lab", "up", lab.scenario], ["lab", "down"],
                  ["lab", "run", lab.scenario], ["lab", "down"]):
        answer = lab.loom(*words, state=folder, timeout=15)
        said.append(f"{words[0]} {words[1]}: {answer.returncode}")
    for pid in laboratory.processes_of(folder):
        os.kill(pid, signal.SIGKILL)
    lost = [path.name for path in (thesis, folder / "thesis.tex") if not path.exists()
            or path.read_text() != "six years of work\n"]
    ledger.promise("keys generate beside a thesis makes it no lab's to delete", not lost,
                   f"{'lost ' + ', '.join(lost) + '; ' if lost else ''}"
                   f"exit codes {', '.join(said)}")


def wrong_files(ledger, lab, wrong):
    """The state folder's name is something else."""
    file = wrong.root / "a-file"
    file.write_text("mine\n")
    closed = wrong.folder("closed")
    (closed / "mine").write_text("x")
    for text, folder in (("a file", file), ("a folder below a file", file / "lab")):
        for verb in ("down", "up"):
            before = fingerprint(wrong.root)
            answer = lab.loom("lab", verb, *([lab.scenario] if verb == "up" else []), state=folder)
            refused = answer.returncode == REFUSED or text == "a folder below a file" and answer.returncode == 1  # no folder at all
            kept = fingerprint(wrong.root) == before and refused
            ledger.promise(f"lab {verb} on {text}: refused, nothing touched", kept,
                           f"exit {answer.returncode}: {answer.stderr.strip()[:160]}")


def wrong_manifests(ledger, lab, wrong, manifest):
    """The manifest of a lab that was ours, changed to name what is not; manifest is its name in the folder."""
    text = (lab.state / manifest).read_text()
    outside = wrong.outside / "thesis.tex"

    def of(change):
        data = json.loads(text)
        change(data)
        return json.dumps(data).encode()

    def every_name(data, name):
        """Puts a foreign name beside each relative name of files that the manifest has."""
        for key, value in list(data.items()):
            if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
                value.append(name)
            elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
                for item in value:
                    for field in item:
                        if field in ("file", "path", "log") or field == "name" and "pid" not in item:
                            item[field] = name
            elif isinstance(value, dict):
                every_name(value, name)

    def every_pid(data):
        for value in data.values() if isinstance(data, dict) else data:
            if isinstance(value, dict):
                if "pid" in value:
                    value["pid"] = wrong.stranger.pid
                every_pid(value)
            elif isinstance(value, list):
                every_pid([item for item in value if isinstance(item, (dict, list))])

    def newer(data):
        for key in data:
            if "version" in key and isinstance(data[key], int):
                data[key] = 999
    cases = [("names ../outside/thesis.tex", of(lambda data: every_name(data, "../outside/thesis.tex"))),
             ("names an absolute path", of(lambda data: every_name(data, str(outside)))),
             ("names a stranger's process", of(every_pid)), ("is of a newer version", of(newer)),
             ("is cut off", text[:len(text) // 2].encode()), ("is empty", b""), ("is no JSON", b"\xff\xfe\0"),
             ("is JSON of another kind", b'{"name": "my-npm-package", "version": "1.0.0"}'),
             ("is a list nested 20,000 deep", b"[" * 20000)]
    for number, (what, data) in enumerate(cases):
        folder = wrong.folder(f"manifest-{number}")
        (folder / manifest).write_bytes(data)
        (folder / manifest).chmod(0o600)
        (folder / "mine.txt").write_text("mine\n")
        judge_manifest(ledger, lab, wrong, folder, f"a manifest that {what}", refuse=what != "names a stranger's process")
    folder = wrong.folder("manifest-fifo")
    os.mkfifo(folder / manifest)
    (folder / "mine.txt").write_text("mine\n")
    judge_manifest(ledger, lab, wrong, folder, "a manifest that is a fifo")
    folder = wrong.folder("manifest-link")
    (folder / manifest).symlink_to(lab.state / manifest)
    (folder / "mine.txt").write_text("mine\n")
    judge_manifest(ledger, lab, wrong, folder, "a manifest that is a link to a living lab's")


def judge_manifest(ledger, lab, wrong, folder, text, refuse=True):
    before, others = fingerprint(wrong.root), set(lab.processes())
    answer = lab.loom("lab", "down", state=folder, timeout=10)
    what = [] if is_alive(wrong.stranger.pid) else ["the stranger's process was killed"]
    what += [] if set(lab.processes()) == others else ["another lab's processes were killed"]
    if refuse:
        what += [] if fingerprint(wrong.root) == before else ["the tree has changed"]
        what += [] if answer.returncode == REFUSED else [f"exit {answer.returncode}"]
    what += [] if (folder / "mine.txt").exists() and (wrong.outside / "thesis.tex").exists() else ["a file is gone"]
    said = (answer.stderr.strip().splitlines() or ["nothing said"])[0]
    ledger.promise(f"lab down with {text}: {'exit 3, nothing' if refuse else 'nobody else killed, no file'} touched", not what,
                   "; ".join([*what, f"exit {answer.returncode}", said]))
    return_stranger(wrong)


# --- Ctrl-C ------------------------------------------------------------------------------------------------------------------

def interrupts(ledger, lab):
    """`lab run` is interrupted at instants from its first process to its last job."""
    run = lab.folder / "run.yaml"
    run.write_text(lab.scenario.read_text() + "duration: 8 s\njobs:\n  - {name: ring, workload: vgg19, nodes: 4, at: 100 ms}\n"
                   "  - {name: shuffle, workload: dlrm, nodes: 4, at: 500 ms, runs_for: 2 s}\n")
    wrong = []
    slowest = 0.0
    for k in range(INSTANTS):
        folder = lab.folder / f"run-{k}"
        with open(lab.folder / f"run-{k}.log", "w") as log:
            process = subprocess.Popen([lab.programs / "loom", "--state", folder, "lab", "run", run], stdin=subprocess.DEVNULL,
                                       stdout=log,
                                       stderr=log, start_new_session=True)
            time.sleep([0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 1.6, 2.5][k])
            begin = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)  # what a terminal does; children in sessions of their own get none
            try:
                code = process.wait(END_S)
            except subprocess.TimeoutExpired:
                code = None
                process.kill()
                process.wait()
        slowest = max(slowest, time.monotonic() - begin)
        left = laboratory.processes_of(folder)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        # Before main() of a program nobody can answer with 130; on a busy host that may be a tenth of a second.
        early = code == -signal.SIGINT and not folder.exists()
        if code != INTERRUPTED and not early or left:
            wrong.append(f"instant {k}: exit {code}, {len(left)} processes left")
    ledger.promise(f"Ctrl-C in lab run, {INSTANTS} instants: exit 130, no process left", not wrong, "; ".join(wrong)
                   or f"slowest {slowest * 1e3:.0f} ms")


# --- crashes, modes ----------------------------------------------------------------------------------------------------------

def all_lit(lab):
    jobs = lab.jobs()
    return jobs and all(job["state"] == "lit" for job in jobs.values())


def crashes(ledger, lab):
    """The controller is killed, then everything: `lab up` starts again from the journal."""
    for text, everybody in (("the controller", False), ("all processes", True)):
        if not all_lit(lab):  # an earlier judgement has cost the lab its job
            lab.loom("lab", "down")
            lab.up()
            lab.submit("vgg19", [0, 1, 2, 3])
            wait_until(lambda: all_lit(lab), 5, 0.05)
        names = {job: row["name"] for job, row in lab.jobs().items()}
        rows = len(lab.light(0))
        for pid, argv in lab.processes().items():
            if everybody or os.path.basename(argv[0]) == "lightloomd":
                lab.kill(pid)
        answer = lab.loom("lab", "up", lab.scenario, timeout=30)
        way = "lab up"
        if answer.returncode == REFUSED and not everybody:  # a living half of a lab is not replaced unasked
            said = answer.stderr.strip().splitlines()
            restart = "restart controller" in answer.stderr
            ledger.note(f"after kill -9 of {text} lab up says: {' / '.join(said)[:300]}")
            way = "lab restart controller" if restart else "lab down, lab up"
            if restart:
                answer = lab.loom("lab", "restart", "controller", timeout=30)
            else:
                lab.loom("lab", "down")
                answer = lab.loom("lab", "up", lab.scenario, timeout=30)
        lit = wait_until(lambda: all_lit(lab) and lab.jobs(), 10, 0.05) or {}
        kept = answer.returncode == 0 and names and {job: row["name"] for job, row in lit.items()} == names
        ledger.promise(f"after kill -9 of {text}, {way} starts again from the journal and the jobs are lit", bool(kept),
                       f"exit {answer.returncode}: {answer.stderr.strip()[-160:]}; jobs {[(row['name'], row['state']) for row in lab.jobs().values()]}")
        if not everybody and way != "lab down, lab up":
            ledger.note(f"meanwhile the agents' lasers changed {len(lab.light(0)) - rows} times")


def restarts(ledger, lab):
    """`loom lab restart controller`, of a living and of a killed one: agents keep their light, jobs come back."""
    for text in ("a living controller", "a killed controller"):
        rows, agents = [len(lab.light(k)) for k in (0, 1)], [lab.pid("lightloom-agent", k) for k in (0, 1)]
        before = lab.pid("lightloomd")
        if text == "a killed controller":
            lab.kill(before)
        answer = lab.loom("lab", "restart", "controller", timeout=30)
        lit = wait_until(lambda: all_lit(lab), 5, 0.05)
        changed = [len(lab.light(k)) - rows[k] for k in (0, 1)]
        same = [lab.pid("lightloom-agent", k) for k in (0, 1)] == agents
        ledger.promise(f"lab restart controller, of {text}: jobs are lit, agents and their light untouched",
                       answer.returncode == 0 and bool(lit) and
                       same and not any(changed) and lab.pid("lightloomd") not in (None, before),
                       f"exit {answer.returncode}: {answer.stderr.strip()[-200:]}; {sum(changed)} changes of lasers")


def second_up(ledger, lab):
    before = lab.processes()
    for words in (["up", lab.scenario], ["run", lab.scenario]):
        answer = lab.loom("lab", *words)
        ledger.promise(f"lab {words[0]} beside a living lab: exit 3, it lives on", answer.returncode == REFUSED
                       and set(lab.processes()) == set(before),
                       f"exit {answer.returncode}: {answer.stderr.strip()[:200]}")
        if set(lab.processes()) != set(before):
            before = lab.processes()


def other_scenario(ledger, lab):
    """A stopped lab's journal is not taken for another fabric's, nor thrown away."""
    other = lab.folder / "other.yaml"
    other.write_text(lab.scenario.read_text().replace("oddl_8.yaml", "oddl_4.yaml"))
    lab.loom("lab", "down")
    journal = lab.state / "controller.db"
    before = hashlib.sha256(journal.read_bytes()).hexdigest() if journal.exists() else ""
    for words in (["up", other], ["run", other]):
        answer = lab.loom("lab", *words, timeout=30)
        same = journal.exists() and hashlib.sha256(journal.read_bytes()).hexdigest() == before
        ledger.promise(f"lab {words[0]} of another fabric over a journal: exit 3, the journal stays",
                       answer.returncode == REFUSED and same,
                       f"exit {answer.returncode}: {answer.stderr.strip()[:200]}")


def foreign_files_in_our_folder(ledger, lab, wrong):
    """A stopped lab's folder gets somebody's notes, and links in the places of its own files: neither is deleted, written or followed."""
    lab.loom("lab", "down")
    notes = [lab.state / "notes.txt", lab.state / "results" / "run.csv", lab.state / "agents-7.light"]
    notes[1].parent.mkdir()
    for note in notes:
        note.write_text("mine\n")
    thesis = wrong.outside / "thesis.tex"
    for words in (["up"], ["up", "--fresh"], ["down"]):
        links = []
        if words[0] == "up":
            lab.loom("lab", "down")
            for name in ("agents-0.light", "agents-0.log", "lightloomd.log", "controller.address", "agents-0.grants",
                         "agents-0.db.lock"):
                link = lab.state / name
                link.unlink(missing_ok=True)
                link.symlink_to(thesis)
                links.append(link)
        before = thesis.stat().st_mtime_ns, thesis.read_text(), thesis.stat().st_mode
        answer = lab.loom("lab", words[0], *([lab.scenario] if words[0] == "up" else []), *words[1:], timeout=30)
        touched = (thesis.stat().st_mtime_ns, thesis.read_text(), thesis.stat().st_mode) != before
        lost = [note.name for note in notes if not note.exists() or note.read_text() != "mine\n"]
        ledger.promise(f"lab {' '.join(words)} in a lab's folder with foreign files{' and links to outside' if links else ''}: they are not touched",
                       not touched and not lost, f"exit {answer.returncode}" + ("; wrote through a link" if touched else "") +
                       (f"; lost {lost}" if lost else ""))
        thesis.write_text("six years of work\n")
        thesis.chmod(0o644)
        for link in links:
            if link.is_symlink():
                link.unlink()
    answer = lab.loom("lab", "up", lab.scenario, "--fresh", timeout=30)
    ledger.promise("a lab starts afresh in its own folder", answer.returncode == 0 and not lab.jobs(),
                   f"exit {answer.returncode}: {answer.stderr.strip()[-160:]}")


def killed_run(ledger, lab):
    run, folder = lab.folder / "run.yaml", lab.folder / "run-killed"
    process = subprocess.Popen([lab.programs / "loom", "--state", folder, "lab", "run", run], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_until(lambda: len(laboratory.processes_of(folder)) >= 4, 3)
    process.kill()
    process.wait()
    wait_until(lambda: not laboratory.processes_of(folder), 3)
    left = laboratory.processes_of(folder)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    ledger.note(f"kill -9 of lab run itself leaves {len(left)} processes")


def modes(ledger, lab):
    wrong = {}
    backup = lab.state / "backup.db"
    lab.loom("backup", backup)
    for path in [lab.state, *lab.state.rglob("*")]:
        mode = stat.S_IMODE(path.lstat().st_mode)
        allowed = 0o700 if path.is_dir() else 0o600
        if mode != allowed and not path.name.endswith(".pub"):
            wrong[path.name] = oct(mode)
    for path in lab.state.glob("backup.db*"):
        path.unlink()
    ledger.promise("every file of a lab is 0600 and every folder 0700 (public halves of keys aside)", not wrong, f"{wrong}"
                   if wrong else "")


def judge(ledger, programs):
    with laboratory.Lab(programs, "folders") as lab:
        root = pathlib.Path(lab.folder) / "wrong"
        root.mkdir()
        wrong = Wrong(root)
        try:
            lab.up("--record")
            if lab.submit("vgg19", [0, 1, 2, 3]).returncode != 0:
                raise RuntimeError("no job to watch")
            modes(ledger, lab)
            wrong_folders(ledger, lab, wrong)
            keys_beside_a_thesis(ledger, lab, wrong)
            wrong_files(ledger, lab, wrong)
            manifests = [path.name for path in lab.state.glob("*.json")]
            if manifests:
                wrong_manifests(ledger, lab, wrong, manifests[0])
            else:
                ledger.promise("a lab's folder has a manifest", False, "no *.json in it")
            second_up(ledger, lab)
            restarts(ledger, lab)
            crashes(ledger, lab)
            interrupts(ledger, lab)
            killed_run(ledger, lab)
            other_scenario(ledger, lab)
            foreign_files_in_our_folder(ledger, lab, wrong)
        finally:
            wrong.end()


if __name__ == "__main__":
    laboratory.main(judge)
