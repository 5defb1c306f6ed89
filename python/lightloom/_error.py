# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as one exception."""


class Error(Exception):
    """A refusal in one sentence.

    Attributes:
        code: the word that ``loom --json`` has for it: ``"invalid_argument"``, ``"not_found"``, ``"refused"``, ``"unreachable"``, ...
        hint: the command of ``loom`` that helps next, or ``""``.
    """

    code: str = "internal"
    hint: str = ""
