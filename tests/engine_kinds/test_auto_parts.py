"""Test ``auto`` with several parts: any engine may serve any part, and the answers stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tamis import Index
from tamis.engines.auto import engine as auto
from tamis.engines.auto.choose import Part
from tamis.engines.auto.groups import Group
from tamis.engines.engines import PARTS

BOOK = {f"s{n}": f"a = {n % 7} AND b >= {n % 5}" for n in range(40)}
BOOK |= {f"same{n}": "a = 1 AND c = 2" for n in range(3)}  # several owners of one clause
BOOK |= {f"t{n}": f"title HAS 'word{n % 3}' OR a = {n}" for n in range(20)}
EVENTS = [{"a": n % 7, "b": n % 6, "c": 2, "title": f"word{n % 4} x"} for n in range(30)]


@pytest.mark.parametrize("second", PARTS)
@pytest.mark.parametrize("first", ["hybrid", "presearch"])
def test_parts_of_two_engines_agree_with_scan(
    first: str, second: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def halves(clauses: Any, *_: Any, **__: Any) -> tuple[list[Part], str]:
        middle = clauses.count // 2
        groups = Group("one", np.arange(middle)), Group("two", np.arange(middle, clauses.count))
        engines = zip(groups, (first, second), strict=True)
        return [Part(group, name, {}, [], "asked for") for group, name in engines], "asked for"

    monkeypatch.setattr(auto, "choose", halves)
    index = Index.build(BOOK, engine="auto")
    index.check()
    index.save(tmp_path / "index")
    wanted = Index.build(BOOK, engine="scan")
    for one in (index, Index.open(tmp_path / "index", verify=True)):
        for event in EVENTS:
            assert sorted(one.match(event)) == sorted(wanted.match(event))
            assert one.top_k(event, 3) == wanted.top_k(event, 3)
