"""Test how close the terms of a search stand in a text, and how many of them it holds.

Each function takes the words of a text in order and the terms, and returns whether the text satisfies them.
Each term needs a word of its own: ``coat* coat`` needs two words, as a phrase does. ``p(i)`` is the place of
the word that is chosen for term ``i``; words and terms are counted from 0.

* *sloppy phrase*: ``max(p(i) - i) - min(p(i) - i) <= slop``. These are the moves of Lucene's sloppy phrases:
  0 is the phrase itself, one word between two terms is 1, two neighbours in the wrong order are 2.
* *near*: ``max(p(i)) - min(p(i)) < width``. All terms stand in ``width`` words in a row, in any order.
* *near, ordered*: the same, and ``p(0) < p(1) < …``.
  A word that the analyser leaves out of the search keeps its number ``i``.
* *at least*: so many of the terms are held; one word may count for several of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from heapq import heapify, heapreplace
from typing import Literal

from tamis.values.analysis import GAP
from tamis.values.terms.kinds import Gap, Term

Proximity = Literal["slop", "near", "near ordered"]
Places = list[list[int]]


def is_close(mode: Proximity, words: list[str], terms: Sequence[Term], distance: int) -> bool:
    """Return whether the words hold the terms as close as ``mode`` and ``distance`` demand."""
    wanted = [(at, term) for at, term in enumerate(terms) if not isinstance(term, Gap)]
    places = [_places(words, term) for _, term in wanted]
    if not all(places):
        return False
    if mode == "near ordered":
        return _in_order(places, distance)
    if mode == "near":
        return _in_span(places, distance - 1, [0] * len(places))
    return _in_span(places, distance, [at for at, _ in wanted])


def holds_at_least(words: list[str], terms: Sequence[Term], count: int) -> bool:
    """Return whether the words hold at least ``count`` of the terms."""
    distinct = set(words) - {GAP}
    missing = len(terms) - count
    for term in terms:
        if not any(map(term.matches, distinct)):
            missing -= 1
            if missing < 0:
                return False
    return True


def _places(words: list[str], term: Term) -> list[int]:
    matches, known = term.matches, {GAP: False}
    for word in words:
        if word not in known:
            known[word] = matches(word)
    return [place for place, word in enumerate(words) if known[word]]


def _in_order(places: Places, width: int) -> bool:
    """Return whether one place for each term can be chosen in rising order, less than ``width`` apart.

    For each term, the latest place is kept at which a chain up to this term can begin.
    """
    found = sorted((place, -term) for term, some in enumerate(places) for place in some)
    begin = [-1] * len(places)
    for place, negative in found:  # of two terms at one place, the later term comes first
        term = -negative
        begin[term] = place if term == 0 else begin[term - 1]
        if term == len(places) - 1 and begin[term] >= 0 and place - begin[term] < width:
            return True
    return False


def _in_span(places: Places, span: int, shift: list[int]) -> bool:
    """Return whether a place of its own can be chosen for each term, such that all lie in a span.

    Places count from the ``shift`` of their term, and differ by at most ``span``.
    """
    shifted = [[place - less for place in some] for some, less in zip(places, shift, strict=True)]
    if sum(map(len, places)) == len(set().union(*places)):
        return _narrowest(shifted) <= span
    return any(_assignable(places, start, span, shift) for start in sorted(set().union(*shifted)))


def _narrowest(lists: Places) -> int:
    """Return the least difference between the ends of a choice of one number from each rising list."""
    heap = [(numbers[0], at, 0) for at, numbers in enumerate(lists)]
    heapify(heap)
    highest = max(numbers[0] for numbers in lists)
    best = highest - heap[0][0]
    while heap[0][2] + 1 < len(lists[heap[0][1]]):
        _, at, last = heap[0]
        number = lists[at][last + 1]
        heapreplace(heap, (number, at, last + 1))
        highest = max(highest, number)
        best = min(best, highest - heap[0][0])
    return best


def _assignable(places: Places, start: int, span: int, shift: list[int]) -> bool:
    """Return whether each term gets a place of its own from ``start`` on (a matching by augmenting paths).

    A term with as many places as there are terms always gets one, so no more of them are looked at.
    """
    allowed = []
    for some, less in zip(places, shift, strict=True):
        first = bisect_left(some, start + less)
        last = bisect_right(some, start + less + span, first)
        allowed.append(some[first : min(last, first + len(places))])
        if not allowed[-1]:
            return False
    owner: dict[int, int] = {}
    return all(_assign(at, allowed, owner, set()) for at in range(len(places)))


def _assign(at: int, allowed: Places, owner: dict[int, int], tried: set[int]) -> bool:
    """Give term ``at`` a place; others may move. The depth is at most the number of terms."""
    for place in allowed[at]:
        if place not in tried:
            tried.add(place)
            if place not in owner or _assign(owner[place], allowed, owner, tried):
                owner[place] = at
                return True
    return False
