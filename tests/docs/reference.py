# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/reference and the descriptions in configs/schema, from what the programs say: writes them, or says which differ.

    reference.py FOLDER_OF_PROGRAMS [--check]

Exit codes: 0 all are as the programs say, 1 some are not, 77 there are no programs.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import urllib.request

TREE = pathlib.Path(__file__).resolve().parents[2]
TOPICS = {"commands": "cli", "config": "config", "alarms": "alarms", "exit-codes": "exit_codes", "environment": "environment"}
PROTOCOL = ("lightloom", "report", "values", "grant")


def loom(programs, *words):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LIGHTLOOM_")}
    return subprocess.run([programs / "loom", *words], cwd=TREE, env=environment, capture_output=True, text=True, check=True).stdout


def cell(text):
    return text.replace("|", "\\|")


def wrapped(text):
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def protocol():
    """Messages and enumerations of the wire, with the comments of proto/*.proto."""
    lines = ["# Protocol", "", wrapped("Every message of the wire, with the comments of `proto/*.proto`, from which this page is made. "
             "How a client begins is in [wire.md](../wire.md). A field's unit is in its name; a number that is missing was never given."), ""]
    for name in PROTOCOL:
        lines += [f"## {name}.proto", ""]
        pending, block, rows, head = [], None, [], True
        for line in (TREE / f"proto/{name}.proto").read_text().splitlines():
            text = line.strip()
            comment = re.match(r"//\s?(.*)", text)
            opened = re.match(r"(message|enum|oneof) (\w+) \{(.*)", text)
            field = re.match(r"((?:repeated |optional )?[\w.]+) (\w+) = (\d+).*?;(?:\s*//\s*(.*))?$", text)
            value = re.match(r"(\w+) = (\d+);(?:\s*//\s*(.*))?$", text)
            if comment and comment.group(1).startswith("SPDX-License-Identifier"):
                continue
            if comment:
                pending.append(comment.group(1))
                continue
            if text.startswith("syntax") and head:
                lines += [wrapped(" ".join(pending)), ""] if pending else []
                head = False
            elif opened and opened.group(1) != "oneof":
                lines += [f"### {opened.group(2)}", ""] + ([wrapped(" ".join(pending)), ""] if pending else [])
                block = opened.group(1)
                if opened.group(3).startswith("}"):
                    lines += ["No fields.", ""]
                    block = None
            elif block and field and block == "message":
                rows.append((field.group(2), field.group(1), field.group(3), " ".join(pending + [field.group(4) or ""]).strip()))
            elif block and value and block == "enum":
                rows.append((value.group(1), "", value.group(2), " ".join(pending + [value.group(3) or ""]).strip()))
            elif text == "}" and rows and not line.startswith(" "):
                kinds = block == "message"
                lines += ["| field | type | number | |" if kinds else "| word | number | |", "|---|---|---|---|" if kinds else "|---|---|---|"]
                lines += [f"| `{a}` | {'`' + b + '` | ' if kinds else ''}{c} |{' ' + cell(d) if d else ''} |" for a, b, c, d in rows]
                lines.append("")
                rows, block = [], None
            pending = []
    return "\n".join(lines).rstrip() + "\n"


def pictures(programs):
    """Those of the README that depend on nothing but the programs; docs/pictures.md has the commands."""
    with tempfile.TemporaryDirectory(prefix="loom-pictures-") as folder:
        loom(programs, "arena", "--workload", "vgg19", "--nodes", "16", "--plot", f"{folder}/arena.svg", "--no-caption")
        loom(programs, "plan", "vgg19", "dlrm", "--nodes", "8,4", "--fabric", "sip-ring", "--set", "fabric.rings=1", "--occupancy",
             f"{folder}/rings.svg", "--no-caption")
        return {TREE / f"docs/pictures/{name}.svg": (pathlib.Path(folder) / f"{name}.svg").read_text() for name in ("arena", "rings")}


