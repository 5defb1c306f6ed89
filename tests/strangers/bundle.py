#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""bundle.py FOLDER: a run bundle, judged with tarfile, hashlib and json alone; then repeated, altered and cut by hand."""
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

REFUSED = 3


def loom(folder, *words, cwd=None):
    return subprocess.run([str(folder / "loom"), *words], cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


def members(path):
    with tarfile.open(path, "r:gz") as archive:
        for member in archive.getmembers():
            assert member.isfile(), member.name
            assert not member.name.startswith("/") and ".." not in member.name.split("/"), member.name
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers()}


def write(path, contents, link=None):
    with tarfile.open(path, "w:gz") as archive:
        for name, data in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        if link is not None:
            entry = tarfile.TarInfo(link)
            entry.type = tarfile.SYMTYPE
            entry.linkname = "/etc/passwd"
            archive.addfile(entry)


def judge_manifest(path, demand):
    """Every digest by our own arithmetic. Returns the members and the manifest."""
    contents = members(path)
    manifest = json.loads(contents["manifest.json"])
    assert manifest["kind"] == "loom-bundle" and manifest["form"] == 1, manifest
    listed = {entry["path"] for entry in manifest["files"]}
    assert listed | {"manifest.json"} == set(contents), listed ^ set(contents)
    for entry in manifest["files"]:
        data = contents[entry["path"]]
        assert len(data) == entry["bytes"], entry
        assert hashlib.sha256(data).hexdigest() == entry["sha256"], entry
    roles = {entry["role"] for entry in manifest["files"]}
    assert roles == {"input", "answer", "output", "figure"}, roles
    inputs = [entry for entry in manifest["files"] if entry["role"] == "input"]
    assert len(inputs) == 1 and inputs[0]["named_by"] == "--demand", inputs
    assert contents[inputs[0]["path"]] == demand
    assert {rule.get("key") for rule in manifest["not_compared"]} >= {"elapsed_ms", "schedule_ms"}, manifest["not_compared"]
    return contents, manifest


def judge_difference(programs, work, contents, manifest):
    """A number changed and all digests made right again: only the second run can tell."""
    answer = json.loads(contents["answer.json"])
    answer["rows"][0]["iteration_ms"] += 1
    changed = dict(contents)
    changed["answer.json"] = json.dumps(answer).encode()
    for entry in manifest["files"]:
        if entry["path"] == "answer.json":
            entry["bytes"] = len(changed["answer.json"])
            entry["sha256"] = hashlib.sha256(changed["answer.json"]).hexdigest()
    changed["manifest.json"] = json.dumps(manifest).encode()
    write(work / "changed.tar.gz", changed)
    assert loom(programs, "bundle", "verify", "--no-run", str(work / "changed.tar.gz")).returncode == 0
    again = loom(programs, "--json", "bundle", "verify", str(work / "changed.tar.gz"))
    assert again.returncode == 1, again
    told = json.loads(again.stdout)
    assert told["differing"] == 1, told
    assert told["differences"][0]["place"] == "/rows/0/iteration_ms", told
    assert told["differences"][0]["by"].startswith("-1 ("), told


def judge_refusals(programs, work, contents):
    altered = dict(contents)
    altered["answer.json"] = altered["answer.json"].replace(b"iteration", b"Iteration", 1)
    write(work / "altered.tar.gz", altered)
    write(work / "escaping.tar.gz", {**contents, "../escaped": b"x"})
    write(work / "linked.tar.gz", contents, link="inputs/link")
    whole = (work / "run.tar.gz").read_bytes()
    (work / "cut.tar.gz").write_bytes(whole[:len(whole) // 2])
    (work / "words.tar.gz").write_bytes(b"no archive at all")
    for name in ("altered", "escaping", "linked", "cut", "words"):
        refused = loom(programs, "bundle", "verify", str(work / f"{name}.tar.gz"))
        assert refused.returncode == REFUSED, (name, refused)
        assert f"{name}.tar.gz" in refused.stderr, (name, refused.stderr)
    assert not (work.parent / "escaped").exists()


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        demand = b"0,8000000,0,0\n0,0,8000000,0\n0,0,0,8000000\n8000000,0,0,0\n"
        (work / "bytes.csv").write_bytes(demand)
        made = loom(programs, "bundle", "create", "run.tar.gz", "--", "arena", "--demand", "bytes.csv", "--fabrics",
                    "ideal-switch,fat-tree", "--plot", "arena.svg", cwd=work)
        assert made.returncode == 0, made
        assert not (work / "arena.svg").exists()  # it ran elsewhere
        contents, manifest = judge_manifest(work / "run.tar.gz", demand)
        digest = hashlib.sha256(contents["manifest.json"]).hexdigest()
        assert digest in made.stdout, made.stdout
        elsewhere = work / "elsewhere"
        elsewhere.mkdir()
        again = loom(programs, "bundle", "verify", str(work / "run.tar.gz"), cwd=elsewhere)
        assert again.returncode == 0 and "identical" in again.stdout, again
        assert "left out by the manifest's rule: schedule_ms" in again.stdout, again.stdout
        judge_refusals(programs, work, contents)
        judge_difference(programs, work, contents, manifest)
    print("the bundle holds what it says, and what was changed is told")


if __name__ == "__main__":
    main()
