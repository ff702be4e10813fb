"""Test files that change while they are mapped, and notes that a file was verified."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from tamis import Index
from tamis.errors import IndexCorrupt
from tamis.limits import DEFAULT_LIMITS
from tamis.segment import verified
from tamis.segment.files import open_segment
from tamis.segment.schema import FORMS
from tests.segment.corrupt import EVENTS, answers, saved


def largest(folder: Path) -> Path:
    """Return the arrays of the larger segment."""
    return max(folder.glob("segment-*/arrays.bin"), key=lambda path: path.stat().st_size)


def flip(file: Path) -> None:
    """Change the last byte of an id in place, keeping size and time of modification."""
    state = file.stat()
    with file.open("r+b") as handle:
        at = handle.read().index(b"weighted")
        handle.seek(at)
        handle.write(b"W")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_check_finds_bytes_that_changed_after_opening(tmp_path: Path) -> None:
    index = Index.open(saved(tmp_path))
    flip(largest(tmp_path))
    with pytest.raises(IndexCorrupt, match=r"arrays\.bin.*checksum"):
        index.check()
    index.check(checksums=False)  # an id was changed, which breaks no invariant


def test_change_that_keeps_size_and_time_is_found_at_the_next_open(tmp_path: Path) -> None:
    Index.open(saved(tmp_path))
    flip(largest(tmp_path))
    with pytest.raises(IndexCorrupt, match=r"arrays\.bin"):
        Index.open(tmp_path)


def test_file_that_was_cut_is_refused_instead_of_read(tmp_path: Path) -> None:
    index = Index.open(saved(tmp_path))
    os.truncate(largest(tmp_path), 64)
    for use in (index.check, lambda: index.match(EVENTS[0]), lambda: index.match_many(EVENTS)):
        with pytest.raises(IndexCorrupt, match="was cut to 64 of"):
            use()


def test_best_matches_of_a_cut_file_are_refused(tmp_path: Path) -> None:
    Index.build({f"s{n}": f"a >= {n} ^ {n + 1}" for n in range(50)}, engine="bestar").save(tmp_path)
    index = Index.open(tmp_path)
    index.top_k({"a": 9}, 2)
    os.truncate(largest(tmp_path), 64)
    with pytest.raises(IndexCorrupt, match="was cut to 64 of"):
        index.top_k({"a": 9}, 2)


def test_note_of_another_user_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "index")
    seal = (largest(tmp_path / "index").with_name("segment.json")).read_bytes()
    assert verified.is_verified(largest(tmp_path / "index"), seal)
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache of another user"))
    assert not verified.is_verified(largest(tmp_path / "index"), seal)
    verified.note_verified(largest(tmp_path / "index"), seal)
    assert verified.is_verified(largest(tmp_path / "index"), seal)
    monkeypatch.undo()
    assert verified.is_verified(largest(tmp_path / "index"), seal), "both notes stand there"


def test_note_does_not_count_for_a_copy_or_another_seal(tmp_path: Path) -> None:
    saved(tmp_path / "index")
    shutil.copytree(tmp_path / "index", tmp_path / "copy")
    seal = (largest(tmp_path / "copy").with_name("segment.json")).read_bytes()
    assert not verified.is_verified(largest(tmp_path / "copy"), seal)
    assert not verified.is_verified(largest(tmp_path / "index"), seal + b" ")


def test_secret_is_for_its_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache"))
    saved(tmp_path / "index")
    secret = tmp_path / "cache" / "verified.key"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert [path.name for path in secret.parent.iterdir()] == ["verified.key"]


def test_index_opens_when_no_secret_can_be_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "file" / "cache"))
    index = Index.open(saved(tmp_path / "index"))
    assert answers(index)
    assert not list((tmp_path / "index").rglob("verified"))


def test_pipe_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    for name in ("arrays.bin", "segment.json"):
        folder = saved(tmp_path / name)
        file = largest(folder).with_name(name)
        file.unlink()
        os.mkfifo(file)
        with pytest.raises(IndexCorrupt, match=f"{name} cannot be read"):
            Index.open(folder)


def test_schema_lists_every_array(tmp_path: Path) -> None:
    saved(tmp_path)
    segment = open_segment(largest(tmp_path).parent, DEFAULT_LIMITS)
    own = {name for name in segment.arena.slots if not name.startswith("engine.")}
    assert own == set(FORMS)
    assert {f"engine.{name}" for name in segment.engine.forms} == segment.arena.slots.keys() - own
