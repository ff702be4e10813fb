"""What the tests of the bench share: they want to see that figures are there, not that they are steady."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_steady_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.timing.STEADY_S", 0.01)
