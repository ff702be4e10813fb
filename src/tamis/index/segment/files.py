"""Sealed files: how segments and manifests stand on disk.

A segment is a folder with ``arrays.bin`` (the arena, byte for byte) and ``segment.json`` (format
version, engine, and for each array its type, shape, place and checksum). JSON files are sealed: they
carry a checksum of themselves. Everything is written to a temporary name, flushed to disk and
renamed, so that a name either holds a whole file or nothing.

Every byte is verified the first time a file is opened and whenever its size or time of change
differs from what was verified; a small ``verified`` note beside the file remembers. So an index opens
in milliseconds, yet a torn or altered file is refused.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tamis.errors import IndexCorrupt, IndexNotFound, IndexVersion
from tamis.failpoint import failpoint
from tamis.index.arena import ALIGNMENT, Arena, Slot
from tamis.index.engines import NAMES
from tamis.index.segment.schema import check_slot, required
from tamis.index.segment.segment import Segment
from tamis.limits import Limits

FORMAT = "tamis-segment"
VERSION = 2
LARGEST_JSON = 64 << 20


def write_segment(segment: Segment, folder: Path) -> None:
    """Write ``segment`` as ``folder``; the folder appears only when it is whole."""
    part = folder.with_name(folder.name + ".part")
    part.mkdir(parents=True)
    arrays = part / "arrays.bin"
    with arrays.open("wb") as file:
        file.write(segment.arena.block.data)
        failpoint("segment.arrays_written")
        file.flush()
        os.fsync(file.fileno())
    table = {
        name: [slot.dtype, list(slot.shape), slot.offset, slot.nbytes, _checksum(segment.arena.block, slot)]
        for name, slot in segment.arena.slots.items()
    }
    body = {
        "format": FORMAT,
        "version": VERSION,
        "engine": segment.engine_name,
        "length": len(segment.arena.block),
        "arrays": table,
    }
    write_sealed(part / "segment.json", body)
    _note_verified(arrays, body)
    failpoint("segment.before_rename")
    os.replace(part, folder)
    sync_folder(folder.parent)


def open_segment(folder: Path, limits: Limits, verify: bool = False) -> Segment:
    """Memory-map the segment in ``folder``."""
    body = read_sealed(folder / "segment.json")
    if body.get("format") != FORMAT or body.get("version") != VERSION:
        raise IndexVersion(
            f"{folder} is of format {body.get('format')!r} version {body.get('version')!r}; "
            f"this version reads {FORMAT!r} version {VERSION}; build the index again"
        )
    if body.get("engine") not in NAMES:
        raise IndexVersion(
            f"{folder} needs the engine {body.get('engine')!r}; this version has {', '.join(NAMES)}"
        )
    path = folder / "arrays.bin"
    table = _read_table(folder / "segment.json", body)
    slots = {name: Slot(*entry[:4]) for name, entry in table.arrays.items()}
    segment = Segment(Arena(_map(path, table.length), slots), table.engine, limits)
    if verify or not _is_verified(path, body):
        _verify(path, table, segment)
        _note_verified(path, body)
    return segment


class _Table(msgspec.Struct):
    """What stands in segment.json; an array is (type, shape, offset, bytes, checksum)."""

    engine: str
    length: int
    arrays: dict[str, tuple[str, tuple[int, ...], int, int, int]]


def _read_table(path: Path, body: dict[str, Any]) -> _Table:
    """The table of arrays, every length checked before anything is allocated or viewed."""
    try:
        table = msgspec.convert(body, _Table)
        for name, entry in table.arrays.items():
            check_slot(name, Slot(*entry[:4]), table.length)
    except (msgspec.ValidationError, TypeError, ValueError, SyntaxError, IndexCorrupt) as bad:
        raise IndexCorrupt(f"{path} is damaged: {bad}") from None
    if missing := sorted(required() - table.arrays.keys()):
        raise IndexCorrupt(f"{path} is damaged: it has no array {missing[0]!r}")
    return table


def _verify(path: Path, table: _Table, segment: Segment) -> None:
    """Read every byte; then what the bytes say is checked, since a checksum is easily forged."""
    for name, entry in table.arrays.items():
        if _checksum(segment.arena.block, segment.arena.slots[name]) != entry[4]:
            raise IndexCorrupt(f"{path} is damaged: array {name!r} does not have its checksum")
    try:
        segment.check()
    except (IndexCorrupt, IndexError, ValueError, OverflowError) as bad:
        raise IndexCorrupt(f"{path}: {bad}") from None


def _map(path: Path, length: int) -> Any:
    try:
        with path.open("rb") as file:
            actual = os.fstat(file.fileno()).st_size
            if actual != length:
                raise IndexCorrupt(f"{path} is torn: it has {actual} bytes instead of {length}")
            if length == 0:
                return np.zeros(0, np.uint8)
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except FileNotFoundError:
        raise IndexCorrupt(f"{path} is missing") from None
    except OSError as bad:
        raise IndexCorrupt(f"{path} cannot be read: {bad.strerror}") from None


def _checksum(block: Any, slot: Slot) -> int:
    """Of an array and the padding behind it, so that no byte of the file is left out."""
    end = -(-(slot.offset + slot.nbytes) // ALIGNMENT) * ALIGNMENT
    return zlib.crc32(memoryview(block[slot.offset : end]))


def _fingerprint(path: Path, body: dict[str, Any]) -> str:
    status = path.stat()
    seal = zlib.crc32(json.dumps(body, sort_keys=True).encode())
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino} {seal}"


def _note_verified(path: Path, body: dict[str, Any]) -> None:
    with suppress(OSError):  # a read-only place is verified again at every open
        path.with_name("verified").write_text(_fingerprint(path, body))


def _is_verified(path: Path, body: dict[str, Any]) -> bool:
    try:
        return path.with_name("verified").read_text() == _fingerprint(path, body)
    except (OSError, UnicodeDecodeError):
        return False


def write_sealed(path: Path, body: dict[str, Any]) -> None:
    """Write ``body`` as JSON with its checksum, atomically."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(seal(body))
        file.flush()
        os.fsync(file.fileno())
    failpoint("sealed.before_rename")
    os.replace(part, path)
    sync_folder(path.parent)


