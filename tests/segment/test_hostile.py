"""Test files written on purpose: foreign JSON, other versions, unknown engines, false types and lengths."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tamis import Index
from tamis.errors import IndexCorrupt, IndexVersion
from tests.segment.corrupt import REFUSALS, answers, damaged, manifest_of, reseal, saved


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("hostile") / "original")


FOREIGN = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"7",
    b'"text"',
    b"{}",
    b'{"body": 5, "crc32": 0}',
    b'{"body": "{}", "crc32": "0"}',
    b'{"body": "[]", "crc32": 223132457}',
    b'{"body": null, "crc32": null}',
    b"\xff\xfe",
    b"[" * 200_000,
    json.dumps({"body": "[" * 200_000, "crc32": zlib.crc32(b"[" * 200_000)}).encode(),
    b'{"name": "package", "version": "1.0"}',
]


@pytest.mark.parametrize("place", ["manifest-0000000001.json", "segment.json"])
@pytest.mark.parametrize("content", FOREIGN, ids=lambda raw: repr(raw[:24]))
def test_foreign_json_is_refused_by_name(original: Path, tmp_path: Path, place: str, content: bytes) -> None:
    copy = damaged(original, tmp_path / "copy", lambda c: next(c.rglob(place)).write_bytes(content) and None)
    with pytest.raises(IndexCorrupt, match=place):
        Index.open(copy)


def _entry(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda body: body["manifest"]["shards"][0]["segments"][0].update(**fields)


def _shard(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda body: body["manifest"]["shards"][0].update(**fields)


def _settings(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda body: body["manifest"]["settings"].update(**fields)


def _manifest(**fields: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda body: body["manifest"].update(**fields)


ELSEWHERE = ("../../etc", "/etc/hostname", ".", "..", "", "segment-0", "a/b", "dead-\0", "\ud800")
MANIFESTS: dict[str, tuple[Callable[[dict[str, Any]], Any], type[Exception]]] = {
    "another format": (lambda b: b.update(format="tamis-other"), IndexVersion),
    "a later version": (lambda b: b.update(version=99), IndexVersion),
    "no version": (lambda b: b.pop("version"), IndexVersion),
    "no manifest": (lambda b: b.pop("manifest"), IndexCorrupt),
    "another number": (_manifest(number=2), IndexCorrupt),
    "an unknown engine": (_settings(engine="warp"), IndexVersion),
    "an unknown analyser": (_settings(analysers={"title": "klingon"}), IndexVersion),
    "settings of an analyser that are unknown": (_settings(analysers={"t": {"warp": 9}}), IndexVersion),
    "analysers that are a list": (_settings(analysers=["title"]), IndexCorrupt),
    "an engine that is no name": (_settings(engine=["hybrid"]), IndexCorrupt),
    "parameters that are no numbers": (_settings(parameters={"pairs": "many"}), IndexCorrupt),
    "unknown limits": (_settings(limits={"patience": 3}), IndexCorrupt),
    "impossible limits": (_settings(limits={"event_bytes": -3}), IndexCorrupt),
    "no settings": (lambda b: b["manifest"].pop("settings"), IndexCorrupt),
    "no shards": (lambda b: b["manifest"].pop("shards"), IndexCorrupt),
    "segments that are no list": (_shard(segments={"a": 1}), IndexCorrupt),
    "a segment that is no object": (_shard(segments=[3]), IndexCorrupt),
    "a segment without a folder": (
        lambda b: b["manifest"]["shards"][0]["segments"][0].pop("folder"),
        IndexCorrupt,
    ),
    "a folder that is not there": (_entry(folder="segment-" + "0" * 32), IndexCorrupt),
    **{f"a folder that is {name!r}": (_entry(folder=name), IndexCorrupt) for name in ELSEWHERE},
    **{f"removals in {name!r}": (_entry(dead=name), IndexCorrupt) for name in ELSEWHERE if name},
    **{f"a book in {name!r}": (_shard(book=name), IndexCorrupt) for name in ELSEWHERE if name},
    **{f"refused rows in {name!r}": (_shard(quarantine=name), IndexCorrupt) for name in ELSEWHERE if name},
    **{
        f"a sample in {name!r}": (_manifest(sample={"file": name, "events": 1, "crc32": 0}), IndexCorrupt)
        for name in ELSEWHERE
    },
    "a sample that is not there": (
        _manifest(sample={"file": f"sample-{'0' * 32}.jsonl", "events": 1, "crc32": 0}),
        IndexCorrupt,
    ),
    "a wrong count": (_entry(subscriptions=3), IndexCorrupt),
    "a wrong count of removals": (_entry(dead_count=2), IndexCorrupt),
    "notes that are no object": (_manifest(notes="\ud800"), IndexCorrupt),
}


@pytest.mark.parametrize("lie", MANIFESTS)
def test_false_manifest_is_refused(original: Path, tmp_path: Path, lie: str) -> None:
    change, error = MANIFESTS[lie]
    copy = damaged(original, tmp_path / "copy", lambda c: reseal(manifest_of(c), change))
    with pytest.raises(error, match="copy") as raised:
        Index.open(copy)
    assert isinstance(raised.value, REFUSALS)


def _slot(place: int, value: Any, name: str = "clauses.literal") -> Callable[[dict[str, Any]], Any]:
    return lambda body: body["arrays"][name].__setitem__(place, value)


SEGMENTS: dict[str, tuple[Callable[[dict[str, Any]], Any], type[Exception]]] = {
    "a later version": (lambda b: b.update(version=99), IndexVersion),
    "another format": (lambda b: b.update(format="x"), IndexVersion),
    "an unknown engine": (lambda b: b.update(engine="warp"), IndexVersion),
    "an unknown analyser": (lambda b: b.update(analysers={"klingon": "00"}), IndexVersion),
    "an analyser that made other terms": (lambda b: b.update(analysers={"english": "00"}), IndexVersion),
    "no arrays": (lambda b: b.pop("arrays"), IndexCorrupt),
    "arrays that are a list": (lambda b: b.update(arrays=[]), IndexCorrupt),
    "a missing array": (lambda b: b["arrays"].pop("ids.start"), IndexCorrupt),
    "a missing array of the space": (lambda b: b["arrays"].pop("space.number_cut"), IndexCorrupt),
    "a missing array of the engine": (lambda b: b["arrays"].pop("engine.rows"), IndexCorrupt),
    "an array of objects": (_slot(0, "|O"), IndexCorrupt),
    "an array of records with objects": (_slot(0, "O,O"), IndexCorrupt),
    "no type": (_slot(0, "what"), IndexCorrupt),
    "a type that is none": (_slot(0, None), IndexCorrupt),
    "another type of the same size": (_slot(0, "<f2"), IndexCorrupt),
    "another byte order": (_slot(0, ">u2"), IndexCorrupt),
    "a huge shape": (_slot(1, [2**62, 4]), IndexCorrupt),
    "a negative shape": (_slot(1, [-1, 4]), IndexCorrupt),
    "a shape of text": (_slot(1, "ab"), IndexCorrupt),
    "a flat shape": (lambda b: _slot(1, [b["arrays"]["clauses.literal"][3] // 2])(b), IndexCorrupt),
    "a negative place": (_slot(2, -64), IndexCorrupt),
    "a place beyond the file": (_slot(2, 2**40), IndexCorrupt),
    "a crooked place": (_slot(2, 1), IndexCorrupt),
    "a place that is no number": (_slot(2, "0"), IndexCorrupt),
    "a huge size": (_slot(3, 2**62), IndexCorrupt),
    "a wrong checksum": (_slot(4, 0), IndexCorrupt),
    "no checksum": (_slot(4, None), IndexCorrupt),
    "a short entry": (lambda b: b["arrays"]["clauses.literal"].pop(), IndexCorrupt),
    "a huge length": (lambda b: b.update(length=2**62), IndexCorrupt),
    "a length of text": (lambda b: b.update(length="many"), IndexCorrupt),
    "no length": (lambda b: b.pop("length"), IndexCorrupt),
    "a negative length": (lambda b: b.update(length=-1), IndexCorrupt),
}  # fmt: skip


@pytest.mark.parametrize("lie", SEGMENTS)
def test_false_segment_is_refused(original: Path, tmp_path: Path, lie: str) -> None:
    change, error = SEGMENTS[lie]
    copy = damaged(original, tmp_path / "copy", lambda c: reseal(_largest(c) / "segment.json", change))
    with pytest.raises(error, match="copy") as raised:
        Index.open(copy)
    assert isinstance(raised.value, REFUSALS)


def _largest(folder: Path) -> Path:
    return max(folder.glob("segment-*"), key=lambda path: (path / "arrays.bin").stat().st_size)


def test_original_index_stays_unchanged(original: Path) -> None:
    index = Index.open(original, verify=True)
    index.check()
    assert [len(found) for found in answers(index)] == [3, 3, 5, 1]
