"""Translate the patterns of LIKE: a backslash before % and _ makes them literal, and elsewhere it is one."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\\[%_]|\\|[^\\]+")


def like_of(pattern: str) -> str:
    """Return the pattern in our language."""
    return "".join("\\\\" if piece == "\\" else piece for piece in _PIECE.findall(pattern))
