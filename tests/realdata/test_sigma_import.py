"""Import the 3,748 Sigma rules as people wrote them: all are imported, and match as the prepared ones do."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from bench.workloads.real import sigma
from bench.workloads.real.data import lines
from tamis import Index, Limits, rules
from tests.realdata.common import matched, thinned

pytestmark = [pytest.mark.realdata, pytest.mark.slow]

# The largest rule lists 4,434 values.
LIMITS = Limits(expression_predicates=5_000, expression_bytes=300_000)


def test_imported_sigma_rules_give_the_expected_pairs(shared_data: Path, tmp_path: Path) -> None:
    sources = tmp_path / "thor.yml"
    sources.write_bytes(gzip.decompress((shared_data / "sigma_raw" / "thor.yml.gz").read_bytes()))
    stream = "\n---\n".join(rule["yaml"] for rule in lines(shared_data / "sigma_raw" / "rules.jsonl.gz"))
    found = rules.read("sigma", stream, limits=LIMITS, logsources=sources, keywords=sigma.KEYWORDS)
    assert found.summary() == {"rules": 3_748, "imported": 2_840, "with_difference": 908, "refused": 0}

    raw = list(lines(shared_data / "sigma_otrf" / "events.jsonl.gz"))
    names = [event["_id"] for event in raw]
    expected = {
        (line["event"], rule)
        for line in lines(shared_data / "sigma_otrf" / "matches.jsonl.gz")
        for rule in line["rules"]
    }
    assert len(expected) == 1_610
    events, names = thinned(raw, names, expected)
    index = Index.build(found.subscriptions(), limits=LIMITS)
    assert matched(index, (event | _keywords(event) for event in events), names) == expected

    # Tamis describes the log sources of that file, and those of five more rules.
    built_in = rules.read("sigma", stream, limits=LIMITS, keywords=sigma.KEYWORDS)
    assert built_in.summary() == {"rules": 3_748, "imported": 2_845, "with_difference": 903, "refused": 0}
    again = Index.build(built_in.subscriptions(), limits=LIMITS)
    assert matched(again, (event | _keywords(event) for event in events), names) == expected


def _keywords(event: dict[str, object]) -> dict[str, object]:
    """Return the attribute in which keyword rules search; the values keep their types elsewhere."""
    return {sigma.KEYWORDS: sigma.event_of(event)[sigma.KEYWORDS]}
