"""Show the marked parts of a text: as HTML, as plain text, or as pieces, whole or cut to a snippet.

A text in *pieces* is a list of strings: unmarked and marked parts in turn, the first one unmarked. It may be
empty.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Literal

from tamis.errors import InputError

MarkStyle = Literal["html", "text"]

CUT = "…"


def marked_pieces(text: str, spans: Iterable[tuple[int, int]]) -> list[str]:
    """Return a text in pieces; spans that overlap or touch become one mark."""
    pieces: list[str] = []
    at = 0
    for start, end in _merged(spans):
        pieces += text[at:start], text[start:end]
        at = end
    return [*pieces, text[at:]]


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def snippet(pieces: list[str], most: int) -> list[str]:
    """Return pieces of at most ``most`` characters around the first mark; an ellipsis shows each cut.

    Fewer than four characters have no room for a mark between two cuts.
    """
    size = sum(map(len, pieces))
    if size <= most:
        return pieces
    if most < 4:
        return ["".join(pieces)[: most - 1] + CUT]
    before = len(pieces[0])  # to the first mark
    begin = max(min(before - most // 4, size - most + 1), 0)
    begin *= begin > 1  # an ellipsis is as long as one character
    room = most - bool(begin)
    is_cut = size - begin > room
    shown = _slice(pieces, begin, begin + room - is_cut)
    shown[0] = CUT * bool(begin) + shown[0]
    if is_cut and len(shown) % 2:
        shown[-1] += CUT
    elif is_cut:
        shown.append(CUT)
    return shown


def _slice(pieces: list[str], start: int, end: int) -> list[str]:
    """Return the characters from ``start`` to ``end``, still in pieces."""
    found: list[str] = []
    at = 0
    for piece in pieces:
        part = piece[max(start - at, 0) : max(end - at, 0)]
        at += len(piece)
        found.append(part)
        if at >= end:
            break
    return found


def with_marks(pieces: list[str], style: MarkStyle = "html") -> str:
    """Return pieces as HTML with ``<mark>``, escaped, or as text with ``**`` around marked parts."""
    if style not in ("html", "text"):
        raise InputError(f"the style of marks is 'html' or 'text', not {style!r}")
    if style == "text":
        return "".join(f"**{piece}**" if at % 2 and piece else piece for at, piece in enumerate(pieces))
    escaped = enumerate(map(html.escape, pieces))
    return "".join(f"<mark>{piece}</mark>" if at % 2 and piece else piece for at, piece in escaped)
