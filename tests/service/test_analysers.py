"""The service with analysers: subscriptions are read, matched and explained with those that it declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.errors import TypeMismatch
from tamis.live import Live
from tamis.store import Store


def test_service_matches_with_its_analysers(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    declared = {"title": "english", "code": "whitespace"}
    with Store.open(url, analysers=declared) as store:
        store.put("a/coat", "title HAS 'coats' AND code HAS '++'")
        with pytest.raises(TypeMismatch, match="leaves out every word"):
            store.put("a/bad", "title HAS 'the'")
        with Live.open(store, tmp_path / "index") as live:
            found = live.match({"title": "A coat", "code": "c ++"}, None)
            assert [match.id for match in found] == ["a/coat"]
            assert live.info()["analysers"] == declared


def test_index_is_built_again_when_the_analysers_change(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    english = {"title": "english"}
    for declared, expected in ((english, ["a/coat"]), ({}, []), (english, ["a/coat"])):
        with Store.open(url, analysers=declared) as store:
            store.put("a/coat", "title HAS 'coats'")
            with Live.open(store, tmp_path / "index") as live:
                assert [match.id for match in live.match({"title": "coat"}, None)] == expected


def test_pending_changes_are_matched_with_the_analysers(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/store.db", analysers={"title": "english"}) as store:
        live = Live.open(store)  # not started: the index stays behind
        store.put("a/coat", "title HAS 'coats'")
        assert [match.id for match in live.match({"title": "coat"}, None)] == ["a/coat"]
        assert live.top({"title": "coat"}, 1, None) == [("a/coat", 1.0)]
