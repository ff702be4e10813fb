"""Test the bench of graphics cards: its events, and the page of its results."""

from __future__ import annotations

from xml.etree import ElementTree

from bench.gpu.books import BOOKS, wide
from bench.gpu.page import page, picture
from bench.workloads import WORKLOADS

ROWS = [
    {"what": "about", "card": "Card", "cores": 16, "versions": {"numpy": "2"}},
    {"what": "random duels", "books": 2, "decisions": 1_000, "differences": 0},
    {"book": BOOKS[0].name, "what": "duel", "decisions": 10, "differences": 0},
    {"book": BOOKS[0].name, "what": "table to pairs", "events_s": 5e6, "pairs": 40.0, "input_bytes": 113.0},
    {"book": BOOKS[0].name, "what": "table to pairs", "events_s": 2e7, "pairs": 40.0, "input_bytes": 113.0},
    {"book": BOOKS[0].name, "what": "one core", "table_events_s": 1e5},
    {"book": BOOKS[0].name, "what": "stages", "ns": {"search": 12.5}},
]


def test_page_shows_the_best_run_beside_one_core() -> None:
    text = page(ROWS, "2026-11-19")
    assert "| dense 1M | 20,000,000/s | **20,000,000/s** |  | 100,000/s | 200× |" in text
    assert "2 books, 1,000 decisions, 0 differences" in text
    assert "| dense 1M | search | 12.5 |" in text


def test_picture_is_valid_xml() -> None:
    assert ElementTree.fromstring(picture(ROWS)).tag.endswith("svg")


def test_wide_events_hold_the_same_values() -> None:
    events = WORKLOADS["w4-ads"].events(20, 1, 100)
    rows = [
        {name: value for name, value in row.items() if value is not None} for row in wide(events).to_pylist()
    ]
    assert rows == [dict(sorted(row["attributes"])) | dict(row["attributes"]) for row in events.to_pylist()]
