"""Test refused events: the good ones are matched, the bad ones are listed, counted, raised or skipped."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tamis import Event, Index, advise
from tamis.errors import EventSyntax, EventValue, InputError, RefusedWarning
from tamis.index.refused_events import Refusal

BAD = [1, {"id": "e1", "a": float("nan")}, {"a": 1}, {"id": 7, "p": {"$point": [10**400, 0]}}, b"{", {"a": 1}]


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.build({"one": "a = 1", "here": "p WITHIN BOX (0, 0, 5, 5)"})


def test_match_many_reports_refused_events(index: Index) -> None:
    with pytest.warns(RefusedWarning, match="4 of 6 events were refused") as caught:
        found = index.match_many(BAD)
    assert found.to_pydict() == {"event": [2, 5], "subscription": ["one", "one"]}
    described = [(one.position, one.id, one.code) for one in found.refused]
    assert described == [
        (0, None, "event-syntax"),
        (1, "e1", "event-value"),
        (3, "7", "event-value"),
        (4, None, "event-syntax"),
    ]
    assert all(one.message for one in found.refused)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert found.events == 6
    assert "4 refused" in repr(found)


def test_match_many_of_only_numbers_reports_every_one(index: Index) -> None:
    with pytest.warns(RefusedWarning):
        found = index.match_many([1, 2, 3])
    assert found.num_rows == 0
    assert [one.position for one in found.refused] == [0, 1, 2]


def test_positions_count_over_all_batches(index: Index) -> None:
    found = index.match_many([{"a": 1}, 5] * 10, batch_size=3, threads=2)
    assert [one.position for one in found.refused] == list(range(1, 20, 2))
    assert found["event"].to_pylist() == list(range(0, 20, 2))


def test_match_batches_warns_once_at_its_end(index: Index) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        batches = list(index.match_batches(BAD, batch_size=2))
    assert [len(batch.refused) for batch in batches] == [2, 1, 1]
    assert [type(one.message) for one in caught] == [RefusedWarning]


def test_skip_logs_nothing_and_still_lists(index: Index) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(index.match_many(BAD, on_error="skip").refused) == 4
        assert sum(len(batch.refused) for batch in index.match_batches(BAD, on_error="skip")) == 4


def test_good_events_give_no_warning(index: Index) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert index.match_many([{"a": 1}]).refused == []


def test_raise_stops_at_the_first_bad_event_and_names_it(index: Index) -> None:
    with pytest.raises(EventSyntax, match="event 0: an event is an object") as caught:
        index.match_many(BAD, on_error="raise")
    assert caught.value.details["event"] == 0
    with pytest.raises(EventValue, match="event 1: attribute 'a'") as second:
        list(index.match_batches([{"a": 1}, *BAD[1:]], on_error="raise", batch_size=1))
    assert second.value.details == {"attribute": "a", "event_id": "e1", "event": 1}


@pytest.mark.parametrize("choice", ["ignore", None, True, ["skip"]])
def test_unknown_choice_is_refused(index: Index, choice: Any) -> None:
    for call in (index.match_many, index.match_batches):
        with pytest.raises(InputError, match="'report', 'raise' or 'skip'"):
            call([], on_error=choice)


def test_refusal_is_a_pair_of_position_and_error() -> None:
    position, error = Refusal(3, EventValue("no", event_id="x"))
    assert (position, error.code) == (3, "event-value")


def test_ids_come_from_events_and_columns(index: Index) -> None:
    found = index.match_many([Event({"a": (float("nan"),)}, id="own")])
    assert [one.id for one in found.refused] == ["own"]
    rows = {"id": ["x", "y"], "a": [1.0, float("inf")]}
    for table in (pa.table(rows), pl.DataFrame(rows), pd.DataFrame(rows)):
        assert [(one.position, one.id) for one in index.match_many(table).refused] == [(1, "y")]


def test_files_report_refused_lines(index: Index, tmp_path: Path) -> None:
    lines = b'{"a": 1}\n{"a": 1, "a": 2}\n\xff\n{"p": {"$point": [1' + b"0" * 400 + b', 0]}}\n{"a": 1}\n'
    (tmp_path / "e.jsonl").write_bytes(lines)
    (tmp_path / "e.jsonl.gz").write_bytes(gzip.compress(lines))
    for name in ("e.jsonl", "e.jsonl.gz"):
        found = index.match_many(tmp_path / name)
        assert found["event"].to_pylist() == [0, 4]
        assert [one.position for one in found.refused] == [1, 2, 3]


def test_match_table_is_read_by_other_libraries(index: Index) -> None:
    found = index.match_many([{"a": 1}, {"a": 2}, {"a": 1}])
    assert pl.DataFrame(found).to_dict(as_series=False) == {"event": [0, 2], "subscription": ["one", "one"]}
    assert pa.table(found).equals(found.table)
    assert found.equals(found.table)
    assert found == index.match_many([{"a": 1}, {"a": 2}, {"a": 1}])
    assert found.to_pandas().shape == (2, 2)
    assert (len(found), found.num_rows, found["event"].to_pylist()) == (2, 2, [0, 2])


def test_refused_events_of_a_sample_are_counted() -> None:
    with pytest.warns(RefusedWarning, match="2 of the 3 events of the sample were refused"):
        Index.build({"s": "a = 1"}, sample=[{"a": 1}, 5, {"a": float("nan")}])
    with pytest.warns(RefusedWarning, match="1 of the 2 events of the sample were refused"):
        advise("a = 1", [{"a": 1}, 5])
