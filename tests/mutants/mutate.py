#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./dev mutate: do the tests notice a bug? Builds a copy of the tree in which every mutant of schemata.py waits behind a switch,
runs each mutant's test programs, and says which were caught. Patches beside this file are planted one at a time. What survives
must be argued in survivors.md. Nothing of the tree itself is changed; all work is in build/mutants."""
import argparse
import concurrent.futures
import fnmatch
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import schemata

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"          # all generated mutants at once
PATCHED = WORK / "patched"    # one patch at a time
RESULTS = WORK / "results.json"
SHORTEST_LIMIT_S = 10         # a mutant may run in circles; so long is no test of these
OK, CAUGHT, SURVIVED, NOT_REACHED, NO_BUILD = "ok", "caught", "survived", "not reached", "does not build"


def report(text):
    print(text, flush=True)


def run(command, tree, **options):
    return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


# --- the copy ---------------------------------------------------------------------------------------------------------------

def tracked_files():
    listed = run(["git", "ls-files", "-co", "--exclude-standard"], ROOT).stdout.split("\n")
    return [name for name in listed if name and (ROOT / name).is_file()]


def copy_tree(tree, changed):
    """Writes only what differs, so that ninja builds only that. `changed`: texts that take the place of the tree's."""
    names = set(tracked_files())
    for name in names:
        text = changed[name].encode() if name in changed else (ROOT / name).read_bytes()
        path = tree / name
        if not path.exists() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            shutil.copymode(ROOT / name, path)
    for folder, folders, files in os.walk(tree):
        folders[:] = [each for each in folders if each != "build"]
        for each in files:
            path = pathlib.Path(folder) / each
            if str(path.relative_to(tree)) not in names | set(changed):
                path.unlink()
    for name in set(changed) - names:
        path = tree / name
        if not path.exists() or path.read_text() != changed[name]:
            path.write_text(changed[name])


def build(tree, programs, cores):
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    if not (tree / "build/release/build.ninja").exists():
        made = run(["cmake", "--preset", "release", "-DLOOM_TESTS=ON"], tree, env=environment)
        if made.returncode != 0:
            return made.stdout
    made = run(["cmake", "--build", "build/release", "-j", str(cores), "--target", *programs], tree, env=environment)
    return "" if made.returncode == 0 else made.stdout


# --- runs -------------------------------------------------------------------------------------------------------------------

