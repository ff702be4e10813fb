"""Test ``auto``: its choice, its report about the choice, and that its parts make up the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tamis import Index
from tamis.engines.arena import Slot
from tamis.engines.auto import choose as choosing
from tamis.engines.auto.events import suggested
from tamis.engines.auto.groups import groups_of
from tamis.engines.auto.trial import Cost, Trials
from tamis.engines.engines import PARTS
from tamis.engines.units import Statistics
from tamis.errors import IndexCorrupt
from tamis.segment.sealed import write_sealed
from tamis.segment.source import checksum
from tamis.space.space import ABSENT_OK, NEGATIVE
from tests.kernels.arrays import Clause, Literal, as_clauses
from tests.sealed import read_sealed

TRY = {"least": 0, "trial": 64, "events": 8}


def searches(count: int) -> dict[str, str]:
    """Return text alerts, numeric rules and exclusions, a third each."""
    rows = {f"t{n}": f"body HAS ALL ('w{n % 50}', 'w{n % 31 + 50}')" for n in range(count)}
    rows |= {f"n{n}": f"price <= {n} AND city = 'c{n % 9}'" for n in range(count)}
    return rows | {f"x{n}": f"NOT city = 'c{n % 9}' AND NOT price = {n}" for n in range(count)}


EVENTS: list[dict[str, Any]] = [
    {"body": "w1 w51 w7", "price": 20, "city": "c3"},
    {"body": "w2", "city": ["c1", "c2"]},
    {},
]


def choice_of(index: Index) -> dict[str, Any]:
    (segment,) = index.info()["segments"]
    found: dict[str, Any] = segment["choice"]
    return found


def test_small_index_is_built_without_a_trial() -> None:
    choice = choice_of(Index.build(searches(5), engine="auto"))
    assert [part["engine"] for part in choice["parts"]] == ["hybrid"]
    assert "fewer than 50000" in choice["why"]


def test_choice_lists_every_engine_and_the_reason() -> None:
    index = Index.build(searches(60), engine="auto", parameters=TRY)
    choice = choice_of(index)
    assert "suggested by the subscriptions" in choice["why"]
    for part in choice["parts"]:
        assert {label.split()[0] for label in part["considered"]} == set(PARTS)
        assert part["why"]
    told = Index.build(searches(60), engine="auto", parameters=TRY, sample=EVENTS)
    assert "a sample of events" in choice_of(told)["why"]


def forced(monkeypatch: pytest.MonkeyPatch, costs: dict[str, float]) -> None:
    """Make trials report a group's size as its cost, and twice as much for ``hybrid``."""

    def of(self: Trials, group: Any) -> list[Cost]:
        us = costs.get(str(len(group)), 100.0)
        best = "kindex" if set(group.tolist()) & {0} and len(group) == 60 else "scan"
        return [Cost(best, {}, us), Cost("hybrid", {}, 2 * us)]

    monkeypatch.setattr(choosing.Trials, "costs", of)


def test_groups_get_separate_engines_when_that_pays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forced(monkeypatch, {"180": 10.0, "60": 1.0})
    index = Index.build(searches(60), engine="auto", parameters=TRY)
    choice = choice_of(index)
    assert sorted(part["name"] for part in choice["parts"]) == ["not-only", "other", "text"]
    assert sum(part["clauses"] for part in choice["parts"]) == 180
    index.check()
    expected = Index.build(searches(60), engine="scan")
    index.save(tmp_path / "index")
    for found in (index, Index.open(tmp_path / "index")):
        assert [sorted(found.match(event)) for event in EVENTS] == [
            sorted(expected.match(event)) for event in EVENTS
        ]


def test_index_has_one_part_when_dividing_does_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    forced(monkeypatch, {"180": 2.0, "60": 1.0})
    assert len(choice_of(Index.build(searches(60), engine="auto", parameters=TRY))["parts"]) == 1


def test_parts_with_the_same_engine_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(self: Trials, group: Any) -> list[Cost]:
        return [Cost("hybrid", {}, len(group) ** 2.0), Cost("scan", {}, 1e9)]

    monkeypatch.setattr(choosing.Trials, "costs", of)
    assert len(choice_of(Index.build(searches(60), engine="auto", parameters=TRY))["parts"]) == 1


