"""Test indexes that older versions of Tamis wrote: they open, check, match and merge as before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tamis import Index, parse, to_text
from tamis.engines.engines import NAMES as ENGINES
from tamis.errors import IndexVersion
from tamis.segment.sealed import write_sealed
from tamis.segment.segment import SINCE
from tests.sealed import read_sealed

STORED = Path(__file__).parent / "stored"
FOLDERS = sorted(path.parent.relative_to(STORED) for path in STORED.glob("*/*/manifest-*.json"))


@pytest.fixture(params=FOLDERS, ids=str)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    folder: Path = request.param
    copied = tmp_path / "index"
    shutil.copytree(STORED / folder, copied)
    return copied, json.loads((STORED / folder.parts[0] / "expected.json").read_text())


def _matches(index: Index, expected: dict[str, Any]) -> list[list[str]]:
    return [sorted(index.match(event)) for event in expected["events"]]


def test_stored_indexes_are_there() -> None:
    assert {folder.parts[0] for folder in FOLDERS} == {"version-2"}


def test_stored_index_matches_as_before(stored: tuple[Path, dict[str, Any]]) -> None:
    folder, expected = stored
    index = Index.open(folder, verify=True)
    index.check()
    assert _matches(index, expected) == expected["matches"]
    for name, text in expected["subscriptions"].items():
        assert to_text(index.subscription(name).expression) == to_text(parse(text))


def test_stored_index_merges_with_new_operators(stored: tuple[Path, dict[str, Any]]) -> None:
    folder, expected = stored
    index = Index.open(folder)
    index.add("starts", "city STARTS WITH 'Os'")
    index.add("either", "city ENDS WITH 'me' OR city CONTAINS 'sl'")
    index.merge()
    index.check()
    index.save(folder.with_name("merged"))
    merged = Index.open(folder.with_name("merged"), verify=True)
    for at, event in enumerate(expected["events"]):
        cities = event.get("city", [])
        cities = cities if isinstance(cities, list) else [cities]
        new = ["starts"] if any(city.startswith("Os") for city in cities) else []
        new += ["either"] if any(city.endswith("me") or "sl" in city for city in cities) else []
        assert sorted(merged.match(event)) == sorted(expected["matches"][at] + new)


def test_stored_index_saved_again_opens(stored: tuple[Path, dict[str, Any]]) -> None:
    folder, expected = stored
    Index.open(folder).save(folder.with_name("copy"))
    assert _matches(Index.open(folder.with_name("copy"), verify=True), expected) == expected["matches"]


@pytest.mark.parametrize("engine", SINCE)
def test_older_arrays_of_an_engine_are_refused_with_the_remedy(engine: str, tmp_path: Path) -> None:
    Index.build({"s": "a = 1 AND b <= 2"}, engine=engine).save(tmp_path / "index")
    (sealed,) = (tmp_path / "index").glob("segment-*/segment.json")
    write_sealed(sealed, read_sealed(sealed) | {"version": SINCE[engine] - 1})
    with pytest.raises(IndexVersion, match=f"from version {SINCE[engine]} on; build the index again"):
        Index.open(tmp_path / "index")


@pytest.mark.parametrize("engine", ENGINES)
def test_expected_matches_are_those_of_every_engine(engine: str) -> None:
    expected = json.loads((STORED / "version-2" / "expected.json").read_text())
    index = Index.build(list(expected["subscriptions"].items()), engine=engine)
    assert _matches(index, expected) == expected["matches"]
