"""Test cases with external answers: OGC CQL2's abstract tests, the SIGMOD 2013 trace, EventBridge.

All EventBridge patterns can be expressed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.workloads.real.data import lines
from tamis import Index, parse, to_text
from tamis.engines.engines import NAMES
from tamis.errors import ExpressionError
from tamis.expression.predicates import Text
from tamis.expression.tree import Expr
from tamis.expression.truth import matches
from tamis.language import from_eventbridge
from tamis.values.event import event_from
from tests.realdata import cql2

pytestmark = pytest.mark.realdata

# Spatial functions of lines and areas, which no value of an event can be, by function.
UNSAID = {
    "S_INTERSECTS": 17,
    "S_DISJOINT": 6,
    "S_TOUCHES": 4,
    "S_CONTAINS": 3,
    "S_CROSSES": 2,
    "S_WITHIN": 2,
    "S_OVERLAPS": 1,
}


# The terms of the SIGMOD 2013 contest.
DISTANCES = {"exact": "", "hamming": "~{}:hamming", "edit": "~{}:levenshtein"}


@pytest.mark.parametrize("engine", NAMES)
def test_cql2_predicates_find_the_expected_number_of_features(engine: str, shared_data: Path) -> None:
    folder = shared_data / "conformance"
    cases = list(lines(folder / "cql2_predicates.jsonl.gz"))
    said: dict[str, tuple[Expr, dict[str, object]]] = {}
    unsaid: Counter[str] = Counter()
    for at, case in enumerate(cases):
        expr = cql2.expression_of(case)
        if expr is None:
            unsaid[case["rule"].split("(")[0]] += 1
        else:
            said[f"{at}: {case['rule']}"] = expr, case
    assert (len(said), len(cases)) == (104, 139)
    assert unsaid == UNSAID
    index = Index.build({name: expr for name, (expr, _) in said.items()}, engine=engine)
    features = list(lines(folder / "cql2_features.jsonl.gz"))
    table = index.match_many([cql2.event_of(feature) for feature in features])
    found: Counter[str] = Counter()
    for row, name in zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True):
        found[name] += features[row]["collection"] == said[name][1]["collection"]
    assert {name: found[name] for name in said} == {
        name: case["expected"] for name, (_, case) in said.items()
    }


@pytest.mark.parametrize("engine", ["hybrid", "presearch"])  # test_text covers the other engines
def test_sigmod_trace_gives_the_expected_matches(engine: str, shared_data: Path) -> None:
    """The test subscribes, unsubscribes and publishes in order; the state at publish time counts."""
    index = Index.build(engine=engine)
    kinds: Counter[str] = Counter()
    found: list[int] = []
    pairs = 0
    for line in lines(shared_data / "conformance" / "sigmod2013_trace.jsonl.gz"):
        kinds[line.get("match", line["op"])] += 1
        if line["op"] == "subscribe":
            behind = DISTANCES[line["match"]].format(line["dist"])
            index.add(
                str(line["id"]), Text("words", "all", tuple(f"{word}{behind}" for word in line["words"]))
            )
        elif line["op"] == "unsubscribe":
            index.remove(str(line["id"]))
        elif line["op"] == "publish":
            found = sorted(map(int, index.match({"words": " ".join(line["words"])})))
        elif line["op"] == "expect":
            assert found == sorted(line["ids"]), line["doc"]
            pairs += len(found)
    assert kinds == {
        "exact": 993,
        "hamming": 406,
        "edit": 521,
        "unsubscribe": 1013,
        "publish": 960,
        "expect": 960,
    }
    assert pairs == 85_201


def test_eventbridge_patterns_are_read_or_refused_as_expected(shared_data: Path) -> None:
    cases = eventbridge_cases(shared_data)
    found = {name: decided(case) for name, case in cases.items()}
    assert found == {name: case["expected"] for name, case in cases.items()}
    assert Counter(map(str, found.values())) == {"True": 66, "False": 51, "error": 38}


@pytest.mark.parametrize("engine", NAMES)
def test_eventbridge_patterns_match_alike_with_every_engine(engine: str, shared_data: Path) -> None:
    cases = {
        name: case for name, case in eventbridge_cases(shared_data).items() if case["expected"] != "error"
    }
    index = Index.build({name: from_eventbridge(case["rule"]) for name, case in cases.items()}, engine=engine)
    found = {name: name in index.match(case["event"]) for name, case in cases.items()}
    assert found == {name: case["expected"] for name, case in cases.items()}
    rows = [case["event"] for case in cases.values()]
    pairs = set(zip(*index.match_many(rows).to_pydict().values(), strict=True))
    assert {name: (row, name) in pairs for row, name in enumerate(cases)} == found


def eventbridge_cases(shared_data: Path) -> dict[str, dict[str, Any]]:
    return {
        case["name"]: case for case in lines(shared_data / "conformance" / "eventbridge_patterns.jsonl.gz")
    }


def decided(case: dict[str, Any]) -> bool | str:
    """Return the tree's verdict, or that there is no tree; as data and as text."""
    try:
        tree = from_eventbridge(case["rule"])
    except ExpressionError as bad:
        with pytest.raises(type(bad), match=re.escape(bad.message)):
            from_eventbridge(json.dumps(case["rule"]))
        return "error"
    assert from_eventbridge(json.dumps(case["rule"])) == parse(to_text(tree)) == tree
    return matches(tree, event_from(case["event"]))
