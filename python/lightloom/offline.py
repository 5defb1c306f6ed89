# SPDX-License-Identifier: Apache-2.0
"""What needs no controller: predictions, comparisons, plans, sweeps."""
from __future__ import annotations

import itertools
import json
import os
from typing import Any, Mapping, Sequence

from . import _lightloom
from ._settings import lines_of
from .demand import workload_file
from .fabric import Fabric
from .picture import Picture

def workloads() -> list[str]:
    """Models that need no file."""
    return _lightloom.workload_names()


def fabrics() -> list[str]:
    """Fabrics that ``predict`` and ``arena`` know."""
    return _lightloom.arena_names()


def predict(workload: Any, fabric: str, nodes: int = 0, bandwidth: str = "100G", settings: Mapping[str, Any] | None = None,
            exact: bool = False) -> dict[str, Any]:
    """One training iteration on one fabric: the numbers of ``loom predict --json``.

    Args:
        workload: a name of ``workloads()``, the path of a trace, task graph, model or demand, or a ``Demand``.
        fabric: one of ``fabrics()``.
        nodes: how many; a trace or demand brings its own.
        bandwidth: a node's total per direction, ``"100G"``.
        settings: of the workload, and of the fabric behind ``fabric.``: ``{"batch": 64, "fabric.degree": 4}``.
        exact: play every round of every collective, however long it takes.

    Returns:
        ``iteration_ms``, ``compute_ms``, ``exposed_comm_ms`` (iteration less compute), ``dark_ms``, ``bound_ms`` (no network of this rate
        is faster), ``utilisation`` (0 to 1), ``phases``, ``assumptions`` (sentences), ...

    Raises:
        lightloom.Error: as ``loom predict``: ``not_found``, ``invalid_argument``, ``infeasible``, ...
    """
    with workload_file(workload) as path:
        contest = _lightloom.Contest(path, nodes, bandwidth, lines_of(settings), [fabric])
        return json.loads(contest.play(0, exact))


class Arena:
    """One job on several fabrics. ``table`` is a ``pandas.DataFrame``, and the object draws itself in a notebook."""

    def __init__(self, rows: list[dict[str, Any]], refusals: dict[str, str], svg: str):
        self.rows = rows
        self.refusals = refusals
        self._svg = svg

    @property
    def table(self) -> Any:
        """A row a fabric, by ``iteration_ms``; columns are numbers of ``predict``. Fabrics that refused are in ``refusals``."""
        import pandas

        columns = ("fabric", "iteration_ms", "compute_ms", "exposed_comm_ms", "dark_ms", "bound_ms", "utilisation", "circuits", "changes",
                   "scheduler")
        frame = pandas.DataFrame([{key: row.get(key) for key in columns} for row in self.rows], columns=list(columns))
        frame = frame.sort_values("iteration_ms").set_index("fabric")
        ideal = frame["iteration_ms"].get("ideal-switch")
        frame.insert(1, "to_ideal", frame["iteration_ms"] / ideal if ideal else float("nan"))
        return frame

    @property
    def picture(self) -> Picture:
        return Picture(self._svg)

    def _repr_html_(self) -> str:
        return self.table._repr_html_() + self._svg

    def __repr__(self) -> str:
        return repr(self.table)


def arena(workload: Any, nodes: int = 0, fabrics: Sequence[str] = (), bandwidth: str = "100G",
          settings: Mapping[str, Any] | None = None, exact: bool = False) -> Arena:
    """One job on many fabrics, side by side: ``loom arena``. Arguments as ``predict``; no ``fabrics``: all of them.

    A fabric that cannot carry the job is in ``refusals`` with its sentence.
    """
    from ._error import Error

    if isinstance(fabrics, str):
        raise TypeError(f"fabrics is a list of words, not one word: [{fabrics!r}]")
    rows: list[dict[str, Any]] = []
    refusals: dict[str, str] = {}
    with workload_file(workload) as path:
        contest = _lightloom.Contest(path, nodes, bandwidth, lines_of(settings), list(fabrics))
        for index, fabric in enumerate(contest.fabrics):
            try:
                rows.append({**json.loads(contest.play(index, exact)), "fabric": fabric})
            except Error as error:
                refusals[fabric] = str(error)
        return Arena(rows, refusals, contest.svg())


