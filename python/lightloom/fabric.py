# SPDX-License-Identifier: Apache-2.0
"""Fabrics: what light can do, as a graph."""
from __future__ import annotations

import os
from typing import Any

from . import _lightloom
from ._settings import words_of


class Fabric:
    """A network of transmitters, switches, rings and fibres; ``Fabric.load`` makes one. It cannot be changed."""

    def __init__(self, rooms: _lightloom.Fabric, source: str):
        self._rooms = rooms
        self.source = source

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str], nodes: int = 0, **settings: Any) -> "Fabric":
        """A fabric of its file, or a template (``"oddl"``, ``"sip-ring"``, ``"sip-ocs"``, ``"topoopt"``) for ``nodes`` nodes.

        Args:
            name_or_path: a YAML file of ``kind: fabric``, or a template's name.
            nodes: of a template; a file brings its own.
            settings: of a template (``loom fabric show NAME`` lists them), in its units: ``group_size=16``.

        Raises:
            lightloom.Error: ``invalid_config`` (every error of the file, a line each), ``not_found``, ``invalid_argument``.
        """
        source = os.fspath(name_or_path)
        return cls(_lightloom.Fabric.load(source, nodes, words_of(settings)), source)

    @property
    def name(self) -> str:
        return self._rooms.name

    @property
    def architecture(self) -> str:
        """The name of its scheduler."""
        return self._rooms.architecture

    @property
    def assumptions(self) -> list[str]:
        """Sentences, printed wherever a number rests on them."""
        return self._rooms.assumptions

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """A row a node: ``name``, ``group``, ``transmitters`` and ``receivers`` by name."""
        return self._rooms.nodes()

    @property
    def elements(self) -> list[dict[str, Any]]:
        """A row an element: ``name``, ``kind``, ``inputs``, ``outputs`` (ports), ``insertion_loss_db``, ``node`` or None."""
        return self._rooms.elements()

    @property
    def fibres(self) -> list[dict[str, Any]]:
        """A row a fibre, from an output to an input: ``from``, ``from_port``, ``to``, ``to_port``, ``length_m``, ``loss_db``."""
        return self._rooms.fibres()

    @property
    def devices(self) -> list[dict[str, Any]]:
        """A row a device: ``name``, ``role``, ``model`` or None (the usual one), ``node``, ``bus``, ``endpoint``, ``elements``."""
        return self._rooms.devices()

    def to_networkx(self) -> "Any":
        """A ``networkx.MultiDiGraph``: elements with their attributes, and fibres in the direction of light.

        Edges have ``from_port``, ``to_port``, ``length_m`` and ``loss_db``; the graph has ``name`` and ``architecture``.
        """
        import networkx

        graph = networkx.MultiDiGraph(name=self.name, architecture=self.architecture)
        for element in self.elements:
            graph.add_node(element["name"], **{key: value for key, value in element.items() if key != "name"})
        for fibre in self.fibres:
            graph.add_edge(fibre["from"], fibre["to"],
                           **{key: value for key, value in fibre.items() if key not in ("from", "to")})
        return graph

    def __repr__(self) -> str:
        return f"Fabric({self.name!r}, architecture={self.architecture!r}, nodes={len(self.nodes)}, devices={len(self.devices)})"
