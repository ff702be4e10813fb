"""Import the rules of other projects' suites, and compare the verdicts with theirs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.workloads.real.data import lines
from tamis import Index, rules
from tamis.rules.jsonlogic.constants import truthy
from tests.realdata import cql2
from tests.rules.reading import verdict

pytestmark = pytest.mark.realdata


@pytest.mark.parametrize("coerce", ["none", "js"])
def test_jsonlogic_rules_decide_as_expected(coerce: str, shared_data: Path) -> None:
    counts: Counter[str] = Counter()
    for case in lines(shared_data / "conformance" / "jsonlogic_tests.jsonl.gz"):
        data = {} if case["data"] is None else case["data"]
        if not isinstance(data, dict):  # no event
            counts["no event"] += 1
            continue
        rule: Any = [case["rule"]] if isinstance(case["rule"], list) else case["rule"]
        found = verdict("jsonlogic", rule, data, coerce=coerce)
        if isinstance(found, str):
            counts["refused"] += 1
        else:
            counts["expressed"] += 1
            assert found == truthy(case["result"]), case
    assert counts == {"expressed": 255, "refused": 19, "no event": 6}


def test_unleash_constraints_decide_as_expected(shared_data: Path) -> None:
    counts: Counter[str] = Counter()
    for case in lines(shared_data / "conformance" / "unleash_constraints.jsonl.gz"):
        rule = case["rule"] | {"strategies": case["rule"]["any_of_strategies"]}
        found = verdict("unleash", rule, _typed(case["event"], rule))
        if isinstance(found, str):
            counts["refused"] += 1
        else:
            counts["expressed"] += 1
            assert found == case["expected"], case["name"]
    # Refused: look-around, a back reference and an open group; three blocks that are none.
    assert counts == {"expressed": 144, "refused": 6}


def _typed(event: dict[str, Any], rule: dict[str, Any]) -> dict[str, Any]:
    """Return the event with numbers and times where the constraints compare numbers and times."""
    holders = [*rule["strategies"], *rule.get("segments", [])]
    kinds = {one["contextName"]: one["operator"] for holder in holders for one in holder["constraints"]}

    def typed(name: str, value: Any) -> Any:
        kind = kinds.get(name, "")
        if kind.startswith("DATE"):
            return {"$time": value}
        is_number = kind.startswith("NUM") and str(value).replace(".", "", 1).isdigit()
        return float(value) if is_number else value

    given = event.get("properties") or {}
    found = {name: typed(name, value) for name, value in event.items() if name != "properties"}
    return found | {"properties": {name: typed(name, value) for name, value in given.items()}}


def test_cql2_filters_find_the_expected_number_of_features(shared_data: Path) -> None:
    folder = shared_data / "conformance"
    said: dict[str, tuple[rules.Rule, dict[str, Any]]] = {}
    counts: Counter[str] = Counter()
    for at, case in enumerate(lines(folder / "cql2_predicates.jsonl.gz")):
        found = rules.read("cql2", case["rule"])
        if found.refused:
            counts["refused"] += 1
        elif (
            "S_" in case["rule"] and case["collection"] != cql2.POINTS
        ):  # no value of an event is a line or an area
            assert any("never match" in text for text in found.rules[0].differences)
            counts["never match"] += 1
        else:
            said[str(at)] = found.rules[0], case
    features = list(lines(folder / "cql2_features.jsonl.gz"))
    index = Index.build({name: rule.expression for name, (rule, _) in said.items()})
    table = index.match_many([cql2.event_of(feature) for feature in features])
    numbers: Counter[str] = Counter()
    for row, name in zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True):
        numbers[name] += features[row]["collection"] == said[name][1]["collection"]
    assert {name: numbers[name] for name in said} == {
        name: case["expected"] for name, (_, case) in said.items()
    }
    assert counts | {"expressed": len(said)} == {"expressed": 104, "never match": 19, "refused": 16}


def test_cloudevents_sql_decides_as_expected(shared_data: Path) -> None:
    usual = {"specversion": "1.0", "id": "myId", "source": "localhost.localdomain", "type": "myType"}
    counts: Counter[str] = Counter()
    for case in lines(shared_data / "conformance" / "cesql_tck.jsonl.gz"):
        written, result = case["expression"], case.get("result", False)
        rule, expected = written if isinstance(written, str) else str(written).lower(), result
        if not isinstance(result, bool):  # the result is a value: a condition can ask for it
            value = "'" + result.replace("'", "\\'") + "'" if isinstance(result, str) else result
            rule, expected = f"({rule}) = {value}", True
        found = verdict("cesql", rule, case.get("event") or usual | case.get("eventOverrides", {}))
        kind = "with an error" if "error" in case else "without"
        if isinstance(found, str):
            counts[f"refused, {kind}"] += 1
        else:
            counts["expressed"] += 1
            assert found == expected or ("error" in case and found is False), case
    assert counts == {"expressed": 246, "refused, with an error": 22, "refused, without": 7}


def test_eventbridge_patterns_decide_as_expected(shared_data: Path) -> None:
    counts: Counter[str] = Counter()
    for case in lines(shared_data / "conformance" / "eventbridge_patterns.jsonl.gz"):
        found = verdict("eventbridge", case["rule"], case["event"])
        assert ("error" if isinstance(found, str) else found) == case["expected"], case["name"]
        counts[str(case["expected"])] += 1
    assert counts == {"True": 66, "False": 51, "error": 38}
