"""Test audits: the tree evaluator agrees, or the difference is an error that can be reproduced."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tamis import Audit, Index
from tamis.errors import AuditFailed, InputError
from tests.forgetful import forgetful_index

BOOK = {"one": "a = 1", "two": "a = 2 OR b = 1", "text": "t HAS 'wool'", "not": "NOT a = 1"}
EVENTS = [{"a": 1, "t": "wool coat"}, {"a": [1, 2]}, {"b": 1}, {}]


def test_audit_of_all_events_finds_no_difference() -> None:
    index = Index.build(BOOK)
    index.add("fresh", "a >= 2")
    index.remove("one")
    audit = Audit(1.0)
    found = index.match_many([*EVENTS, 5], audit=audit)
    assert (audit.events, audit.decisions, audit.differences) == (5, 16, 0)
    assert found.work.audited == 5
    assert "16 decisions" in repr(audit)


def test_audit_takes_about_its_share_and_always_the_same_events() -> None:
    index = Index.build({"one": "a = 1"})
    events = [{"a": row % 3} for row in range(10_000)]
    first = index.match_many(events, audit=0.01).work.audited
    assert 50 < first < 200
    assert index.match_many(events, audit=0.01, batch_size=100, threads=2).work.audited == first


def test_audit_of_a_small_share_checks_at_least_one_event() -> None:
    index = Index.build({"one": "a = 1"})
    assert index.match_many([{"a": 1}] * 3, audit=1e-9).work.audited == 1


@pytest.mark.parametrize("events", [[{"a": 1}], pa.table({"a": [1]})])
def test_lost_match_is_an_error_with_a_folder_that_reproduces_it(events: Any, tmp_path: Path) -> None:
    with pytest.raises(
        AuditFailed, match="does not match 'one' by the index and matches by the tree"
    ) as caught:
        forgetful_index().match_many(events, audit=Audit(1.0, tmp_path))
    folder = Path(caught.value.details["folder"])
    assert folder.parent == tmp_path
    case = json.loads((folder / "case.json").read_text())
    assert case["event"] == {"a": [1]}
    assert case["subscriptions"] == [{"subscription": "one", "expression": "a = 1", "oracle": True}]
    assert Index.open(folder / "index").match(case["event"]) == ["one"]


def test_difference_is_logged_and_matching_goes_on_if_asked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    audit = Audit(1.0, tmp_path, raises=False)
    with caplog.at_level(logging.ERROR, "tamis"):
        found = forgetful_index().match_many([{"a": 1}], audit=audit)
    assert found.num_rows == 0
    assert audit.differences == 1
    assert "please report it with the folder" in caplog.text


@pytest.mark.parametrize("rate", [0, -1, 1.5, float("nan"), "0.1", True])
def test_share_outside_its_range_is_refused(rate: Any) -> None:
    with pytest.raises(InputError, match="audit is a share"):
        Index.build({}).match_many([], audit=rate)
