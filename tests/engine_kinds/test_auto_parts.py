"""Test ``auto`` with several parts: any engine may serve any part, and the answers stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tamis import Index, Subscription
from tamis.engines.auto import engine as auto
from tamis.engines.auto.choose import Part
from tamis.engines.auto.groups import Group
from tamis.engines.engines import PARTS
from tamis.language import parse
from tamis.values.event import Event

BOOK = {f"s{n}": f"a = {n % 7} AND b >= {n % 5}" for n in range(40)}
BOOK |= {f"same{n}": "a = 1 AND c = 2" for n in range(3)}  # several owners of one clause
BOOK |= {f"t{n}": f"title HAS 'word{n % 3}' OR a = {n}" for n in range(20)}
WEIGHTED = [
    Subscription(f"w{n}", parse(text.replace(" AND", f" ^ {n % 4 / 2} AND")), n % 3 - 1.0)
    for n, text in enumerate(BOOK.values())
]
EVENTS = [{"a": n % 7, "b": n % 6, "c": 2, "title": f"word{n % 4} x"} for n in range(30)]


def halve(monkeypatch: pytest.MonkeyPatch, first: str, second: str) -> None:
    """Make ``auto`` serve the first half of the clauses with one engine and the second with another."""

    def halves(clauses: Any, *_: Any, **__: Any) -> tuple[list[Part], str]:
        middle = clauses.count // 2
        groups = Group("one", np.arange(middle)), Group("two", np.arange(middle, clauses.count))
        engines = zip(groups, (first, second), strict=True)
        return [Part(group, name, {}, [], "asked for") for group, name in engines], "asked for"

    monkeypatch.setattr(auto, "choose", halves)


@pytest.mark.parametrize("second", PARTS)
@pytest.mark.parametrize("first", ["hybrid", "presearch"])
def test_parts_of_two_engines_agree_with_scan(
    first: str, second: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    halve(monkeypatch, first, second)
    index = Index.build(BOOK, engine="auto")
    index.check()
    index.save(tmp_path / "index")
    wanted = Index.build(BOOK, engine="scan")
    for one in (index, Index.open(tmp_path / "index", verify=True)):
        for event in EVENTS:
            assert sorted(one.match(event)) == sorted(wanted.match(event))
            assert one.top_k(event, 3) == wanted.top_k(event, 3)


@pytest.mark.parametrize("second", PARTS)
@pytest.mark.parametrize("first", ["hybrid", "scan"])
def test_best_matches_of_two_parts_equal_those_of_scan(
    first: str, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    halve(monkeypatch, first, second)
    index, wanted = (Index.build(WEIGHTED, engine=name) for name in ("auto", "scan"))
    rows: list[dict[str, Any]] = [*EVENTS, {"a": [1, 2], "b": [3, 9]}]
    for n, row in enumerate(rows):
        weights: dict[str, float] = [{}, {"a": 0.25}, {"b": 3.0, "a": 0.5}, {"a": -1.0}][n % 4]
        values = {name: tuple(held) if isinstance(held, list) else (held,) for name, held in row.items()}
        event = Event(values, weights=weights)
        for k in (1, 5, 100):
            assert index.top_k(event, k) == wanted.top_k(event, k)
