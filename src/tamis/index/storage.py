"""Store an index on disk: segment folders and one manifest that names those in force (``manifest.py``).

``save`` writes the new segments, then creates the manifest of the next version. A crash before that leaves
the previous index, a crash after it the new one. Then ``save`` removes the files that the manifest does not
name.
"""

from __future__ import annotations

import os
import shutil
import uuid
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tamis.errors import (
    IndexConflict,
    IndexCorrupt,
    IndexError_,
    IndexNotFound,
    IndexVersion,
    InputError,
)
from tamis.failpoint import failpoint
from tamis.head import ALIVE
from tamis.index.manifest import (
    PREFIXES,
    Digests,
    Entry,
    Manifest,
    Sample,
    Settings,
    Shard,
    changed_limits,
    decode,
    encode,
    limits_of,
    name_of,
    numbers_in,
)
from tamis.index.samples import check_sample, describe
from tamis.index.snapshot import Layer, Snapshot
from tamis.limits import Limits
from tamis.segment.files import ARRAYS, TABLE, open_segment, write_segment
from tamis.segment.sealed import LARGEST_JSON, check_digest, digest_of, read_file, sync_folder
from tamis.segment.segment import Segment

_FORMER = "manifest.json"  # of format version 1


class Stored(NamedTuple):
    """The folder of a segment, and the digests of its files if they were ever needed."""

    folder: Path
    digests: Digests


Places = WeakKeyDictionary[Segment, Stored]


class Particulars(NamedTuple):
    """Everything that is saved with an index beside its subscriptions."""

    settings: Settings
    sample: bytes | None = None  # JSON lines
    notes: dict[str, Any] = {}  # noqa: RUF012  (never changed)
    applied: int = 0


def settings_of(
    engine: str, parameters: dict[str, Any], limits: Limits, analysers: Mapping[str, Any]
) -> Settings:
    """Return the settings of an index that has one shard."""
    return Settings(1, engine, dict(parameters), changed_limits(limits), analysers=dict(analysers))


# -- saving ----------------------------------------------------------------------------------------------


