"""Define the verdicts on the papers' claims, and their rule; docs/papers/README.md has it in words."""

from __future__ import annotations

HOLDS, ORDER, FAILS, OPEN = "holds", "holds in order only", "does not hold", "not measured"
VERDICTS = (HOLDS, ORDER, FAILS, OPEN)

CLEAR = 1.05  # a smaller factor counts as equal
DOUBLE = 2.0  # a factor between half and double of the paper's is the same


def judged_size(found: float, paper: float) -> str:
    """Return the verdict on a claim of a factor ``paper`` above 1, of which ``found`` was measured.

    More than double the paper's factor also holds: the claim says which side is better, and it is.
    """
    if found < CLEAR:
        return FAILS
    return HOLDS if found * DOUBLE >= paper else ORDER


def judged_share(found: float, paper: float) -> str:
    """Return the verdict on a claim of a share, for which neither more nor less is better."""
    if found * CLEAR > 1:
        return FAILS
    return HOLDS if 1 / DOUBLE <= found / paper <= DOUBLE else ORDER


def yes_or_no(is_so: bool) -> str:
    """Return the verdict on a claim of an order, a trend or a bound, which has no size."""
    return HOLDS if is_so else FAILS
