"""Test backtests: counts equal those of the tree evaluator, in every form of events."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.cli import main
from tamis.errors import InputError, ParseError
from tamis.expression.truth import matches
from tamis.planning import Backtest, Rows
from tests.strategies import events, expressions

START = datetime(2026, 11, 1, tzinfo=UTC)
LISTINGS: list[dict[str, Any]] = [
    {"price": 100 * at, "city": "Oslo" if at % 2 else "Rome", "at": START + timedelta(hours=6 * at)}
    for at in range(20)
]
NEW, OLD = "price < 1000", "city = 'Oslo'"


@given(expressions(), expressions(), st.lists(events(), max_size=8))
def test_counts_equal_those_of_the_tree_evaluator(new: Any, old: Any, some: list[Any]) -> None:
    found = tamis.backtest(new, some, against=old, examples=3)
    by_new, by_old = ([at for at, event in enumerate(some) if matches(one, event)] for one in (new, old))
    assert found.only_new is not None
    assert found.only_old is not None
    assert (found.events, found.refused) == (len(some), 0)
    assert (found.matched, found.matched_before) == (len(by_new), len(by_old))
    assert [row for row, _ in found.examples.first] == by_new[:3]
    only_new, only_old = sorted(set(by_new) - set(by_old)), sorted(set(by_old) - set(by_new))
    assert (found.only_new.count, [row for row, _ in found.only_new.first]) == (len(only_new), only_new[:3])
    assert (found.only_old.count, [row for row, _ in found.only_old.first]) == (len(only_old), only_old[:3])


def written(form: str, folder: Path) -> Any:
    """Return the listings in one of the forms that events have."""
    as_text = [{**one, "at": one["at"].isoformat()} for one in LISTINGS]
    match form:
        case "dictionaries":
            return LISTINGS
        case "tagged":
            return [{**one, "at": {"$time": one["at"].isoformat()}} for one in LISTINGS]
        case "events":
            return (
                tamis.Event({"price": (one["price"],), "city": (one["city"],), "at": (one["at"],)})
                for one in LISTINGS
            )
        case "lines":
            (folder / "e.jsonl").write_text("\n".join(map(json.dumps, as_text)), encoding="utf-8")
            return folder / "e.jsonl"
        case "parquet":
            pq.write_table(pa.Table.from_pylist(LISTINGS), folder / "e.parquet")
            return folder / "e.parquet"
        case "strings":
            return pa.Table.from_pylist(as_text)
        case "nested":
            return pa.table({"all": pa.array([{"at": one["at"]} for one in LISTINGS])}).append_column(
                "price", pa.array([one["price"] for one in LISTINGS])
            )
    return pa.Table.from_pylist(LISTINGS)


@pytest.mark.parametrize("form", ["dictionaries", "tagged", "events", "lines", "parquet", "strings", "table"])
def test_every_form_of_events_gives_the_same_counts_by_day(form: str, tmp_path: Path) -> None:
    found = tamis.backtest(NEW, written(form, tmp_path), against=OLD, time="at")
    assert [(one.start, one.events, one.matched, one.matched_before) for one in found.periods] == [
        ("2026-11-01", 4, 4, 2), ("2026-11-02", 4, 4, 2), ("2026-11-03", 4, 2, 2),
        ("2026-11-04", 4, 0, 2), ("2026-11-05", 4, 0, 2),
    ]  # fmt: skip
    assert (found.matched, found.matched_before, found.without_time) == (10, 10, 0)
    assert found.only_new is not None
    assert found.only_new.first[0][0] == 0


def test_time_inside_an_object_is_found(tmp_path: Path) -> None:
    found = tamis.backtest(NEW, written("nested", tmp_path), time="all.at")
    assert [one.events for one in found.periods] == [4] * 5


def test_few_days_are_counted_by_hour() -> None:
    found = tamis.backtest(NEW, LISTINGS[:3], time="at")
    assert [one.start for one in found.periods] == [
        "2026-11-01 00:00",
        "2026-11-01 06:00",
        "2026-11-01 12:00",
    ]


def test_dates_are_times() -> None:
    table = pa.table({"on": pa.array([date(2026, 11, 1), None, date(2026, 12, 1)]), "price": [1, 1, 1]})
    found = tamis.backtest("price = 1", table, time="on")
    assert [(one.start, one.matched) for one in found.periods] == [("2026-11-01", 1), ("2026-12-01", 1)]
    assert found.without_time == 1


def test_event_without_a_time_is_counted_apart() -> None:
    some = [{"price": 1, "at": "soon"}, {"price": 1}, {"price": 1, "at": 5}, {"price": 1, "at": "2026-11-01"}]
    found = tamis.backtest("price = 1", some, time="at")
    assert (found.matched, found.without_time) == (4, 3)
    assert "3 events without at" in str(found)


def test_refused_event_is_counted_and_named_with_its_row() -> None:
    some = [{"price": 1}, {"price": float("nan")}, {"price": 2}]
    found = tamis.backtest("price > 0", some, time="at")
    assert (found.events, found.refused, found.matched, found.share) == (3, 1, 2, 1.0)
    assert (found.first_refused[0].position, found.without_time) == (1, 2)
    assert "row 1: event-value: " in str(found)


def test_report_has_bars_examples_and_the_difference() -> None:
    text = str(tamis.backtest(NEW, LISTINGS, against=OLD, time="at", examples=1))
    assert "in force      city = 'Oslo'" in text
    assert "2026-11-01        ████████████████████████████████████████ 4 of 4 (in force 2)" in text
    assert 'row 0: {"price": 0, "city": "Rome", "at": {"$time": "2026-11-01T00:00:00Z"}}' in text
    assert "only the expression in force matches:\n  row 11:" in text


def test_many_periods_are_shortened_in_the_text_alone() -> None:
    some = [{"at": START + timedelta(days=at)} for at in range(70)]
    found = tamis.backtest("at IS NOT NULL", some, time="at")
    assert len(found.periods) == 70
    assert "the last 60 of 70 periods" in str(found)
    assert "2026-11-01 " not in str(found)


def test_result_is_plain_data_and_a_table_in_a_notebook() -> None:
    found = tamis.backtest("city = '<b>'", [{"city": "<b>"}], against="TRUE", time="at")
    assert json.loads(json.dumps(found.as_dict()))["examples"] == {
        "count": 1,
        "first": [{"row": 0, "event": {"city": "<b>"}}],
    }
    assert "<b>" not in found._repr_html_()
    assert repr(found) == "<Backtest of \"city = '<b>'\": 1 of 1 event match>"


def test_without_comparison_and_events_nothing_is_made_up() -> None:
    found = tamis.backtest("a = 1", [])
    assert isinstance(found, Backtest)
    assert (found.share, found.only_new, found.matched_before, found.examples) == (0.0, None, None, Rows(0))


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="examples is a whole number from 0"):
        tamis.backtest("a = 1", [], examples=-1)
    with pytest.raises(ParseError):
        tamis.backtest("a =", [])
    with pytest.raises(InputError, match="events are a table"):
        tamis.backtest("a = 1", {"a": 1})


def test_progress_is_told_after_every_piece() -> None:
    told: list[int] = []
    tamis.backtest("a = 1", [{"a": 1}] * 5, progress=lambda done, total: told.append(done))
    assert told == [5]


def test_command_compares_with_a_subscription_of_an_index(tmp_path: Path) -> None:
    path = written("lines", tmp_path)
    tamis.Index.build({"mine": OLD}).save(tmp_path / "index")
    how = ["backtest", NEW, str(path), "--time", "at", "--index", str(tmp_path / "index"), "--id", "mine"]
    result = CliRunner().invoke(main, how)
    assert result.exit_code == 0, result.output
    assert result.output == f"{tamis.backtest(NEW, path, against=OLD, time='at')}\n"
    data = json.loads(CliRunner().invoke(main, [*how, "--json", "--examples", "0"]).output)
    assert (data["matched"], data["matched_before"], data["examples"]["first"]) == (10, 10, [])


@pytest.mark.parametrize(
    "wrong", [["--id", "x"], ["--index", "x"], ["--index", "x", "--id", "y", "--against", "a = 1"]]
)
def test_command_refuses_half_a_comparison(wrong: list[str], tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["backtest", NEW, str(written("lines", tmp_path)), *wrong])
    assert result.exit_code == 2
    assert "give --against, or --index together with --id" in result.output
