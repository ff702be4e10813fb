"""Storing what a shard is made of, where it is going to be looked for."""

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
from tamis.shards.place import Place


def store_layers(place: Place, writer: Writer, shard: Shard) -> Shard:
    """``shard`` with the segments that ``writer`` holds; those that are new are written and sent there."""
    home = home_of(place)
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
    if place.local is None:
        for name in shard.files():
            if name not in there:
                place.upload(home / name, name)
    return shard


def write_table(place: Place, kind: str, table: pa.Table, shard: Shard | None = None) -> str:
    """Store a table, perhaps of a shard; returns its name. With a key the shard holds its digest."""
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    name = f"{kind}-{uuid.uuid4().hex}.parquet"
    place.write(name, out.getvalue())
    if shard is not None and index_key() is not None:
        shard.digests = {**shard.digests, name: digest_of(out.getvalue())}
    return name


def read_table(place: Place, name: str, shard: Shard) -> Any:
    """Return a table that :func:`write_table` stored."""
    raw = place.read(name)
    if index_key() is not None:
        check_digest(place.path(name), raw, shard.digests.get(name))
    return pq.read_table(io.BytesIO(raw))


def write_sample(place: Place, sample: KeptSample) -> Sample | None:
    """Store the sample of a build; returns how a manifest names it."""
    raw = sample.lines
    if not raw:
        return None
    named = describe(raw, index_key())
    place.write(named.file, raw)
    return named