def test_merge_chooses_again_for_the_events_seen_since(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(self: Trials, group: Any) -> list[Cost]:
        attributes = len(self._events.dimension) / self._events.count
        fast, slow = ("scan", "kindex") if attributes < 1.5 else ("kindex", "scan")
        return [Cost(fast, {}, 1.0), Cost(slow, {}, 5.0), Cost("hybrid", {}, 9.0)]

    monkeypatch.setattr(choosing.Trials, "costs", of)
    rows = {f"s{n}": f"a = {n} AND b = {n}" for n in range(40)}
    index = Index.build(rows, engine="auto", parameters=TRY, sample=[{"a": 1}] * 20)
    assert choice_of(index)["parts"][0]["engine"] == "scan"
    index.match_many([{"a": 1, "b": n % 40} for n in range(600)], batch_size=4, threads=1)
    index.add("more", "a = 1")
    index.merge()
    assert choice_of(index)["parts"][0]["engine"] == "kindex"
    assert index.match({"a": 1, "b": 1}) == ["s1", "more"]


def test_default_engine_is_kept_unless_another_is_clearly_faster() -> None:
    group = groups_of(as_clauses([[]], []), Statistics(as_clauses([[]], [])), 0)[0][0]
    near = choosing._best(group, [Cost("psthash", {}, 9.5), Cost("hybrid", {}, 10.0), Cost("scan", {}, 50.0)])
    assert near.engine == "hybrid"
    assert "only 1.05 times" in near.why
    far = choosing._best(group, [Cost("psthash", {}, 5.0), Cost("hybrid", {}, 10.0)])
    assert (far.engine, far.us) == ("psthash", 5.0)


def test_groups_divide_by_kind_and_density() -> None:
    never = NEGATIVE | ABSENT_OK
    cells = [1] * 10 + [1000, 2]
    book: list[Clause] = [[Literal(n % 5, 0, [(1, 1)]), Literal(n % 5 + 5, 0, [(1, 1)])] for n in range(30)]
    book += [[Literal(10, never, [(n + 1, n + 1)])] for n in range(20)]
    book += [[Literal(10, 0, [(n + 1, n + 1)])] for n in range(400)]
    book += [[Literal(11, 0, [(n % 2 + 1, 2)])] for n in range(50)]
    clauses = as_clauses(book, cells)
    whole, coarse, fine = groups_of(clauses, Statistics(clauses), 0)
    assert [group.name for group in whole] == ["all"]
    sizes = {group.name: len(group.clauses) for group in coarse}
    assert sizes == {"other": 450, "text": 30, "not-only": 20}
    assert {group.name: len(group.clauses) for group in fine} == {
        "sparse": 400,
        "dense": 50,
        "text": 30,
        "not-only": 20,
    }
    joined = groups_of(clauses, Statistics(clauses), 25)[1]
    assert {group.name: len(group.clauses) for group in joined} == {"other": 470, "text": 30}


def test_suggested_events_meet_the_clauses_they_come_from() -> None:
    clauses = as_clauses([[Literal(0, 0, [(3, 5)]), Literal(1, 0, [(2, 2)])]], [9, 4])
    events = suggested(clauses, 10)
    assert events.count == 10
    assert events.dimension.tolist() == [0, 1] * 10
    cells = events.lo.reshape(10, 2)
    assert ((cells >= [3, 2]) & (cells <= [5, 2])).all()
    assert suggested(as_clauses([], []), 3).count == 3


@pytest.mark.parametrize(
    "forge",
    [
        lambda note: b"{",
        lambda note: note.replace(b'"hybrid"', b'"hybrix"'),
        lambda note: json.dumps(json.loads(note) | {"parts": []}).encode(),
        lambda note: note.replace(b'"clauses": 60', b'"clauses": 61').replace(
            b'"clauses":60', b'"clauses":61'
        ),
    ],
    ids=["no JSON", "unknown engine", "no parts", "too many clauses"],
)
def test_forged_choice_is_refused(tmp_path: Path, forge: Any) -> None:
    Index.build({f"s{n}": f"a = {n}" for n in range(60)}, engine="auto").save(tmp_path / "index")
    (folder,) = (tmp_path / "index").glob("segment-*")
    body = read_sealed(folder / "segment.json")
    dtype, shape, offset, nbytes, _ = body["arrays"]["engine.choice"]
    raw = bytearray((folder / "arrays.bin").read_bytes())
    note = forge(bytes(raw[offset : offset + nbytes])).ljust(nbytes)[:nbytes]
    raw[offset : offset + nbytes] = note
    (folder / "arrays.bin").write_bytes(raw)
    slot = Slot(dtype, tuple(shape), offset, nbytes)
    body["arrays"]["engine.choice"][4] = checksum(np.frombuffer(bytes(raw), np.uint8), slot)
    write_sealed(folder / "segment.json", body)
    with pytest.raises(IndexCorrupt, match="auto index is damaged"):
        Index.open(tmp_path / "index")
