"""The entry table, files: strange files and folders in place of an index or a data file."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tamis
from tamis.errors import TamisError
from tests.entries.event_entries import _command, _said
from tests.entries.outcome import refused


def _nothing(path: Path) -> None:
    pass


def _empty_file(path: Path) -> None:
    path.touch()


def _empty_folder(path: Path) -> None:
    path.mkdir()


def _folder_of_text(path: Path) -> None:
    path.mkdir()
    (path / "manifest-0000000001.json").write_text("hello")


def _former_format(path: Path) -> None:
    path.mkdir()
    (path / "manifest.json").write_text('{"crc32": 0, "body": "{}"}')


def _torn(path: Path) -> None:
    tamis.Index.build({"s": "x = 1"}).save(path)
    file = next(path.glob("manifest-*.json"))
    file.write_bytes(file.read_bytes()[:40])


def _without_segment(path: Path) -> None:
    tamis.Index.build({"s": "x = 1"}).save(path)
    os.remove(next(path.glob("segment-*/arrays.bin")))


STRANGE = [_nothing, _empty_file, _empty_folder, _folder_of_text, _former_format, _torn, _without_segment]


@pytest.mark.parametrize("make", STRANGE, ids=lambda make: make.__name__)
def test_path_without_an_index_is_refused_by_every_opener(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    make(tmp_path / "index")
    with pytest.raises(TamisError) as caught:
        tamis.Index.open(tmp_path / "index")
    wanted = refused(caught.value.code, caught.value.message)
    commands = ["info", "match", "top", "explain"]
    if (tmp_path / "index").is_dir():
        commands.append("check")  # which takes any other argument for an expression or a file of them
    for command in commands:
        more = ("s",) if command == "explain" else ()
        assert _said(_command(command, tmp_path / "index", *more, stdin=b"{}")) == wanted


@pytest.mark.parametrize(
    "name", ["data.jsonl.gz", "data.csv.gz", "data.parquet", "data.jsonl", "data.csv", "data.txt"]
)
@pytest.mark.parametrize(
    "content",
    [b"", b"\x1f\x8b broken", gzip.compress(b"{}" * 100)[:20], b"PAR1", b"\xff\xfe", b"\x00" * 100],
    ids=["empty", "broken gzip", "torn gzip", "torn parquet", "no UTF-8", "zeros"],
)
def test_data_file_is_read_or_refused(name: str, content: bytes, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    index = tamis.Index.build({"s": "x = 1"})
    for use in (tamis.Index.build, index.match_many):
        try:
            found = use(file)
        except TamisError as bad:
            refused(bad.code, bad.message)
            continue
        assert not len(found)
        assert not content.strip(b"\x00") or found.refused or not content


def test_index_is_not_saved_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TamisError):
        tamis.Index.build({"s": "x = 1"}).save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("path", [5, None, b"index", ["index"]])
def test_path_of_another_type_is_refused(path: object) -> None:
    index = tamis.Index.build({"s": "x = 1"})
    for use in (tamis.Index.open, index.save):
        with pytest.raises(TamisError):
            use(path)  # type: ignore[arg-type]
