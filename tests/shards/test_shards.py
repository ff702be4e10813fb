"""Sharded indexes as files: build, open, change, garbage collection, crash."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.contract.change import Change
from tamis.contract.token import TOKENS, shard_of, token_of
from tamis.errors import IndexConflict, IndexCorrupt, IndexNotFound, IndexVersion, InputError
from tamis.failpoint import arm, disarm
from tamis.segment.sealed import seal
from tamis.shards import receipts
from tamis.shards.build import BuildContext, build_shard, fingerprint_of
from tamis.shards.changes import apply_changes
from tamis.shards.collect import collect
from tamis.shards.location import Location
from tamis.shards.manifest import Manifest, Settings, commit, current, latest, numbers
from tamis.shards.opening import open_shards
from tamis.shards.shard_files import read_table

BOOK = {f"s{n}": f"a = {n % 7} AND b <= {n % 5}" for n in range(200)}
EVENTS = [{"a": n % 7, "b": n % 6} for n in range(42)]


class Far(Location):
    """A location that claims to be remote, so that every file goes through the cache."""

    @property
    def local(self) -> None:
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return Far, (self.uri,)


def rows(book: dict[str, str], version: int = 0) -> pa.Table:
    table = pa.table(
        {
            "id": pa.array(list(book), pa.string()),
            "expression": pa.array(list(book.values()), pa.string()),
            "version": pa.array([version] * len(book), pa.int64()),
        }
    )
    marks = [zlib.crc32(repr(row).encode()) for row in table.to_pylist()]
    return table.append_column("mark", pa.array(marks, pa.int64()))


def build(place: Location, book: dict[str, str], shards: int = 3, before: Manifest | None = None) -> Manifest:
    work = BuildContext(place, Settings(shards))
    made = []
    for number in range(shards):
        own = {name: text for name, text in book.items() if shard_of(token_of(name), shards) == number}
        made.append(build_shard(work, number, rows(own), before.shards[number] if before else None))
    manifest = Manifest((before.number if before else 0) + 1, "now", work.settings, made)
    commit(place, manifest)
    return manifest


def found(index: tamis.Index) -> set[tuple[int, str]]:
    table = index.match_many(EVENTS)
    return set(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))


def expected(book: dict[str, str]) -> set[tuple[int, str]]:
    return found(tamis.Index.build(book, engine="scan"))


@pytest.fixture(params=[Location, Far], ids=["local", "far"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Location:
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache"))
    if request.param is Far:
        monkeypatch.setattr("tamis.shards.opening.Location", Far)
    made: Location = request.param(str(tmp_path / "index"))
    return made


def test_tokens_are_partitioned_evenly() -> None:
    for shards in (1, 2, 3, 7, 64, TOKENS):
        owners = [shard_of(token, shards) for token in range(TOKENS)]
        assert owners == sorted(owners)
        shares = Counter(owners)
        assert sorted(shares) == list(range(shards))
        assert max(shares.values()) - min(shares.values()) <= 1


def test_all_shards_together_equal_the_index(place: Location) -> None:
    manifest = build(place, BOOK)
    assert manifest.subscriptions == 200
    assert found(open_shards(place.uri)) == expected(BOOK)
    parts = [found(open_shards(place.uri, shards=[number])) for number in range(3)]
    assert set().union(*parts) == expected(BOOK)
    assert sum(map(len, parts)) == len(expected(BOOK))


def test_incremental_build_keeps_unchanged_segments(place: Location) -> None:
    first = build(place, BOOK)
    book = {**BOOK, "s3": "a = 1", "new": "b = 2"}
    del book["s4"]
    second = build(place, book, before=first)
    assert found(open_shards(place.uri)) == expected(book)
    assert found(open_shards(place.uri, version=1)) == expected(BOOK)
    kept = {entry.folder for shard in first.shards for entry in shard.segments}
    there = {entry.folder for shard in second.shards for entry in shard.segments}
    assert kept <= there, "segments of before are still used"
    changed = [shard for shard in second.shards if len(shard.segments) > 1 or shard.segments[0].dead]
    assert changed, "what changed stands beside them"


def test_shard_is_rebuilt_after_too_many_changes(place: Location) -> None:
    first = build(place, BOOK, shards=1)
    other = {name: f"a = {at % 3}" for at, name in enumerate(BOOK)}
    second = build(place, other, shards=1, before=first)
    assert first.shards[0].segments[0].folder != second.shards[0].segments[0].folder
    assert found(open_shards(place.uri)) == expected(other)


def test_damaged_previous_shard_is_rebuilt(tmp_path: Path) -> None:
    place = Location(str(tmp_path / "index"))
    first = build(place, BOOK, shards=1)
    (tmp_path / "index" / first.shards[0].segments[0].folder / "arrays.bin").write_bytes(b"torn")
    book = {**BOOK, "new": "a = 1"}
    import tamis.shards.opening as opening

    opening._segments.clear()
    build(place, book, shards=1, before=first)
    assert found(open_shards(place.uri)) == expected(book)


def test_refused_rows_are_stored_with_their_reasons(place: Location) -> None:
    bad = {"b1": "a = ", "b2": "price <", "ü": "a = 1", "u\u0308": "a = 2"}
    manifest = build(place, {**BOOK, **bad}, shards=1)
    shard = manifest.shards[0]
    table = read_table(place, shard.quarantine, shard)
    codes = dict(zip(table["id"].to_pylist(), table["code"].to_pylist(), strict=True))
    assert codes == {
        "b1": "expression-syntax",
        "b2": "expression-syntax",
        "u\u0308": "subscription-invalid",
    }
    assert shard.refused == 3
    assert dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))["b1"] == "a = "
    # The build examines them again: one is corrected, the others stay refused.
    again = build(place, {**BOOK, **bad, "b1": "a = 1"}, shards=1, before=manifest)
    assert again.shards[0].refused == 2
    assert found(open_shards(place.uri)) == expected({**BOOK, "b1": "a = 1", "ü": "a = 1"})


def test_expressions_may_be_json_objects(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    given = {"x": json.dumps(tamis.to_json(tamis.parse("a = 1 OR b = 2"))), "y": '{"op": "?"}', "z": "a = 3"}
    manifest = build(place, given, shards=1)
    assert found(open_shards(place.uri)) == expected({"x": "a = 1 OR b = 2", "z": "a = 3"})
    table = read_table(place, manifest.shards[0].quarantine, manifest.shards[0])
    assert table["id"].to_pylist() == ["y"]


def test_newest_of_two_rows_with_one_id_wins(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    table = pa.concat_tables([rows({"x": "a = 1"}, 1), rows({"x": "a = 2"}, 2), rows({"y": "a = 3"}, 1)])
    for order in ([0, 1, 2], [2, 1, 0]):
        shard = build_shard(BuildContext(place, Settings(1)), 0, table.take(pa.array(order)))
        commit(place, Manifest(len(numbers(place)) + 1, "now", Settings(1), [shard]))
        index = open_shards(place.uri)
        assert index.subscription("x").version == 2
        assert shard.refused == 1
    gone = build_shard(BuildContext(place, Settings(1)), 0, rows({"y": "a = 3"}, 1), shard)
    assert gone.subscriptions == 1


changes = st.lists(
    st.tuples(st.sampled_from([f"s{n}" for n in range(12)]), st.sampled_from([None, 1, 2, 3, "bad ="])),
    min_size=1,
    max_size=30,
)


@settings(max_examples=25)
@given(batches=st.lists(changes, min_size=1, max_size=4))
def test_changes_are_applied_in_order(batches: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = Location(str(tmp_path_factory.mktemp("index")))
    book = {f"s{n}": f"a = {n % 3}" for n in range(8)}
    build(place, book, shards=2)
    sequence = 0
    for batch in batches:
        log = []
        for name, value in batch:
            sequence += 1
            text = None if value is None else value if isinstance(value, str) else f"a = {value}"
            log.append(Change(sequence, name, text))
            book.pop(name, None)
            if text is not None and text != "bad =":
                book[name] = text
        manifest, _ = apply_changes(place, log)
        assert manifest.applied == sequence
        index = open_shards(place.uri)
        assert found(index) == expected(book)
        assert len(index) == len(book)
        assert apply_changes(place, log)[0].number == manifest.number, "twice is once"


def test_crash_before_the_commit_changes_nothing(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    build(place, BOOK)
    for point in ("segment.arrays_written", "segment.before_rename", "shards.before_commit"):
        arm(point, _crash)
        try:
            with pytest.raises(RuntimeError):
                apply_changes(place, [Change(1, "s1", "a = 1")])
        finally:
            disarm()
        assert current(place).number == 1
        assert found(open_shards(place.uri)) == expected(BOOK)


def _crash() -> None:
    raise RuntimeError("crash")


def test_second_commit_of_a_version_is_refused(place: Location) -> None:
    manifest = build(place, BOOK)
    with pytest.raises(IndexConflict):
        commit(place, manifest)


def test_garbage_is_removed_when_unused(place: Location) -> None:
    build(place, BOOK)
    for sequence in range(1, 6):
        apply_changes(place, [Change(sequence, "s1", f"a = {sequence}")])
    young = collect(place)
    assert young == 0, "everything is too young"
    assert collect(place, keep=2, grace=timedelta(seconds=-1)) > 0
    assert len(numbers(place)) == 2
    assert found(open_shards(place.uri)) == expected({**BOOK, "s1": "a = 5"})
    with pytest.raises(IndexNotFound):
        current(place, 1)


def test_running_build_is_no_garbage(place: Location) -> None:
    build(place, BOOK)
    work = BuildContext(place, Settings(3))
    shard = build_shard(work, 0, rows({"new": "a = 1"}))
    receipts.write(place, work.settings, shard)
    assert receipts.count(place) == 1
    collect(place, grace=timedelta(seconds=-1))
    (receipt,) = receipts.read(place)
    assert receipt.shard == shard
    assert all(place.exists(name) for name in shard.files())
    place.write("pending/shard-0001.json", b"torn")
    assert len(receipts.read(place)) == 1
    receipts.forget(place)
    assert collect(place, grace=timedelta(seconds=-1)) >= 2
    assert not place.exists(shard.files()[0])


def test_remote_index_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache"))
    place = Far(str(tmp_path / "index"))
    manifest = build(place, BOOK)
    import shutil

    from tamis.shards.cache import fetch, home_of

    shutil.rmtree(home_of(place))  # another host
    fetched = []
    inner = Location.fetch
    monkeypatch.setattr(
        Location, "fetch", lambda self, name, file: fetched.append(name) or inner(self, name, file)
    )
    for _ in range(2):
        for shard in manifest.shards:
            home = fetch(place, shard)
            assert all((home / name).exists() for name in shard.files())
    assert sorted(fetched) == sorted(name for shard in manifest.shards for name in shard.files())


def test_invalid_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFound, match=r"no index at .*nowhere"):
        open_shards(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="nonsense://x"):
        Location("nonsense://x")
    place = Location(str(tmp_path / "index"))
    manifest = build(place, BOOK, shards=2)
    with pytest.raises(InputError, match="no shard 7"):
        open_shards(place.uri, shards=[7])
    place.write("manifest-0000000009.json", b"rubbish")
    with pytest.raises(IndexCorrupt, match="manifest-0000000009"):
        latest(place)
    place.write("manifest-0000000009.json", seal({"format": "tamis-shards", "version": 99}))
    with pytest.raises(IndexVersion, match="99"):
        latest(place)
    place.remove("manifest-0000000009.json")
    folder = manifest.shards[0].segments[0].folder
    place.remove(folder)
    import tamis.shards.opening as opening

    opening._segments.clear()
    opening._opened.clear()
    with pytest.raises(IndexCorrupt, match=folder):
        open_shards(place.uri)


def test_local_uri_is_mapped_in_place(tmp_path: Path) -> None:
    place = Location(f"file://{tmp_path}/index")
    assert place.local == tmp_path / "index"
    assert isinstance(place._fs, pafs.LocalFileSystem)


def test_fingerprint_does_not_depend_on_order() -> None:
    marks = pa.chunked_array([[5, -3, 2**62]])
    assert fingerprint_of(marks) == fingerprint_of(pa.chunked_array([[2**62, 5, -3]]))
    assert fingerprint_of(marks) != fingerprint_of(pa.chunked_array([[2**62, 5, -4]]))
    assert fingerprint_of(pa.chunked_array([[1, 1]])) != fingerprint_of(pa.chunked_array([[2, 2]]))
