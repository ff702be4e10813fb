"""An index on disk: segment folders and one manifest that names the ones in force.

``save`` writes what is new, then swaps the manifest by one rename; a crash before the rename leaves
the previous index, a crash after it the new one. Folders that no manifest names are removed at the
next save.
"""

from __future__ import annotations

import os
import shutil
import uuid
import zlib
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.errors import IndexCorrupt, IndexError_, IndexNotFound, IndexVersion
from tamis.failpoint import failpoint
from tamis.index.engines import NAMES
from tamis.index.segment.files import open_segment, write_segment
from tamis.index.segment.sealed import read_sealed, sync_folder, write_sealed
from tamis.index.segment.segment import Segment
from tamis.limits import Limits
from tamis.matcher.snapshot import ALIVE, Layer, Snapshot

MANIFEST = "manifest.json"
FORMAT = "tamis-index"
VERSION = 1

Places = WeakKeyDictionary[Segment, Path]


def save(
    snapshot: Snapshot, path: Path, engine: str, places: Places, notes: dict[str, Any] | None = None
) -> None:
    """Write ``snapshot`` (without fresh subscriptions) to ``path``, and ``notes`` (JSON) with it.

    ``places`` remembers where segments are already stored; it is brought up to date.
    """
    path.mkdir(parents=True, exist_ok=True)
    entries = write_layers(snapshot, path, places)
    failpoint("save.before_manifest")
    body = {
        "format": FORMAT,
        "version": VERSION,
        "engine": engine,
        "segments": entries,
        "notes": notes or {},
    }
    write_sealed(path / MANIFEST, body)
    failpoint("save.after_manifest")
    _collect_garbage(path, entries)


def write_layers(snapshot: Snapshot, path: Path, places: Places) -> list[dict[str, Any]]:
    """Write the layers that ``path`` does not hold yet; returns how a manifest names them all."""
    return [_save_layer(layer, snapshot.sequence, path, places) for layer in snapshot.layers]


def _save_layer(layer: Layer, sequence: int, path: Path, places: Places) -> dict[str, Any]:
    folder = places.get(layer.segment)
    if folder is None or folder.parent != path.resolve() or not folder.exists():
        folder = path.resolve() / f"segment-{uuid.uuid4().hex}"
        write_segment(layer.segment, folder)
        places[layer.segment] = folder
    entry: dict[str, Any] = {"folder": folder.name, "subscriptions": layer.segment.count}
    if layer.died is not None:
        dead = np.flatnonzero(layer.died <= sequence).astype(np.uint32)
        entry |= _save_dead(dead, path)
    return entry


def _save_dead(dead: npt.NDArray[np.uint32], path: Path) -> dict[str, Any]:
    name = f"dead-{uuid.uuid4().hex}.bin"
    with (path / name).open("wb") as file:
        file.write(dead.tobytes())
        file.flush()
        os.fsync(file.fileno())
    return {"dead": name, "dead_count": len(dead), "dead_crc32": zlib.crc32(dead.tobytes())}


class Entry(msgspec.Struct):
    """A segment as a manifest names it, with the list of what was removed from it."""

    folder: str
    subscriptions: int
    dead: str = ""
    dead_count: int = 0
    dead_crc32: int = 0


class _Manifest(msgspec.Struct):
    engine: str
    segments: list[Entry]
    notes: dict[str, Any] = {}


class Loaded(NamedTuple):
    """An index as it was found."""

    snapshot: Snapshot
    engine: str
    places: Places  # where its segments are stored
    notes: dict[str, Any]


def load(path: Path, limits: Limits, verify: bool) -> Loaded:
    """Open the index at ``path``."""
    while True:
        body = read_sealed(path / MANIFEST)
        try:
            return _load(path, body, limits, verify)
        except IndexError_:
            # A save in the meantime may have removed what the manifest named; then there is a newer one.
            if read_sealed(path / MANIFEST) == body:
                raise


def _load(path: Path, body: dict[str, Any], limits: Limits, verify: bool) -> Loaded:
    if body.get("format") != FORMAT or body.get("version") != VERSION:
        raise IndexVersion(
            f"{path} is of format {body.get('format')!r} version {body.get('version')!r}; this version reads "
            f"{FORMAT!r} version {VERSION}; build the index again"
        )
    try:
        manifest = msgspec.convert(body, _Manifest)
    except msgspec.ValidationError as bad:
        raise IndexCorrupt(f"{path / MANIFEST} is damaged: {bad}") from None
    if manifest.engine not in NAMES:
        raise IndexVersion(
            f"{path} needs the engine {manifest.engine!r}; this version has {', '.join(NAMES)}"
        )
    layers = [read_layer(path, entry, limits, verify) for entry in manifest.segments]
    places = places_of(layers, manifest.segments, path)
    return Loaded(Snapshot(1, tuple(layers), ()), manifest.engine, places, manifest.notes)


def places_of(layers: list[Layer], entries: list[Entry], path: Path) -> Places:
    """Where the segments of layers that were read from ``path`` are stored."""
    places: Places = WeakKeyDictionary()
    for layer, entry in zip(layers, entries, strict=True):
        places[layer.segment] = _folder(path, entry)
    return places


def _folder(path: Path, entry: Entry) -> Path:
    return path.resolve() / Path(entry.folder).name  # a forged name leads nowhere else


def read_layer(
    path: Path, entry: Entry, limits: Limits, verify: bool = False, known: Segment | None = None
) -> Layer:
    """The layer that a manifest in ``path`` names; ``known`` is its segment if that is open already."""
    folder = _folder(path, entry)
    try:
        segment = known or open_segment(folder, limits, verify)
    except IndexNotFound:
        raise IndexCorrupt(f"{folder} is missing, though the manifest in {path} names it") from None
    if segment.count != entry.subscriptions:
        raise IndexCorrupt(f"{folder} does not hold the {entry.subscriptions} subscriptions of the manifest")
    return _layer(path, entry, segment)


def _layer(path: Path, entry: Entry, segment: Segment) -> Layer:
    if not entry.dead:
        return Layer(segment)
    file = path / Path(entry.dead).name
    try:
        raw = file.read_bytes()
    except OSError as bad:
        raise IndexCorrupt(f"{file} is missing or cannot be read: {bad.strerror}") from None
    if len(raw) != 4 * entry.dead_count or zlib.crc32(raw) != entry.dead_crc32:
        raise IndexCorrupt(f"{file} is damaged: it does not have its length or checksum")
    dead = np.unique(np.frombuffer(raw, np.uint32))
    if len(dead) and dead[-1] >= segment.count:
        raise IndexCorrupt(f"{file} is damaged: it names a subscription that {entry.folder} does not have")
    died = np.full(segment.count, ALIVE, np.int64)
    died[dead] = 0
    return Layer(segment, died, len(dead))


def _collect_garbage(path: Path, entries: list[dict[str, Any]]) -> None:
    """Remove what the manifest just written does not name; open readers keep their mappings."""
    named = {entry["folder"] for entry in entries} | {entry.get("dead") for entry in entries}
    for item in path.iterdir():
        if item.name in named:
            continue
        if item.name.startswith("segment-"):
            shutil.rmtree(item, ignore_errors=True)
        elif item.name.startswith("dead-"):
            item.unlink(missing_ok=True)
    sync_folder(path)