def seal(body: dict[str, Any]) -> bytes:
    """``body`` as JSON with its checksum."""
    text = json.dumps(body, separators=(",", ":"))
    return json.dumps({"crc32": zlib.crc32(text.encode()), "body": text}).encode()


def read_sealed(path: Path) -> dict[str, Any]:
    """Read what :func:`write_sealed` wrote, or say what is wrong with it."""
    try:
        if path.stat().st_size > LARGEST_JSON:
            raise IndexCorrupt(f"{path} is damaged: it is larger than any manifest")
        return unseal(path.read_bytes(), path)
    except FileNotFoundError:
        raise IndexNotFound(f"there is no index at {path.parent}: {path.name} is missing") from None
    except NotADirectoryError:
        raise IndexNotFound(f"there is no index at {path.parent}: it is not a folder") from None
    except OSError as bad:
        raise IndexCorrupt(f"{path} cannot be read: {bad.strerror}") from None


def unseal(sealed: bytes, path: Any) -> dict[str, Any]:
    """The body that :func:`seal` sealed; ``path`` is for the message if it cannot be."""
    try:
        outer = json.loads(sealed)
        text = outer["body"]
        sound = zlib.crc32(text.encode()) == outer["crc32"]
        body = json.loads(text) if sound else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise IndexCorrupt(f"{path} is damaged: it is not a sealed JSON file") from None
    if not sound:
        raise IndexCorrupt(f"{path} is damaged: it does not have its checksum")
    if not isinstance(body, dict):
        raise IndexCorrupt(f"{path} is damaged: it holds no object")
    return body


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
