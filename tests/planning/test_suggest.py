"""Test suggestions: they separate what can be separated, and their counts are true."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.cli import main
from tamis.errors import InputError, RefusedWarning
from tamis.expression.truth import matches
from tamis.values.event import event_from
from tests.strategies import events

DRAW = random.Random(3)
LISTINGS: list[dict[str, Any]] = [
    {
        "id": f"l{at}",
        "price": DRAW.randrange(1000),
        "city": DRAW.choice(["Oslo", "Rome", "Paris"]),
        "title": DRAW.choice(["red wool coat", "blue coat", "red car"]),
        "at": datetime(2026, 11, 1, tzinfo=UTC) + timedelta(hours=at),
        "place": tamis.Point(9.0 + at / 100, 47.0),
    }
    for at in range(300)
]
RULES = [
    "city = 'Oslo'",
    "city = 'Oslo' AND price <= 500",
    "title HAS 'wool'",
    "at >= TIMESTAMP '2026-11-10T00:00:00Z'",
    "place WITHIN BOX (9.5, 46, 10.5, 48)",
    "city = 'Rome' AND title HAS 'wool' OR city = 'Oslo' AND price <= 300",
]


@pytest.mark.parametrize("rule", RULES)
def test_rule_behind_the_examples_is_found_again(rule: str) -> None:
    tree = tamis.parse(rule)
    wanted, others = (
        [one for one in LISTINGS if matches(tree, event_from(one)) is is_wanted]
        for is_wanted in (True, False)
    )
    best = tamis.suggest(wanted, others, ignore=["id"])[0]
    assert best.matched_others == 0
    assert best.matched_wanted >= 0.9 * best.wanted


@given(st.lists(events(), min_size=1, max_size=5), st.lists(events(), max_size=5))
def test_counts_are_those_of_the_tree_evaluator(wanted: list[Any], others: list[Any]) -> None:
    if not any(one.attributes for one in wanted):
        return
    for one in tamis.suggest(wanted, others, longest=2):
        tree = tamis.parse(one.text)
        assert one.matched_wanted == sum(matches(tree, event) for event in wanted)
        assert one.matched_others == sum(matches(tree, event) for event in others)
        assert (one.wanted, one.others) == (len(wanted), len(others))


def test_best_comes_first_and_no_more_than_asked_for() -> None:
    found = tamis.suggest(LISTINGS[:50], LISTINGS[50:], most=3, longest=1)
    assert len(found) == 3
    assert all(" AND " not in one.text.replace("BETWEEN ", "") or "BETWEEN" in one.text for one in found)


def test_tables_and_files_are_examples(tmp_path: Path) -> None:
    plain = [{"city": one["city"], "price": one["price"]} for one in LISTINGS]
    wanted, others = ([one for one in plain if (one["city"] == "Oslo") is so] for so in (True, False))
    for name, rows in (("w", wanted), ("o", others)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    expected = tamis.suggest(wanted, others)
    assert tamis.suggest(pa.Table.from_pylist(wanted), pa.Table.from_pylist(others)) == expected
    files = [str(tmp_path / "w.jsonl"), str(tmp_path / "o.jsonl")]
    result = CliRunner().invoke(main, ["suggest", *files, "-n", "1"])
    assert (
        result.output
        == f"city = 'Oslo'\n    {len(wanted)} of {len(wanted)} wanted, 0 of {len(others)} others\n"
    )
    data = json.loads(CliRunner().invoke(main, ["suggest", *files, "--json"]).output)
    assert data[0] == expected[0].as_dict()


def test_ignored_attribute_is_left_out() -> None:
    found = tamis.suggest(LISTINGS[:10], LISTINGS[10:], ignore=["at", "place", "id"])
    assert not any(name in one.text for one in found for name in ("at ", "place", "id "))


def test_refused_event_is_warned_of_and_not_counted() -> None:
    with pytest.warns(RefusedWarning, match="1 of 2 events"):
        found = tamis.suggest([{"a": 1}, {"a": float("nan")}], [{"a": 2}])
    assert found[0].wanted == 1


@pytest.mark.parametrize(
    ("wanted", "how", "why"),
    [
        ([], {}, "no wanted event"),
        ([{}], {}, "no attribute with values"),
        (iter([{"a": 1}]), {}, "wanted is read twice"),
        ([{"a": 1}], {"most": 0}, "most is a whole number from 1"),
        ([{"a": 1}], {"longest": True}, "longest is a whole number from 1"),
    ],
)
def test_arguments_without_an_answer_are_refused(wanted: Any, how: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        tamis.suggest(wanted, [], **how)
