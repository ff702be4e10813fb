"""Write one HTML file with several pages: no script, no fetches, light or dark like the reader's system.

A page is a :class:`Section`. The browser shows the one whose link was followed (all of them on paper, and in
browsers that cannot choose).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bench.figures import style

_CSS = Path(__file__).with_name("page.css")


@dataclass(frozen=True)
class Section:
    """A page: the target of links, its name in the navigation, and its contents."""

    id: str
    title: str
    html: str


def write(sections: Sequence[Section], file: Path, title: str = "Tamis: measured") -> None:
    """Write the page, the first section first; create the folder if it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(sections, title), encoding="utf-8")


def page(sections: Sequence[Section], title: str) -> str:
    """Return the whole page."""
    links = "".join(f'<a href="#{section.id}">{escape(section.title)}</a>' for section in sections)
    body = "\n".join(
        f'<section id="{section.id}">\n<h2>{escape(section.title)}</h2>\n{section.html}\n</section>'
        for section in sections
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_styles()}</style>\n</head>\n"
        f'<body>\n<header class="bar"><nav>{links}</nav></header>\n'
        f"<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _styles() -> str:
    return style.css() + _CSS.read_text(encoding="utf-8")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Return a table that scrolls sideways if it is too wide."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )
