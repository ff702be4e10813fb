"""Test that the comparison in one dimension runs, and notices a wrong structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from bench.pstree import __main__ as comparison
from bench.pstree.trees import FrozenPSTree, IntervalTree, SegmentTree


@pytest.mark.parametrize("structure", [FrozenPSTree, SegmentTree, IntervalTree])
@pytest.mark.parametrize("around", [0.0, 0.5, 20.0])
def test_each_structure_agrees_with_a_plain_loop(structure: Any, around: float) -> None:
    low, high, points = comparison.material(300, 200, around, 3)
    points = np.concatenate([points, low, high, low - 1, high + 1])
    found = structure(low, high).pairs(points)
    expected = {
        (k, n)
        for k, point in enumerate(points.tolist())
        for n, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True))
        if a <= point <= b
    }
    assert len(found[0]) == len(expected)
    assert set(zip(*(part.tolist() for part in found), strict=True)) == expected


def test_table_names_every_structure() -> None:
    result = CliRunner().invoke(comparison.main, ["-n", "500", "-m", "300", "--repeats", "1"])
    assert result.exit_code == 0, result.output
    for name in ("PS-Tree", "segment tree", "interval tree", "scan"):
        assert name in result.output


def test_wrong_structure_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(SegmentTree):
        def pairs(self, points: Any) -> Any:
            point, interval = super().pairs(points)
            return point[1:], interval[1:]

    monkeypatch.setitem(comparison.STRUCTURES, "segment tree", Forgetful)
    result = CliRunner().invoke(comparison.main, ["-n", "500", "-m", "300", "--repeats", "1"])
    assert result.exit_code == 1
    assert "finds other pairs" in result.output