def passes(tree, program, limit, **environment):
    """Of one test program, up to its first failure. Also how long it took."""
    began = time.monotonic()
    try:
        ended = subprocess.run([str(tree / "build/release/tests" / program), "--abort"], cwd=tree, timeout=limit,
                               env=dict(os.environ, **environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return ended.returncode in (0, 77), time.monotonic() - began
    except subprocess.TimeoutExpired:
        return False, limit


def first_to_fail(tree, programs, limits, **environment):
    for program in programs:
        if not passes(tree, program, limits[program], **environment)[0]:
            return program
    return None


class Baseline:
    """Each program without a mutant: it must pass; how long it takes, and which mutants it comes to."""

    def __init__(self, tree, programs):
        self.limits, self.reached = {}, {}
        for program in programs:
            reached = WORK / ("reached-" + program)
            reached.unlink(missing_ok=True)
            good, took = passes(tree, program, 600, LIGHTLOOM_MUTANT_REACHED=str(reached))
            if not good:
                sys.exit("mutate: %s fails without any mutant" % program)
            self.limits[program] = max(SHORTEST_LIMIT_S, 5 * took)
            self.reached[program] = set(map(int, reached.read_text().split())) if reached.exists() else set()


# --- generated mutants ------------------------------------------------------------------------------------------------------

def targets():
    """(file, programs) of every file that targets.txt names; a program that does not exist yet is left out."""
    listed = "\n".join((ROOT / name).read_text() for name in tracked_files() if name.endswith((".cmake", "CMakeLists.txt")))
    rows = [line.split() for line in (HERE / "targets.txt").read_text().splitlines() if line and line[0] != "#"]
    found = {}
    for name in sorted(tracked_files()):
        for pattern, *programs in rows:
            if name.endswith((".cpp", ".hpp")) and fnmatch.fnmatch(name, pattern):
                known = [program for program in programs if "loom_test(" + program in listed]
                if known:
                    found[name] = known
    return found


def generate(only, most=None):
    """The mutants, the texts of the changed files, and each file's programs."""
    numbers = itertools.count(1)
    mutants, texts, programs_of = [], {"loom_mutant.hpp": schemata.SWITCH}, {}
    for name, programs in targets().items():
        programs = programs[:most]
        if only and not any(fnmatch.fnmatch(name, "*" + each + "*") for each in only):
            continue
        file = schemata.Schemata(name, (ROOT / name).read_text(), numbers)
        text = file.make()
        if file.mutants:
            texts[name], programs_of[name] = text, programs
            mutants += file.mutants
    return mutants, texts, programs_of


def judge_generated(options, results):
    mutants, texts, programs_of = generate(options.only, options.programs)
    programs = sorted({program for each in programs_of.values() for program in each})
    copy_tree(TREE, texts)
    report("mutate: building %d mutants of %d files into %s" % (len(mutants), len(programs_of), " ".join(programs)))
    trouble = build(TREE, programs, options.jobs)
    if trouble:
        sys.exit(trouble[-6000:] + "\nmutate: the copy with the mutants does not build")
    base = Baseline(TREE, programs)
    todo = [m for m in mutants if options.again == "all" or m.name not in results or
            (options.again == "survivors" and results[m.name]["verdict"] != CAUGHT)]
    report("mutate: %d to run, %d known" % (len(todo), len(mutants) - len(todo)))

    def judge(mutant):
        near = [p for p in programs_of[mutant.file] if mutant.number in base.reached[p]]
        failed = first_to_fail(TREE, near, base.limits, LIGHTLOOM_MUTANT=str(mutant.number))
        return mutant, failed, CAUGHT if failed else SURVIVED if near else NOT_REACHED

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for count, (mutant, by, verdict) in enumerate(pool.map(judge, todo), 1):
            results[mutant.name] = {"verdict": verdict, "by": by}
            if verdict != CAUGHT:
                report("%s: %s:%d: %s" % (verdict, mutant.file, mutant.line, mutant.name.split(" | ", 1)[1]))
            if count % 50 == 0:
                report("mutate: %d of %d after %.0f s" % (count, len(todo), time.monotonic() - began))
                save(results)
    save(results)
    return [(m.file, m.kind, m.name) for m in mutants]


# --- patches ----------------------------------------------------------------------------------------------------------------

def patches(only):
    """(name, programs, text). A patch says first, in lines of #, what the bug is, and `# caught by: PROGRAM...`."""
    found = []
    for path in sorted(HERE.glob("*.patch")):
        text = path.read_text()
        programs = [word for line in text.splitlines() if line.startswith("# caught by:") for word in line.split(":")[1].split()]
        if not only or any(each in path.name or "/" + each in text for each in only):
            found.append((path.name, programs, text))
    return found


def judge_patch(name, programs, text, cores):
    copy_tree(PATCHED, {})
    planted = subprocess.run(["patch", "-p1", "--no-backup-if-mismatch", "-r", "-"], cwd=PATCHED, input=text, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if planted.returncode != 0:
        return "does not apply", None
    trouble = build(PATCHED, programs, cores)
    if trouble:
        (WORK / (name + ".log")).write_text(trouble)
        return NO_BUILD, None
    failed = first_to_fail(PATCHED, programs, dict.fromkeys(programs, 300))
    return (CAUGHT if failed else SURVIVED), failed


def judge_patches(options, results):
    rows = []
    for name, programs, text in patches(options.only):
        rows.append(("patches", "patch", name))
        known = results.get(name, {}).get("verdict")
        if options.again == "none" and known or options.again == "survivors" and known == CAUGHT:
            continue
        verdict, by = judge_patch(name, programs, text, options.jobs)
        results[name] = {"verdict": verdict, "by": by}
        report("%s: %s%s" % (verdict, name, " by " + by if by else ""))
        save(results)
    return rows


# --- the table --------------------------------------------------------------------------------------------------------------

def save(results):
    WORK.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True))


def argued():
    """Names in back quotes at the beginning of list entries of survivors.md."""
    lines = (HERE / "survivors.md").read_text().splitlines()
    return {line[3:].rsplit("`", 1)[0] for line in lines if line.startswith("- `")}


def table(rows, results):
    known, by_file = argued(), {}
    for file, _, name in rows:
        verdict = results.get(name, {}).get("verdict", "not run")
        counts = by_file.setdefault(file, {"mutants": 0, CAUGHT: 0, "argued": 0, "holes": 0})
        counts["mutants"] += 1
        counts[CAUGHT if verdict == CAUGHT else "argued" if name in known else "holes"] += 1
    total = {key: sum(counts[key] for counts in by_file.values()) for key in ("mutants", CAUGHT, "argued", "holes")}
    report("%-44s %8s %7s %7s %6s %9s" % ("file", "mutants", "caught", "argued", "holes", "caught %"))
    for file, counts in [*sorted(by_file.items()), ("all", total)]:
        report("%-44s %8d %7d %7d %6d %8.1f%%" % (file, counts["mutants"], counts[CAUGHT], counts["argued"], counts["holes"],
                                                100.0 * counts[CAUGHT] / max(1, counts["mutants"])))
    names = {name for _, _, name in rows}
    for name in sorted(known & names):
        if results.get(name, {}).get("verdict") == CAUGHT:
            report("argued and yet caught, strike it from survivors.md: " + name)
    return total["holes"]


def main():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the mutants and run none")
    parser.add_argument("--only", action="append", default=[], metavar="FILE", help="mutants of files whose path has this in it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="runs at a time")
    parser.add_argument("--again", choices=["none", "survivors", "all"], default="survivors",
                        help="which of the known verdicts to try again (default: what was not caught)")
    parser.add_argument("--programs", type=int, metavar="N",
                        help="run only the first N of a file's test programs, the quickest: what survives them is tried with all "
                             "of them by the next run")
    parser.add_argument("--patches-only", action="store_true")
    parser.add_argument("--generated-only", action="store_true")
    options = parser.parse_args()
    if options.list:
        for mutant in generate(options.only)[0]:
            report("%s:%d: %s: %s" % (mutant.file, mutant.line, mutant.kind, mutant.name.split(" | ", 1)[1]))
        for name, programs, _ in patches(options.only):
            report("%s: patch: caught by %s" % (name, " ".join(programs)))
        return 0
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    rows = [] if options.patches_only else judge_generated(options, results)
    rows += [] if options.generated_only else judge_patches(options, results)
    return 1 if table(rows, results) > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
