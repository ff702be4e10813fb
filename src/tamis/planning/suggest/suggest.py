"""Search conjunctions of predicates that match wanted events and few others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import msgspec
import numpy as np

from tamis.errors import EventError, InputError
from tamis.expression.tree import And, Expr, Or
from tamis.index.batches import PieceEvents, pieces
from tamis.index.index import Index
from tamis.language import to_text
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.planning.suggest.candidates import candidates
from tamis.planning.suggest.search import Marks, Search, Way, separation
from tamis.values.event import Event

SEARCHED = 5_000  # events of each kind that the search looks at; the counts are of all events
TYPICAL = 500  # events of each kind from which predicates are taken
ROWS = 65_536


class Suggestion(msgspec.Struct, frozen=True):
    """An expression, and how many of the wanted and of the other events it matches."""

    text: str
    matched_wanted: int
    wanted: int
    matched_others: int
    others: int

    def as_dict(self) -> dict[str, Any]:
        """Return the suggestion as data for JSON."""
        return msgspec.structs.asdict(self)

    def __str__(self) -> str:
        ours = f"{self.matched_wanted:,} of {self.wanted:,} wanted"
        return f"{self.text}\n    {ours}, {self.matched_others:,} of {self.others:,} others"


def suggest(
    wanted: Any,
    others: Any,
    *,
    most: int = 5,
    longest: int = 3,
    ignore: Collection[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> list[Suggestion]:
    """Return at most ``most`` short expressions that match ``wanted`` and few of ``others``, best first.

    Both take any form that ``match_batches`` takes, except an iterator, because they are read twice. A
    conjunction has at most ``longest`` predicates. Attributes in ``ignore``, such as identifiers, are left
    out. Refused events are not counted; a :class:`~tamis.errors.RefusedWarning` states their number.
    """
    for name, number in (("most", most), ("longest", longest)):
        if type(number) is not int or number < 1:
            raise InputError(f"{name} is a whole number from 1, not {number!r}")
    for name, events in (("wanted", wanted), ("others", others)):
        if hasattr(events, "__next__"):
            raise InputError(f"{name} is read twice; pass a list, a table or a path, not an iterator")
    ours, theirs = _first_events(wanted, limits), _first_events(others, limits)
    if not ours:
        raise InputError("there is no wanted event that can be read")
    predicates = candidates(ours[:TYPICAL], theirs[:TYPICAL], frozenset(ignore))
    if not predicates:
        raise InputError("the wanted events have no attribute with values that can be compared")
    search = Search(_marks(predicates, [*ours, *theirs], limits), len(ours), longest)
    trees = [_tree(predicates, way) for way in search.best(2 * most)]
    return sorted(_counted(trees, wanted, others, limits), key=_rank)[:most]


def _first_events(source: Any, limits: Limits) -> list[Event]:
    found: list[Event] = []
    for piece in pieces(source, min(SEARCHED, ROWS), limits):
        event_at = PieceEvents(piece, limits)
        for row in range(len(piece) if isinstance(piece, list) else piece.num_rows):
            if len(found) == SEARCHED:
                return found
            try:
                found.append(event_at(row))
            except EventError:
                continue
    return found


def _marks(predicates: Iterable[Expr], events: list[Event], limits: Limits) -> Marks:
    """Return which events each predicate matches: a row for each predicate."""
    book = {str(at): one for at, one in enumerate(predicates)}
    found = Index.build(book, limits=limits).match_many(events, on_error="skip")
    marks = np.zeros((len(book), len(events)), np.bool_)
    marks[found.table["subscription"].to_numpy().astype(np.int64), found.table["event"].to_numpy()] = True
    return marks


def _tree(predicates: list[Any], way: Way) -> Expr:
    conjunctions = [
        predicates[parts[0]] if len(parts) == 1 else And(tuple(predicates[at] for at in parts))
        for parts in way
    ]
    return conjunctions[0] if len(conjunctions) == 1 else Or(tuple(conjunctions))


def _counted(trees: list[Expr], wanted: Any, others: Any, limits: Limits) -> list[Suggestion]:
    """Return the suggestions with counts of all events."""
    index = Index.build({to_text(tree): tree for tree in trees}, limits=limits)
    ours, theirs = (_counts(index, events) for events in (wanted, others))
    return [
        Suggestion(text, ours[0].get(text, 0), ours[1], theirs[0].get(text, 0), theirs[1])
        for text in map(to_text, trees)
    ]


def _counts(index: Index, events: Any) -> tuple[dict[str, int], int]:
    counts: dict[str, int] = {}
    understood = 0
    for batch in index.match_batches(events, batch_size=ROWS):
        understood += batch.events - len(batch.refused)
        for one in batch.table["subscription"].value_counts().to_pylist():
            counts[one["values"]] = counts.get(one["values"], 0) + one["counts"]
    return counts, understood


def _rank(one: Suggestion) -> tuple[float, int, int]:
    noise = one.matched_others / max(1, one.others)
    return -separation(one.matched_wanted / max(1, one.wanted), noise), one.matched_others, len(one.text)
