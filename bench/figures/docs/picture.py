"""Draw a figure as one small SVG picture: its panels in a grid above one legend."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

from bench.figures.docs import shapes
from bench.figures.docs.axes import Axis, axis_of
from bench.figures.draw import short
from bench.figures.spec import Data, Figure, Panel, Series, X
from bench.figures.style import Mark, marks
from bench.figures.words import MEASURES

WIDTH, HEIGHT = 300, 215  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 40, 36  # its margins
LETTER = 5.6  # pixels of an average letter in the legend
NOTE = "stated in the paper"

Curves = dict[str, Series]
Marks = Mapping[str, Mark]


class Box(NamedTuple):
    """The place of a panel's plot in the picture."""

    left: float
    top: float
    right: float
    bottom: float


def picture(figure: Figure, data: Data) -> str:
    """Return the figure as SVG text; panels without points are left out."""
    shown = [pair for pair in zip(figure.panels, data, strict=True) if any(pair[1].values())]
    columns = {1: 1, 2: 2, 4: 2}.get(len(shown), 3)
    looks = marks(list(dict.fromkeys(label for _, curves in shown for label in curves if curves[label])))
    parts = []
    for at, (panel, curves) in enumerate(shown):
        left, top = at % columns * WIDTH, at // columns * HEIGHT
        box = Box(left + LEFT, top + TOP, left + WIDTH - RIGHT, top + HEIGHT - BOTTOM)
        parts += [*_titles(panel, left + 10, top), *_panel(panel, curves, looks, box)]
    width, height = columns * WIDTH, -(-len(shown) // columns) * HEIGHT
    legend, more = _legend(looks, width, height, any(panel.paper for panel, _ in shown))
    return shapes.svg(width, height + more, f"{figure.name}: {figure.title}", [*parts, *legend])


def _titles(panel: Panel, left: float, top: float) -> list[str]:
    unit = MEASURES.get(panel.measure, panel.measure)
    return [shapes.text(left, top + 17, panel.title, size=11, bold=True), shapes.text(left, top + 30, unit)]


def _panel(panel: Panel, curves: Curves, looks: Marks, box: Box) -> list[str]:
    places = list(dict.fromkeys(x for values in curves.values() for x in values))
    if panel.kind == "stacked":
        return _stacked(panel, curves, looks, box, places)
    if panel.kind == "table" and len(places) == 1:
        return _bars(panel, curves, looks, box, places[0])
    return _plot(panel, curves, looks, box)


# ------------------------------------------------------------------------------------------------ lines
def _plot(panel: Panel, curves: Curves, looks: Marks, box: Box) -> list[str]:
    places, x_axis = _places(panel, curves, box)
    ys = [y for some in (curves, panel.paper) for values in some.values() for y in values.values()]
    y_axis = axis_of(ys, box.bottom, box.top, is_log=panel.log_y, from_zero=not panel.log_y)
    parts = [*_grid(y_axis, box), *_under(panel, places, x_axis, box)]

    def points(values: Series) -> list[shapes.Point]:
        return [(x_axis.at(places[x]), y_axis.at(y)) for x, y in values.items() if x in places]

    parts += [shapes.curve(points(values), looks[label]) for label, values in curves.items() if values]
    parts += [shapes.stated(points(panel.paper[label]), shapes.colour(looks[label])) for label in panel.paper]
    return parts


def _places(panel: Panel, curves: Curves, box: Box) -> tuple[dict[X, float], Axis]:
    """Return the position of every place on the x axis, and the axis: strings stand side by side."""
    every = list(dict.fromkeys(x for values in curves.values() for x in values))
    named = any(isinstance(x, str) for x in every)
    positions = {x: float(at) if named else float(x) for at, x in enumerate(every)}
    is_log = panel.log_x and not named
    return positions, axis_of(positions.values(), box.left, box.right, is_log=is_log, from_zero=False)


def _grid(axis: Axis, box: Box) -> list[str]:
    heights = [(axis.at(value), value) for value in axis.ticks()]
    rules = shapes.lines((((box.left, y), (box.right, y)) for y, _ in heights), shapes.FAINT)
    edge = shapes.lines([((box.left, box.bottom), (box.right, box.bottom))], shapes.INK)
    return [rules, edge, *(shapes.text(box.left - 4, y + 3.5, short(v), anchor="end") for y, v in heights)]


def _under(panel: Panel, places: Mapping[X, float], axis: Axis, box: Box) -> list[str]:
    """Return the names of the places under the plot, those for which there is room, and of the axis."""
    names, parts, free = dict(panel.ticks), [], box.left - 30
    for x, value in sorted(places.items(), key=lambda item: item[1]):
        name = names.get(x, x if isinstance(x, str) else short(x))
        middle, half = axis.at(value), LETTER * len(name) / 2
        if middle - half >= free:
            parts.append(shapes.text(middle, box.bottom + 13, name, anchor="middle"))
            free = middle + half + 4
    middle = (box.left + box.right) / 2
    return [*parts, shapes.text(middle, box.bottom + 27, panel.x_label, anchor="middle")]


# ------------------------------------------------------------------------------------------------- bars
def _bars(panel: Panel, curves: Curves, looks: Marks, box: Box, place: X) -> list[str]:
    """Return a bar for every curve at the only place, its number beside it, and the paper's as a mark."""
    ours = {label: values[place] for label, values in curves.items() if values.get(place)}
    paper = {label: next(iter(values.values())) for label, values in panel.paper.items()}
    start = box.left + 60
    known = [*ours.values(), *paper.values()]
    axis = axis_of([min(known) / 2, *known], start, box.right - 30, is_log=True, from_zero=False)
    step = (box.bottom + 20 - box.top) / len(ours)
    parts = []
    for at, (label, value) in enumerate(ours.items()):
        middle, end = box.top + (at + 0.5) * step, axis.at(value)
        look = looks[label]
        parts.append(shapes.text(start - 4, middle + 3.5, label.split(" (")[0], anchor="end"))
        parts.append(shapes.bar(start, middle - step * 0.3, end - start, step * 0.6, shapes.colour(look)))
        parts.append(shapes.text(end + 4, middle + 3.5, short(value)))
        if label in paper:
            parts.append(shapes.stated([(axis.at(paper[label]), middle)], shapes.colour(look)))
    return parts


def _stacked(panel: Panel, curves: Curves, looks: Marks, box: Box, places: list[X]) -> list[str]:
    """Return a bar for every place under its name, with the curves laid end to end in it."""
    names, step = dict(panel.ticks), (box.bottom - box.top) / len(places)
    totals = [sum(values.get(x, 0.0) for values in curves.values()) for x in places]
    axis = axis_of([0.0, *totals], box.left - 30, box.right, is_log=False, from_zero=True)
    parts = []
    for at, x in enumerate(places):
        top, left = box.top + at * step, axis.at(0.0)
        parts.append(shapes.text(left, top + 9, f"{names.get(x, x)}: {short(totals[at])}"))
        for label, values in curves.items():
            width = axis.at(values.get(x, 0.0)) - axis.at(0.0)
            parts.append(shapes.bar(left, top + 13, width, step - 18, shapes.colour(looks[label])))
            left += width
    return parts


# ----------------------------------------------------------------------------------------------- legend
def _legend(looks: Marks, width: float, top: float, has_paper: bool) -> tuple[list[str], float]:
    """Return the entries in as many rows as they need, and the height of the rows."""
    parts, x, y = [], 12.0, top + 10.0
    entries = chain(looks.items(), [(NOTE, None)] if has_paper else [])
    for label, look in entries:
        needed = 34 + LETTER * len(label)
        if x + needed > width and x > 12:
            x, y = 12.0, y + 16
        middle = (x + 11, y)
        parts.append(
            shapes.curve([(x, y), (x + 22, y)], look, [middle])
            if look
            else shapes.stated([middle], shapes.INK)
        )
        parts.append(shapes.text(x + 27, y + 3.5, label))
        x += needed + 6
    return parts, y - top + 14
