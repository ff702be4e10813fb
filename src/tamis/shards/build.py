"""Builds a shard from rows of subscriptions: segments, book and quarantine.

If the shard exists under the same settings, its book shows which rows are new, changed or gone. Only those
are read; the rest stays in its segments.
"""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import IndexError_, SubscriptionError, TamisError
from tamis.index.fields import EVERY_OTHER
from tamis.index.manifest import limits_of
from tamis.index.sources import read_book
from tamis.index.writer import Writer
from tamis.shards.location import Location
from tamis.shards.manifest import Settings, Shard
from tamis.shards.opening import open_to_change
from tamis.shards.shard_files import read_table, store_layers, write_table
from tamis.values.analysis import clean_analysers

REBUILD_SHARE = 0.25  # share of changed rows from which a full build is faster
TEXT = 65_536  # characters of a refused expression that are kept

QUARANTINE = pa.schema(
    [
        ("id", pa.string()),
        ("code", pa.string()),
        ("position", pa.int32()),
        ("message", pa.string()),
        ("text", pa.string()),
    ]
)

Refused = list[tuple[str, TamisError]]


class BuildContext(NamedTuple):
    """The common parameters of a build's shards: location, settings, and sample events if any."""

    location: Location
    settings: Settings
    sample: Any = None


def build_shard(context: BuildContext, number: int, rows: pa.Table, before: Shard | None = None) -> Shard:
    """Build shard ``number`` of ``rows`` and store it; ``before`` is its previous state, if there is one.

    Rows have the columns that :meth:`tamis.Index.build` takes, as text or in bulk, and a ``mark``, a hash of
    all of them.
    """
    given, fingerprint = rows, fingerprint_of(rows["mark"])
    rows, strange = _without_strange_ids(rows)
    rows = _newest_first(rows)
    book = _book(rows)
    writer, refused = _incremental_build(context, rows, book, before) or _full_build(context, rows)
    bad = strange + refused
    shard = Shard(number, [], 0, 0, fingerprint, refused=len(bad))
    shard.book = write_table(context.location, "book", _unmarked(book, refused), shard)
    if bad:
        shard.quarantine = write_table(context.location, "refused", quarantine(bad, given), shard)
    known = before.segments if before is not None else []
    shard.segments = known  # segments that need not be uploaded again
    return store_layers(context.location, writer, shard)


def fingerprint_of(marks: Any) -> str:
    """Return a fingerprint of a set of rows in any order; Spark computes the same (see ``spark.build``)."""
    values = np.asarray(marks.to_numpy(), np.int64)
    mixed = np.bitwise_xor.reduce(values) if len(values) else 0
    return f"{len(values)}:{int(mixed)}:{int((values & 0xFFFFFF).sum())}"


def _full_build(context: BuildContext, rows: pa.Table) -> tuple[Writer, Refused]:
    limits = limits_of(context.settings)
    settings, analysers = context.settings, clean_analysers(context.settings.analysers)
    book = read_book(rows, limits, skip_bad=True, ignore=EVERY_OTHER, analysers=analysers)
    writer = Writer(settings.engine, dict(settings.parameters), limits, context.sample, analysers=analysers)
    writer.load(book)
    return writer, book.refused


def _incremental_build(
    context: BuildContext, rows: pa.Table, book: pa.Table, before: Shard | None
) -> tuple[Writer, Refused] | None:
    """Build from the differences; return ``None`` without a previous state or if too much differs."""
    if before is None or not before.book:
        return None
    known = read_table(context.location, before.book, before)
    place = pc.index_in(book["id"], value_set=known["id"])
    same = pc.fill_null(pc.equal(known["mark"].take(place), book["mark"]), False)
    news = book["id"].filter(pc.invert(same))
    gone = known["id"].filter(pc.invert(pc.is_in(known["id"], value_set=book["id"])))
    if len(news) + len(gone) > REBUILD_SHARE * len(book):
        return None
    try:
        writer = open_to_change(context.location, before, context.settings, context.sample)
    except IndexError_:  # the previous files are damaged or gone: build everything
        return None
    fresh = rows.filter(pc.is_in(rows["id"], value_set=_one(news)))
    limits = limits_of(context.settings)
    given = read_book(fresh, limits, skip_bad=True, ignore=EVERY_OTHER, analysers=writer.analysers)
    writer.apply(given, gone.to_pylist() + [name for name, _ in given.refused])
    return writer, given.refused


def _one(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _book(rows: pa.Table) -> pa.Table:
    """Return every id with the sum of the marks of its rows: text has one row, bulk several."""
    if "expression" in rows.column_names:
        return pa.table({"id": rows["id"], "mark": rows["mark"]})
    marks = pc.bit_wise_and(rows["mark"], 0xFFFF_FFFF_FFFF)  # so that no sum overflows
    summed = pa.table({"id": rows["id"], "mark": marks}).group_by("id").aggregate([("mark", "sum")])
    return pa.table({"id": summed["id"], "mark": summed["mark_sum"]})


def _unmarked(book: pa.Table, refused: Refused) -> pa.Table:
    """Return the book without the marks of refused rows, so that the next build reads them again."""
    if not refused:
        return book
    names = pa.array(sorted({name for name, _ in refused}), pa.string())
    good = book.filter(pc.invert(pc.is_in(book["id"], value_set=names)))
    return pa.concat_tables([good, pa.table({"id": names, "mark": pa.nulls(len(names), pa.int64())})])


def _newest_first(rows: pa.Table) -> pa.Table:
    """Return the rows sorted so that among equal ids the highest version counts, in any order of input."""
    if "expression" not in rows.column_names or pc.count_distinct(rows["id"]).as_py() == rows.num_rows:
        return rows
    order = [("version", "descending")] if "version" in rows.column_names else []
    return rows.sort_by([*order, ("mark", "ascending")])


def _without_strange_ids(rows: pa.Table) -> tuple[pa.Table, Refused]:
    """Return the rows with ids in NFC, and the refused others: shards are found by the bytes of an id."""
    beyond = pc.invert(pc.fill_null(pc.string_is_ascii(rows["id"]), True))
    if not pc.any(beyond).as_py():
        return rows, []
    names = set(rows["id"].filter(beyond).to_pylist())
    bad = sorted(name for name in names if not unicodedata.is_normalized("NFC", name))
    if not bad:
        return rows, []
    why = "the id is not in Unicode's normal form C; write it so before it comes to Spark"
    kept = pc.invert(pc.is_in(rows["id"], value_set=pa.array(bad, pa.string())))
    return rows.filter(kept), [(name, SubscriptionError(why, subscription=name)) for name in bad]


def quarantine(refused: Refused, rows: pa.Table | None = None) -> pa.Table:
    """Return refused subscriptions as rows: id, code, position, message and text."""
    texts: dict[str, str] = {}
    if rows is not None and "expression" in rows.column_names:
        names = pa.array([name for name, _ in refused], pa.string())
        some = rows.filter(pc.is_in(rows["id"], value_set=names)).select(["id", "expression"])
        texts = {row["id"]: row["expression"] or "" for row in some.to_pylist()}
    columns = [
        [name for name, _ in refused],
        [error.code for _, error in refused],
        [error.details.get("position") for _, error in refused],
        [error.message for _, error in refused],
        [texts.get(name, "")[:TEXT] for name, _ in refused],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, QUARANTINE, strict=True)]
    return pa.Table.from_arrays(arrays, schema=QUARANTINE)
