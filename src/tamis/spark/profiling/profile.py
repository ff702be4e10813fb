"""A profile on disk: tables beside a sealed manifest that names them; it appears whole or not at all."""

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
from tamis.spark.rows import piece_of
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
    """What a log of events is like; made by :func:`tamis.spark.profile`, read again by :meth:`open`.

    ``events``, ``refused`` and ``dropped`` (attributes left out for their rarity) are counts; ``table`` gives
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
        """Store a profile as ``path``; one that is there is replaced when the new one is whole."""
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
        """Where it is stored."""
        return self._location.uri

    @property
    def events(self) -> int:
        """Events that were read, refused ones included."""
        return self._manifest.events

    @property
    def refused(self) -> int:
        """Events that could not be read."""
        return self._manifest.refused

    @property
    def dropped(self) -> int:
        """How many attributes were left out, at most; 0 if all are described."""
        return self._manifest.dropped

    @property
    def made(self) -> str:
        """When it was made."""
        return self._manifest.made

    def table(self, kind: str) -> pa.Table:
        """Return one of the tables, its bytes verified."""
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
        """Return a uniform sample of the good events, as ``Index.build(sample=…)`` takes it."""
        table = self.table("sample").combine_chunks()
        batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
        return piece_of(batches[0], self._limits)

    def to_text(self) -> str:
        """Return the profile for people: a page."""
        return summary(self)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Profile {self.path!r} of {self.events:,} events>"


def _remove_others(location: Location, kept: set[str]) -> None:
    """Tables of earlier profiles, and of one that was never finished."""
    for info in location.names():
        kind = info.base_name.split("-")[0]
        if kind in TABLES and info.base_name.endswith(".parquet") and info.base_name not in kept:
            location.remove(info.base_name)
