"""Show results: short lines for a prompt, tables for a notebook, user text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

ROWS = 50  # of a table in a notebook
CHARACTERS = 200  # of a cell

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def size_text(size: int) -> str:
    """Return a size in bytes as text, such as ``1.5 MiB``."""
    number, unit = float(size), 0
    while number >= 1024 and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    return f"{number:.3g} {_UNITS[unit]}"


def many(count: int, one: str) -> str:
    """Return a count with its noun, such as ``1 match`` or ``2,000 matches``."""
    plural = f"{one}es" if one.endswith("ch") else f"{one}s"
    return f"{count:,} {one if count == 1 else plural}"


def table(names: Sequence[str], rows: Sequence[Iterable[Any]], caption: str = "") -> str:
    """Return an HTML table of the first rows, with the number of the remaining rows below it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:ROWS])
    more = f"<p>… and {len(rows) - ROWS:,} more</p>" if len(rows) > ROWS else ""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def pairs(fields: Mapping[str, Any], caption: str = "") -> str:
    """Return an HTML table of names and values."""
    return table(("", ""), [(name, value) for name, value in fields.items()], caption)


def _cell(value: Any) -> str:
    text = f"{value:,}" if type(value) is int else f"{value:.6g}" if type(value) is float else str(value)
    if len(text) > CHARACTERS:
        text = f"{text[:CHARACTERS]}…"
    return f"<td>{escape(text)}</td>"
