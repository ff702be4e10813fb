"""Compute answers to the papers' claims from the measured curves; ``verdicts`` has the rule.

``ratio``, ``saving``, ``share`` and ``grown`` judge a size. The other functions judge an order, a trend or a
bound, for which the paper gives no size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from bench.figures.spec import Answer, Data, Series, X
from bench.figures.verdicts import CLEAR, DOUBLE, OPEN, judged_share, judged_size, yes_or_no
from bench.figures.words import change, number, percent, place, times

Judge = Callable[[Data], Answer]
Where = X | None
FIRST, LAST = "the first place", "the last place"


def ratio(
    slow: str, fast: str, paper: float, *, panel: int = 0, at: Where = None, most: bool = False
) -> Judge:
    """Judge the factor of ``slow`` over ``fast``: at one place, at the best, or the geometric mean."""
    return _judged_factor(slow, fast, paper, times, times(paper), panel, at, most)


def saving(
    slow: str, fast: str, paper: float, *, panel: int = 0, at: Where = None, most: bool = False
) -> Judge:
    """Judge the saving in per cent of ``slow``; ``paper`` is a share, 0 to 1."""

    def saved(factor: float) -> str:
        return percent(1.0 - 1.0 / factor)

    return _judged_factor(slow, fast, 1.0 / (1.0 - paper), saved, percent(paper), panel, at, most)


def _judged_factor(
    slow: str, fast: str, paper: float, words: Callable[[float], str], claimed: str,
    panel: int, at: Where, most: bool,
) -> Judge:  # fmt: skip
    def judge(data: Data) -> Answer:
        found = _ratio(data[panel], slow, fast, at, most)
        if found is None:
            return _open()
        where = _where(data[panel], slow, fast, at, most)
        return _sized(f"{words(found)}{where}", claimed, found, paper)

    return judge


def ahead(slow: str, fast: str, paper: str, *, panel: int = 0, at: Where = None) -> Judge:
    """Judge whether ``fast`` is below ``slow``; the paper gives no size, only the words ``paper``."""

    def judge(data: Data) -> Answer:
        found = _ratio(data[panel], slow, fast, at, most=False)
        if found is None:
            return _open()
        text = f"here: {times(found)}{_where(data[panel], slow, fast, at, most=False)}; the paper: {paper}"
        return Answer(text, yes_or_no(found >= CLEAR))

    return judge


def share(part: str, whole: str, paper: float, *, panel: int = 0) -> Judge:
    """Judge whether ``part`` is about a share ``paper`` of ``whole``."""

    def judge(data: Data) -> Answer:
        found = _ratio(data[panel], part, whole, None, most=False)
        if found is None:
            return _open()
        text = f"here: {100 * found:.0f} % on average; the paper: {100 * paper:.0f} %"
        return Answer(text, judged_share(found, paper))

    return judge


def little(slow: str, fast: str, paper: float, most: float, *, panel: int = 0) -> Judge:
    """Judge whether ``fast`` saves little: at best a share ``most`` of ``slow``."""

    def judge(data: Data) -> Answer:
        found = _ratio(data[panel], slow, fast, None, most=True)
        if found is None:
            return _open()
        saved = 1.0 - 1.0 / found
        text = f"here: {percent(saved)} at best; the paper: {percent(paper)}"
        return Answer(text, yes_or_no(saved <= most))

    return judge


def growth(curve: str, least: float, most: float, paper: str, *, panel: int = 0) -> Judge:
    """Judge the growth of ``curve`` from its first place to its last: from ``least`` to ``most``."""

    def judge(data: Data) -> Answer:
        values = list(data[panel].get(curve, {}).values())
        if len(values) < 2 or not values[0]:
            return _open()
        factor = values[-1] / values[0]
        text = f"here: {times(factor)} from first to last; the paper: {paper}"
        return Answer(text, yes_or_no(least <= factor <= most))

    return judge


def grown(curve: str, paper: float, *, panel: int = 0, start: X = FIRST, end: X = LAST) -> Judge:
    """Judge the factor by which ``curve`` grows (``paper`` above 1) or falls from one place to another."""

    def judge(data: Data) -> Answer:
        values = data[panel].get(curve, {})
        places = [x for end in (start, end) for x in _common(data[panel], (curve,), (end,))]
        if len(set(places)) < 2 or not all(values[x] for x in places):
            return _open()
        factor = values[places[1]] / values[places[0]]
        both = (factor, paper) if paper > 1 else (1 / factor, 1 / paper)
        here = f"{change(factor)} from {place(places[0])} to {place(places[1])}"
        return _sized(here, change(paper), *both)

    return judge


def slower_growth(
    calm: str, wild: str, *, panel: int = 0, panels: tuple[int, int] | None = None, names: Sequence[str] = ()
) -> Judge:
    """Judge whether ``calm`` grows less than ``wild`` from first to last place, in one panel or in two."""

    def judge(data: Data) -> Answer:
        both = zip((calm, wild), panels or (panel, panel), strict=True)
        values = [list(data[at].get(name, {}).values()) for name, at in both]
        if any(len(some) < 2 or not some[0] for some in values):
            return _open()
        one, other = (some[-1] / some[0] for some in values)
        left, right = names or (calm, wild)
        text = f"here: {left} {times(one)}, {right} {times(other)} from first to last"
        return Answer(text, yes_or_no(one * CLEAR <= other))

    return judge


def similar_growth(one: str, other: str, most: float, *, panel: int = 0) -> Judge:
    """Judge whether the two grow from first to last place within a factor ``most`` of each other."""

    def judge(data: Data) -> Answer:
        values = [list(data[panel].get(name, {}).values()) for name in (one, other)]
        if any(len(some) < 2 or not some[0] for some in values):
            return _open()
        left, right = (some[-1] / some[0] for some in values)
        text = f"here: {one} {times(left)}, {other} {times(right)} from first to last"
        return Answer(text, yes_or_no(1 / most <= left / right <= most))

    return judge


def similar(
    one: str, other: str, most: float, *, panel: int = 0, at: Where = None, paper: str = "about the same"
) -> Judge:
    """Judge whether the two are within a factor ``most`` of each other, at one place or on average."""

    def judge(data: Data) -> Answer:
        found = _ratio(data[panel], one, other, at, most=False)
        if found is None:
            return _open()
        where = _where(data[panel], one, other, at, most=False)
        text = f"here: {one} is {times(found)} {other}{where}; the paper: {paper}"
        return Answer(text, yes_or_no(1 / most <= found <= most))

    return judge


def first(curve: str, among: Sequence[str], *, panel: int = 0, at: Sequence[X] = ()) -> Judge:
    """Judge whether ``curve`` is lowest of ``among`` at the places ``at`` (everywhere unless given)."""

    def judge(data: Data) -> Answer:
        places = _common(data[panel], [curve, *among], at)
        if not places:
            return _open()
        winners = [_winner(data[panel], curve, among, x) for x in places]
        won = winners.count(curve)
        others = [f"{name} at {_won(places, winners, name)}" for name in sorted({*winners} - {curve})]
        beaten = f"; else {'; '.join(others)}" if others else ""
        text = f"here: first at {won} of {len(places)} places{beaten}"
        return Answer(text, yes_or_no(won == len(places)))

    return judge


def lowest(curve: str, at: X, *, panel: int = 0) -> Judge:
    """Judge whether ``curve`` is lowest at ``at``."""

    def judge(data: Data) -> Answer:
        values = data[panel].get(curve, {})
        if len(values) < 2:
            return _open()
        least = min(values, key=lambda x: values[x])
        loss = values[at] / values[least] - 1 if at in values else math.inf
        text = f"here: best at {place(least)}; {place(at)} takes {100 * loss:.0f} % more"
        return Answer(text, yes_or_no(loss <= CLEAR - 1))

    return judge


def below(curve: str, limit: float, unit: str, *, panel: int = 0) -> Judge:
    """Judge whether ``curve`` stays below ``limit``."""

    def judge(data: Data) -> Answer:
        values = data[panel].get(curve, {})
        if not values:
            return _open()
        worst = max(values.values())
        text = f"here: at most {number(worst)} {unit}; the paper: below {number(limit)} {unit}"
        return Answer(text, yes_or_no(worst <= limit))

    return judge


def order(names: Sequence[str], *, panel: int = 0) -> Judge:
    """Judge whether the curves are in this order, lowest first, at the only place or at the last."""

    def judge(data: Data) -> Answer:
        places = _common(data[panel], names, ())
        if not places:
            return _open()
        values = [data[panel][name][places[-1]] for name in names]
        ranked = sorted(names, key=lambda name: data[panel][name][places[-1]])
        is_kept = all(lower <= higher * CLEAR for lower, higher in pairwise(values))
        return Answer(f"here: {', '.join(ranked)}", yes_or_no(is_kept))

    return judge


# ------------------------------------------------------------------------------------------ the parts
def _won(places: list[X], winners: list[str], name: str) -> str:
    return ", ".join(place(x) for x, winner in zip(places, winners, strict=True) if winner == name)


def _ratio(curves: dict[str, Series], slow: str, fast: str, at: Where, most: bool) -> float | None:
    places = _common(curves, (slow, fast), () if at is None else (at,))
    factors = [curves[slow][x] / curves[fast][x] for x in places if curves[fast][x] and curves[slow][x]]
    if not factors:
        return None
    return max(factors) if most else math.exp(sum(map(math.log, factors)) / len(factors))


def _common(curves: dict[str, Series], names: Sequence[str], at: Sequence[X]) -> list[X]:
    """Return the places that all of ``names`` have."""
    every = [curves.get(name, {}) for name in names]
    places = [x for x in every[0] if all(x in one for one in every)]
    ends = {FIRST: places[:1], LAST: places[-1:]}
    return (
        places if not at else [x for x in places if x in at or any(x in ends.get(str(end), []) for end in at)]
    )


def _winner(curves: dict[str, Series], curve: str, among: Sequence[str], x: X) -> str:
    """Return the lowest curve at ``x``: ``curve`` unless another is clearly below it."""
    least, name = min((curves[name][x], name) for name in {curve, *among})
    return curve if curves[curve][x] <= least * CLEAR else name


def _sized(here: str, claimed: str, found: float, paper: float) -> Answer:
    """Return the answer to a claim of a factor ``paper`` above 1."""
    more = ", more than the paper's" if found > DOUBLE * paper else ""
    return Answer(f"here: {here}{more}; the paper: {claimed}", judged_size(found, paper))


def _open() -> Answer:
    return Answer("here: not measured at this size", OPEN)


def _where(curves: dict[str, Series], slow: str, fast: str, at: Where, most: bool) -> str:
    """Return the places at which the factor was taken, if there are several."""
    if at is None:
        several = len(_common(curves, (slow, fast), ())) > 1
        return (" at best" if most else " on average") if several else ""
    places = _common(curves, (slow, fast), (at,))
    return f" at {place(places[0])}" if len(str(places[0])) < 12 else ""