def sweep(workload: Any, fabrics: Sequence[str], nodes: Sequence[int] = (0,), bandwidth: Sequence[str] = ("100G",),
          exact: bool = False, **settings: Sequence[Any]) -> Any:
    """Predictions over a grid: an ``xarray.Dataset``.

    Args:
        workload, fabrics, nodes, bandwidth: as ``arena``; every combination is played.
        settings: further dimensions, ``batch=[32, 64]``.

    Returns:
        Variables ``iteration_ms``, ``compute_ms``, ``exposed_comm_ms``, ``dark_ms`` over ``fabric``, ``nodes``, ``bandwidth`` and the
        settings; NaN where a fabric refused, whose sentences are in ``attrs["refusals"]``.
    """
    import numpy
    import xarray

    from ._error import Error

    for name, values in {"fabrics": fabrics, "bandwidth": bandwidth}.items():
        if isinstance(values, str):
            raise TypeError(f"{name} is a list of words, not one word: [{values!r}]")
    axes: dict[str, list[Any]] = {"fabric": list(fabrics), "nodes": list(nodes), "bandwidth": list(bandwidth),
                                  **{key: list(values) for key, values in settings.items()}}
    names = ("iteration_ms", "compute_ms", "exposed_comm_ms", "dark_ms")
    shape = tuple(len(values) for values in axes.values())
    found_values = {name: numpy.full(shape, numpy.nan) for name in names}
    refusals: list[str] = []
    for place in itertools.product(*(range(length) for length in shape)):
        point = {key: axes[key][at] for key, at in zip(axes, place)}
        own = {key: value for key, value in point.items() if key in settings}
        try:
            found = predict(workload, point["fabric"], point["nodes"], point["bandwidth"], own, exact)
        except Error as error:
            if error.code in ("invalid_argument", "not_found", "invalid_config", "malformed"):
                raise  # a word that nobody knows is no gap
            refusals.append(f"{point}: {error}")
            continue
        for name in names:
            found_values[name][place] = found[name]
    return xarray.Dataset({name: (tuple(axes), found_values[name], {"units": "ms"}) for name in names}, coords=axes,
                          attrs={"workload": str(workload), "refusals": refusals})


class Plan:
    """A schedule, lowered to devices and verified: what ``loom plan`` says of it. It draws itself in a notebook."""

    def __init__(self, rooms: Any):
        self.answer: dict[str, Any] = json.loads(rooms.answer)
        self._columns: list[str] = rooms.columns
        self._rows: list[list[Any]] = json.loads(rooms.rows)
        self._svg: str = rooms.svg

    @property
    def circuits(self) -> Any:
        """A ``pandas.DataFrame``, a row a circuit of every stage and timeslot: ends, elements, wavelength, rate."""
        import pandas

        return pandas.DataFrame(self._rows, columns=self._columns)

    @property
    def is_verified(self) -> bool:
        """An independent judge found no light that meets other light where it should not."""
        return bool(self.answer["certificate"]["verified"])

    @property
    def picture(self) -> Picture:
        return Picture(self._svg)

    def _repr_svg_(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        return f"Plan(algorithm={self.answer['algorithm']!r}, circuits={len(self._rows)}, verified={self.is_verified})"


def plan(workload: Any, fabric: "str | os.PathLike[str] | Fabric", nodes: int = 0, algorithm: str = "",
         settings: Mapping[str, Any] | None = None) -> Plan:
    """A schedule of one job for one fabric, made by the pure planner and verified.

    Args:
        workload, nodes, settings: as ``predict``.
        fabric: a ``Fabric``, the path of its file, or a template's name.
        algorithm: ``""``: the fabric's own.

    Raises:
        lightloom.Error: ``infeasible``, ``unverified``, and those of ``predict``.
    """
    loaded = fabric._rooms if isinstance(fabric, Fabric) else None
    source = fabric.source if isinstance(fabric, Fabric) else os.fspath(fabric)
    with workload_file(workload) as path:
        return Plan(_lightloom.plan(path, source, nodes, algorithm, lines_of(settings), loaded))
