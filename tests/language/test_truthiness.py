"""Test that expressions have no truth value: ``and``, ``or``, ``not`` and chains would drop parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tamis import attr
from tamis.expression.tree import FALSE, TRUE, Expr

a, b = attr("a"), attr("b")

MISTAKES: dict[str, Callable[[], Any]] = {
    "bool": lambda: bool(a < 3),
    "and": lambda: (a < 3) and (b > 2),
    "or": lambda: (a < 3) or (b > 2),
    "not": lambda: not (a < 3),
    "chained": lambda: 1 < a < 3,
    "conditional": lambda: 1 if a.has("x") else 2,
    "tree": lambda: bool((a < 3) & (b > 2)),
    "constant": lambda: bool(TRUE) or bool(FALSE),
    "any": lambda: any([a == 1, b == 2]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_truth_of_an_expression_raises_type_error(mistake: str) -> None:
    with pytest.raises(TypeError) as caught:
        MISTAKES[mistake]()
    assert all(sign in str(caught.value) for sign in ("&", "|", "~"))


def test_operators_still_join_expressions() -> None:
    joined: Expr = ~((a < 3) & (b > 2) | a.exists())
    assert joined == ~((a < 3) & (b > 2) | a.exists())
    assert joined in [joined]
