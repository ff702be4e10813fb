"""Changes of subscriptions, put into force as the log of a store tells them."""

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
    """Put and remove subscriptions in one step; what cannot be used is out of force, and returned."""
    changes = several("changes", changes)
    for change in changes:
        if not isinstance(change, Change):
            raise InputError(f"changes are those of a store's log, not {short(change)}")
    last = {change.id: change for change in sorted(changes)}.values()  # of several only the last counts
    puts = [row_of(change) for change in last if change.expression is not None]
    book = read_book(puts, writer.limits, skip_bad=True)
    gone = [change.id for change in last if change.expression is None]
    writer.apply(book, gone + [name for name, _ in book.refused])
    return book.refused


def row_of(change: Change) -> dict[str, Any]:
    """Return a change as the subscription that it makes."""
    return {
        "id": change.id,
        "expression": change.expression,
        "priority": change.priority,
        "version": change.version,
    }
