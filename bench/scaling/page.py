"""Show the curves as a section of the report."""

from __future__ import annotations

from html import escape
from typing import Any

from bench.figures import draw
from bench.figures.page import Section, table
from bench.scaling.story import distance
from bench.scaling.summary import HEADINGS, memory, rows, verdicts

_SUBSCRIPTIONS = "subscriptions"
_NAMES = {"sparse": "w4-sparse", "clustered": "w2, 100 matches", "dense": "w4-dense"}


def section(found: dict[str, Any]) -> Section:
    """Return the section on the growth of cost, in plots and tables."""
    parts = [_INTRO, f'<div class="plots">{_growth(found)}{_touched(found)}{_others(found)}</div>']
    parts.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in verdicts(found)) + "</ul>")
    parts.append(f"<p>{escape(memory(found['hardware']))}.</p>")
    for curve in found["curves"].values():
        headings = (curve["parameter"].replace("_", " "), *HEADINGS[1:])
        caption = f"{curve['workload']}: {curve['title']}"
        inner = table(headings, rows(curve, found["hardware"]), caption)
        parts.append(f"<details><summary>{escape(caption)}</summary>{inner}</details>")
    parts.append('<p class="quiet">Repeat: <code>python -m bench scaling</code></p>')
    return Section("scaling", "Scaling", "\n".join(parts))


_INTRO = """<p>Cost per event of <b>hybrid</b>, from located events to matches, on one core. Books that do
not fit into memory while they are built are built in pieces, saved and memory-mapped; an event goes through
all pieces. <i>Touched</i> are the whole cache lines that an event reads, counted by retracing its steps.
Divided by the time, they give bytes per second, shown beside the speed at which the same core reads memory in
order. More than all of that bandwidth means that the caches provide much of the data.</p>"""


def _by_size(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        _NAMES.get(name, name): curve
        for name, curve in found["curves"].items()
        if curve["parameter"] == _SUBSCRIPTIONS and curve["points"]
    }


def _growth(found: dict[str, Any]) -> str:
    curves = {
        name: {point["value"]: point["us_per_event"] for point in curve["points"]}
        for name, curve in _by_size(found).items()
    }
    return _figure("Cost and the size of the book", curves, _SUBSCRIPTIONS, "µs per event") if curves else ""


def _touched(found: dict[str, Any]) -> str:
    curves: dict[str, dict[float, float]] = {}
    for name, curve in _by_size(found).items():
        for point in curve["points"]:
            far = distance(point, found["hardware"])
            if far is not None:
                curves.setdefault(name, {})[point["value"]] = far.touched
    return _figure("Memory read for an event", curves, _SUBSCRIPTIONS, "bytes per event") if curves else ""


def _others(found: dict[str, Any]) -> str:
    shown = []
    for name, curve in found["curves"].items():
        if curve["parameter"] != _SUBSCRIPTIONS and curve["points"]:
            values = {point["value"]: point["us_per_event"] for point in curve["points"]}
            shown.append(
                _figure(f"Cost and {curve['title']}", {name: values}, curve["title"], "µs per event")
            )
    return "".join(shown)


def _figure(title: str, curves: dict[str, Any], x_label: str, y_label: str) -> str:
    svg = draw.lines(curves, x_label=x_label, y_label=y_label, log_x=True, legend=len(curves) > 1)
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}</figure>"
