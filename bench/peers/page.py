"""Show the contest with the peers as a section of the report."""

from __future__ import annotations

from html import escape
from typing import Any

from bench.figures import draw
from bench.figures.page import Section, table
from bench.peers.judge import sentence
from bench.report import figure

HEADINGS = ("", "version", "takes", "subscriptions", "events", "build s", "µs per event", "× tamis", "remark")


def section(found: dict[str, Any]) -> Section:
    """Return a plot and a table per mix, then the goals."""
    judged = "".join(f"<li>{escape(sentence(verdict))}</li>" for verdict in found["verdicts"])
    parts = [_INTRO, f"<ul>{judged}</ul>"]
    for mix in dict.fromkeys(row["mix"] for row in found["results"]):
        rows = [row for row in found["results"] if row["mix"] == mix]
        parts.append(f"<article><h3>{escape(mix)}</h3>{_plot(rows)}{_table(rows)}</article>")
    parts.append('<p class="quiet">Repeat: <code>python -m bench peers</code></p>')
    return Section("peers", "Instead of Tamis", "\n".join(parts))


_INTRO = """<p>Alternatives to Tamis, on the same subscriptions and events, in one run. Every answer
was compared with that of Tamis. Times are per event, from an event that the peer can use at once to a list
of subscriptions, on one thread, caches and compilers warm. A peer that takes events in batches is compared
with Tamis taking batches. A peer that could not take all subscriptions in time was tried with a tenth of
them, and is compared with Tamis at that size. <code>bench/peers/README.md</code> describes how each peer is
driven, and its shortcomings.</p>"""


def _plot(rows: list[dict[str, Any]]) -> str:
    times = {_name(row): row["figures"]["us_per_event"] for row in rows if row["figures"]}
    ordered = dict(sorted(times.items(), key=lambda entry: entry[1]))
    ours = tuple(name for name in ordered if name.startswith("tamis"))
    svg = draw.bars(ordered, x_label="µs per event", strong=ours)
    return f'<div class="plots wide"><figure>{svg}</figure></div>'


def _name(row: dict[str, Any]) -> str:
    """Return the peer's name, with its size if that differs from the contest's."""
    full = row["figures"]["subscriptions"]
    name: str = row["peer"]
    return name if "; at " not in row["remark"] else f"{name} ({full:,})"


def _table(rows: list[dict[str, Any]]) -> str:
    lines = []
    for row in rows:
        figures = row["figures"]
        lines.append(
            [
                row["peer"],
                row["version"] or "–",
                "batches" if row["batch"] else "one",
                f"{figures['subscriptions']:,}" if figures else "–",
                f"{figures['events']:,}" if figures else "–",
                figure(figures.get("build_s")),
                figure(figures.get("us_per_event")),
                figure(row["ratio"]),
                row["failure"] or row["difference"] or row["remark"],
            ]
        )
    return f"<details><summary>The numbers</summary>{table(HEADINGS, lines)}</details>"
