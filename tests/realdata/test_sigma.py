"""Match 3,748 Sigma detection rules with 81,043 recorded events: 1,610 pairs, none missing, none extra."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.workloads.real import sigma
from bench.workloads.real.data import lines
from tamis import Index, Limits
from tests.realdata.common import assert_every_engine, thinned

pytestmark = [pytest.mark.realdata, pytest.mark.slow]

# The largest rule lists 4,434 values.
LIMITS = Limits(expression_predicates=5_000)


def test_sigma_rules_give_the_expected_pairs(shared_data: Path) -> None:
    folder = shared_data / "sigma_otrf"
    rules = {rule["id"]: sigma.expression_of(rule) for rule in lines(folder / "rules.jsonl.gz")}
    assert len(rules) == 3_748
    raw = list(lines(folder / "events.jsonl.gz"))
    names = [event["_id"] for event in raw]
    assert len(names) == 81_043
    expected = {
        (line["event"], rule) for line in lines(folder / "matches.jsonl.gz") for rule in line["rules"]
    }
    assert len(expected) == 1_610
    index = Index.build(rules, limits=LIMITS)  # every rule can be expressed; RE2 takes all 217 patterns
    events, names = thinned(raw, names, expected)
    assert_every_engine(index, map(sigma.event_of, events), names, expected)
