"""Test the files after a save: new ones are written, current ones are named, the rest is removed."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from tamis import Index
from tamis.engines.engines import NAMES as ENGINES
from tamis.failpoint import arm, disarm


def test_new_segment_is_never_mistaken_for_a_removed_one(tmp_path: Path) -> None:
    """Memory addresses are reused soon after a merge; the old segment's folder once was, too."""
    index = Index.build({"s": "a = 0", "other": "b = 1"})
    gc.freeze()  # spare sixty collections of objects that other tests left behind
    for n in range(1, 60):
        index.save(tmp_path)
        index.update("s", f"a = {n}")
        index.merge()
        gc.collect()
        index.save(tmp_path)
        assert Index.open(tmp_path).match({"a": n}) == ["s"]
    gc.unfreeze()


def test_only_current_files_stay_on_disk(tmp_path: Path) -> None:
    index = Index.build({f"s{n}": f"a = {n}" for n in range(100)})
    index.save(tmp_path)
    index.remove("s1")
    index.save(tmp_path)
    index.merge()
    index.save(tmp_path)
    segments = [item for item in tmp_path.iterdir() if item.name.startswith("segment-")]
    assert len(segments) == 1
    assert {item.name for item in tmp_path.iterdir()} == {"manifest-0000000003.json", segments[0].name}


def test_unchanged_segment_is_not_written_again(tmp_path: Path) -> None:
    index = Index.build({f"s{n}": f"a = {n}" for n in range(200)})
    index.save(tmp_path)
    (folder,) = tmp_path.glob("segment-*")
    before = (folder / "arrays.bin").stat().st_mtime_ns
    index.remove("s7")
    index.save(tmp_path)
    assert (folder / "arrays.bin").stat().st_mtime_ns == before
    reopened = Index.open(tmp_path)
    assert len(reopened) == 199
    assert reopened.match({"a": 7}) == []
    reopened.remove("s8")
    reopened.save(tmp_path)
    assert (folder / "arrays.bin").stat().st_mtime_ns == before
    assert len(Index.open(tmp_path)) == 198


def test_leftovers_of_a_crash_are_removed_by_the_next_save(tmp_path: Path) -> None:
    index = Index.build({"s": "a = 1"})
    for place in ("segment.arrays_written", "segment.before_rename", "sealed.before_rename"):
        arm(place, _die)
        with pytest.raises(InterruptedError):
            index.save(tmp_path)
        disarm()
    index.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert Index.open(tmp_path).match({"a": 1}) == ["s"]


def _die() -> None:
    raise InterruptedError


@pytest.mark.parametrize("engine", ENGINES)
def test_everything_survives_a_round_trip(engine: str, tmp_path: Path) -> None:
    index = Index.build(
        [("é", "a = 1 ^ 2.5", 3.0), ("s", "b LIKE '%x%' OR NOT c IS NULL"), ("t", "TRUE", -1.0)],
        engine=engine,
    )
    index.save(tmp_path / "deep" / "er")
    again = Index.open(tmp_path / "deep" / "er", verify=True)
    again.check()
    assert again.info()["engine"] == engine
    assert again.info()["segments"][0]["engine"] == engine
    for name in ("é", "s", "t"):
        assert again.subscription(name) == index.subscription(name)
    event = {"a": 1, "b": "axb"}
    assert again.top_k(event) == index.top_k(event) == [("é", 5.5), ("s", 1.0), ("t", -1.0)]
    again.add("u", "a > 0")
    assert sorted(again.match(event)) == ["s", "t", "u", "é"]


def test_empty_index_can_be_saved(tmp_path: Path) -> None:
    Index.build().save(tmp_path)
    again = Index.open(tmp_path)
    assert len(again) == 0
    assert again.match({"a": 1}) == []
    again.add("s", "a = 1")
    assert again.match({"a": 1}) == ["s"]


def test_index_saves_in_two_places(tmp_path: Path) -> None:
    index = Index.build({"s": "a = 1"})
    for place in ("one", "two", "one"):
        index.save(tmp_path / place)
    index.add("t", "a = 1")
    index.save(tmp_path / "two")
    assert Index.open(tmp_path / "one").match({"a": 1}) == ["s"]
    assert sorted(Index.open(tmp_path / "two").match({"a": 1})) == ["s", "t"]


def test_update_keeps_the_priority_unless_a_new_one_is_given() -> None:
    index = Index.build([("s", "a = 1", 5.0)])
    index.update("s", "a = 2")
    assert index.subscription("s").priority == 5.0
    index.update("s", "a = 3", priority=0.0)
    assert index.subscription("s").priority == 0.0
