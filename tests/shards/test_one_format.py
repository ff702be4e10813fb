"""One format: Spark opens an index that the library saved; library and shell open one built in shards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tamis import Index
from tamis.cli import main
from tamis.contract.change import Change
from tamis.contract.token import shard_of, token_of
from tamis.index.samples import KeptSample
from tamis.limits import DEFAULT_LIMITS
from tamis.segment.files import open_segment
from tamis.shards.build import BuildContext, build_shard
from tamis.shards.changes import apply_changes
from tamis.shards.collect import collect
from tamis.shards.location import Location
from tamis.shards.manifest import Manifest, Settings, commit, current
from tamis.shards.opening import open_shards
from tamis.shards.shard_files import write_sample
from tests.shards.test_shards import BOOK, EVENTS, expected, found, rows

PARAMETERS = {"pairs": 2, "crowd": 0}
SAMPLE: list[dict[str, Any]] = [{"a": n % 3, "b": 1} for n in range(40)]


def sharded(path: Path, shards: int = 3) -> Manifest:
    """Build an index in shards with parameters and a sample, as a build with Spark does."""
    place, settings = Location(str(path)), Settings(shards, parameters=dict(PARAMETERS))
    work = BuildContext(place, settings, SAMPLE)
    made = []
    for number in range(shards):
        own = {name: text for name, text in BOOK.items() if shard_of(token_of(name), shards) == number}
        made.append(build_shard(work, number, rows(own)))
    sample = write_sample(place, KeptSample(SAMPLE, DEFAULT_LIMITS))
    manifest = Manifest(1, "now", settings, made, 0, sample)
    commit(place, manifest)
    return manifest


def without(*gone: str) -> dict[str, str]:
    return {name: text for name, text in BOOK.items() if name not in gone}


def test_library_opens_all_shards_as_one_index(tmp_path: Path) -> None:
    sharded(tmp_path)
    index = Index.open(tmp_path, verify=True)
    index.check()
    assert len(index) == len(BOOK)
    assert found(index) == expected(BOOK)
    assert index.info()["parameters"] == PARAMETERS
    assert index.info()["sample"] == len(SAMPLE)


def test_shards_open_an_index_saved_by_the_library(tmp_path: Path) -> None:
    index = Index.build(BOOK, parameters=PARAMETERS, sample=SAMPLE)
    index.remove("s3")
    index.add("new", "b = 2")
    index.save(tmp_path, notes={"mine": 1})
    book = {**without("s3"), "new": "b = 2"}
    opened = open_shards(str(tmp_path))
    assert found(opened) == expected(book)
    assert found(open_shards(str(tmp_path), shards=[0])) == expected(book)
    assert opened.notes == {"mine": 1}
    assert opened.info()["parameters"] == PARAMETERS
    manifest = current(Location(str(tmp_path)))
    assert (len(manifest.shards), manifest.subscriptions, manifest.bytes > 0) == (1, len(book), True)


def test_removals_survive_a_round_trip(tmp_path: Path) -> None:
    sharded(tmp_path)
    place = Location(str(tmp_path))
    apply_changes(place, [Change(1, "s4", None, 0), Change(2, "s5", "a = 1", 0)])
    book = {**without("s4"), "s5": "a = 1"}
    index = Index.open(tmp_path)
    assert found(index) == expected(book)
    index.remove("s6")
    index.save(tmp_path)
    del book["s6"]
    assert found(open_shards(str(tmp_path))) == expected(book)
    assert current(place).applied == 2, "changes that are in it are not applied again"
    apply_changes(place, [Change(2, "s5", None, 0), Change(3, "s7", None, 0)])
    del book["s7"]
    assert found(Index.open(tmp_path)) == expected(book)
    assert Index.open(tmp_path).info()["sample"] == len(SAMPLE)


def test_save_leaves_nothing_of_the_previous_version(tmp_path: Path) -> None:
    sharded(tmp_path)
    index = Index.open(tmp_path)
    index.merge()
    index.save(tmp_path)
    kinds = sorted(item.name.split("-")[0] for item in tmp_path.iterdir())
    assert kinds == ["manifest", "sample", "segment"]
    assert found(Index.open(tmp_path)) == expected(BOOK)


def test_changes_are_laid_out_with_parameters_and_sample(tmp_path: Path) -> None:
    """Two indexes take the same change, one in the library and one as a shard: their segments are equal."""
    Index.build(BOOK, parameters=PARAMETERS, sample=SAMPLE).save(tmp_path / "one")
    Index.build(BOOK, parameters=PARAMETERS, sample=SAMPLE).save(tmp_path / "two")
    fresh = {f"t{n}": f"a = {n} AND b <= {n % 4}" for n in range(60)}
    index = Index.open(tmp_path / "one")
    index.apply([Change(at, name, text, 0) for at, (name, text) in enumerate(fresh.items(), 1)])
    index.save(tmp_path / "one")
    apply_changes(
        Location(str(tmp_path / "two")),
        [Change(at, name, text, 0) for at, (name, text) in enumerate(fresh.items(), 1)],
    )
    ones, twos = (
        [
            open_segment(tmp_path / place / entry.folder, DEFAULT_LIMITS)
            for entry in current(Location(str(tmp_path / place))).shards[0].segments
        ]
        for place in ("one", "two")
    )
    assert [one.count for one in ones] == [two.count for two in twos]
    for one, two in zip(ones, twos, strict=True):
        for name in one.arena.slots:
            assert np.array_equal(one.arena[name], two.arena[name]), name


def test_garbage_collection_keeps_the_sample(tmp_path: Path) -> None:
    from datetime import timedelta

    sharded(tmp_path)
    apply_changes(Location(str(tmp_path)), [Change(1, "s4", None, 0)])
    collect(Location(str(tmp_path)), keep=1, grace=timedelta(0))
    assert Index.open(tmp_path).info()["sample"] == len(SAMPLE)


@pytest.mark.parametrize("made_by", ["library", "shards"])
def test_shell_opens_both_formats(made_by: str, tmp_path: Path) -> None:
    path = tmp_path / "index"
    if made_by == "shards":
        sharded(path)
        apply_changes(Location(str(path)), [Change(1, "s4", None, 0)])
    else:
        index = Index.build(BOOK, parameters=PARAMETERS, sample=SAMPLE)
        index.remove("s4")
        index.save(path)
    run = CliRunner()
    events = "".join(json.dumps(event) + "\n" for event in EVENTS)
    matched = run.invoke(main, ["match", str(path), "-"], input=events)
    lines = [json.loads(line) for line in matched.stdout.splitlines()]
    key = next(name for name in lines[0] if name != "event")
    pairs = {(line["event"], name) for line in lines for name in line[key]}
    assert pairs == expected(without("s4"))
    shown = run.invoke(main, ["info", str(path), "--json"])
    assert json.loads(shown.stdout)["parameters"] == PARAMETERS
    assert json.loads(shown.stdout)["subscriptions"] == len(BOOK) - 1
    assert "sound" in run.invoke(main, ["check", str(path)]).stdout
    assert "✓" in run.invoke(main, ["explain", str(path), "s1", '{"a": 1, "b": 1}']).stdout
