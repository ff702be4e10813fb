"""Provide the fixtures that the fault campaigns share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.nursery import Nursery


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Yield the process that forks all others."""
    opened = Nursery()
    yield opened
    opened.close()
