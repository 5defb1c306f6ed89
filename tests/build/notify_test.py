# SPDX-License-Identifier: Apache-2.0
"""The daemons under a service manager: this test is the manager. It gives each a NOTIFY_SOCKET and WATCHDOG_USEC, receives READY=1,
STATUS= and WATCHDOG=1, none while the daemon is stopped (SIGSTOP), and STOPPING=1 at SIGTERM.

    notify_test.py FOLDER_OF_PROGRAMS
Exit codes: 0 kept, 1 broken.
"""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]
SCENARIO = TREE / "configs" / "scenarios" / "oddl_testbed_4.yaml"
SILENCE_US = 200_000


class Manager:
    def __init__(self, folder):
        self.path = str(folder / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)

    def receive(self, seconds):
        """The next message, or nothing if there is none within so long."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(4096).decode()
        except TimeoutError:
            return ""

    def receive_until(self, line):
        """Every message up to the one that has this line; nothing if it does not come."""
        seen = []
        while True:
            message = self.receive(60)
            if not message:
                return []
            seen.append(message)
            if line in message.splitlines():
                return seen


def judge(name, command, folder, check):
    manager = Manager(folder)
    environment = {**os.environ, "NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": str(SILENCE_US)}
    environment.pop("WATCHDOG_PID", None)
    with open(folder / f"{name}.log", "w") as log:
        daemon = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        ready = manager.receive_until("READY=1")
        check(len(ready) == 1, f"{name}: READY=1 is not its first message: {ready}; {(folder / f'{name}.log').read_text()[-500:]}")
        check(ready and "STATUS=" in ready[0] and "nodes" in ready[0], f"{name}: no status: {ready}")
        check(manager.receive_until("WATCHDOG=1") and manager.receive_until("WATCHDOG=1"), f"{name}: no WATCHDOG=1")
        os.kill(daemon.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, daemon.pid, os.WSTOPPED)  # it stands still
        while manager.receive(0.001):  # what it had sent before
            pass
        check(not manager.receive(5 * SILENCE_US / 1e6), f"{name}: a message of a process that is stopped")
        os.kill(daemon.pid, signal.SIGCONT)
        check(manager.receive_until("WATCHDOG=1"), f"{name}: no WATCHDOG=1 after it went on")
        daemon.send_signal(signal.SIGTERM)
        check(manager.receive_until("STOPPING=1"), f"{name}: no STOPPING=1")
        check(daemon.wait(60) == 0, f"{name}: exit code {daemon.returncode}")
    finally:
        if daemon.poll() is None:
            daemon.kill()
            daemon.wait()
        manager.socket.close()
        os.unlink(manager.path)


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    broken = []

    def check(fact, what):
        if not fact:
            broken.append(what)

    with tempfile.TemporaryDirectory(prefix="loom-notify-") as name:
        folder = pathlib.Path(name)
        state = str(folder / "state")
        judge("lightloomd", [programs / "lightloomd", "--scenario", SCENARIO, "--state", state], folder, check)
        # An agent serves without its controller: what was lit stays lit.
        judge("lightloom-agent", [programs / "lightloom-agent", "--scenario", SCENARIO, "--state", state, "--controller",
                                  "tcp://127.0.0.1:9"], folder, check)
    for what in broken:
        print("broken:", what)
    print("notify: all kept" if not broken else f"notify: {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
