"""Test that torn, truncated and bit-flipped files are refused at open, by name."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tamis import Index
from tamis.engines.engines import NAMES as ENGINES
from tamis.errors import IndexCorrupt, IndexNotFound
from tests.segment.corrupt import answers, assert_refused_or_right, damaged, saved

SEED = 5


@pytest.fixture(params=ENGINES)
def original(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return saved(tmp_path / "original", request.param)


def files_of(folder: Path) -> list[Path]:
    """Return every file of an index, relative to it."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def sampled(size: int, count: int) -> list[int]:
    """Return places in a file: both ends and some in between."""
    chance = random.Random(SEED)
    return sorted(
        {0, 1, size // 2, size - 1, *(chance.randrange(size) for _ in range(count))} & set(range(size))
    )


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def test_flipped_bit_is_found(original: Path, tmp_path: Path) -> None:
    expected = answers(Index.open(original))
    for file in files_of(original):
        raw = (original / file).read_bytes()
        refused = 0
        places = sampled(len(raw), 8)
        for at in places:
            flipped = raw[:at] + bytes([raw[at] ^ (1 << at % 8)]) + raw[at + 1 :]
            copy = damaged(original, tmp_path / "copy", lambda c, f=file, b=flipped: _write(c / f, b))
            refused += assert_refused_or_right(copy, expected, f"{file} at {at}")
        if file.suffix == ".bin":
            assert refused == len(places), file
        elif file.name != "verified":  # this note only saves a check; in JSON some bytes are white space
            assert refused >= len(places) - 1, file


def test_truncated_file_is_found(original: Path, tmp_path: Path) -> None:
    expected = answers(Index.open(original))
    for file in files_of(original):
        raw = (original / file).read_bytes()
        for at in sampled(len(raw), 4):
            copy = damaged(original, tmp_path / "copy", lambda c, f=file, n=at: os.truncate(c / f, n))
            refused = assert_refused_or_right(copy, expected, f"{file} cut at {at}")
            assert refused or file.name == "verified"
        longer = damaged(original, tmp_path / "copy", lambda c, f=file, b=raw: _write(c / f, b + b"\0"))
        refused = assert_refused_or_right(longer, expected, f"{file} with one more byte")
        assert refused or file.name == "verified"


def test_missing_file_is_found(original: Path, tmp_path: Path) -> None:
    for file in files_of(original):
        copy = damaged(original, tmp_path / "copy", lambda c, f=file: (c / f).unlink())
        if file.name == "verified":
            assert answers(Index.open(copy)) == answers(Index.open(original))
            continue
        error = IndexNotFound if file.name.startswith("manifest-") else IndexCorrupt
        with pytest.raises(error, match=file.parts[0] if len(file.parts) > 1 else file.name):
            Index.open(copy)


def test_folder_in_place_of_a_file_is_refused(original: Path, tmp_path: Path) -> None:
    expected = answers(Index.open(original))
    for file in files_of(original):

        def change(copy: Path, file: Path = file) -> None:
            (copy / file).unlink()
            (copy / file).mkdir()

        copy = damaged(original, tmp_path / "copy", change)
        assert assert_refused_or_right(copy, expected, str(file)) or file.name == "verified"


def test_altered_file_is_found_even_if_it_was_verified_before(original: Path) -> None:
    assert Index.open(original).match({}) == Index.open(original).match({})
    (segment, *_) = original.glob("segment-*")
    arrays = segment / "arrays.bin"
    raw = bytearray(arrays.read_bytes())
    raw[len(raw) // 3] ^= 255
    arrays.write_bytes(raw)
    with pytest.raises(IndexCorrupt, match=r"arrays\.bin"):
        Index.open(original)


def test_damage_that_keeps_size_and_time_is_found_by_verification(original: Path) -> None:
    (segment, *_) = original.glob("segment-*")
    arrays = segment / "arrays.bin"
    status = arrays.stat()
    with arrays.open("r+b") as file:
        file.seek(status.st_size // 3)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 255]))
    os.utime(arrays, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(IndexCorrupt, match=r"arrays\.bin"):
        Index.open(original, verify=True)


def test_segments_of_two_indexes_cannot_be_swapped(tmp_path: Path) -> None:
    one, other = saved(tmp_path / "one"), saved(tmp_path / "other")
    mine, theirs = sorted(one.glob("segment-*"))[0], sorted(other.glob("segment-*"))[0]
    (mine / "arrays.bin").write_bytes((theirs / "arrays.bin").read_bytes() + b"\0" * 64)
    with pytest.raises(IndexCorrupt, match=r"arrays\.bin"):
        Index.open(one)


@pytest.mark.parametrize("what", ["nothing", "a file", "an empty folder"])
def test_missing_index_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "place"
    if what == "a file":
        path.write_text("{}")
    elif what == "an empty folder":
        path.mkdir()
    with pytest.raises(IndexNotFound, match="place"):
        Index.open(path)
