"""Test that books with cuts at the ends of the numbers are built, proved and opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis import Index
from tamis.engines.engines import NAMES

BOOK = {
    "greatest": "a = 1.7976931348623157e308",
    "above": "a > 1.7976931348623157e308",
    "upto": "a <= 1.7976931348623157e308",
    "least": "a >= -1.7976931348623157e308",
    "whole": "a = 9223372036854775807 OR a = -9223372036854775808",
}


@pytest.mark.parametrize("engine", NAMES)
def test_index_with_extreme_cuts_proves_itself(engine: str, tmp_path: Path) -> None:
    index = Index.build(BOOK, engine=engine)
    index.check()
    index.save(tmp_path / "index")
    opened = Index.open(tmp_path / "index", verify=True)
    for event in ({"a": 1.7976931348623157e308}, {"a": 2**63 - 1}, {"a": 0}, {"a": -1.7976931348623157e308}):
        assert sorted(opened.match(event)) == sorted(Index.build(BOOK, engine="scan").match(event))
