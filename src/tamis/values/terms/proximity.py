"""Test how close the terms of a search stand in a text, and how many of them it holds.

Each function takes the words of a text in order and the terms, and returns whether the text satisfies them,
or the words that do. Each term needs a word of its own: ``coat* coat`` needs two words, as a phrase does.
``p(i)`` is the place of the word that is chosen for term ``i``; words and terms are counted from 0.

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
from operator import itemgetter
from typing import Literal, NamedTuple

from tamis.values.analysis import GAP
from tamis.values.terms.kinds import Gap, Term

Proximity = Literal["slop", "near", "near ordered"]
Places = list[list[int]]
Choice = dict[int, int]  # the number of each term, and the place of its word


def is_close(mode: Proximity, words: list[str], terms: Sequence[Term], distance: int) -> bool:
    """Return whether the words hold the terms as close as ``mode`` and ``distance`` demand."""
    return first_choice(mode, words, terms, distance) is not None


def first_choice(mode: Proximity, words: list[str], terms: Sequence[Term], distance: int) -> Choice | None:
    """Return the first choice of words that stand as close as ``mode`` and ``distance`` demand, or ``None``.

    In order, it is the choice that ends first, and of those the one that begins last. Otherwise it is one
    that begins first.
    """
    wanted = [(at, term) for at, term in enumerate(terms) if not isinstance(term, Gap)]
    places = [_places(words, term) for _, term in wanted]
    if not all(places):
        return None
    if mode == "near ordered":
        chosen = _in_order(places, distance)
    elif mode == "near":
        chosen = _in_span(places, distance - 1, [0] * len(places))
    else:
        chosen = _in_span(places, distance, [at for at, _ in wanted])
    return None if chosen is None else {wanted[at][0]: place for at, place in enumerate(chosen)}


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


class _Chain(NamedTuple):
    """Places in rising order: where they begin, the last of them, and those before it."""

    begin: int
    place: int
    before: _Chain | None

    def places(self) -> list[int]:
        """Return the places in order."""
        found: list[int] = []
        chain: _Chain | None = self
        while chain is not None:
            found.append(chain.place)
            chain = chain.before
        return found[::-1]


def _in_order(places: Places, width: int) -> list[int] | None:
    """Return one place for each term in rising order, less than ``width`` apart.

    For each term, the chain of places up to this term is kept that begins last.
    """
    found = sorted((place, -term) for term, some in enumerate(places) for place in some)
    chains: list[_Chain | None] = [None] * len(places)
    for place, negative in found:  # of two terms at one place, the later term comes first
        term = -negative
        before = chains[term - 1] if term else None
        if term and before is None:
            continue
        chain = chains[term] = _Chain(place if before is None else before.begin, place, before)
        if term == len(places) - 1 and place - chain.begin < width:
            return chain.places()
    return None


def _in_span(places: Places, span: int, shift: list[int]) -> list[int] | None:
    """Return a place of its own for each term, such that all lie in a span.

    Places count from the ``shift`` of their term, and differ by at most ``span``.
    """
    shifted = [[place - less for place in some] for some, less in zip(places, shift, strict=True)]
    if sum(map(len, places)) == len(set().union(*places)):
        first = _first_window(shifted, span)
        return None if first is None else [place + less for place, less in zip(first, shift, strict=True)]
    starts = sorted(set().union(*shifted))
    return next((found for start in starts if (found := _assigned(places, start, span, shift))), None)


def _first_window(lists: Places, span: int) -> list[int] | None:
    """Return the first choice of one number from each rising list that differ by at most ``span``."""
    heap = [(numbers[0], at, 0) for at, numbers in enumerate(lists)]
    heapify(heap)
    highest = max(numbers[0] for numbers in lists)
    while highest - heap[0][0] > span:
        _, at, last = heap[0]
        if last + 1 == len(lists[at]):
            return None
        number = lists[at][last + 1]
        heapreplace(heap, (number, at, last + 1))
        highest = max(highest, number)
    return [number for number, _, _ in sorted(heap, key=itemgetter(1))]


def _assigned(places: Places, start: int, span: int, shift: list[int]) -> list[int] | None:
    """Return a place of its own for each term from ``start`` on (a matching by augmenting paths).

    A term with as many places as there are terms always gets one, so no more of them are looked at.
    """
    allowed = []
    for some, less in zip(places, shift, strict=True):
        first = bisect_left(some, start + less)
        last = bisect_right(some, start + less + span, first)
        allowed.append(some[first : min(last, first + len(places))])
        if not allowed[-1]:
            return None
    owner: dict[int, int] = {}
    if not all(_assign(at, allowed, owner, set()) for at in range(len(places))):
        return None
    return sorted(owner, key=owner.__getitem__)


def _assign(at: int, allowed: Places, owner: dict[int, int], tried: set[int]) -> bool:
    """Give term ``at`` a place; others may move. The depth is at most the number of terms."""
    for place in allowed[at]:
        if place not in tried:
            tried.add(place)
            if place not in owner or _assign(owner[place], allowed, owner, tried):
                owner[place] = at
                return True
    return False
