# SPDX-License-Identifier: Apache-2.0
"""Lightloom: circuits of light for training, from a notebook.

``Fabric`` is a network, ``Demand`` what moves over it, ``predict``, ``arena``, ``sweep`` and ``plan`` need no controller, and ``Client``
speaks to one from asyncio. Numbers are those of the command ``loom``: the same rooms are called. docs/python.md has more.
"""
from ._error import Error
from .client import Client, Event
from .demand import Demand
from .fabric import Fabric
from .lab import Lab
from .offline import Arena, Plan, arena, fabrics, plan, predict, sweep, workloads
from .picture import Picture

__all__ = ["Arena", "Client", "Demand", "Error", "Event", "Fabric", "Lab", "Picture", "Plan", "arena", "fabrics", "plan", "predict",
           "sweep", "workloads"]
