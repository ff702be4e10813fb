"""Audit matching: the tree evaluator decides a sample of the events again, and its answer is compared.

An audited event is decided against every subscription in force, one tree at a time, so it costs as much as
`scan` without its kernels. A difference is a bug of Tamis. The audit leaves a folder that reproduces it.
"""

from __future__ import annotations

import logging
import threading
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from tamis.columns.rows import analysers_in
from tamis.errors import AuditFailed, EventError, InputError
from tamis.expression.tree import Expr
from tamis.expression.truth import matches
from tamis.index import storage
from tamis.index.match import EventAt
from tamis.index.snapshot import Snapshot
from tamis.language import to_text
from tamis.limits import DEFAULT_LIMITS
from tamis.values.analysis import shown as analysis_of
from tamis.values.event import Event, tagged
from tamis.values.value import short
from tamis.version import __version__

CASE = "case.json"
SHOWN = 20  # differing subscriptions that a case describes

_log = logging.getLogger(__name__)


class Difference(NamedTuple):
    """A subscription for which the index and the tree evaluator disagree about an event."""

    subscription: str
    expression: str
    oracle: bool


class Audit:
    """An audit, which decides a share of the events of a run again, at least one event.

    A difference raises :class:`~tamis.errors.AuditFailed`. With ``raises=False`` it is logged as an error,
    and matching goes on. Either way a new folder in ``folder`` describes it.
    """

    def __init__(self, rate: Any, folder: Any = ".", *, raises: bool = True) -> None:
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.0 < rate <= 1.0:
            raise InputError(f"audit is a share of the events above 0 and up to 1, not {short(rate)}")
        if not isinstance(folder, str | Path):
            raise InputError(f"the folder of an audit is a path, not {short(folder)}")
        self.rate, self.folder, self.raises = float(rate), Path(folder), raises
        self.events = self.decisions = self.differences = 0
        self._begun = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return (
            f"<tamis.Audit of {self.rate:g}: {self.events:,} events, {self.decisions:,} decisions,"
            f" {self.differences:,} differences>"
        )

    def rows(self, first: int, count: int) -> list[int]:
        """Return the rows of a batch to audit: the same ones in every run, and the very first event."""
        with self._lock:
            is_begin = first == 0 and count > 0 and not self._begun
            self._begun |= is_begin
            chosen = [row for row in range(count) if _share(first + row) < self.rate]
            if is_begin and 0 not in chosen:
                chosen.insert(0, 0)
            self.events += len(chosen)
        return chosen

    def compare(
        self, snapshot: Snapshot, event_at: EventAt, row: int, found: set[str], refused: EventError | None
    ) -> None:
        """Decide an event again and compare with the subscriptions ``found``, or the ``refused`` event."""
        try:
            event = event_at(row)
        except EventError as bad:
            if refused is None:
                self._report(snapshot, {"refused_by_the_oracle": bad.as_dict()}, [])
            return
        if refused is not None:
            self._report(snapshot, _described(event) | {"refused_by_the_index": refused.as_dict()}, [])
            return
        differing = []
        for name, expression in subscriptions_in(snapshot):
            is_match = matches(expression, event)
            self.decisions += 1
            if is_match != (name in found):
                differing.append(Difference(name, to_text(expression), is_match))
        if differing:
            self._report(snapshot, _described(event), differing)

    def _report(self, snapshot: Snapshot, event: dict[str, Any], differing: list[Difference]) -> None:
        """Write a folder with the event, the subscriptions and the index, and report the difference."""
        with self._lock:
            self.differences += 1
        place = self.folder / f"tamis-audit-{uuid.uuid4().hex[:12]}"
        shown = [one._asdict() for one in differing[:SHOWN]]
        case = {"tamis": __version__, **event, "differences": len(differing), "subscriptions": shown}
        try:
            _write(case, snapshot, place)
        except OSError as bad:  # the difference matters more than the folder
            _log.error("the audit cannot write %s: %s", place, bad)
        message = _message(differing, place)
        if self.raises:
            raise AuditFailed(message, folder=str(place), subscriptions=shown)
        _log.error("%s", message)


def _write(case: dict[str, Any], snapshot: Snapshot, place: Path) -> None:
    """Write the case and the index; subscriptions outside a segment are in the case only."""
    place.mkdir(parents=True)
    (place / CASE).write_bytes(msgspec.json.format(msgspec.json.encode(case), indent=2))
    layers = Snapshot(snapshot.sequence, snapshot.layers, ())
    engine = snapshot.layers[0].segment.engine_name if snapshot.layers else "scan"
    # The trees name their analysers, so the keys, which are attributes elsewhere, do not matter.
    names = {name for layer in layers.layers for name in analysers_in(layer.segment.columns)}
    analysers = {name: analysis_of(name) for name in names}
    kept = storage.Particulars(storage.settings_of(engine, {}, DEFAULT_LIMITS, analysers))
    storage.save(layers, place / "index", kept, WeakKeyDictionary(), None)


def subscriptions_in(snapshot: Snapshot) -> Iterator[tuple[str, Expr]]:
    """Yield every subscription in force with its tree."""
    for part in snapshot.parts:
        living = part.living(snapshot.sequence)
        names = part.segment.ids_of(living)
        for name, ordinal in zip(names, living.tolist(), strict=True):
            yield name, part.segment.expression(ordinal)


def _share(position: int) -> float:
    return zlib.crc32(position.to_bytes(8, "little")) / 2**32


def _described(event: Event) -> dict[str, Any]:
    attributes = {name: [tagged(value) for value in values] for name, values in event.attributes.items()}
    return {"event": attributes, "event_id": event.id}


def _message(differing: list[Difference], place: Path) -> str:
    if not differing:
        what = "the index and the tree evaluator disagree on whether an event can be read"
    else:
        first = differing[0]
        verdicts = ("does not match", "matches") if first.oracle else ("matches", "does not match")
        what = (
            f"an event {verdicts[0]} {first.subscription[:80]!r} by the index and {verdicts[1]} by the tree"
            f" evaluator ({len(differing)} such subscriptions)"
        )
    return f"{what}; this is a bug of Tamis: please report it with the folder {place}"
