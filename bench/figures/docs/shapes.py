"""Write the pieces of an SVG picture: text, lines, marks; with one decimal, to keep files small."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from bench.figures.style import PALETTE, Mark

INK, GREY, FAINT, PAPER = PALETTE["ink"][0], PALETTE["grey"][0], "#e3e3e8", "#ffffff"
DASHES = {"-": "", "--": ' stroke-dasharray="5 3"', ":": ' stroke-dasharray="1.5 3"'}
MARKS = {
    "o": "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
    "s": "m-3-3h6v6h-6z",
    "^": "m0-4l3.6 6.4h-7.2z",
    "v": "m0 4l3.6-6.4h-7.2z",
    "D": "m0-4l4 4l-4 4l-4-4z",
    "d": "m0-4l2.6 4l-2.6 4l-2.6-4z",
    "x": "m-3-3l6 6m0-6l-6 6",
    "X": "m-3-3l6 6m0-6l-6 6",
    "P": "m-4 0h8m-4-4v8",
    "p": "m0-3.8l3.6 2.6l-1.4 4.2h-4.4l-1.4-4.2z",
    "h": "m-1.9-3.3h3.8l1.9 3.3l-1.9 3.3h-3.8l-1.9-3.3z",
}

Point = tuple[float, float]


def colour(mark: Mark) -> str:
    """Return the colour of a mark on white."""
    return PALETTE[mark.colour][0]


def text(x: float, y: float, words: str, *, anchor: str = "", size: int = 0, bold: bool = False) -> str:
    """Return a line of text; the size is that of the picture unless given."""
    more = (f' text-anchor="{anchor}"' if anchor else "") + (f' font-size="{size}"' if size else "")
    more += ' font-weight="bold"' if bold else ""
    return f'<text x="{_short(x)}" y="{_short(y)}"{more}>{escape(words, quote=False)}</text>'


def lines(ends: Iterable[tuple[Point, Point]], stroke: str) -> str:
    """Return straight lines of one colour as one path."""
    path = "".join(f"M{_short(a[0])} {_short(a[1])}L{_short(b[0])} {_short(b[1])}" for a, b in ends)
    return f'<path d="{path}" stroke="{stroke}" fill="none"/>' if path else ""


def curve(points: list[Point], mark: Mark, marked: list[Point] | None = None) -> str:
    """Return a line through the points and its marks, at all points unless given."""
    way = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
    stroke, line = colour(mark), ""
    if len(points) > 1:
        line = f'<path d="{way}" fill="none" stroke-width="{mark.width}"{DASHES[mark.dash]}/>'
    marks = _marks(points if marked is None else marked, mark.marker)
    return f'<g stroke="{stroke}">{line}<path d="{marks}" fill="{stroke}" stroke-width="1.2"/></g>'


def stated(points: list[Point], stroke: str) -> str:
    """Return the points that a paper states: hollow diamonds without a line."""
    return f'<path d="{_marks(points, "D")}" fill="{PAPER}" stroke="{stroke}" stroke-width="1.4"/>'


def _marks(points: list[Point], marker: str) -> str:
    return "".join(f"M{_short(x)} {_short(y)}{MARKS[marker]}" for x, y in points)


def bar(x: float, y: float, width: float, height: float, fill: str) -> str:
    """Return a filled rectangle."""
    size = f'width="{_short(max(width, 0.5))}" height="{_short(height)}"'
    return f'<rect x="{_short(x)}" y="{_short(y)}" {size} fill="{fill}"/>'


def svg(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """Return a whole picture on white, which is readable on light and dark pages."""
    box = f"{_short(width)} {_short(height)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {box}" width="{_short(width)}" '
        f'height="{_short(height)}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="10" '
        f'fill="{INK}">\n<title>{escape(title, quote=False)}</title>\n'
        f'<rect width="{_short(width)}" height="{_short(height)}" rx="8" fill="{PAPER}"/>\n'
        + "\n".join(part for part in parts if part)
        + "\n</svg>\n"
    )


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
