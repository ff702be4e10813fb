"""Write segments to disk and open them.

A segment is a folder with ``arrays.bin`` (the arena, byte for byte) and ``segment.json`` (format version,
engine, and for each array its type, shape, place and checksum), a sealed file. Every file is written to a
temporary name, flushed to disk and renamed, so that a name either holds a whole file or nothing.

Every byte is verified the first time a file is opened and whenever it may have changed since
(``verified.py``). So an index opens in milliseconds, yet a torn or altered file is refused.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tamis.columns.rows import analysers_in
from tamis.engines.arena import ALIGNMENT, Arena, Slot
from tamis.engines.engines import NAMES
from tamis.errors import IndexCorrupt, IndexError_, IndexNotFound, IndexVersion
from tamis.failpoint import failpoint
from tamis.limits import Limits
from tamis.segment.schema import FORMS, check_slot
from tamis.segment.sealed import (
    LARGEST_JSON,
    check_digest,
    open_file,
    read_file,
    sync_folder,
    unseal,
    write_sealed,
)
from tamis.segment.segment import READABLE, SINCE, Segment
from tamis.segment.source import Source, checksum
from tamis.segment.verified import is_verified, note_verified
from tamis.values.analysis import check_fingerprints, fingerprints_of

FORMAT = "tamis-segment"
ARRAYS, TABLE = "arrays.bin", "segment.json"

Digests = dict[str, str]
"""Strong digests of the files of a segment, by name, as a signed manifest holds them."""


def write_segment(segment: Segment, folder: Path) -> None:
    """Write ``segment`` as ``folder``; the folder appears only when it is complete."""
    part = folder.with_name(folder.name + ".part")
    part.mkdir(parents=True)
    arrays = part / ARRAYS
    with arrays.open("wb") as file:
        file.write(segment.arena.block.data)
        failpoint("segment.arrays_written")
        file.flush()
        os.fsync(file.fileno())
    block = segment.arena.block
    table = {
        name: [slot.dtype, list(slot.shape), slot.offset, slot.nbytes, checksum(block, slot)]
        for name, slot in segment.arena.slots.items()
    }
    body = {
        "format": FORMAT,
        "version": segment.version_of_format,
        "engine": segment.engine_name,
        "length": len(segment.arena.block),
        "analysers": fingerprints_of(analysers_in(segment.columns)),
        "arrays": table,
    }
    write_sealed(part / TABLE, body)
    note_verified(arrays, read_file(part / TABLE))
    failpoint("segment.before_rename")
    os.replace(part, folder)
    sync_folder(folder.parent)


def open_segment(
    folder: Path, limits: Limits, verify: bool = False, digests: Digests | None = None
) -> Segment:
    """Memory-map the segment in ``folder``; if there are ``digests``, its files must match them."""
    try:
        return _open(folder, limits, verify, digests)
    except IndexError_:
        raise
    except Exception as bad:  # a forged file may raise any error; each means damage
        raise IndexCorrupt(f"{folder} is damaged: {type(bad).__name__}: {bad}") from bad


def _open(folder: Path, limits: Limits, verify: bool, digests: Digests | None) -> Segment:
    sealed = read_file(folder / TABLE, LARGEST_JSON)
    if digests is not None:
        check_digest(folder / TABLE, sealed, digests.get(TABLE))
    body = unseal(sealed, folder / TABLE)
    if body.get("format") != FORMAT or body.get("version") not in READABLE:
        raise IndexVersion(
            f"{folder} is of format {body.get('format')!r} version {body.get('version')!r}; "
            f"this version reads {FORMAT!r} {', '.join(map(str, READABLE))}; build the index again"
        )
    if body.get("engine") not in NAMES:
        raise IndexVersion(
            f"{folder} needs the engine {body.get('engine')!r}; this version has {', '.join(NAMES)}"
        )
    if body["version"] < SINCE.get(body["engine"], 0):
        raise IndexVersion(
            f"{folder} has arrays of the engine {body['engine']!r} in format version {body['version']}; "
            f"this version reads them from version {SINCE[body['engine']]} on; build the index again"
        )
    path = folder / ARRAYS
    table = _read_table(folder / TABLE, body)
    check_fingerprints(table.analysers, folder)
    slots = {name: Slot(*entry[:4]) for name, entry in table.arrays.items()}
    block, mapping = _map(path, table.length)
    source = Source(path, mapping, {name: entry[4] for name, entry in table.arrays.items()}, digests)
    segment = Segment(Arena(block, slots), table.engine, limits, source, body["version"])
    if digests is not None or verify or not is_verified(path, sealed):
        segment.check()
        note_verified(path, sealed)
    return segment


class _Table(msgspec.Struct):
    """The content of segment.json; an array is (type, shape, offset, bytes, checksum)."""

    engine: str
    length: int
    arrays: dict[str, tuple[str, tuple[int, ...], int, int, int]]
    analysers: dict[str, str] = {}  # fingerprints of the terms that they made


def _read_table(path: Path, body: dict[str, Any]) -> _Table:
    """Return the table of arrays; every length is checked before anything is allocated or viewed."""
    try:
        table = msgspec.convert(body, _Table)
        if table.length < 0 or table.length % ALIGNMENT:
            raise IndexCorrupt(f"its arrays cannot have {table.length} bytes")
        for name, entry in table.arrays.items():
            check_slot(name, Slot(*entry[:4]), table.length)
    except (msgspec.ValidationError, TypeError, ValueError, SyntaxError, IndexCorrupt) as bad:
        raise IndexCorrupt(f"{path} is damaged: {bad}") from None
    if missing := sorted(FORMS.keys() - table.arrays.keys()):
        raise IndexCorrupt(f"{path} is damaged: it has no array {missing[0]!r}")
    return table


def _map(path: Path, length: int) -> tuple[Any, mmap.mmap | None]:
    try:
        handle = open_file(path)
    except IndexNotFound:
        raise IndexCorrupt(f"{path} is missing") from None
    try:
        actual = os.fstat(handle).st_size
        if actual != length:
            raise IndexCorrupt(f"{path} is torn: it has {actual} bytes instead of {length}")
        if length == 0:
            return np.zeros(0, np.uint8), None
        mapping = mmap.mmap(handle, length, access=mmap.ACCESS_READ)
        return np.frombuffer(mapping, np.uint8), mapping
    except OSError as bad:
        raise IndexCorrupt(f"{path} cannot be read: {bad.strerror}") from None
    finally:
        os.close(handle)
