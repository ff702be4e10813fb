"""Provide fixtures for the tests of the bench: short measurements and small blocks."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

SIZES = {"BLOCK": 256, "EVENT_BLOCK": 64, "PIECE": 512, "EVENT_PIECE": 128}


@pytest.fixture(autouse=True)
def _no_steady_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.timing.STEADY_S", 0.01)


@pytest.fixture(autouse=True)
def _quick_collections() -> Iterator[None]:
    """Spare the collections before each measurement the objects that other tests left behind."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make generators quick and test their seams: blocks of hundreds instead of thousands."""
    for name, module in list(sys.modules.items()):
        if name.startswith("bench.workloads"):
            for constant, size in SIZES.items():
                if hasattr(module, constant):
                    monkeypatch.setattr(module, constant, size)
