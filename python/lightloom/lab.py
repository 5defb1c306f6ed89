# SPDX-License-Identifier: Apache-2.0
"""A lab beside a notebook: the processes of ``loom lab up``, ended with it."""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from typing import Any

from ._error import Error


class Lab:
    """``with Lab("configs/scenarios/training_4.yaml") as lab: async with lightloom.Client(lab.state) as controller: ...``

    Args:
        scenario: whose controller, agents and emulators run.
        state: an empty folder for keys, journals and logs; None: a temporary one, deleted in the end.
        loom: the program; None: ``LIGHTLOOM_BIN/loom``, or the one in PATH.

    Raises:
        lightloom.Error: ``unreachable``: what ``loom lab up`` said.
    """

    def __init__(self, scenario: str | os.PathLike[str], state: str | os.PathLike[str] | None = None, loom: str | None = None):
        self._scenario = os.fspath(scenario)
        self._own: Any = None
        self.state = os.fspath(state) if state is not None else ""
        folder = os.environ.get("LIGHTLOOM_BIN")
        self._loom = loom or (os.path.join(folder, "loom") if folder else shutil.which("loom") or "loom")

    def _run(self, *words: str) -> None:
        try:
            done = subprocess.run([self._loom, "--state", self.state, "lab", *words], capture_output=True, text=True, check=False)
        except OSError as problem:
            raise _failure(f"{self._loom} does not run: {problem.strerror}") from problem
        if done.returncode != 0:
            raise _failure(done.stderr.strip() or f"loom lab {words[0]} ended with {done.returncode}")

    def __enter__(self) -> "Lab":
        if not self.state:
            self._own = tempfile.TemporaryDirectory(prefix="lightloom-lab-")
            self.state = self._own.name
        try:
            self._run("up", self._scenario)
        except Error:
            self._end()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            self._run("down")
        finally:
            self._end()

    def _end(self) -> None:
        if self._own is not None:
            self._own.cleanup()
            self._own, self.state = None, ""


def _failure(sentence: str) -> Error:
    error = Error(sentence)
    error.code, error.hint = "unreachable", "loom lab up --help"
    return error
