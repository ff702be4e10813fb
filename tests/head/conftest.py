"""Define small heads: after a few subscriptions they post, cut, split and recycle."""

from __future__ import annotations

import pytest

from tamis.head import head
from tamis.head.bestar import tree
from tamis.head.leaves import postings

SMALL = [
    (head, "FEW", 3),
    (head, "MOST_WAITING", 6),
    (postings, "LEAST_CUT", 4),
    (postings, "ENDS_EACH", 1),
    (tree, "RULES", tree.RULES._replace(capacity=1)),
    (tree, "WINDOW", 2),
]


@pytest.fixture
def small_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make heads post and cut after a few clauses."""
    for module, name, value in SMALL:
        monkeypatch.setattr(module, name, value)
