# SPDX-License-Identifier: Apache-2.0
"""Demands: bytes from node to node."""
from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any, Iterator

from . import _lightloom


class Demand:
    """Bytes of one iteration, N x N, row = source, column = destination.

    ``Demand(array)`` keeps the array itself where it is C-contiguous ``uint64``, and a converted copy otherwise;
    ``numpy.asarray(demand)`` is a view of the same memory that cannot be written.

    Raises:
        lightloom.Error: ``invalid_argument``: not N x N, N below 2 or above 4096, a number that is negative, NaN or no number, a
            diagonal that is not 0, nothing to move.
    """

    def __init__(self, bytes: Any):
        import numpy

        self._rooms = _lightloom.Demand(numpy.asarray(bytes))

    @property
    def nodes(self) -> int:
        return self._rooms.nodes

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        view = self._rooms.view()
        if dtype is not None and numpy.dtype(dtype) != view.dtype:
            return view.astype(dtype)
        return view.copy() if copy else view

    def __repr__(self) -> str:
        return f"Demand(nodes={self.nodes}, bytes={int(self._rooms.view().sum())})"


@contextlib.contextmanager
def workload_file(workload: Any) -> Iterator[str]:
    """What the rooms take for a workload: a name or a path. A demand is written to a file of numpy's for as long as it is read."""
    if isinstance(workload, Demand):
        import numpy

        with tempfile.TemporaryDirectory(prefix="lightloom-") as folder:
            path = os.path.join(folder, "demand.npy")
            numpy.save(path, numpy.asarray(workload))
            yield path
    else:
        yield os.fspath(workload)
