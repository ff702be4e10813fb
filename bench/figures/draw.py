"""Draw plots as SVG text for a page: colours are CSS variables, letters are letters, ids are unique."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bench.figures.spec import X
from bench.figures.style import PLACEHOLDERS, Mark, marks

Curves = Mapping[str, Mapping[X, float]]

INK, FAINT = PLACEHOLDERS["ink"], PLACEHOLDERS["faint"]
_RC: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bench",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
}
_numbers = itertools.count(1)


def lines(
    curves: Curves,
    *,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = True,
    ticks: Mapping[X, str] | None = None,
    legend: bool = True,
) -> str:
    """Return a curve for every label as SVG text; places that are strings stand side by side in order."""
    curves = {label: curve for label, curve in curves.items() if curve}
    with _canvas((4.3, 3.1)) as (figure, axes):
        places = _places(curves)
        for label, mark in marks(list(curves)).items():
            at = [places[x] for x in curves[label]]
            axes.plot(at, list(curves[label].values()), label=label, **_look(mark))
        _axes(axes, places, ticks or {}, log_x, log_y)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if legend:
            figure.legend(loc="outside lower center", ncols=3, fontsize=8)
        return _svg(figure, f"{y_label} by {x_label}: {', '.join(curves)}")


def stacked(
    curves: Curves,
    *,
    x_label: str,
    ticks: Mapping[X, str] | None = None,
) -> str:
    """Return a horizontal bar for every place, with the curves laid end to end in it."""
    places = list(_places(curves))
    with _canvas((6.4, 0.45 * len(places) + 1.1)) as (figure, axes):
        left = dict.fromkeys(places, 0.0)
        for label, mark in marks(list(curves)).items():
            values = [curves[label].get(x, 0.0) for x in places]
            axes.barh(range(len(places)), values, left=list(left.values()), label=label,
                      color=PLACEHOLDERS[mark.colour], height=0.6)  # fmt: skip
            left = {x: left[x] + value for x, value in zip(places, values, strict=True)}
        axes.set_yticks(range(len(places)), [(ticks or {}).get(x, str(x)) for x in places])
        axes.invert_yaxis()
        axes.xaxis.set_major_formatter(lambda value, _: short(value))
        axes.set_xlabel(x_label)
        axes.grid(axis="x")
        figure.legend(loc="outside lower center", ncols=3, fontsize=8)
        return _svg(figure, f"{x_label}: {', '.join(curves)}")


def legend(labels: Iterable[str]) -> list[tuple[str, str]]:
    """Return each label with a small picture of its line, for a legend that several plots share."""
    shown = []
    for label, mark in marks(list(labels)).items():
        with _canvas((0.42, 0.16)) as (figure, axes):
            axes.axis("off")
            axes.plot([0, 1, 2], [0, 0, 0], markevery=[1], **_look(mark))
            shown.append((label, _svg(figure, label)))
    return shown


def short(value: float) -> str:
    """Return a number for an axis: ``0.05``, ``12``, ``30K``, ``1.1M``."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("K", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def _look(mark: Mark) -> dict[str, Any]:
    colour = PLACEHOLDERS[mark.colour]
    return {
        "color": colour,
        "marker": mark.marker,
        "markersize": 4.5,
        "markeredgecolor": colour,
        "linestyle": mark.dash,
        "linewidth": mark.width,
    }


def _places(curves: Curves) -> dict[X, float]:
    """Return the position of each x: numbers at themselves, strings side by side."""
    every = list(dict.fromkeys(x for curve in curves.values() for x in curve))
    if any(isinstance(x, str) for x in every):
        return {x: float(at) for at, x in enumerate(every)}
    return {x: float(x) for x in every}


def _axes(axes: Any, places: Mapping[X, float], ticks: Mapping[X, str], log_x: bool, log_y: bool) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    named = any(isinstance(x, str) for x in places)
    if log_x and not named and min(places.values(), default=0) > 0:
        axes.set_xscale("log")
    if log_y:
        axes.set_yscale("log")
        _room(axes)
    else:
        axes.set_ylim(bottom=0)
    if named or ticks or len(places) <= 7:
        labels = [ticks.get(x, x if isinstance(x, str) else short(x)) for x in places]
        axes.set_xticks(list(places.values()), labels)
    else:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.grid(axis="y")


def _room(axes: Any) -> None:
    """Give a logarithmic axis at least a decade, and ticks in between if there are few decades."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axes.get_ylim()
    middle = (low * high) ** 0.5
    low, high = min(low, middle / 3.2), max(high, middle * 3.2)
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 300 else (1.0, 3.0)))
    axes.yaxis.set_minor_formatter(NullFormatter())


@contextmanager
def _canvas(size: tuple[float, float]) -> Iterator[tuple[Any, Any]]:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    with matplotlib.rc_context(_RC):
        figure, axes = plt.subplots(figsize=size, layout="constrained")
        try:
            yield figure, axes
        finally:
            plt.close(figure)


_HEAD = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>\s*|<defs>\s*<style.*?</defs>\s*", re.S)
_FONT = re.compile(r"font-family: [^;\"]*")
_ID = re.compile(r'(\bid="|url\(#|xlink:href="#)')


def _svg(figure: Any, about: str) -> str:
    """Return the figure as an element for a page; no two have an id in common."""
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = _HEAD.sub("", text.getvalue())
    svg = _ID.sub(rf"\g<1>f{next(_numbers)}-", svg)
    svg = _FONT.sub("font-family: inherit", svg)
    for name, placeholder in PLACEHOLDERS.items():
        svg = svg.replace(placeholder, f"var(--{name})")
    svg = re.sub(r'(<svg [^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg [^>]*?) height="[^"]*"', r"\1", svg, count=1)
    label = about.replace("&", "&amp;").replace('"', "'").replace("<", "&lt;")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1).strip()


def bars(values: Mapping[str, float], *, x_label: str, strong: tuple[str, ...] = ()) -> str:
    """Return a horizontal bar for every label on a logarithmic axis, its number beside it."""
    with _canvas((6.4, 0.3 * len(values) + 0.8)) as (figure, axes):
        colours = [PLACEHOLDERS["green" if label in strong else "grey"] for label in values]
        axes.barh(range(len(values)), list(values.values()), color=colours, height=0.65)
        for at, value in enumerate(values.values()):
            beside = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "fontsize": 8}
            axes.annotate(short(value), (value, at), **beside)
        axes.set_yticks(range(len(values)), list(values))
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlim(min(values.values()) / 2, max(values.values()) * 4)
        axes.xaxis.set_major_formatter(lambda value, _: short(value))
        axes.set_xlabel(x_label)
        axes.grid(axis="x")
        return _svg(figure, f"{x_label}: {', '.join(values)}")
