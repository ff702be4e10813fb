"""Write the results of ``bench gpu`` as a page: ``python -m bench.gpu.page gpu.jsonl``."""

from __future__ import annotations

import json
import math
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.gpu.books import BOOKS
from bench.report import ROOT

PAGE = ROOT / "docs" / "gpu-measured.md"
PICTURE = ROOT / "docs" / "pictures" / "gpu-measured.svg"
_WIDTH, _ROW, _LEFT = 760, 44, 130
_LEAST, _MOST = 1e3, 1e9  # events a second that the picture shows

_HEADINGS = (
    "workload",
    "target",
    "table to numbers",
    "table to ids",
    "one core",
    "card / core",
    "search kernel, an event",
    "matches of an event",
    "input of an event",
    "differences",
)
_FONT = 'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#1c2733"'

Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    """Return the rows of a report."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def best(rows: list[Row], name: str) -> Row | None:
    """Return the figures of one book: the fastest form, batch size and threads, and others beside."""
    own = [row for row in rows if row.get("book") == name]
    runs = [row for row in own if row["what"] == "table to pairs"]
    if not runs:
        return None
    first = max(runs, key=lambda row: row["events_s"])
    beside = {row["what"]: row for row in own if row["what"] in ("stages", "best search", "one core")}
    ids = [row["events_s"] for row in own if row["what"] == "table to ids"]
    duels = [row for row in own if row["what"] == "duel"]
    return {
        **first,
        "search_ns": beside.get("best search", {}).get("ns"),
        "core": beside.get("one core", {}),
        "stages": beside.get("stages", {}),
        "ids_s": max(ids) if ids else None,
        "decisions": sum(row["decisions"] for row in duels),
        "differences": sum(row["differences"] for row in duels),
    }


def page(rows: list[Row], day: str) -> str:
    """Return the page."""
    about = next(row for row in rows if row["what"] == "about")
    random = next(row for row in rows if row["what"] == "random duels")
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lines = [
        "# Graphics cards, measured",
        "",
        f"Measured on {day} on one {about['card']} beside {about['cores']} cores, with {versions}:"
        " `python -m bench gpu --sweep`, then `python -m bench.gpu.page`. Each rate is the median of three"
        " runs, from a table on the host to numbers on the host; input and output stay in memory.",
        "",
        "![Events a second on the card, on one core, and the target](pictures/gpu-measured.svg)",
        "",
        f"| {' | '.join(_HEADINGS)} |",
        "|---" * len(_HEADINGS) + "|",
    ]
    for book in BOOKS:
        found = best(rows, book.name)
        if found is not None:
            lines.append(_line(book.name, book.target, found))
    lines += [
        "",
        f"Random duels: {random['books']:,} books, {random['decisions']:,} decisions,"
        f" {random['differences']:,} differences.",
        "",
        "| workload | stage of a batch, one thread | ns an event |",
        "|---|---|---|",
    ]
    for book in BOOKS:
        stages = (best(rows, book.name) or {}).get("stages", {})
        lines += [f"| {book.name} | {stage} | {took:,.1f} |" for stage, took in stages.get("ns", {}).items()]
    return "\n".join(lines) + "\n"


def _line(name: str, target: float, found: Row) -> str:
    core = found["core"].get("table_events_s")
    cells = (
        name,
        f"{target:,.0f}/s",
        f"**{found['events_s']:,.0f}/s**",
        "" if found["ids_s"] is None else f"{found['ids_s']:,.0f}/s",
        "" if core is None else f"{core:,.0f}/s",
        "" if core is None else f"{found['events_s'] / core:,.0f}×",
        "" if found["search_ns"] is None else f"{found['search_ns']:,.1f} ns",
        f"{found['pairs']:,.1f}",
        f"{found['input_bytes']:,.0f} B",
        f"{found['differences']:,} of {found['decisions']:,}",
    )
    return "| " + " | ".join(cells) + " |"


def picture(rows: list[Row]) -> str:
    """Return bars on a logarithmic scale: the card, one core, and a line at the target."""
    parts = []
    at = 30
    for book in BOOKS:
        found = best(rows, book.name)
        if found is None:
            continue
        core = found["core"].get("table_events_s") or _LEAST
        parts += [
            f'<text x="{_LEFT - 10}" y="{at + 21}" text-anchor="end">{book.name}</text>',
            f'<rect x="{_LEFT}" y="{at}" width="{_at(found["events_s"]):.0f}" height="16" fill="#5f9a7b"/>',
            f'<rect x="{_LEFT}" y="{at + 17}" width="{_at(core):.0f}" height="11" fill="#9fb3c8"/>',
            f'<path d="M{_LEFT + _at(book.target):.0f} {at - 3} v34" stroke="#b5473c" stroke-width="2"/>',
        ]
        at += _ROW
    for power in range(3, 10):
        x = _LEFT + _at(10.0**power)
        parts.append(f'<text x="{x:.0f}" y="{at + 12}" text-anchor="middle" font-size="11">10^{power}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {at + 24}" width="{_WIDTH}"'
        f' height="{at + 24}" role="img" {_FONT}>'
        "<title>Events a second: the card (green), one core (grey), the target (red)</title>"
        f'<rect width="{_WIDTH}" height="{at + 24}" fill="#ffffff"/>'
    )
    return head + "".join(parts) + "</svg>\n"


def _at(rate: float) -> float:
    """Return the length of a bar."""
    share = math.log10(max(rate, _LEAST) / _LEAST) / math.log10(_MOST / _LEAST)
    return share * (_WIDTH - _LEFT - 30)


if __name__ == "__main__":
    report = read(Path(sys.argv[1]))
    PAGE.write_text(page(report, datetime.now(UTC).date().isoformat()), encoding="utf-8")
    PICTURE.write_text(picture(report), encoding="utf-8")
