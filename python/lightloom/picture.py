# SPDX-License-Identifier: Apache-2.0
"""Drawings."""
from __future__ import annotations

import os
import pathlib


class Picture:
    """A drawing as SVG, shown inline by notebooks."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Picture({len(self.svg)} characters of SVG)"
