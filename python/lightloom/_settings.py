# SPDX-License-Identifier: Apache-2.0
"""Settings as the rooms read them: words."""
from __future__ import annotations

from typing import Any, Mapping


def word_of(value: Any) -> str:
    """``True`` is ``true``; everything else as it prints."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def words_of(settings: Mapping[str, Any]) -> dict[str, str]:
    return {key: word_of(value) for key, value in settings.items()}


def lines_of(settings: Mapping[str, Any] | None) -> list[str]:
    """``key=value``, as ``--set`` takes them."""
    return [f"{key}={word_of(value)}" for key, value in (settings or {}).items()]
