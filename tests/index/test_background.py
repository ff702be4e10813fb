"""Test large merges in a thread: their result includes the changes made meanwhile."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest

from tamis import Index, Limits
from tamis.contract.change import Change
from tamis.index import background, writer
from tests.waiting import PATIENCE, eventually


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make every merge large, and hold it until the test lets it put its result in place."""
    go = threading.Event()
    monkeypatch.setattr(background, "SMALL", 4)
    merge = writer.Writer._merge

    def slow(self: writer.Writer, *arguments: object) -> object:
        merged = merge(self, *arguments)  # type: ignore[arg-type]
        assert go.wait(PATIENCE)
        return merged

    monkeypatch.setattr(writer.Writer, "_merge", slow)
    return go.set


def test_changes_during_a_merge_are_kept(held: Callable[[], None]) -> None:
    rng = random.Random(5)
    index = Index.build({f"s{n}": f"a = {n % 7}" for n in range(100)}, limits=Limits(head_subscriptions=8))
    index.merge_in_background()
    expected = {f"s{n}": n % 7 for n in range(100)}
    sequence = 0
    for _ in range(40):
        changes = []
        for name in rng.sample(range(200), 10):
            sequence += 1
            value = rng.choice([None, *range(7)])
            changes.append(Change(sequence, f"s{name}", None if value is None else f"a = {value}"))
            expected.pop(f"s{name}", None)
            if value is not None:
                expected[f"s{name}"] = value
        assert index.apply(changes) == []
        _check(index, expected)
    assert index.info()["head"]["waiting"] > 3  # the merge is still held
    held()
    eventually(lambda: not index.info()["head"]["waiting"])
    eventually(lambda: len(index.info()["segments"]) <= 3)
    _check(index, expected)
    index.check()


def test_merge_that_fails_leaves_the_index_as_it_is(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "SMALL", 4)
    failed = threading.Event()

    def broken(*_: object) -> None:
        failed.set()
        raise MemoryError("no room")

    index = Index.build({f"s{n}": "a = 1" for n in range(10)}, limits=Limits(head_subscriptions=8))
    index.merge_in_background()
    with monkeypatch.context() as patch:
        patch.setattr(writer.Writer, "_merge", broken)
        index.apply([Change(n, f"t{n}", "a = 1") for n in range(1, 9)])
        assert failed.wait(PATIENCE)
        eventually(lambda: "a merge failed" in caplog.text)
    assert len(index.match({"a": 1})) == 18
    index.apply([Change(9, "t9", "a = 1")])
    assert len(index.match({"a": 1})) == 19


def test_unusable_subscriptions_are_removed_and_returned() -> None:
    index = Index.build({"s": "a = 1", "t": "a = 1"})
    refused = index.apply([Change(1, "s", "a ="), Change(2, "u", "a = 1"), Change(3, "u", None)])
    assert [(name, bad.code) for name, bad in refused] == [("s", "expression-syntax")]
    assert index.match({"a": 1}) == ["t"]


def _check(index: Index, expected: dict[str, int]) -> None:
    for value in range(7):
        wanted = sorted(name for name, held in expected.items() if held == value)
        assert sorted(index.match({"a": value})) == wanted
    assert len(index) == len(expected)


@pytest.mark.parametrize("bad", ["\ud800", "", 5])
def test_change_with_an_unusable_id_is_refused_alone(bad: str) -> None:
    index = Index.build({"s": "a = 1"})
    refused = index.apply([Change(1, bad, "a = 1"), Change(2, "t", "a = 1")])
    assert [name for name, _ in refused] == [bad]
    assert sorted(index.match({"a": 1})) == ["s", "t"]
