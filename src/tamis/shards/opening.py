"""Opening: some or all shards of a version as one index, mapped once per process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from tamis.errors import InputError
from tamis.index.index import Index
from tamis.index.manifest import Entry, limits_of
from tamis.index.samples import KeptSample, check_sample
from tamis.index.snapshot import Layer, Snapshot
from tamis.index.storage import Places, read_layer, stored_at
from tamis.index.writer import Writer
from tamis.limits import Limits
from tamis.segment import Segment
from tamis.segment.sealed import index_key
from tamis.shards.cache import fetch
from tamis.shards.manifest import Manifest, Settings, Shard, current
from tamis.shards.place import Place

_KEPT = 4  # opened indexes: the version in force, the one before, and perhaps other shards

_Key = tuple[str, int, tuple[int, ...]]
_opened: OrderedDict[_Key, Index] = OrderedDict()
_segments: WeakValueDictionary[tuple[str, str], Segment] = WeakValueDictionary()
_samples: OrderedDict[tuple[str, str], KeptSample] = OrderedDict()
_lock = threading.Lock()


def open_shards(path: str, *, version: int | None = None, shards: Sequence[int] | None = None) -> Index:
    """Return the index at ``path``, or some of its shards, in a version or as it is now.

    What was opened before in this process is used again; a new version maps only the segments that the
    ones before it did not have.
    """
    place = Place(path)
    manifest = None if version is not None else current(place)
    number = version if manifest is None else manifest.number
    key = (place.uri, int(number or 0), tuple(shards) if shards is not None else ())
    with _lock:
        if key in _opened:
            _opened.move_to_end(key)
            return _opened[key]
        index = _open(place, manifest or current(place, number), shards)
        _opened[key] = index
        if len(_opened) > _KEPT:
            _opened.popitem(last=False)
        return index


def _open(place: Place, manifest: Manifest, shards: Sequence[int] | None) -> Index:
    chosen = manifest.shards if shards is None else [_shard(place, manifest, number) for number in shards]
    limits = limits_of(manifest.settings)
    layers = [layer for shard in chosen for layer in _layers(place, shard, limits)]
    # Nobody merges what a worker has opened, so the sample stays where it is.
    return Index(_writer(layers, WeakKeyDictionary(), manifest.settings), notes=manifest.notes)


def _shard(place: Place, manifest: Manifest, number: int) -> Shard:
    for shard in manifest.shards:
        if shard.number == number:
            return shard
    raise InputError(f"{place.uri} has no shard {number}; it has {len(manifest.shards)}")


def open_to_change(place: Place, shard: Shard, settings: Settings, sample: Any = None) -> Writer:
    """Return one shard to be changed; it knows which of its segments are stored where."""
    layers = _layers(place, shard, limits_of(settings))
    home, places = fetch(place, shard), Places()
    for layer, entry in zip(layers, shard.segments, strict=True):
        places[layer.segment] = stored_at(home, entry)
    return _writer(layers, places, settings, sample)


def _layers(place: Place, shard: Shard, limits: Limits) -> list[Layer]:
    home = fetch(place, shard)
    key = index_key()
    layers = [
        read_layer(home, entry, limits, known=_known(place, entry), key=key) for entry in shard.segments
    ]
    for layer, entry in zip(layers, shard.segments, strict=True):
        _segments[place.uri, entry.folder] = layer.segment
    return layers


def _known(place: Place, entry: Entry) -> Segment | None:
    return _segments.get((place.uri, entry.folder))


def _writer(layers: list[Layer], places: Places, settings: Settings, sample: Any = None) -> Writer:
    writer = Writer(settings.engine, dict(settings.parameters), limits_of(settings), sample)
    writer.restore(Snapshot(1, tuple(layers), ()), places)
    return writer


def sample_of(place: Place, manifest: Manifest) -> KeptSample:
    """Return the sample that a version was laid out for; read once, since versions share it."""
    limits, sample = limits_of(manifest.settings), manifest.sample
    if sample is None:
        return KeptSample(None, limits)
    key = (place.uri, sample.file)
    with _lock:
        found = _samples.get(key)
    if found is None:
        raw = place.read(sample.file)
        check_sample(raw, sample, place.path(sample.file), index_key())
        found = KeptSample.of_lines(raw, limits)
        with _lock:
            _samples[key] = found
            while len(_samples) > _KEPT:
                _samples.popitem(last=False)
    return found
