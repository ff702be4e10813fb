"""Test the path of a subscription from text to postings: few files, and no tree is rebuilt from rows."""

from __future__ import annotations

import pytest

from tamis import Index
from tamis.columns import rows
from tools.way import NESTED, PLAIN, files_on_the_way


@pytest.mark.parametrize("text", [PLAIN, NESTED])
def test_subscription_passes_through_few_files(text: str) -> None:
    assert len(files_on_the_way(text)) <= 25


def test_build_reads_no_tree_from_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a tree was rebuilt from rows")

    monkeypatch.setattr(rows, "tree_at", refuse)
    index = Index.build({"plain": PLAIN, "nested": NESTED})
    assert index.match({"model": "iphone5s", "price": 5}) == ["nested"]
