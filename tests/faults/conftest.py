"""What the campaigns share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.nursery import Nursery


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Where processes come from."""
    opened = Nursery()
    yield opened
    opened.close()
