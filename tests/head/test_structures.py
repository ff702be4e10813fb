"""Test what each structure of the head promises beyond exact matches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tamis import Index, Limits, parse
from tamis.errors import InputError, UnknownHead
from tamis.expression.tree import Subscription
from tamis.head import Head
from tamis.head import head as head_module
from tamis.head.bestar import tree as bestar
from tamis.head.bestar.tree import GrowingTree
from tamis.head.structures import NAMES

MANY = 400


def book(count: int = MANY) -> dict[str, str]:
    """Return subscriptions that one value of ``n`` separates; all of them want the same colour."""
    return {f"s{n}": f"n = {n} AND colour = 'red' AND size >= {n % 7}" for n in range(count)}


def grown(structure: str, **more: Any) -> Index:
    """Return an index whose subscriptions are all in the head."""
    index = Index.build(head=structure, **more)
    for name, text in book().items():
        index.add(name, text)
    assert index.info()["segments"] == []
    return index


def test_unknown_head_is_refused_with_the_list_of_heads(tmp_path: Path) -> None:
    expected = "there is no head 'rete'; there are pstree, bestar, opindex"
    with pytest.raises(UnknownHead, match=expected):
        Index.build({"s": "a = 1"}, head="rete")
    Index.build({"s": "a = 1"}).save(tmp_path / "index")
    with pytest.raises(UnknownHead, match=expected):
        Index.open(tmp_path / "index", head="rete")
    with pytest.raises(InputError, match="head"):
        Index.build(head=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("structure", NAMES)
def test_info_names_the_structure(structure: str) -> None:
    index = grown(structure)
    assert index.info()["head"]["structure"] == structure
    assert index.info()["head"]["subscriptions"] == MANY


@pytest.mark.parametrize("structure", NAMES)
def test_few_clauses_are_checked_for_an_event(structure: str) -> None:
    found = grown(structure).match({"n": 17, "colour": "red", "size": 9})
    assert list(found) == ["s17"]
    assert found.work.verified < MANY / 5


@pytest.mark.parametrize("structure", NAMES)
def test_full_head_becomes_a_segment_and_loses_nothing(structure: str) -> None:
    index = Index.build(head=structure, limits=Limits(head_subscriptions=50))
    for name, text in book().items():
        index.add(name, text)
    assert index.info()["head"]["full"]["head_subscriptions"] > 0
    assert list(index.match({"n": 3, "colour": "red", "size": 9})) == ["s3"]
    assert len(index) == MANY


@pytest.mark.parametrize("structure", ["pstree", "bestar"])
def test_removed_subscriptions_leave_the_structure(structure: str) -> None:
    """Ranges, keys and clauses without a condition stand in lists of their own."""
    index = Index.build(head=structure, limits=Limits(head_subscriptions=10_000))
    kinds = ("n = {0}", "n BETWEEN {0} AND 3000", "NOT m = {0}", "n IN ({0}, 7000) AND NOT m = 1")
    texts = {f"s{at}": kinds[at % 4].format(at) for at in range(800)}
    for name, text in texts.items():
        index.add(name, text)
    event = {"n": 2000, "m": -1}
    before = index.match(event).work.candidates
    for at in range(0, 800, 2):
        index.remove(f"s{at}")
    for _ in range(2):  # the same places serve again
        for at in range(0, 200, 2):
            index.add(f"s{at}", texts[f"s{at}"])
        for at in range(0, 200, 2):
            index.remove(f"s{at}")
    found = index.match(event)
    assert index.info()["segments"] == []
    assert sorted(found) == sorted(f"s{at}" for at in range(1, 800, 4))
    assert found.work.candidates <= 0.7 * before


# ------------------------------------------------------------------------------------------- BE*-Tree
def active(head: Head) -> GrowingTree:
    """Return the tree that readers search."""
    found = head._copies[0]
    assert isinstance(found, GrowingTree)
    return found


def tree_with(texts: dict[str, str]) -> Head:
    """Return a head that keeps these subscriptions in a tree."""
    head = Head(Limits(), "bestar")
    head.add(*(Subscription(name, parse(text)) for name, text in texts.items()))
    head.view()
    return head


def test_tree_deletes_the_clauses_of_removed_subscriptions() -> None:
    head = tree_with(book())
    assert len(active(head)._tree) == MANY
    head.remove(list(range(300)), 1)
    head.view()
    assert len(active(head)._tree) == MANY - 300
    head.remove(list(range(300, MANY)), 2)
    head.view()
    assert len(active(head)._tree) == 0


def test_subscription_that_is_gone_before_the_tree_sees_it_is_not_inserted() -> None:
    head = Head(Limits(), "bestar")
    head.add(*(Subscription(name, parse(text)) for name, text in book().items()))
    head.remove(list(range(100)), 1)
    head.view()
    assert len(active(head)._tree) == MANY - 100


def test_events_teach_the_tree_which_partitions_are_useless(monkeypatch: pytest.MonkeyPatch) -> None:
    """All clauses ask for the colour that every event has. Popularity cannot know that; events can."""
    monkeypatch.setattr(bestar, "WINDOW", 50)
    monkeypatch.setattr(head_module, "FEW", 1)
    index = Index.build(head="bestar")
    index.add("other", "other = 1")
    for at in range(bestar.RULES.capacity):
        index.add(f"s{at}", f"colour = 'red' AND n = {at}")
    events = [{"colour": "red", "n": at} for at in range(60)]
    before = [index.match(event) for event in events]
    for name in ("x", "y", "z"):  # each change lets the other copy of the tree catch up
        index.add(name, "other = 2")
        after = [index.match(event) for event in events]
        assert [list(found) for found in after] == [list(found) for found in before]
    (view,) = index._writer.current.heads
    assert active(view.head).recycled > 0
    checked = [sum(found.work.verified for found in some) for some in (before, after)]
    # The root keeps four clauses on "other". The range of n keeps the other twenty from two events in three.
    assert checked == [60 * 21, 60 * 4 + 20 * 20]
