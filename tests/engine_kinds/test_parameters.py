"""Test that unknown or out-of-range parameters of engines are refused with the range in the message."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tamis import Index
from tamis.engines.engines import NAMES, engine_class
from tamis.errors import EngineParameter, IndexVersion, UnknownEngine
from tamis.segment.sealed import write_sealed
from tests.sealed import read_sealed

ROWS = {"s": "a = 1 AND b <= 2", "t": "a = 2"}
DECLARED = [(engine, name) for engine in NAMES for name in engine_class(engine).parameters]


@pytest.mark.parametrize("engine", NAMES)
def test_unknown_parameter_is_refused_by_name(engine: str) -> None:
    with pytest.raises(EngineParameter, match=rf"{engine} has no parameter 'speed'"):
        Index.build(ROWS, engine=engine, parameters={"speed": 11})


@pytest.mark.parametrize(("engine", "name"), DECLARED)
def test_parameter_is_refused_beyond_the_edges_of_its_range(engine: str, name: str) -> None:
    allowed = engine_class(engine).parameters[name]
    for value in (allowed.least, allowed.default, min(allowed.greatest, allowed.least + 3)):
        assert Index.build(ROWS, engine=engine, parameters={name: value}).match({"a": 1, "b": 1}) == ["s"]
    for value in (allowed.least - 1, allowed.greatest + 1, math.nan, "1", None, True):
        with pytest.raises(EngineParameter, match=f"{name} must lie between"):
            Index.build(ROWS, engine=engine, parameters={name: value})


def test_unknown_engine_is_refused_by_name() -> None:
    with pytest.raises(UnknownEngine, match="there is no engine 'rete'"):
        Index.build(ROWS, engine="rete")


def test_index_of_an_unknown_engine_is_refused_by_name(tmp_path: Path) -> None:
    Index.build(ROWS).save(tmp_path / "index")
    (sealed,) = (tmp_path / "index").glob("segment-*/segment.json")
    write_sealed(sealed, read_sealed(sealed) | {"engine": "rete"})
    with pytest.raises(IndexVersion, match="needs the engine 'rete'; this version has"):
        Index.open(tmp_path / "index")
