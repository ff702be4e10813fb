"""What became of an input: the subscriptions that it matched, or the code of the error that refused it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tamis.errors import RefusedWarning, TamisError, class_of

Outcome = frozenset[str]


def outcome_of(run: Callable[[], Iterable[str] | Outcome]) -> Outcome:
    """The ids that ``run`` gives, or ``{"!code"}``; every error that is not typed fails the test."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RefusedWarning)
            return frozenset(run())
    except TamisError as bad:
        return refused(bad.code, bad.message)


def refused(code: str, message: str) -> Outcome:
    """An error with a known code and a message that says something."""
    assert class_of(code) is not None, f"{code} is no code of ours"
    assert len(message) > 10, message
    assert not re.search(r"Traceback|<class '", message), message
    return frozenset({f"!{code}"})


def check(found: Outcome, wanted: Outcome) -> None:
    """Whether an outcome is the one that was wanted, or one of the refusals that were."""
    if any(one.startswith("!") for one in wanted):
        assert len(found) == 1, f"not refused: it matched {sorted(found)}"
        assert found <= wanted, f"refused with {sorted(found)}"
    else:
        assert found == wanted


def needs(condition: Any, why: str) -> None:
    """Leave out a cell that cannot be filled."""
    if not condition:
        pytest.skip(why or "this entry has no such form")
