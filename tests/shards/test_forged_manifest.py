"""A forged manifest or receipt that names files elsewhere is refused before any file is touched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tamis.errors import IndexCorrupt, IndexError_
from tamis.segment.sealed import seal, unseal
from tamis.shards import receipts
from tamis.shards.cache import fetch
from tamis.shards.location import Location
from tamis.shards.manifest import current, name_of
from tamis.shards.opening import open_shards
from tests.shards.test_shards import BOOK, Far, build

NAMES = ("{outside}/made", "../../made", "..", ".", "a/b", "segment-0", "dead-xyz.bin")
FIELDS: dict[str, Callable[[Any, str], None]] = {
    "folder": lambda shard, name: setattr(shard.segments[0], "folder", name),
    "dead": lambda shard, name: setattr(shard.segments[0], "dead", name),
    "book": lambda shard, name: setattr(shard, "book", name),
    "quarantine": lambda shard, name: setattr(shard, "quarantine", name),
}


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Location:
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache" / "deep"))
    monkeypatch.setattr("tamis.shards.opening.Location", Far)
    place = Far(str(tmp_path / "index"))
    build(place, BOOK, shards=1)
    return place


def everything(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.name != "verified.key"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("field", FIELDS)
def test_manifest_name_is_refused_when_it_leads_elsewhere(
    field: str, name: str, far: Location, tmp_path: Path
) -> None:
    name = name.format(outside=tmp_path / "outside")
    file = tmp_path / "index" / name_of(1)
    manifest = current(far)
    FIELDS[field](manifest.shards[0], name)
    body = unseal(file.read_bytes(), file)
    file.write_bytes(seal({**body, "manifest": msgspec.to_builtins(manifest)}))
    before = everything(tmp_path)
    with pytest.raises(IndexCorrupt, match="named"):
        open_shards(far.uri, version=1)
    with pytest.raises(IndexCorrupt, match="named"):  # also when the manifest is already loaded
        fetch(far, manifest.shards[0])
    assert everything(tmp_path) == before


@pytest.mark.parametrize("field", FIELDS)
def test_receipt_is_ignored_when_it_leads_elsewhere(field: str, far: Location) -> None:
    manifest = current(far)
    FIELDS[field](manifest.shards[0], "../../made")
    receipts.write(far, manifest.settings, manifest.shards[0])
    assert receipts.read(far) == []


def test_version_under_another_number_is_refused(far: Location, tmp_path: Path) -> None:
    (tmp_path / "index" / name_of(9)).write_bytes((tmp_path / "index" / name_of(1)).read_bytes())
    with pytest.raises(IndexError_, match="version 1"):
        current(far)
