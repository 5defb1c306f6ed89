# SPDX-License-Identifier: Apache-2.0
"""A live controller, from asyncio."""
from __future__ import annotations

import asyncio
import dataclasses
import json
import os
from typing import Any, AsyncIterator, Mapping

from . import _lightloom
from ._error import Error
from ._settings import words_of
from .demand import workload_file

#: A job in one of these is not on its way any more.
RESTING = frozenset({"lit", "degraded", "ended", "refused"})


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that changed: ``kind`` is ``"job"``, ``"revision"`` or ``"alarm"``; ``row`` is what the controller says now."""

    kind: str
    id: int
    row: Mapping[str, Any]


class Client:
    """One operator's connection. ``async with Client("run/lab") as controller: ...``

    Args:
        state: the state folder with keys and the controller's address, as ``loom --state``; None: ``LIGHTLOOM_STATE``, else
            ``run/lab``.
        endpoint: instead of the address in the folder, ``"tcp://192.0.2.1:7000"``.
        as_: whose key of ``state/keys``; ``""``: the operator's.
        timeout_s: of one request.

    Requests run on a thread each and never block the loop. Every method raises ``lightloom.Error``: ``unreachable``, ``timed_out``,
    ``refused`` and what the request itself can meet.
    """

    def __init__(self, state: str | os.PathLike[str] | None = None, endpoint: str = "", as_: str = "", timeout_s: float = 10.0):
        if not 0 < timeout_s <= 86_400:
            raise ValueError(f"timeout_s is above 0 and at most a day: {timeout_s}")
        self._where = (os.fspath(state) if state is not None else os.environ.get("LIGHTLOOM_STATE", "run/lab"), endpoint, as_,
                       timeout_s)
        self._rooms: Any = None

    async def __aenter__(self) -> "Client":
        self._rooms = await asyncio.to_thread(_lightloom.Client, *self._where)
        return self

    async def __aexit__(self, *_: Any) -> None:
        rooms, self._rooms = self._rooms, None
        await asyncio.to_thread(rooms.close)

    async def _call(self, method: str, *arguments: Any) -> Any:
        if self._rooms is None:
            raise RuntimeError("a Client is used inside of `async with`")
        return await asyncio.to_thread(getattr(self._rooms, method), *arguments)

    async def rows(self, noun: str) -> Any:
        """What ``loom --json NOUN list`` says: of ``nodes``, ``devices``, ``circuits``, ``jobs``, ``history``, ``alarms``."""
        answer = json.loads(await self._call("rows", noun, None))
        lists = [value for value in answer.values() if isinstance(value, list)]
        return lists[0] if lists else answer

    async def status(self) -> dict[str, Any]:
        """``loom --json status``."""
        return json.loads(await self._call("rows", "status", None))

    async def jobs(self) -> list[dict[str, Any]]:
        return await self.rows("jobs")

    async def circuits(self) -> list[dict[str, Any]]:
        return await self.rows("circuits")

    async def devices(self) -> list[dict[str, Any]]:
        return await self.rows("devices")

    async def alarms(self) -> list[dict[str, Any]]:
        return await self.rows("alarms")

    async def submit(self, workload: Any, nodes: int = 0, name: str = "", settings: Mapping[str, Any] | None = None) -> int:
        """Asks for a job; its number. Arguments as ``predict``. Its light comes later: ``wait``."""
        with workload_file(workload) as path:
            job, _ = await self._call("submit", path, nodes, name, words_of(settings or {}))
        return job

    async def cancel(self, job: int) -> None:
        await self._call("cancel", job)

    async def job(self, job: int) -> dict[str, Any]:
        """Raises ``lightloom.Error`` ``not_found``."""
        for row in json.loads(await self._call("rows", "jobs", job))["jobs"]:
            return row
        error = Error(f"there is no job {job}")
        error.code, error.hint = "not_found", "loom job list"
        raise error

    async def wait(self, job: int, timeout_s: float | None = 60.0, poll_s: float = 0.05) -> dict[str, Any]:
        """Until the job is lit, has ended or was refused; its row.

        Raises:
            asyncio.TimeoutError: not within ``timeout_s``.
            lightloom.Error: ``refused``, with the controller's reason.
        """
        async def rest() -> dict[str, Any]:
            while (row := await self.job(job))["state"] not in RESTING:
                await asyncio.sleep(poll_s)
            return row

        row = await asyncio.wait_for(rest(), timeout_s)
        if row["state"] == "refused":
            error = Error(f"job {job} is refused: {row.get('why') or 'no reason is given'}")
            error.code, error.hint = "refused", "loom schedule history"
            raise error
        return row

    async def watch(self, poll_s: float = 0.2) -> AsyncIterator[Event]:
        """What is there, then what changes, for ever. The protocol has questions and answers: it is asked every ``poll_s``."""
        seen: dict[tuple[str, int], str] = {}
        nouns = (("job", "jobs", "job"), ("revision", "history", "revision"), ("alarm", "alarms", "alarm"))
        while True:
            for kind, noun, key in nouns:
                for row in await self.rows(noun):
                    number = int(row.get(key, row.get("id", 0)))
                    told = json.dumps({name: row.get(name) for name in ("state", "outcome", "stage", "revision", "code", "count", "cleared", "acknowledged_by")},
                                      sort_keys=True)
                    if seen.get((kind, number)) != told:
                        seen[(kind, number)] = told
                        yield Event(kind, number, row)
            await asyncio.sleep(poll_s)
