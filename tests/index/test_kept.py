"""Test that a saved index keeps parameters, sample and limits: a merge after opening builds the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tamis import Index, Limits
from tamis.errors import EngineParameter, EventLimit, IndexCorrupt, IndexVersion
from tests.segment.corrupt import manifest_of, reseal

BOOK = {
    f"s{n}": f"price BETWEEN {n} AND {n + 40} AND city = 'c{n % 9}' AND size > {n % 11}" for n in range(150)
}
SAMPLE: list[dict[str, Any]] = [
    {"price": 7, "city": "c1"},
    {"price": [1, 2.5], "size": {"$interval": [1, 30]}, "seen": {"$time": "2026-05-05T00:00:00Z"}},
    {"at": {"$point": [1.5, 2]}, "city": "c1", "nested": {"name": "x", "none": None}, "sold": True},
    *({"city": f"c{n % 3}", "size": n % 5} for n in range(60)),
]
LAYOUTS: list[tuple[str, dict[str, Any]]] = [
    ("hybrid", {"pairs": 2, "crowd": 0, "beside": 3}),
    ("psthash", {"access": 3, "crowd": 0}),
    ("bitmatrix", {"cells": 16, "bytes_each": 64}),
    ("opindex", {"segment_bits": 8, "fill": 0}),
    ("bestar", {"leaf": 2, "alpha": 0.25}),
    ("presearch", {"pair_documents": 5, "time_check": 1_000, "time_and": 10, "time_avoid": 100}),
]


def arrays(index: Index) -> dict[str, Any]:
    """Return every array of the one segment."""
    index.add("one more", "price = 3 AND city = 'c2'")
    index.merge()
    (layer,) = index._writer.current.layers
    return {name: layer.segment.arena[name] for name in layer.segment.arena.slots}


@pytest.mark.parametrize(("engine", "parameters"), LAYOUTS)
@pytest.mark.parametrize("form", ["dictionaries", "table", "lines"])
def test_merge_builds_the_same_segment_when_the_index_was_opened(
    engine: str, parameters: dict[str, Any], form: str, tmp_path: Path
) -> None:
    sample: Any = SAMPLE
    if form == "table":
        sample = pa.table(
            {"city": ["c1", "c1", None, "c4"], "size": [[1, 2], [], [3], [9]], "price": [1, 2, 3, None]}
        )
    elif form == "lines":
        sample = iter([b'{"city": "c1"}', b'{"price": 5}', b"not an event"])
    index = Index.build(BOOK, engine=engine, parameters=parameters, sample=sample)
    index.save(tmp_path)
    opened = Index.open(tmp_path)
    expected, found = arrays(index), arrays(opened)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name
    plain = arrays(Index.build(BOOK, engine=engine))
    assert any(not np.array_equal(plain.get(name), array) for name, array in expected.items()), (
        "no difference"
    )


def test_info_shows_parameters_and_sample(tmp_path: Path) -> None:
    index = Index.build(BOOK, parameters={"pairs": 2}, sample=SAMPLE)
    index.save(tmp_path)
    for shown in (index.info(), Index.open(tmp_path).info()):
        assert shown["parameters"] == {"pairs": 2}
        assert shown["sample"] == len(SAMPLE)
    plain = Index.build(BOOK).info()
    assert (plain["parameters"], plain["sample"]) == ({}, 0)


def test_sample_survives_a_second_save(tmp_path: Path) -> None:
    Index.build(BOOK, sample=SAMPLE).save(tmp_path)
    opened = Index.open(tmp_path)
    opened.remove("s1")
    opened.save(tmp_path)
    opened.save(tmp_path / "elsewhere")
    assert len(list(tmp_path.glob("sample-*"))) == 1
    for place in (tmp_path, tmp_path / "elsewhere"):
        assert Index.open(place).info()["sample"] == len(SAMPLE)
        assert Index.open(place).typical_events()[0] == {"price": 7, "city": "c1"}


def test_sample_that_was_changed_is_refused(tmp_path: Path) -> None:
    Index.build(BOOK, sample=SAMPLE).save(tmp_path)
    (file,) = tmp_path.glob("sample-*")
    file.write_bytes(file.read_bytes().replace(b"c1", b"c2", 1))
    with pytest.raises(IndexCorrupt, match="sample-"):
        Index.open(tmp_path)
    file.unlink()
    with pytest.raises(IndexCorrupt, match="sample-"):
        Index.open(tmp_path)


def test_recent_events_are_not_saved(tmp_path: Path) -> None:
    index = Index.build(BOOK)
    index.match_many([{"city": f"secret {n}"} for n in range(5000)], batch_size=8)
    index.save(tmp_path)
    assert not list(tmp_path.glob("sample-*"))
    assert Index.open(tmp_path).info()["sample"] == 0


def test_limits_are_kept_unless_others_are_given(tmp_path: Path) -> None:
    Index.build(BOOK, limits=Limits(event_attributes=2)).save(tmp_path)
    event = {"a": 1, "b": 2, "c": 3}
    with pytest.raises(EventLimit):
        Index.open(tmp_path).match(event)
    assert Index.open(tmp_path, limits=Limits()).match(event) == []


def test_forged_parameters_are_refused_by_the_next_merge(tmp_path: Path) -> None:
    Index.build(BOOK).save(tmp_path)
    reseal(manifest_of(tmp_path), lambda body: body["manifest"]["settings"].update(parameters={"pairs": 99}))
    opened = Index.open(tmp_path)
    opened.add("one more", "price = 3")
    with pytest.raises(EngineParameter):
        opened.merge()


def test_index_of_the_former_format_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(IndexVersion, match="earlier version"):
        Index.open(tmp_path)
