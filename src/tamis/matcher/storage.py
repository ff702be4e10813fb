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
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tamis.errors import IndexCorrupt, IndexVersion
from tamis.index.segment.failpoint import failpoint
from tamis.index.segment.files import open_segment, read_sealed, sync_folder, write_sealed, write_segment
from tamis.index.segment.segment import Segment
from tamis.limits import Limits
from tamis.matcher.snapshot import ALIVE, Layer, Snapshot

MANIFEST = "manifest.json"
FORMAT = "tamis-index"
VERSION = 1

Places = WeakKeyDictionary[Segment, Path]


def save(snapshot: Snapshot, path: Path, engine: str, places: Places) -> None:
    """Write ``snapshot`` (without fresh subscriptions) to ``path``.

    ``places`` remembers where segments are already stored; it is brought up to date.
    """
    path.mkdir(parents=True, exist_ok=True)
    entries = [_save_layer(layer, snapshot.sequence, path, places) for layer in snapshot.layers]
    failpoint("save.before_manifest")
    body = {"format": FORMAT, "version": VERSION, "engine": engine, "segments": entries}
    write_sealed(path / MANIFEST, body)
    failpoint("save.after_manifest")
    _collect_garbage(path, entries)


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


def load(path: Path, limits: Limits, verify: bool) -> tuple[Snapshot, str, Places]:
    """Open the index at ``path``: its snapshot, engine name, and where its segments are stored."""
    body = read_sealed(path / MANIFEST)
    if body.get("format") != FORMAT or body.get("version") != VERSION:
        raise IndexVersion(
            f"{path} is of format {body.get('format')!r} version {body.get('version')!r}; this version reads "
            f"{FORMAT!r} version {VERSION}; build the index again"
        )
    layers: list[Layer] = []
    places: Places = WeakKeyDictionary()
    for entry in body["segments"]:
        folder = path.resolve() / Path(entry["folder"]).name
        segment = open_segment(folder, limits, verify)
        places[segment] = folder
        died = _load_died(path, entry, segment)
        layers.append(Layer(segment, died, 0 if died is None else int(np.count_nonzero(died != ALIVE))))
    return Snapshot(1, tuple(layers), ()), body["engine"], places


def _load_died(path: Path, entry: dict[str, Any], segment: Segment) -> npt.NDArray[np.int64] | None:
    if "dead" not in entry:
        return None
    file = path / Path(entry["dead"]).name
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        raise IndexCorrupt(f"{file} is missing") from None
    if len(raw) != 4 * entry["dead_count"] or zlib.crc32(raw) != entry["dead_crc32"]:
        raise IndexCorrupt(f"{file} is damaged: it does not have its length or checksum")
    died = np.full(segment.count, ALIVE, np.int64)
    died[np.frombuffer(raw, np.uint32)] = 0
    return died


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
