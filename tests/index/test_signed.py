"""Test signed indexes: with a key, an unsigned or altered index is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tamis import Index
from tamis.cli import main
from tamis.contract.change import Change
from tamis.engines.arena import Slot
from tamis.errors import IndexError_, IndexUntrusted, InputError
from tamis.segment.sealed import KEY, write_sealed
from tamis.segment.source import checksum
from tamis.shards import receipts
from tamis.shards.changes import apply_changes
from tamis.shards.location import Location
from tamis.shards.manifest import current
from tamis.shards.opening import _opened, _segments, open_shards
from tests.sealed import read_sealed
from tests.shards.test_one_format import sharded
from tests.shards.test_shards import BOOK, expected, found

SECRET = "correct horse battery staple"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv(KEY, SECRET)
    yield SECRET
    _opened.clear()
    _segments.clear()


def saved(folder: Path) -> Path:
    index = Index.build(BOOK, sample=[{"a": 1}])
    index.remove("s3")
    index.save(folder)
    return folder


def forge(folder: Path) -> None:
    """Change a number of the largest segment and compute all checksums again."""
    segment = max(folder.glob("segment-*"), key=lambda path: (path / "arrays.bin").stat().st_size)
    raw = bytearray((segment / "arrays.bin").read_bytes())
    body = read_sealed(segment / "segment.json")
    entry = body["arrays"]["space.number_values"]
    raw[entry[2] + 6] ^= 1
    (segment / "arrays.bin").write_bytes(raw)
    entry[4] = checksum(memoryview(raw), Slot(*entry[:4]))
    write_sealed(segment / "segment.json", body)


def test_signed_index_opens_with_its_key(key: str, tmp_path: Path) -> None:
    saved(tmp_path)
    book = {name: text for name, text in BOOK.items() if name != "s3"}
    assert found(Index.open(tmp_path)) == expected(book)
    assert found(open_shards(str(tmp_path))) == expected(book)
    again = Index.open(tmp_path)
    again.check()
    again.remove("s4")
    again.save(tmp_path)
    assert len(Index.open(tmp_path)) == len(BOOK) - 2


def test_key_may_be_an_argument(tmp_path: Path) -> None:
    Index.build(BOOK).save(tmp_path, key=b"one")
    assert len(Index.open(tmp_path, key="one")) == len(BOOK)
    assert len(Index.open(tmp_path)) == len(BOOK), "without a key nothing is asked"
    with pytest.raises(IndexUntrusted, match="manifest-"):
        Index.open(tmp_path, key="two")
    with pytest.raises(InputError):
        Index.open(tmp_path, key="")


def test_unsigned_index_is_refused_when_a_key_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path)
    monkeypatch.setenv(KEY, SECRET)
    with pytest.raises(IndexUntrusted, match=KEY):
        Index.open(tmp_path)
    with pytest.raises(IndexUntrusted):
        open_shards(str(tmp_path))
    shell = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert (shell.exit_code, "tamis: index-untrusted: " in shell.stderr) == (1, True)
    Index.open(saved(tmp_path), key=SECRET).save(tmp_path)
    assert len(Index.open(tmp_path)) == len(BOOK) - 1


def test_forged_segment_is_refused_though_it_was_verified_before(key: str, tmp_path: Path) -> None:
    saved(tmp_path)
    Index.open(tmp_path)
    forge(tmp_path)
    with pytest.raises(IndexUntrusted, match=r"segment\.json"):
        Index.open(tmp_path)


@pytest.mark.parametrize("kind", ["arrays.bin", "segment.json", "dead-", "sample-"])
def test_any_other_file_is_refused(kind: str, key: str, tmp_path: Path) -> None:
    saved(tmp_path)
    (file,) = (path for path in tmp_path.rglob("*") if kind in path.name)
    raw = bytearray(file.read_bytes())
    raw[-1] ^= 1
    file.write_bytes(raw)
    with pytest.raises(IndexError_, match=kind):
        Index.open(tmp_path)


def test_manifest_without_digests_is_refused(key: str, tmp_path: Path) -> None:
    """A manifest without digests, signed by a holder of the key, still proves nothing about the files."""
    from tamis.index.manifest import encode

    saved(tmp_path)
    manifest = current(Location(str(tmp_path)))
    manifest.shards[0].segments[0].digests = {}
    (file,) = tmp_path.glob("manifest-*")
    file.write_bytes(encode(manifest, key.encode()))
    with pytest.raises(IndexUntrusted, match=r"segment\.json"):
        Index.open(tmp_path)


def test_shards_are_signed_too(key: str, tmp_path: Path) -> None:
    sharded(tmp_path)
    place = Location(str(tmp_path))
    apply_changes(place, [Change(1, "s4", None, 0)])
    assert len(Index.open(tmp_path)) == len(BOOK) - 1
    for manifest in tmp_path.glob("manifest-*"):
        outer = json.loads(manifest.read_bytes())
        del outer["hmac"]
        manifest.write_text(json.dumps(outer))
    with pytest.raises(IndexUntrusted):
        current(place)


def test_receipt_that_is_not_signed_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = sharded(tmp_path)
    receipts.write(Location(str(tmp_path)), manifest.settings, manifest.shards[0])
    assert len(receipts.read(Location(str(tmp_path)))) == 1
    monkeypatch.setenv(KEY, SECRET)
    assert receipts.read(Location(str(tmp_path))) == []


def test_unsigned_manifest_holds_no_digest(tmp_path: Path) -> None:
    assert KEY not in os.environ
    saved(tmp_path)
    manifest = current(Location(str(tmp_path)))
    assert [entry.digests for entry in manifest.shards[0].segments] == [{}]