def scrape(programs):
    """Metrics of a lab in which a job is lit: {name: (type, help, label names, daemons)}, in the order of printing."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="loom-metrics-") as state:
        try:
            loom(programs, "--state", state, "lab", "up", "--metrics", "configs/scenarios/oddl_testbed_4.yaml")
            loom(programs, "--state", state, "job", "submit", "vgg19", "--nodes", "4", "--wait")
            for process in json.loads(loom(programs, "--state", state, "--json", "lab", "status"))["processes"]:
                if not process["metrics"]:
                    continue
                daemon = "controller" if process["name"] == "lightloomd" else "agents"
                with urllib.request.urlopen(f"http://{process['metrics'].removeprefix('http://').removesuffix('/metrics')}/metrics") as page:
                    text = page.read().decode()
                for name, meaning in re.findall(r"^# HELP (\S+) (.*)$", text, re.M):
                    kind = re.search(rf"^# TYPE {name} (\w+)$", text, re.M).group(1)
                    series = re.findall(rf"^{name}(?:_bucket|_sum|_count)?{{([^}}]*)}}", text, re.M)
                    labels = {label for each in series for label in re.findall(r"(\w+)=", each)} - {"le"}
                    known = found.setdefault(name, (kind, meaning, set(), set()))
                    known[2].update(labels)
                    known[3].add(daemon)
        finally:
            subprocess.run([programs / "loom", "--state", state, "lab", "down"], cwd=TREE, capture_output=True)
    return found


def metrics(programs, faults):
    lines = ["# Metrics", "", wrapped("Every metric that both daemons serve in a lab with a lit job, with the words that Prometheus is told. What "
             "the labels may be, which metrics there are besides on hosts with TAI or under grants, and what is not measured and why is in "
             "[metrics.md](../metrics.md)."), "", "| metric | type | labels | of | meaning |", "|---|---|---|---|---|"]
    page = (TREE / "docs/metrics.md").read_text()
    for name, (kind, meaning, labels, daemons) in sorted(scrape(programs).items()):
        of = "both" if len(daemons) == 2 else daemons.pop()
        lines.append(f"| `{name}` | {kind} | {', '.join(f'`{label}`' for label in sorted(labels))}{' ' if labels else ''}| {of} | {cell(meaning)} |")
        if name not in page:
            faults.append(f"docs/metrics.md does not name {name}")
    return "\n".join(lines) + "\n"


class Schemas:
    """JSON Schemas, whose properties get what `loom config keys` says of them."""

    def __init__(self):
        self.paths = sorted((TREE / "configs/schema").glob("*.schema.json"))
        self.roots = {path.name.split(".")[0]: json.loads(path.read_text()) for path in self.paths}
        self.described = set()  # ids of objects with properties

    def resolved(self, root, schema):
        """Every object with properties that this schema may mean."""
        if "$ref" in schema:
            target = root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            return self.resolved(root, target)
        found = [each for one in schema.get("oneOf", []) for each in self.resolved(root, one)]
        if "items" in schema and "properties" not in schema and schema.get("type") == "array":
            found += self.resolved(root, schema["items"])
        return found + ([schema] if "properties" in schema else [])

    def at(self, kind, path):
        """The objects of a section's path: jobs[].traffic[], devices.NAME."""
        root = self.roots[kind]
        here = self.resolved(root, root)
        for part in [each for each in path.split(".") if each]:
            name = part.removesuffix("[]")
            if name == "NAME":
                here = [each for one in here for each in self.resolved(root, one.get("additionalProperties", {}))]
                continue
            below = []
            for one in here:
                schema = one["properties"].get(name)
                if schema is None:
                    continue
                if isinstance(schema.get("additionalProperties"), dict):  # a map by names: its NAME comes next
                    below.append({"properties": {}, **schema})
                else:
                    more = [schema] + schema.get("oneOf", [])
                    below += [{"properties": {}, **each} for each in more if isinstance(each.get("additionalProperties"), dict)]
                    below += self.resolved(root, schema)
            here = below
        return here

    def describe(self, sections):
        faults = []
        for section in sections:
            if section["path"].endswith(".profile"):
                continue  # open in the schema: what it may hold depends on the model
            word = re.match(r"(kind|template): (\w+)", section["where"])
            objects = self.at(section["kind"], section["path"])
            if section["path"] == "parameters":
                objects = [self.roots["fabric"]["$defs"][f"{word.group(2)}_parameters"]]
            elif word:
                objects = [each for each in objects if each["properties"][word.group(1)].get("const") == word.group(2)]
            elif section["where"]:
                has = "template" if section["where"] == "template" else "elements"
                objects = [each for each in objects if has in each["properties"]]
            keys = {key["key"]: key for key in section["keys"]}
            if not objects:
                faults.append(f"configs/schema: nothing is at {section['kind']} {section['path']} {section['where']}")
            for each in objects:
                self.described.add(id(each))
                for name, schema in each["properties"].items():
                    if name not in keys:
                        faults.append(f"configs/schema: {section['kind']} {section['path']}: no reader knows {name}")
                        continue
                    key = keys[name]
                    absent = key["absent"] not in ("none", "required")
                    text = key["meaning"] + (f" (where it is absent: {key['absent']})" if absent else "")
                    each["properties"][name] = {"description": text, **{k: v for k, v in schema.items() if k != "description"}}
        for kind, root in self.roots.items():
            self.find_undescribed(root, kind, faults)
        return faults

    def find_undescribed(self, schema, where, faults):
        if isinstance(schema, dict):
            if isinstance(schema.get("properties"), dict) and id(schema) not in self.described:
                faults.append(f"configs/schema: {where}: nobody says what its keys mean")
            for name, each in schema.items():
                self.find_undescribed(each, f"{where}/{name}", faults)
        elif isinstance(schema, list):
            for place, each in enumerate(schema):
                self.find_undescribed(each, f"{where}/{place}", faults)

    def texts(self):
        return {path: json.dumps(self.roots[path.name.split(".")[0]], indent=2, ensure_ascii=False) + "\n" for path in self.paths}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    asked = parser.parse_args()
    programs = asked.programs.resolve()
    if not (programs / "loom").exists():
        print(f"there is no {programs}/loom")
        return 77
    wanted = {TREE / f"docs/reference/{page}.md": loom(programs, "help", topic, "--markdown") for topic, page in TOPICS.items()}
    wanted[TREE / "docs/reference/protocol.md"] = protocol()
    wanted |= pictures(programs)
    faults = []
    wanted[TREE / "docs/reference/metrics.md"] = metrics(programs, faults)
    schemas = Schemas()
    sections = json.loads(loom(programs, "--json", "config", "keys"))["sections"]
    faults += schemas.describe(sections)
    wanted |= schemas.texts()
    for path, text in wanted.items():
        if path.exists() and path.read_text() == text:
            continue
        if asked.check:
            faults.append(f"{path.relative_to(TREE)} is not what the programs say: ./dev docs writes it again")
        else:
            path.write_text(text)
            print(f"written  {path.relative_to(TREE)}")
    keys = [key for section in sections for key in section["keys"]]
    print(f"{sum(1 for key in keys if key['meaning'])} of {len(keys)} keys described in {len(sections)} maps, {len(wanted)} files generated")
    for fault in faults:
        print(f"BROKEN: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
