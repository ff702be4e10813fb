"""Writes and reads the files of a shard at its location."""

from __future__ import annotations

import io
import uuid
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.index.manifest import Sample, Shard
from tamis.index.samples import KeptSample, describe
from tamis.index.writer import Writer
from tamis.segment.sealed import check_digest, digest_of, index_key
from tamis.shards.cache import home_of
from tamis.shards.location import Location


def store_layers(location: Location, writer: Writer, shard: Shard) -> Shard:
    """Return ``shard`` with the writer's segments; new ones are written and uploaded."""
    home = home_of(location)
    home.mkdir(parents=True, exist_ok=True)
    entries = writer.write_layers(home, index_key())
    there = set(shard.files())
    layers = writer.current.layers
    shard = msgspec.structs.replace(
        shard,
        segments=entries,
        subscriptions=writer.current.count,
        bytes=sum(len(layer.segment.arena.block) for layer in layers),
    )
    if location.local is None:
        for name in shard.files():
            if name not in there:
                location.upload(home / name, name)
    return shard


def write_table(location: Location, kind: str, table: pa.Table, shard: Shard | None = None) -> str:
    """Store a table and return its name; with a key, the shard records its digest."""
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    name = f"{kind}-{uuid.uuid4().hex}.parquet"
    location.write(name, out.getvalue())
    if shard is not None and index_key() is not None:
        shard.digests = {**shard.digests, name: digest_of(out.getvalue())}
    return name


def read_table(location: Location, name: str, shard: Shard) -> Any:
    """Return a table that :func:`write_table` stored."""
    raw = location.read(name)
    if index_key() is not None:
        check_digest(location.path(name), raw, shard.digests.get(name))
    return pq.read_table(io.BytesIO(raw))


def write_sample(location: Location, sample: KeptSample) -> Sample | None:
    """Store the sample of a build; return its entry for the manifest, or ``None`` without a sample."""
    raw = sample.lines
    if not raw:
        return None
    named = describe(raw, index_key())
    location.write(named.file, raw)
    return named
