# SPDX-License-Identifier: Apache-2.0
"""The units that ship, judged by what we did not write: `systemd-analyze verify` reads them, and each option of their commands is
one that the program itself knows.

    units_test.py FOLDER_OF_PROGRAMS
Exit codes: 0 sound, 1 not so, 77 systemd-analyze is absent.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
UNITS = ["lightloomd.service", "lightloom-agent@.service", "lightloom-relay@.service"]


def command_of(unit):
    return re.search(r"^ExecStart=(\S+) (.*)$", unit, re.M)


def unknown_options(programs, unit):
    command = command_of(unit)
    program = programs / pathlib.Path(command.group(1)).name
    known = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
    return [flag for flag in re.findall(r"--[a-z-]+", command.group(2)) if not re.search(rf"{flag}\b", known)]


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    faults = []
    units = {name: (TREE / "configs" / "systemd" / name).read_text() for name in UNITS}
    for name, text in units.items():
        faults += [f"{name}: {flag} is no option of {command_of(text).group(1)}" for flag in unknown_options(programs, text)]
    if shutil.which("systemd-analyze") is None:
        print("\n".join(faults) or "systemd-analyze is absent; the options are known")
        return 1 if faults else 77
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in units.items():
            # The programs are not installed here; the user is made by sysusers at installation.
            text = re.sub(r"=/usr/bin/(lightloom\S*)", lambda found: f"={programs / found.group(1)}", text)
            text = re.sub(r"^(User|Group|SupplementaryGroups)=.*\n", "", text, flags=re.M)
            paths.append(pathlib.Path(folder) / name.replace("@.", "@rack-a."))
            paths[-1].write_text(text)
        for path in paths:
            said = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
            about_ours = [line for line in said.stderr.splitlines() if "lightloom" in line]
            faults += about_ours if said.returncode != 0 or about_ours else []
    rules = (TREE / "configs" / "udev" / "70-lightloom.rules").read_text()
    for number, line in enumerate(rules.splitlines(), 1):
        if line and not line.startswith("#") and not re.fullmatch(r'(?:[A-Z]+(?:\{\w+\})?(?:==|\+?=)"[^"]*"(?:, ?|$))+', line):
            faults.append(f"70-lightloom.rules:{number}: not KEY==\"VALUE\", ...: {line}")
    print("\n".join(faults) or f"{len(units)} units and the rules are sound")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
