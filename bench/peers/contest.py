"""Run all peers on one mix: the same file for everyone, every answer compared with that of Tamis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zlib import crc32

from bench.peers import protocol
from bench.peers.known import TAMIS, TAMIS_BATCH, Known
from bench.peers.programs import Unavailable
from bench.peers.protocol import Answers, Done, Failed

FEWEST = 1_000
"""A peer that fails is tried again with a tenth of the subscriptions, down to about this many."""

Run = Callable[[list[str], Path, int, float], Done]


@dataclass(frozen=True)
class Row:
    """The result of one peer on one mix."""

    mix: str
    peer: str
    version: str = ""
    batch: bool = False
    python_engine: bool = False
    figures: dict[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    tamis_us: float | None = None
    remark: str = ""
    failure: str = ""
    difference: str = ""

    @property
    def us(self) -> float | None:
        """Microseconds per event."""
        return self.figures.get("us_per_event")

    @property
    def ratio(self) -> float | None:
        """Its time over that of Tamis, with as many subscriptions and events at once."""
        return self.us / self.tamis_us if self.us and self.tamis_us else None


class Contest:
    """One mix: a common file, the answers of Tamis to it, and its speed at each size."""

    def __init__(
        self, mix: str, file: Path, subscriptions: int, budget_s: float, run: Run = protocol.run
    ) -> None:
        self._mix, self._file, self._size, self._budget_s, self._run = mix, file, subscriptions, budget_s, run
        self._tamis: dict[tuple[bool, int], Done] = {}

    def tamis_row(self, *, batch: bool) -> Row:
        """Return the row of Tamis itself; the batch must answer as single events do."""
        known, done = TAMIS_BATCH if batch else TAMIS, self._tamis_at(self._size, batch=batch)
        return self._row(known, done, known.remark, known.batch)

    def row(self, known: Known) -> Row:
        """Return the row of ``known`` on this mix, with fewer subscriptions if it cannot take all."""
        blank = Row(self._mix, known.name, _version(known), known.batch, known.python_engine)
        try:
            command = known.command()
        except Unavailable as why:
            return replace(blank, failure=f"not run: {why}")
        notes: list[str] = []
        for size in _sizes(self._size):
            try:
                done = self._run(command, self._file, size, self._budget_s)
            except Failed as why:
                notes.append(f"at {size:,}: {why}")
                continue
            if done.subscriptions < size:
                notes.append(f"at {done.subscriptions:,}: no more were built in time")
            return self._row(known, done, "; ".join([known.remark, *notes]), known.batch)
        return replace(blank, failure="; ".join(notes))

    def _row(self, known: Known, done: Done, remark: str, batch: bool) -> Row:
        tamis = self._tamis_at(done.subscriptions, batch=batch)
        truth = self._tamis_at(self._size, batch=False)
        return Row(
            self._mix,
            known.name,
            str(done.figures.get("version") or _version(known)),
            batch,
            known.python_engine,
            done.figures,
            fingerprint(done.answers),
            tamis.us,
            remark,
            difference=difference(known.name, done, truth.answers),
        )

    def _tamis_at(self, size: int, *, batch: bool) -> Done:
        if (batch, size) not in self._tamis:
            known = TAMIS_BATCH if batch else TAMIS
            self._tamis[batch, size] = self._run(known.command(), self._file, size, self._budget_s)
        return self._tamis[batch, size]


def _version(known: Known) -> str:
    return known.version() if known.version else ""


def _sizes(most: int) -> list[int]:
    sizes = [most]
    while sizes[-1] // 10 >= FEWEST:
        sizes.append(sizes[-1] // 10)
    return sizes


def difference(name: str, done: Done, truth: Answers) -> str:
    """Return the first event that ``done`` answers differently from Tamis, in words; else nothing."""
    for event, (found, known) in enumerate(zip(done.answers, truth, strict=False)):
        expected = {number for number in known if number < done.subscriptions}
        if len(found) != len(set(found)):
            return f"event {event}: {name} reports a subscription twice"
        if set(found) != expected:
            only, missed = sorted(set(found) - expected), sorted(expected - set(found))
            return f"event {event}: only {name} finds {only[:10]}, only tamis finds {missed[:10]}"
    if len(done.answers) > len(truth):
        return (
            f"{name} answered {len(done.answers)} events, tamis {len(truth)}: raise the budget to compare all"
        )
    return ""


def fingerprint(answers: Answers) -> str:
    """Return a short checksum of all answers, to compare runs by."""
    return f"{crc32(repr(answers).encode()):08x}"
