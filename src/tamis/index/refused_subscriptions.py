"""Report subscriptions that cannot be used: the place of each, and one error for all."""

from __future__ import annotations

import copy
import warnings
from typing import NamedTuple

from tamis.errors import RefusedWarning, SubscriptionsRefused, TamisError

SHOWN = 20  # refused subscriptions that a message names

Refusals = list[tuple[str, TamisError]]


class Place(NamedTuple):
    """The place of a subscription: its number from 1, and its line and file if it was read from one."""

    row: int
    line: int | None = None
    file: str | None = None


def refusal(identity: str, error: TamisError, place: Place | None) -> tuple[str, TamisError]:
    """Return an entry of ``refused``: a copy of ``error`` (which many rows may share) with its place."""
    found = copy.copy(error)
    found.details = dict(error.details)
    if identity:
        found.details["subscription"] = identity
    found.details |= {name: value for name, value in (place or NOWHERE)._asdict().items() if value}
    return identity, found


NOWHERE = Place(0)


def where(identity: str, error: TamisError) -> str:
    """Return the known parts of a place: ``subscription 's1', row 3, line 4 of book.jsonl``."""
    details = error.details
    parts = [f"subscription {identity[:80]!r}"] if identity else []
    parts += [f"{name} {details[name]}" for name in ("row", "line") if name in details]
    return ", ".join(parts) + (f" of {details['file']}" if "file" in details else "")


def raise_refused(refused: Refusals) -> None:
    """Raise the only error with its place, or one error for several; return if there are none."""
    if not refused:
        return
    if len(refused) == 1:
        identity, error = refused[0]
        error.message = _placed(identity, error)
        error.args = (error.message,)
        raise error
    lines = [f"  {error.code}: {_placed(identity, error)}" for identity, error in refused[:SHOWN]]
    if len(refused) > SHOWN:
        lines.append(f"  … and {len(refused) - SHOWN:,} more; .refused has all of them")
    raise SubscriptionsRefused(
        "\n".join([f"{len(refused):,} subscriptions cannot be used:", *lines]),
        refused=refused,
        count=len(refused),
    )


def _placed(identity: str, error: TamisError) -> str:
    place = where(identity, error)
    return f"{place}: {error.message}" if place else error.message


def warn_refused(refused: Refusals) -> None:
    """Warn with the number of refused subscriptions, if there are any."""
    if refused:
        identity, error = refused[0]
        warnings.warn(
            f"{len(refused):,} subscription{'s' if len(refused) > 1 else ''} refused, see index.refused; "
            f"the first: {error.code}: {_placed(identity, error)}",
            RefusedWarning,
            stacklevel=3,
        )
