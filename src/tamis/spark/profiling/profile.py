"""A stored profile: tables beside a sealed manifest that names them; it is written atomically."""

from __future__ import annotations

import io
import zlib
from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.errors import IndexCorrupt, IndexNotFound, IndexVersion, InputError
from tamis.failpoint import failpoint
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.segment.sealed import seal, unseal
from tamis.shards.location import Location
from tamis.shards.shard_files import write_table
from tamis.spark.profiling.collect import Total
from tamis.spark.profiling.summary import summary
from tamis.spark.rows import events_in
from tamis.values.value import format_time

FORMAT, VERSION = "tamis-profile", 1
MANIFEST = "profile.json"
TABLES = ("attributes", "values", "quantiles", "terms", "pairs", "sample")


class _File(msgspec.Struct):
    name: str
    crc32: int
    rows: int


class _Manifest(msgspec.Struct):
    events: int
    refused: int
    dropped: int
    made: str
    tables: dict[str, _File]


class Profile:
    """The profile of a log of events; :func:`tamis.spark.profile` creates it, :meth:`open` reads it.

    ``events``, ``refused`` and ``dropped`` (rare attributes that were left out) are counts; ``table`` returns
    the Arrow tables ``attributes``, ``values``, ``quantiles``, ``terms``, ``pairs`` and ``sample``.
    """

    def __init__(self, location: Location, manifest: _Manifest, limits: Limits = DEFAULT_LIMITS) -> None:
        self._location, self._manifest, self._limits = location, manifest, limits
        self._tables: dict[str, pa.Table] = {}

    @classmethod
    def open(cls, path: str, *, limits: Limits = DEFAULT_LIMITS) -> Profile:
        """Return the profile at ``path``."""
        location = Location(path)
        try:
            body = unseal(location.read(MANIFEST), location.path(MANIFEST))
        except IndexNotFound:
            raise InputError(
                f"there is no profile at {path}; 'tamis spark profile' or tamis.spark.profile makes one"
            ) from None
        if (body.get("format"), body.get("version")) != (FORMAT, VERSION):
            raise IndexVersion(
                f"{path} is of format {body.get('format')!r} version {body.get('version')!r}; this version"
                f" reads {FORMAT!r} version {VERSION}; make the profile again"
            )
        try:
            return cls(location, msgspec.convert(body["profile"], _Manifest), limits)
        except (KeyError, msgspec.ValidationError) as bad:
            raise IndexCorrupt(f"{location.path(MANIFEST)} is damaged: {bad}") from None

    @classmethod
    def write(cls, path: str, total: Total, tables: dict[str, pa.Table]) -> Profile:
        """Store a profile at ``path``; an existing one is replaced when the new one is complete."""
        location = Location(path)
        files = {}
        for kind in TABLES:
            name = write_table(location, kind, tables[kind])
            files[kind] = _File(name, zlib.crc32(location.read(name)), tables[kind].num_rows)
        made = format_time(datetime.now(UTC))
        manifest = _Manifest(total.events, total.refused, total.dropped, made, files)
        body = {"format": FORMAT, "version": VERSION, "profile": msgspec.to_builtins(manifest)}
        failpoint("profile.before_commit")
        location.write(MANIFEST, seal(body))
        _remove_others(location, {file.name for file in files.values()})
        return cls(location, manifest)

    @property
    def path(self) -> str:
        """The path of the profile."""
        return self._location.uri

    @property
    def events(self) -> int:
        """The number of events read, including refused ones."""
        return self._manifest.events

    @property
    def refused(self) -> int:
        """The number of events that could not be read."""
        return self._manifest.refused

    @property
    def dropped(self) -> int:
        """The greatest possible number of attributes left out; 0 if all are described."""
        return self._manifest.dropped

    @property
    def made(self) -> str:
        """The time at which it was created."""
        return self._manifest.made

    def table(self, kind: str) -> pa.Table:
        """Return one of the tables, after verifying its bytes."""
        if kind not in TABLES:
            raise InputError(f"a profile has no table {kind!r}; it has {', '.join(TABLES)}")
        if kind not in self._tables:
            file = self._manifest.tables[kind]
            data = self._location.read(file.name)
            if zlib.crc32(data) != file.crc32:
                raise IndexCorrupt(
                    f"{self._location.path(file.name)} is damaged: it does not have its checksum"
                )
            self._tables[kind] = pq.read_table(io.BytesIO(data))
        return self._tables[kind]

    def sample(self) -> pa.Table | list[Any]:
        """Return a uniform sample of the good events, for ``Index.build(sample=…)``."""
        table = self.table("sample").combine_chunks()
        batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
        return events_in(batches[0], self._limits)

    def to_text(self) -> str:
        """Return the profile as a page of text."""
        return summary(self)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Profile {self.path!r} of {self.events:,} events>"


def _remove_others(location: Location, kept: set[str]) -> None:
    """Remove the tables of earlier and unfinished profiles."""
    for info in location.names():
        kind = info.base_name.split("-")[0]
        if kind in TABLES and info.base_name.endswith(".parquet") and info.base_name not in kept:
            location.remove(info.base_name)
