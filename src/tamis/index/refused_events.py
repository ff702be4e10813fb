"""List refused events with their reasons, and report them."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from tamis.contract.on_error import RAISE, REPORT, check_on_error
from tamis.errors import EventError, RefusedWarning
from tamis.values.event import Event


class Refusal(NamedTuple):
    """A refused event: its position in the whole run, and the error that says why."""

    position: int
    error: EventError

    @property
    def id(self) -> str | None:
        """The event's own id, if it has one: that of a ``tamis.Event``, otherwise the attribute ``id``."""
        found = self.error.details.get("event_id")
        return None if found is None else str(found)

    @property
    def code(self) -> str:
        """The stable code of the error."""
        return self.error.code

    @property
    def message(self) -> str:
        """The reason, and what to do."""
        return self.error.message


def refusals(piece: Any, refused: Iterable[tuple[int, EventError]], first: int) -> list[Refusal]:
    """Return the refused events of a piece that begins at the position ``first``, with their ids."""
    found = []
    for row, error in refused:
        name = _id_of(piece, row)
        if name is not None:
            error.details.setdefault("event_id", name)
        found.append(Refusal(row + first, error))
    return found


def _id_of(piece: Any, row: int) -> str | None:
    if isinstance(piece, list):
        event = piece[row]
        found = event.id if isinstance(event, Event) else _get(event)
    elif "id" in piece.schema.names:
        found = _cell(piece, row)
    else:
        found = None
    return str(found)[:256] if type(found) in (str, int) else None


def _get(event: Any) -> Any:
    return event.get("id") if isinstance(event, Mapping) else None


def _cell(piece: Any, row: int) -> Any:
    try:
        return piece.column(piece.schema.get_field_index("id"))[row].as_py()
    except (pa.ArrowException, ValueError):  # for example text that is not UTF-8, which may be the reason
        return None


class Reporter:
    """A collector of the refused events of one run, which it reports or raises as ``on_error`` demands."""

    def __init__(self, on_error: str) -> None:
        self._choice = check_on_error(on_error)
        self._codes: Counter[str] = Counter()
        self._first: Refusal | None = None
        self._events = 0

    def saw(self, events: int, refused: list[Refusal]) -> None:
        """Count a batch; raise the first refusal if ``on_error`` is "raise"."""
        self._events += events
        if not refused:
            return
        self._first = self._first or refused[0]
        self._codes.update(one.code for one in refused)
        if self._choice == RAISE:
            raise placed(refused[0])

    def close(self) -> None:
        """Warn once with the number of refused events."""
        if self._first is not None and self._choice == REPORT:
            warnings.warn(self._summary(self._first), RefusedWarning, stacklevel=_outside())

    def _summary(self, first: Refusal) -> str:
        reasons = ", ".join(f"{code} {count:,}" for code, count in self._codes.most_common())
        return (
            f"{self._codes.total():,} of {self._events:,} events were refused ({reasons}) and match nothing;"
            f" the first is event {first.position}: {first.message}."
            " `refused` of the result lists them; on_error='skip' or 'raise' changes this"
        )


def warn_of_sample(refused: Sequence[tuple[int, EventError]], events: int) -> None:
    """Warn with the number of refused events of a sample; the sample is used without them."""
    if refused:
        row, first = refused[0]
        message = (
            f"{len(refused):,} of the {events:,} events of the sample were refused and are left out of it;"
            f" the first is event {row}: {first.message}"
        )
        warnings.warn(message, RefusedWarning, stacklevel=_outside())


def _outside() -> int:
    """Return the stack level of the nearest caller outside the package, which a warning points to."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "tamis":
        level, frame = level + 1, frame.f_back
    return level


def placed(refusal: Refusal) -> EventError:
    """Return the error of a refused event, with the event's position in its message and details."""
    error = refusal.error
    placed_error = type(error)(f"event {refusal.position}: {error.message}")
    placed_error.details = {**error.details, "event": refusal.position}
    return placed_error


def reported(batches: Iterator[Any], on_error: str) -> Iterator[Any]:
    """Yield ``batches`` of matches as they come; report, raise or skip their refused events."""
    reporter = Reporter(on_error)
    for batch in batches:
        reporter.saw(batch.events, batch.refused)
        yield batch
    reporter.close()
