"""Apply the changes of a store's log to an index."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from tamis.contract.change import Change
from tamis.errors import InputError, TamisError
from tamis.expression.tree import Subscription
from tamis.index.arguments import several
from tamis.index.sources import checked_subscription
from tamis.index.writer import Writer
from tamis.values.value import short

_sequence = attrgetter("sequence")


def apply_changes(writer: Writer, changes: Iterable[Change]) -> list[tuple[str, TamisError]]:
    """Put and remove subscriptions in one step; return the refused ones, which are no longer in force."""
    changes = several("changes", changes)
    for change in changes:
        if type(change) is not Change and not isinstance(change, Change):
            raise InputError(f"changes are those of a store's log, not {short(change)}")
    limits, analysers = writer.limits, writer.analysers
    # The last change of each id counts.
    last = {change.id: change for change in sorted(changes, key=_sequence)}.values()
    held: list[Subscription] = []
    gone: list[str] = []
    refused: list[tuple[str, TamisError]] = []
    for change in last:
        version, name, expression, priority = change
        if expression is None:
            gone.append(name)
            continue
        try:
            held.append(checked_subscription(name, expression, priority, version, limits, analysers))
        except TamisError as bad:
            refused.append((name, bad))
            if isinstance(name, str):
                gone.append(name)
    writer.apply(held, gone)
    return refused


def row_of(change: Change) -> dict[str, Any]:
    """Return the subscription that a change puts, as a row of a source."""
    return {
        "id": change.id,
        "expression": change.expression,
        "priority": change.priority,
        "version": change.version,
    }
