"""Test plots and pages: no fixed colour, no script, no fetches, no duplicate id."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.figures import draw, style
from bench.figures.page import Section, table, write

CURVES = {"scan": {10: 5.0, 100: 50.0}, "hybrid": {10: 1.0, 100: 2.0}, "else": {10: 3.0, 100: 3.5}}


@pytest.mark.parametrize("log", [False, True])
def test_plot_has_no_fixed_colour_and_keeps_text_as_text(log: bool) -> None:
    svg = draw.lines(CURVES, x_label="events & more", y_label="µs", log_x=log, log_y=log)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?![-\w])|black|white|rgb\(", _without_ids(svg))
    root = ElementTree.fromstring(svg)
    texts = {"".join(element.itertext()).strip() for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"events & more", "µs", *CURVES} <= texts
    for mark in style.marks(list(CURVES)).values():
        assert f"var(--{mark.colour})" in svg


def test_curves_have_fixed_colours_and_other_labels_differ() -> None:
    assert style.marks(["hybrid"])["hybrid"] == style.marks(["x", "hybrid"])["hybrid"]
    assert style.marks(["kindex"])["kindex"] == style.marks(["k-index"])["k-index"]
    many = style.marks([f"curve {at}" for at in range(20)])
    assert len(set(many.values())) == 20


def test_strings_stand_side_by_side_and_bars_end_to_end() -> None:
    assert "none" in draw.lines({"scan": {"2": 1.0, "none": 2.0}}, x_label="clusters", y_label="µs")
    svg = draw.stacked({"one": {"a": 1.0}, "two": {"a": 3.0}}, x_label="bytes", ticks={"a": "all of it"})
    assert "all of it" in svg
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?![-\w])", _without_ids(svg))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.05, "0.05"), (12, "12"), (30_000, "30K"), (1_099_925, "1.1M"), (250e6, "250M"), (2e9, "2G")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert draw.short(value) == text


def test_page_is_one_file_without_script_or_fetching(tmp_path: Path) -> None:
    plots = [draw.lines(CURVES, x_label="n", y_label="µs") for _ in range(2)]
    sections = [Section(f"s{at}", f"Part <{at}>", plot) for at, plot in enumerate(plots)]
    file = tmp_path / "deep" / "page.html"
    write(sections, file, "A & B")
    html = file.read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert "<script" not in html
    assert not re.search(r'(src|href)="(?!#)', html.replace("xlink:href", "href"))
    assert '<a href="#s1">Part &lt;1&gt;</a>' in html
    assert "prefers-color-scheme:dark" in html
    assert "<title>A &amp; B</title>" in html


def test_every_variable_that_is_used_is_defined_for_both_schemes(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    write([Section("s", "S", draw.lines(CURVES, x_label="n", y_label="µs"))], file)
    html = file.read_text(encoding="utf-8")
    for name in set(re.findall(r"var\(--([a-z]+)\)", html)):
        assert html.count(f"--{name}:") == 2, name


def test_table_escapes_its_cells() -> None:
    assert "<td>a &lt; b</td>" in table(("x",), [["a < b"]])


def _without_ids(svg: str) -> str:
    return re.sub(r'url\(#[^)]*\)|href="#[^"]*"', "", svg)
