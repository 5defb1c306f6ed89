# SPDX-License-Identifier: Apache-2.0
"""`cmake --install` into an empty folder leaves programs that start, completion that a shell reads, and scenarios that load.

Arguments: the build folder.
"""
import gzip
import pathlib
import subprocess
import sys
import tempfile


def main():
    broken = []

    def check(fact, what):
        if not fact:
            broken.append(what)

    with tempfile.TemporaryDirectory(prefix="loom-install-test-") as name:
        prefix = pathlib.Path(name) / "prefix"
        made = subprocess.run(["cmake", "--install", sys.argv[1], "--prefix", str(prefix)], capture_output=True, text=True,
                              timeout=120)
        check(made.returncode == 0, made.stderr)
        for program in ("loom", "lightloomd", "lightloom-agent", "lightloom-emulate"):
            answer = subprocess.run([str(prefix / "bin" / program), "--help"], cwd=name, capture_output=True, text=True, timeout=60)
            check(answer.returncode == 0, f"{program} --help: exit {answer.returncode}: {answer.stderr}")
        share = prefix / "share"
        for page in ("man1/loom.1", "man8/lightloomd.8", "man8/lightloom-agent.8", "man1/lightloom-emulate.1"):
            file = share / "man" / f"{page}.gz"
            check(file.exists() and b".SH NAME" in gzip.decompress(file.read_bytes()), f"no manual page {page}.gz")
        unit = prefix / "lib" / "systemd" / "system" / "lightloomd.service"
        check(unit.exists() and f"ExecStart={prefix}/bin/lightloomd " in unit.read_text(), "lightloomd.service names another program")
        bash = share / "bash-completion" / "completions" / "loom"
        check(bash.exists() and subprocess.run(["bash", "-n", str(bash)]).returncode == 0, "bash completion")
        for file in ("zsh/site-functions/_loom", "fish/vendor_completions.d/loom.fish"):
            check((share / file).exists() and "loom" in (share / file).read_text(), file)
        # From anywhere: scenarios name their fabrics relative to themselves.
        scenarios = sorted((share / "lightloom" / "scenarios").glob("*.yaml"))
        check(scenarios, "no scenario was installed")
        answer = subprocess.run([str(prefix / "bin" / "loom"), "config", "check", *map(str, scenarios)], cwd=name,
                                capture_output=True, text=True, timeout=100)
        check(answer.returncode == 0, f"config check: exit {answer.returncode}: {answer.stdout} {answer.stderr}")
    for what in broken:
        print("broken:", what)
    print("install: all kept" if not broken else f"install: {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
