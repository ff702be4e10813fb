"""Test peers: their common file, their answers, and peers that lie or die."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bench.peers import common_file, course, programs, protocol
from bench.peers.known import PEERS
from bench.peers.worker import CLASSES, make
from bench.workloads.mix import MIXES
from bench.workloads.truth import Book, rows_of

N, EVENTS = 400, 30
NEEDS = {"rule-engine": "rule_engine", "json-logic": "json_logic", "duckdb": "duckdb", "spark": "pyspark"}


def truth(mix: str) -> list[list[int]]:
    """Return the answers of brute force."""
    book = Book(MIXES[mix].subscriptions(N, 3))
    return [sorted(int(name[1:]) for name in book.matches(event)) for event in events(mix)]


def events(mix: str) -> Any:
    return rows_of(MIXES[mix].events(EVENTS, 3, N))


@pytest.fixture(params=MIXES)
def mix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def file(mix: str, tmp_path: Path) -> Path:
    path = tmp_path / "common"
    common_file.write(MIXES[mix], N, EVENTS, 3, path)
    return path


# --------------------------------------------------------------------------------------- the common file
def test_common_file_holds_the_workload(mix: str, file: Path) -> None:
    content = common_file.read(file)
    assert (content.name, content.lowest, content.highest, content.attributes) == (f"mix-{mix}", 0, 99, 20)
    written = [
        (number, one.name, one.operator, list(one.operands))
        for number, predicates in enumerate(content.subscriptions)
        for one in predicates
    ]
    rows = MIXES[mix].subscriptions(N, 3).to_pylist()
    assert written == [(int(r["id"][1:]), r["attribute"], r["operator"], r["number"]) for r in rows]
    assert [{f"a{at}": value for at, value in enumerate(event)} for event in content.events] == list(
        events(mix)
    )


def test_common_file_can_be_read_in_part(file: Path) -> None:
    whole, part = common_file.read(file), common_file.read(file, 7)
    assert part.subscriptions == whole.subscriptions[:7]
    assert part.events == whole.events


@pytest.mark.parametrize("text", ["", "something else\n", "tamis-peers\t2\tx\t0\t9\t1\t0\t0\n"])
def test_other_file_is_refused(text: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(text, encoding="ascii")
    with pytest.raises(ValueError, match="is not a common file"):
        common_file.read(other)


def test_unknown_operator_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("tamis-peers\t1\tx\t0\t9\t1\t1\t0\n0 like 3\n", encoding="ascii")
    with pytest.raises(ValueError, match="no operator 'like'; there are =, !="):
        common_file.read(other)


# ------------------------------------------------------------------------------------------- the answers
@pytest.mark.parametrize("name", [name for name in CLASSES if name != "spark"])
def test_python_peer_agrees_with_brute_force(
    name: str, mix: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(NEEDS.get(name, "bench"))
    monkeypatch.setattr(course, "BUILD_BUDGETS", 1_000)
    answers = tmp_path / "answers"
    outcome = course.run(make(name), common_file.read(file), 0.2, answers)
    found = [list(map(int, line.split())) for line in answers.read_text(encoding="ascii").splitlines()]
    assert found == truth(mix)[: outcome.events]
    assert outcome.matches == sum(map(len, found))
    assert (outcome.subscriptions, outcome.version != "") == (N, True)


@pytest.mark.skipif(
    os.environ.get("TAMIS_PEERS") != "1", reason="set TAMIS_PEERS=1 to run Spark, Java and Rust"
)
@pytest.mark.parametrize("name", ["spark", "lucene-monitor", "event-ruler", "vespa", "a-tree"])
def test_peer_with_its_own_runtime_agrees_with_brute_force(name: str, mix: str, file: Path) -> None:
    if name in NEEDS and not find_spec(NEEDS[name]):
        pytest.skip(f"{name} is not installed")
    try:
        command = PEERS[name].command()
    except programs.Unavailable as why:
        pytest.skip(str(why))
    done = protocol.run(command, file, N, 3.0)
    assert done.answers == truth(mix)[: len(done.answers)]


def test_building_stops_when_its_time_is_up(file: Path, tmp_path: Path) -> None:
    outcome = course.run(make("eval"), common_file.read(file), 1e-9, tmp_path / "answers")
    assert (outcome.subscriptions, outcome.events, outcome.repeats) == (1, 1, 1)
