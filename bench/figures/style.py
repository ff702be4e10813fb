"""Define colours and marks: one for each engine, the same in every plot, for light and dark pages.

Plots are drawn in placeholder colours that become CSS variables of the page, so that one picture serves both.
The hues are those of Okabe and Ito, safe for the colour-blind, darkened for light pages and lightened for
dark ones. Shapes and dashes distinguish the curves without colours.
"""

from __future__ import annotations

from typing import NamedTuple

PALETTE: dict[str, tuple[str, str]] = {  # name: on light, on dark
    "ink": ("#1c1c1e", "#f2f2f4"),
    "faint": ("#d9d9de", "#3a3a40"),
    "grey": ("#75757d", "#9d9da6"),
    "orange": ("#b36b00", "#f2a93b"),
    "sky": ("#1f86c4", "#6fc3f5"),
    "green": ("#00785a", "#3cc99f"),
    "blue": ("#2f4fb5", "#92a8ff"),
    "red": ("#c23b00", "#ff8552"),
    "purple": ("#a8478f", "#e392cc"),
    "olive": ("#7a6a00", "#d9c94a"),
}
PLACEHOLDERS = {name: f"#{0xA0_0000 + 0x0101 * at:06x}" for at, name in enumerate(PALETTE)}


class Mark(NamedTuple):
    """The look of a curve."""

    colour: str
    marker: str
    dash: str = "-"
    width: float = 1.4


_KNOWN = {
    "scan": Mark("grey", "x"),
    "k-index": Mark("orange", "s"),
    "OpIndex": Mark("sky", "^"),
    "OpIndex-BS": Mark("sky", "v", "--"),
    "BE-Tree": Mark("purple", "D", "--"),
    "BE-Tree, one by one": Mark("purple", "d", ":"),
    "BE*-Tree (batch)": Mark("purple", "P"),
    "BE*-Tree (one by one)": Mark("purple", "X", ":"),
    "PSTBloom": Mark("blue", "v"),
    "PSTHash": Mark("red", "p"),
    "Pre-Search": Mark("green", "P"),
    "filtertree": Mark("olive", "h"),
    "hybrid": Mark("ink", "o", width=2.2),
    "Luwak": Mark("grey", "x"),
    "Luwak, duplicates once": Mark("orange", "s", "--"),
    "all terms indexed": Mark("blue", "v", "--"),
    "no matrix": Mark("orange", "s", "--"),
    "no rule for common queries": Mark("purple", "D", "--"),
    "not greedy": Mark("red", "^", ":"),
    "k-index, all": Mark("orange", "s", "--"),
    "k-index, top 1": Mark("orange", "s"),
    "BE*-Tree, all": Mark("purple", "P", "--"),
    "BE*-Tree, top 5": Mark("purple", "X", ":"),
    "BE*-Tree, top 1": Mark("purple", "P"),
    "hybrid, all": Mark("ink", "o", "--"),
    "hybrid, top 1": Mark("ink", "o", width=2.2),
}
_ENGINES = {
    "kindex": "k-index",
    "opindex": "OpIndex",
    "bestar": "BE*-Tree (batch)",
    "presearch": "Pre-Search",
    "pstbloom": "PSTBloom",
    "psthash": "PSTHash",
}
_OTHERS = [
    Mark(colour, marker, dash)
    for dash in ("-", "--", ":")
    for colour, marker in zip(
        ("blue", "orange", "green", "purple", "sky", "red", "olive"),
        ("o", "s", "^", "D", "v", "P", "h"),
        strict=True,
    )
]


def marks(labels: list[str]) -> dict[str, Mark]:
    """Return a mark for every label: its own if it has one (engines do), else the next free one."""
    free = iter(_OTHERS * (1 + len(labels) // len(_OTHERS)))
    found = {}
    for label in labels:
        known = _KNOWN.get(_ENGINES.get(label, label))
        found[label] = known or next(free)
    return found


def css() -> str:
    """Return the variables of the page, light and dark."""
    light, dark = ("".join(f"--{name}:{both[at]};" for name, both in PALETTE.items()) for at in range(2))
    return (
        f":root{{color-scheme:light dark;{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
