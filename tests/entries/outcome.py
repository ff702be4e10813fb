"""Express the outcome of an input: the ids that it matched, or the code of the error that refused it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tamis.errors import RefusedWarning, TamisError, class_of

Outcome = frozenset[str]


def outcome_of(run: Callable[[], Iterable[str] | Outcome]) -> Outcome:
    """Return the ids that ``run`` gives, or ``{"!code"}``; an error without a type fails the test."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RefusedWarning)
            return frozenset(run())
    except TamisError as bad:
        return refused(bad.code, bad.message)


def refused(code: str, message: str) -> Outcome:
    """Check that an error has a known code and a message that says something."""
    assert class_of(code) is not None, f"{code} is no code of ours"
    assert len(message) > 10, message
    assert not re.search(r"Traceback|<class '", message), message
    return frozenset({f"!{code}"})


def check(found: Outcome, wanted: Outcome) -> None:
    """Check that an outcome is the wanted one, or one of the wanted refusals."""
    if any(one.startswith("!") for one in wanted):
        assert len(found) == 1, f"not refused: it matched {sorted(found)}"
        assert found <= wanted, f"refused with {sorted(found)}"
    else:
        assert found == wanted


def needs(condition: Any, why: str) -> None:
    """Skip a cell that cannot be filled."""
    if not condition:
        pytest.skip(why or "this entry has no such form")
