"""Apply the changes of a store's log to an index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tamis.contract.change import Change
from tamis.errors import InputError, TamisError
from tamis.index.arguments import several
from tamis.index.sources import read_book
from tamis.index.writer import Writer
from tamis.values.value import short


def apply_changes(writer: Writer, changes: Iterable[Change]) -> list[tuple[str, TamisError]]:
    """Put and remove subscriptions in one step; return the refused ones, which are no longer in force."""
    changes = several("changes", changes)
    for change in changes:
        if not isinstance(change, Change):
            raise InputError(f"changes are those of a store's log, not {short(change)}")
    last = {change.id: change for change in sorted(changes)}.values()  # the last change of each id counts
    puts = [row_of(change) for change in last if change.expression is not None]
    book = read_book(puts, writer.limits, skip_bad=True)
    gone = [change.id for change in last if change.expression is None]
    writer.apply(book, gone + [name for name, _ in book.refused])
    return book.refused


def row_of(change: Change) -> dict[str, Any]:
    """Return the subscription that a change puts, as a row of a source."""
    return {
        "id": change.id,
        "expression": change.expression,
        "priority": change.priority,
        "version": change.version,
    }
