"""Storing what a shard is made of, where it is going to be looked for."""

from __future__ import annotations

import io
import uuid
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.matcher.storage import Entry
from tamis.matcher.writer import Writer
from tamis.shards.cache import home_of
from tamis.shards.manifest import Shard
from tamis.shards.place import Place


def store_layers(place: Place, writer: Writer, shard: Shard) -> Shard:
    """``shard`` with the segments that ``writer`` holds; those that are new are written and sent there."""
    home = home_of(place)
    home.mkdir(parents=True, exist_ok=True)
    entries = [msgspec.convert(entry, Entry) for entry in writer.write_layers(home)]
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


def write_table(place: Place, kind: str, table: pa.Table) -> str:
    """Store a table that goes with a shard; returns its name."""
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    name = f"{kind}-{uuid.uuid4().hex}.parquet"
    place.write(name, out.getvalue())
    return name


def read_table(place: Place, name: str) -> Any:
    """A table that :func:`write_table` stored."""
    return pq.read_table(io.BytesIO(place.read(name)))
