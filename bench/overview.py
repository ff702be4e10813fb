"""Write the whole report: an overview of the goals, then a section for every measurement."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from bench import report
from bench.figures.page import Section, table
from bench.report import figure
from bench.scaling.story import MOST_GROWTH, growth

RESULTS = ("suite", "scaling", "peers")
"""The measurements shown besides the papers' figures; each is the command that measures it."""


class Goal(NamedTuple):
    """Something that should hold, and the measured value."""

    text: str
    measured: str
    met: bool
    missed_by: str = ""

    def row(self) -> list[str]:
        """Return a line of the table."""
        return [self.text, self.measured, "✓ met" if self.met else f"✗ missed{self.missed_by}"]


def sections(papers: list[Section], folder: Path) -> list[Section]:
    """Return the overview, the other measurements (with results in ``folder``), and the papers' figures."""
    from bench.peers import page as peers_page
    from bench.scaling import page as scaling_page

    files = {name: folder / f"{name}.json" for name in RESULTS}
    found = {name: report.read_json(file) for name, file in files.items() if file.exists()}
    more = [
        page.section(found[name])
        for name, page in (("peers", peers_page), ("scaling", scaling_page))
        if name in found
    ]
    return [Section("overview", "Overview", overview(found)), *more, *papers]


def overview(found: dict[str, Any]) -> str:
    """Return the goals, and how to measure the missing ones."""
    reached = goals(found)
    parts = [_INTRO]
    if reached:
        parts.append(table(("goal", "measured here", ""), [goal.row() for goal in reached]))
    for name in RESULTS:
        if name not in found:
            parts.append(f"<p>Nothing is here yet from <code>python -m bench {name}</code>.</p>")
    parts += [_where(found), _AGAIN]
    return "\n".join(part for part in parts if part)


_INTRO = """<p>Tamis finds, for every event of a stream, all of millions of standing Boolean subscriptions
that the event satisfies. These pages show its cost: beside its alternatives, against the
size of everything, and in the figures of the papers whose algorithms it offers. All engines and peers of a
run had the same data and had to give the same answers. Figures are ratios within one run on one machine;
times of other machines do not carry over.</p>"""

_AGAIN = """<h3>Measure it yourself</h3>
<pre>make bench                    # the suite, ten minutes, compared with the last time
python -m bench peers         # other engines, on the same work
python -m bench scaling       # from 10,000 to 30,000,000 subscriptions
python -m bench figures       # the papers' figures, and this page</pre>
<p>Every command has <code>--help</code>; <code>python -m bench run</code> measures any workload with any
engines, and <code>python -m bench compare</code> separates changes between two reports from noise.</p>"""


def goals(found: dict[str, Any]) -> list[Goal]:
    """Return every goal for which there are results."""
    reached = [_contest(verdict) for verdict in found.get("peers", {}).get("verdicts", [])]
    curves = found.get("scaling", {}).get("curves", {})
    for curve in curves.values():
        grown = growth(curve["points"]) if curve["constant_matches"] else None
        if grown is not None:
            text = f"{curve['workload']}: ten times the subscriptions at most {MOST_GROWTH:g}× the cost"
            reached.append(Goal(text, f"{grown.times:.2f}×", grown.met, _by(grown.times / MOST_GROWTH)))
    return reached + [_target(entry) for entry in found.get("suite", {}).get("figures", [])]


def _target(entry: dict[str, Any]) -> Goal:
    least, bound = entry["at_least"], entry["bound"]
    times = bound / entry["value"] if least else entry["value"] / bound
    wanted = f"{entry['name']}: {'at least' if least else 'at most'} {bound:,} {entry['unit']}"
    return Goal(wanted, f"{figure(entry['value'])} {entry['unit']}", entry["met"], _by(times))


def _contest(verdict: dict[str, Any]) -> Goal:
    wanted = f"{verdict['mix']}: {verdict['goal']}"
    if verdict["peer"] is None:
        return Goal(wanted, "no such peer took all subscriptions", verdict["met"])
    measured = f"{figure(verdict['ratio'])} × {verdict['peer']}"
    return Goal(wanted, measured, verdict["met"], _by(verdict["bound"] / verdict["ratio"]))


def _by(times: float) -> str:
    return f" by {times:.2f}×" if times > 1 else ""


def _where(found: dict[str, Any]) -> str:
    known = [entry for entry in found.values() if "machine" in entry]
    if not known:
        return ""
    first = known[0]
    machine = [first["machine"][name] for name in ("processor", "cores", "memory_gb", "system")]
    place = "{}, {} cores, {} GB, {}".format(*machine)
    software = ", ".join(f"{name} {number}" for name, number in first["versions"].items())
    return f'<p class="quiet">{escape(place)}; {escape(software)}; commit {escape(str(first["commit"]))}.</p>'
