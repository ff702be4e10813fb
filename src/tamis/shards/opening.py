"""Opens some or all shards of a version as one index, mapped once per process."""

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
from tamis.shards.location import Location
from tamis.shards.manifest import Manifest, Settings, Shard, current
from tamis.values.analysis import clean_analysers

_KEPT = 4  # opened indexes: the current version, the previous one, and perhaps other shards

_Key = tuple[str, int, tuple[int, ...]]
_opened: OrderedDict[_Key, Index] = OrderedDict()
_segments: WeakValueDictionary[tuple[str, str], Segment] = WeakValueDictionary()
_samples: OrderedDict[tuple[str, str], KeptSample] = OrderedDict()
_lock = threading.Lock()


def open_shards(path: str, *, version: int | None = None, shards: Sequence[int] | None = None) -> Index:
    """Return the index at ``path``, or some of its shards, in a given version or the current one.

    An index that was opened before in this process is reused; a new version maps only its new segments.
    """
    location = Location(path)
    manifest = None if version is not None else current(location)
    number = version if manifest is None else manifest.number
    key = (location.uri, int(number or 0), tuple(shards) if shards is not None else ())
    with _lock:
        if key in _opened:
            _opened.move_to_end(key)
            return _opened[key]
        index = _open(location, manifest or current(location, number), shards)
        _opened[key] = index
        if len(_opened) > _KEPT:
            _opened.popitem(last=False)
        return index


def _open(location: Location, manifest: Manifest, shards: Sequence[int] | None) -> Index:
    chosen = manifest.shards if shards is None else [_shard(location, manifest, number) for number in shards]
    limits = limits_of(manifest.settings)
    layers = [layer for shard in chosen for layer in _layers(location, shard, limits)]
    # A worker never merges its index, so it does not need the sample.
    return Index(_writer(layers, WeakKeyDictionary(), manifest.settings), notes=manifest.notes)


def _shard(location: Location, manifest: Manifest, number: int) -> Shard:
    for shard in manifest.shards:
        if shard.number == number:
            return shard
    raise InputError(f"{location.uri} has no shard {number}; it has {len(manifest.shards)}")


def open_to_change(location: Location, shard: Shard, settings: Settings, sample: Any = None) -> Writer:
    """Open one shard to change it; the writer knows where each of its segments is stored."""
    layers = _layers(location, shard, limits_of(settings))
    home, places = fetch(location, shard), Places()
    for layer, entry in zip(layers, shard.segments, strict=True):
        places[layer.segment] = stored_at(home, entry)
    return _writer(layers, places, settings, sample)


def _layers(location: Location, shard: Shard, limits: Limits) -> list[Layer]:
    home = fetch(location, shard)
    key = index_key()
    layers = [
        read_layer(home, entry, limits, known=_known(location, entry), key=key) for entry in shard.segments
    ]
    for layer, entry in zip(layers, shard.segments, strict=True):
        _segments[location.uri, entry.folder] = layer.segment
    return layers


def _known(location: Location, entry: Entry) -> Segment | None:
    return _segments.get((location.uri, entry.folder))


def _writer(layers: list[Layer], places: Places, settings: Settings, sample: Any = None) -> Writer:
    analysers = clean_analysers(settings.analysers)
    parameters, limits = dict(settings.parameters), limits_of(settings)
    writer = Writer(settings.engine, parameters, limits, sample, analysers=analysers)
    writer.restore(Snapshot(1, tuple(layers), ()), places)
    return writer


def sample_of(location: Location, manifest: Manifest) -> KeptSample:
    """Return the sample that a version was laid out for; it is read once, since versions share it."""
    limits, sample = limits_of(manifest.settings), manifest.sample
    if sample is None:
        return KeptSample(None, limits)
    key = (location.uri, sample.file)
    with _lock:
        found = _samples.get(key)
    if found is None:
        raw = location.read(sample.file)
        check_sample(raw, sample, location.path(sample.file), index_key())
        found = KeptSample.of_lines(raw, limits)
        with _lock:
            _samples[key] = found
            while len(_samples) > _KEPT:
                _samples.popitem(last=False)
    return found