def save(snapshot: Snapshot, path: Path, kept: Particulars, places: Places, key: bytes | None) -> None:
    """Write the layers of ``snapshot`` and the data ``kept`` with it to ``path``.

    ``places`` remembers where segments are already stored; it is brought up to date.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{path} cannot hold an index: there is a file in the way") from None
    entries = write_layers(snapshot, path, places, key)
    sample = _save_sample(kept.sample, path, key)
    failpoint("save.before_manifest")
    size = sum(len(layer.segment.arena.block) for layer in snapshot.layers)
    shard = Shard(0, entries, snapshot.count, size)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    manifest = Manifest(0, now, kept.settings, [shard], kept.applied, sample, kept.notes)
    _commit(path, manifest, key)
    failpoint("save.after_manifest")
    _collect_garbage(path, manifest)


def _commit(path: Path, manifest: Manifest, key: bytes | None) -> None:
    """Create the next version; if another process was faster, create the one after that."""
    while True:
        manifest.number = max(numbers_in(os.listdir(path)), default=0) + 1
        with suppress(IndexConflict):
            create_file(path / name_of(manifest.number), encode(manifest, key))
            return


def create_file(path: Path, data: bytes) -> None:
    """Write a file that must not exist yet, whole or not at all; of several writers one succeeds."""
    part = path.with_name(f"{path.name}.part-{uuid.uuid4().hex}")
    try:
        _write_file(part, data)
        failpoint("sealed.before_rename")
        os.link(part, path)
    except FileExistsError:
        raise IndexConflict(f"{path} was written by somebody else meanwhile") from None
    finally:
        part.unlink(missing_ok=True)
    sync_folder(path.parent)


def _write_file(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_layers(snapshot: Snapshot, path: Path, places: Places, key: bytes | None) -> list[Entry]:
    """Write the layers that ``path`` does not hold yet; return the manifest entries of all layers."""
    return [_save_layer(layer, snapshot.sequence, path, places, key) for layer in snapshot.layers]


def _save_layer(layer: Layer, sequence: int, path: Path, places: Places, key: bytes | None) -> Entry:
    stored = places.get(layer.segment)
    if stored is None or stored.folder.parent != path.resolve() or not stored.folder.exists():
        stored = Stored(path.resolve() / f"segment-{uuid.uuid4().hex}", {})
        write_segment(layer.segment, stored.folder)
    if key is not None and not stored.digests:
        # Hash the bytes in use, not the current content of the disk.
        table = digest_of(read_file(stored.folder / TABLE))
        stored = Stored(stored.folder, {TABLE: table, ARRAYS: digest_of(layer.segment.arena.block.data)})
    places[layer.segment] = stored
    digests = dict(stored.digests) if key is not None else {}
    entry = Entry(stored.folder.name, layer.segment.count, digests=digests)
    if layer.died is not None:
        _save_dead(np.flatnonzero(layer.died <= sequence).astype(np.uint32), path, entry, key)
    return entry


def _save_dead(dead: npt.NDArray[np.uint32], path: Path, entry: Entry, key: bytes | None) -> None:
    raw = dead.tobytes()
    entry.dead, entry.dead_count, entry.dead_crc32 = (
        f"dead-{uuid.uuid4().hex}.bin",
        len(dead),
        zlib.crc32(raw),
    )
    _write_file(path / entry.dead, raw)
    if key is not None:
        entry.digests["dead"] = digest_of(raw)


def _save_sample(raw: bytes | None, path: Path, key: bytes | None) -> Sample | None:
    if not raw:
        return None
    sample = describe(raw, key)
    file = path / sample.file
    if not file.is_file() or file.read_bytes() != raw:
        part = file.with_name(f"{file.name}.part-{uuid.uuid4().hex}")
        _write_file(part, raw)
        os.replace(part, file)
    return sample


def _collect_garbage(path: Path, manifest: Manifest) -> None:
    """Remove the files that the new manifest does not name; open readers keep their mappings."""
    named = {name.split("/")[0] for shard in manifest.shards for name in shard.files()}
    named |= {name_of(manifest.number), manifest.sample.file if manifest.sample else ""}
    old = [item for item in path.iterdir() if item.name not in named]
    # Manifests first: a version must never be visible without its files.
    for item in sorted(old, key=lambda item: not item.name.startswith("manifest")):
        ours = item.name == _FORMER or item.name.startswith(PREFIXES)
        newer = any(number > manifest.number for number in numbers_in([item.name]))
        if not (ours or item.name.startswith("manifest-")) or newer:
            continue
        if item.is_dir() and not item.is_symlink():
            shutil.rmtree(item, ignore_errors=True)
        else:
            item.unlink(missing_ok=True)
    sync_folder(path)


# -- opening ---------------------------------------------------------------------------------------------


class Loaded(NamedTuple):
    """An index as it was found on disk."""

    snapshot: Snapshot
    manifest: Manifest
    places: Places  # where its segments are stored
    sample: bytes | None  # JSON lines
    limits: Limits


def load(path: Path, limits: Limits | None, verify: bool, key: bytes | None) -> Loaded:
    """Open the index at ``path`` with all its shards; without ``limits`` it keeps those it was built with."""
    while True:
        number = latest(path)
        try:
            return _load(path, number, limits, verify, key)
        except IndexError_:
            # A save in the meantime may have removed files that the manifest named; then there is a newer
            # one.
            if latest(path) == number:
                raise


def latest(path: Path) -> int:
    """Return the number of the version in force."""
    try:
        names = os.listdir(path)
    except FileNotFoundError:
        raise IndexNotFound(f"there is no index at {path}: {name_of(1)} is missing") from None
    except NotADirectoryError:
        raise IndexNotFound(f"there is no index at {path}: it is not a folder") from None
    except OSError as bad:
        raise IndexError_(f"{path} cannot be read: {bad.strerror}") from None
    found = numbers_in(names)
    if not found and _FORMER in names:
        raise IndexVersion(f"{path} was written by an earlier version of Tamis; build the index again")
    if not found:
        raise IndexNotFound(f"there is no index at {path}: {name_of(1)} is missing")
    return found[-1]


def _load(path: Path, number: int, limits: Limits | None, verify: bool, key: bytes | None) -> Loaded:
    file = path / name_of(number)
    manifest = decode(read_file(file, LARGEST_JSON), file, number, key)
    limits = limits or limits_of(manifest.settings)
    layers, places = [], WeakKeyDictionary[Segment, Stored]()
    for entry in _entries(manifest):
        layer = read_layer(path, entry, limits, verify, key=key)
        layers.append(layer)
        places[layer.segment] = stored_at(path, entry)
    sample = None if manifest.sample is None else _read_sample(path, manifest.sample, key)
    return Loaded(Snapshot(1, tuple(layers), ()), manifest, places, sample, limits)


def _entries(manifest: Manifest) -> Iterator[Entry]:
    for shard in manifest.shards:
        yield from shard.segments


def _read_sample(path: Path, sample: Sample, key: bytes | None) -> bytes:
    file = path / sample.file
    try:
        raw = read_file(file)
    except IndexNotFound:
        raise IndexCorrupt(f"{file} is missing, though the manifest names it") from None
    check_sample(raw, sample, file, key)
    return raw


def stored_at(path: Path, entry: Entry) -> Stored:
    """Return the place of the segment that a manifest in ``path`` names."""
    digests = {name: entry.digests[name] for name in (TABLE, ARRAYS) if name in entry.digests}
    return Stored(path.resolve() / entry.folder, digests)


def read_layer(
    path: Path,
    entry: Entry,
    limits: Limits,
    verify: bool = False,
    known: Segment | None = None,
    key: bytes | None = None,
) -> Layer:
    """Return the layer that a manifest in ``path`` names; ``known`` is its segment if it is already open."""
    folder = path.resolve() / entry.folder
    try:
        segment = known or open_segment(folder, limits, verify, entry.digests if key is not None else None)
    except IndexNotFound:
        raise IndexCorrupt(f"{folder} is missing, though the manifest in {path} names it") from None
    if segment.count != entry.subscriptions:
        raise IndexCorrupt(f"{folder} does not hold the {entry.subscriptions} subscriptions of the manifest")
    return _layer(path, entry, segment, key)


def _layer(path: Path, entry: Entry, segment: Segment, key: bytes | None) -> Layer:
    if not entry.dead:
        return Layer(segment)
    file = path / entry.dead
    try:
        raw = read_file(file)
    except IndexNotFound:
        raise IndexCorrupt(f"{file} is missing, though the manifest names it") from None
    if key is not None:
        check_digest(file, raw, entry.digests.get("dead"))
    if len(raw) != 4 * entry.dead_count or zlib.crc32(raw) != entry.dead_crc32:
        raise IndexCorrupt(f"{file} is damaged: it does not have its length or checksum")
    dead = np.unique(np.frombuffer(raw, np.uint32))
    if len(dead) and dead[-1] >= segment.count:
        raise IndexCorrupt(f"{file} is damaged: it names a subscription that {entry.folder} does not have")
    died = np.full(segment.count, ALIVE, np.int64)
    died[dead] = 0
    return Layer(segment, died, len(dead))
