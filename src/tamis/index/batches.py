"""Split events of any source into batches and match each batch."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tamis.columns import RowWriter
from tamis.columns.rows import clause_rows
from tamis.columns.tables import is_table, parquet_batches, tables_of
from tamis.errors import EventError, InputError
from tamis.index.card import Card, CardMatches
from tamis.index.display import many
from tamis.index.match import EventAt, LayerMatches, Piece, locate, match_layer
from tamis.index.recent import Recent
from tamis.index.refused_events import Refusal, refusals
from tamis.index.snapshot import Layer, Snapshot
from tamis.index.unseen import Seen, seen_in
from tamis.index.work import WorkReport
from tamis.limits import Limits
from tamis.space.build import cut
from tamis.space.encode import Encoder, Refused
from tamis.space.plain import is_plain
from tamis.space.table_row import event_of_row
from tamis.values.event import Event, event_from, event_or_error, flat_event

if TYPE_CHECKING:
    from tamis.index.audit import Audit  # a layer above: an audit saves an index

PIECE_BYTES = 4 << 20  # of a table that is matched at a time

_NESTED = frozenset((dict, list, tuple, set, frozenset))


class MatchBatch(NamedTuple):
    """The matches of one batch; ``event`` counts from the first event of the whole run."""

    table: pa.Table
    work: WorkReport
    refused: list[Refusal]
    first_row: int
    events: int
    seen: tuple[Seen, ...] = ()  # for AttributeWatch

    def __repr__(self) -> str:
        return (
            f"<MatchBatch: {many(self.table.num_rows, 'match')} of {many(self.events, 'event')} from row "
            f"{self.first_row:,}, {len(self.refused):,} refused>"
        )


def pieces(events: Any, size: int, limits: Limits) -> Iterator[Piece]:
    """Yield ``events`` in batches of at most ``size``."""
    if isinstance(events, str | Path):
        yield from _from_path(Path(events), size, limits)
    elif is_table(events):
        for part in tables_of(events):
            for at in range(0, len(part), size):
                yield part[at : at + size] if isinstance(part, list) else part.slice(at, size)
    elif isinstance(events, Iterable) and not isinstance(events, Mapping | bytes):
        yield from _grouped(events, size, limits)
    else:
        raise InputError(
            f"events are a table, a list, an iterator or a path, not a {type(events).__name__}"
            " (for a single event use match)"
        )


def divided(source: Iterator[Piece], most: int = PIECE_BYTES) -> Iterator[Piece]:
    """Yield tables of more than ``most`` bytes in parts.

    The matches of long documents are many. Arrays of them that fit caches and are used again cost less than
    new memory for each batch.
    """
    for piece in source:
        if isinstance(piece, list) or piece.nbytes <= most:
            yield piece
            continue
        size = max(1, piece.num_rows * most // piece.nbytes)
        yield from (piece.slice(at, size) for at in range(0, piece.num_rows, size))


def size_of(piece: Piece) -> int:
    """Return the number of events of a batch."""
    return len(piece) if isinstance(piece, list) else int(piece.num_rows)


def enumerate_rows(source: Iterator[Piece]) -> Iterator[tuple[int, Piece]]:
    """Yield each piece with the number of its first event."""
    first = 0
    for piece in source:
        yield first, piece
        first += size_of(piece)


def _from_path(path: Path, size: int, limits: Limits) -> Iterator[Piece]:
    name = path.name.lower()
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if name.endswith(".parquet"):
        for batch in parquet_batches(path, size):
            yield pa.Table.from_batches([batch])
    elif name.endswith((".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz")):
        with (gzip.open if name.endswith(".gz") else open)(path, "rb") as file:
            yield from _grouped(_unzipped(path, file), size, limits)
    else:
        raise InputError(f"{path}: events are read from .jsonl, .jsonl.gz or .parquet files")


def _unzipped(path: Path, file: Any) -> Iterator[bytes]:
    try:
        yield from file
    except (EOFError, gzip.BadGzipFile, zlib.error) as bad:
        raise InputError(f"{path} cannot be unzipped: {bad}", file=str(path)) from None


def _grouped(events: Iterable[Any], size: int, limits: Limits) -> Iterator[Piece]:
    group: list[Any] = []
    for event in events:
        if is_table(event):
            if group:
                yield group
                group = []
            yield from pieces(event, size, limits)
            continue
        if isinstance(event, str | bytes):
            if not event.strip():
                continue
            event = event_or_error(event, limits)
        group.append(event)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


class PieceEvents:
    """Events of a batch as objects, made only for the few that a tree must decide."""

    def __init__(self, piece: Piece, limits: Limits) -> None:
        self._piece, self._limits = piece, limits
        self._made: dict[int, Event] = {}

    def __call__(self, row: int) -> Event:
        """Return the event in ``row``; raise :class:`~tamis.errors.EventError` if it is refused."""
        event = self._made.get(row)
        if event is None:
            if isinstance(self._piece, list):
                event = event_from(self._piece[row], self._limits)
            else:
                event = event_of_row(self._piece, row, self._limits)
            self._made[row] = event
        return event


class Run(NamedTuple):
    """The settings that all batches of one run share."""

    limits: Limits
    recent: Recent
    versions: bool = False
    audit: Audit | None = None
    card: Card | None = None


class PartMatches(NamedTuple):
    """The matches of one batch with every part of a snapshot, as the card or the processor found them."""

    found: list[LayerMatches | CardMatches]
    work: WorkReport
    refused: Refused
    seen: tuple[Seen, ...]


def match_parts(snapshot: Snapshot, piece: Piece, event_at: EventAt, run: Run) -> PartMatches:
    """Match one batch against every part of a snapshot."""
    if isinstance(piece, list) and len(snapshot.parts) > 1:
        piece = [_flattened(event, run.limits) for event in piece]
    count = size_of(piece)
    work = WorkReport(count)
    refused: Refused = []
    seen: list[Seen] = []
    all_found: list[LayerMatches | CardMatches] = []
    if not snapshot.parts:
        _, refused = locate(nowhere(run.limits), piece)
    for part in snapshot.parts:
        found: LayerMatches | CardMatches | None = None
        if run.card is not None and isinstance(part, Layer):
            found = run.card.match(part, snapshot.sequence, piece, count, event_at)
        if isinstance(found, CardMatches):
            report, refused = found.report, found.refused
            seen.append(found.seen)
        else:
            located, refused = locate(part.segment.encoder, piece)
            rows = [row for row, _ in refused]
            found, report = match_layer(part, snapshot.sequence, located, event_at, rows)
            seen.append(seen_in(part, located))
        work = work.plus(report)
        all_found.append(found)
    return PartMatches(all_found, work, refused, tuple(seen))


def match_piece(snapshot: Snapshot, piece: Piece, first_row: int, run: Run) -> MatchBatch:
    """Match one batch against a snapshot; keep some of its events in ``recent``."""
    versions, count = run.versions, size_of(piece)
    event_at = PieceEvents(piece, run.limits)
    parts, work, refused, seen = match_parts(snapshot, piece, event_at, run)
    tables = [(VERSIONED if versions else SCHEMA).empty_table()]
    for part, found in zip(snapshot.parts, parts, strict=True):
        tables.append(
            _table(found if isinstance(found, LayerMatches) else found.pairs(part), first_row, versions)
        )
    bad = {row for row, _ in refused}
    run.recent.batch(count, bad, event_at)
    table = pa.concat_tables(tables)
    if len(parts) > 1:
        table = table.sort_by("event")
    if run.audit is not None:
        audited = _audit(run.audit, snapshot, event_at, table, first_row, dict(refused), count)
        work = work._replace(audited=audited)
    return MatchBatch(table, work, refusals(piece, refused, first_row), first_row, count, seen)


def _audit(
    audit: Audit,
    snapshot: Snapshot,
    event_at: PieceEvents,
    table: pa.Table,
    first_row: int,
    refused: dict[int, EventError],
    count: int,
) -> int:
    """Decide some events of a batch again; return how many."""
    rows = audit.rows(first_row, count)
    for row in rows:
        chosen = pc.equal(table["event"], pa.scalar(row + first_row, pa.int64()))
        found = set(table["subscription"].filter(chosen).to_pylist())
        audit.compare(snapshot, event_at, row, found, refused.get(row))
    return len(rows)


def _flattened(event: Any, limits: Limits) -> Any:
    """Return a nested event flattened, once for all layers; a plain event is returned as it is."""
    if type(event) is not dict or _NESTED.isdisjoint(map(type, event.values())) or is_plain(event):
        return event
    try:
        return flat_event(event, limits)
    except EventError as bad:
        return bad


@lru_cache(maxsize=8)
def nowhere(limits: Limits) -> Encoder:
    """Return an encoder without any attribute, which only refuses events."""
    space, _ = cut(clause_rows(RowWriter().freeze(), limits))
    return Encoder(space, limits)


SCHEMA = pa.schema([("event", pa.int64()), ("subscription", pa.string())])
VERSIONED = SCHEMA.append(pa.field("version", pa.int64()))


def _table(found: LayerMatches, first_row: int, versions: bool) -> pa.Table:
    segment = found.layer.segment
    columns = [pa.array(found.event + first_row, pa.int64()), segment.names_of(found.ordinal)]
    if versions:
        columns.append(pa.array(segment.versions_of(found.ordinal), pa.int64()))
    return pa.Table.from_arrays(columns, schema=VERSIONED if versions else SCHEMA)
