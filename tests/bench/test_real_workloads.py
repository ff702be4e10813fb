"""Test workloads of real data: the expected pairs, and clear errors if the data is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.workloads import named
from bench.workloads.real import REAL
from bench.workloads.real.data import event_table, lines
from bench.workloads.truth import Book, rows_of
from tamis import Index

SMALL = {
    "sigma_otrf/rules": ['{"id": "r", "expr": {"and": [{"f": "Image", "op": "endswith", "v": "x.exe"}]}}'],
    "sigma_otrf/events": ['{"_id": 0, "Image": "C:\\\\X.EXE"}', '{"_id": 1, "Image": "y"}'],
    "text/queries_trec_mq": ['{"id": "q1", "terms": ["red", "car"]}', '{"id": "q2", "terms": ["blue"]}'],
    "text/docs_acl_2016plus": ['{"id": "d", "title": "A Réd", "abstract": "car"}'],
    "catalogue_pcparts/items": [
        '{"id": 0, "name": "Fan", "category": "fan", "size": 120, "pwm": true, "color": ["red", "blue"]}',
        '{"id": 1, "name": "CPU", "category": "cpu", "size": 2.5, "pwm": false}',
    ],
    "geo_osm/rules": ['{"id": "g", "expr": {"not": {"f": "shop", "op": "exists"}}}'],
    "geo_osm/events": ['{"id": 0, "osm": "n1", "lat": 1.5, "lon": 2, "shop": "yes"}', '{"id": 1, "lat": 1}'],
}


@pytest.fixture
def small_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a few lines of each data set."""
    import gzip

    for name, rows in SMALL.items():
        file = tmp_path / f"{name}.jsonl.gz"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(gzip.compress("\n".join(rows).encode()))
    monkeypatch.setenv("TAMIS_SHARED_DATA", str(tmp_path))
    return tmp_path


def pairs(name: str, count: int, events: int) -> set[tuple[int, str]]:
    """Return the pairs that an index of the workload finds."""
    workload = type(REAL[name])()
    columns, texts = workload.subscriptions(count, 1), workload.texts(count, 1)
    index = Index.build(columns if columns.num_rows else texts)
    found = index.match_many(workload.events(events, 1), threads=1).to_pylist()
    return {(row["event"], row["subscription"]) for row in found}


@pytest.mark.usefixtures("small_data")
def test_real_workload_reads_its_files() -> None:
    assert [len(pairs("real-sigma", 1, 2)), len(pairs("real-geo", 1, 2))] == [1, 1]
    assert {name for _, name in pairs("real-text", 2, 1)} == {"q1"}
    assert len(pairs("real-pcparts", 50, 2)) == 50  # each finds the part it was made from


@pytest.mark.usefixtures("small_data")
def test_events_begin_again_and_subscriptions_end() -> None:
    sigma = type(REAL["real-sigma"])()
    events = list(rows_of(sigma.events(5, 1)))
    assert events[:2] == events[2:4]
    with pytest.raises(ValueError, match="real-sigma has 1 subscriptions; ask for at most so many"):
        sigma.texts(2, 1)
    assert sigma.parameters() == {
        "name": "real-sigma", "known_subscriptions": 1, "known_events": 2, "left_out": 0,
    }  # fmt: skip


@pytest.mark.usefixtures("small_data")
def test_brute_force_agrees_on_computer_parts() -> None:
    parts = type(REAL["real-pcparts"])(least=0, most=4)
    columns, events = parts.subscriptions(200, 1), parts.events(2, 1)
    book = Book(columns)
    expected = {(at, name) for at, event in enumerate(rows_of(events)) for name in book.matches(event)}
    found = Index.build(columns, engine="scan").match_many(events, threads=1).to_pylist()
    assert {(row["event"], row["subscription"]) for row in found} == expected


def test_rule_beyond_the_limits_is_left_out_and_counted(small_data: Path) -> None:
    import gzip
    import json

    long = {"id": "long", "expr": {"f": "a", "op": "eq", "v": [str(at) for at in range(600)]}}
    file = small_data / "sigma_otrf/rules.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join([*SMALL["sigma_otrf/rules"], json.dumps(long)]).encode()))
    parameters = type(REAL["real-sigma"])().parameters()
    assert (parameters["known_subscriptions"], parameters["left_out"]) == (1, 1)


def test_events_of_mixed_types_become_maps() -> None:
    table = event_table([{"a": 1, "b": "x"}, {"a": "y", "c": True, "d": ["p", "q"], "e": [1, 2.5]}, {}])
    assert list(rows_of(table)) == [
        {"a": 1.0, "b": "x"},
        {"a": "y", "c": True, "d": ["p", "q"], "e": [1.0, 2.5]},
        {},
    ]


@pytest.mark.parametrize("name", list(REAL))
def test_missing_data_is_an_error_with_its_path(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAMIS_SHARED_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"nowhere; set TAMIS_SHARED_DATA"):
        named(name)
    with pytest.raises(ValueError, match=r"is not one of w1, .*, mix-"):
        named("nonsense")
    monkeypatch.setenv("TAMIS_SHARED_DATA", str(tmp_path))
    done = CliRunner().invoke(main, ["generate", name, "-n", "1", "-m", "1", "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert f"{name} needs" in done.output


@pytest.mark.slow
@pytest.mark.realdata
def test_text_workload_gives_the_expected_pairs(shared_data: Path) -> None:
    text = type(REAL["real-text"])()
    assert text.known == 59_983
    columns, events = text.subscriptions(59_983, 1), text.events(2_000, 1)
    papers = {paper["id"]: " ".join(event["words"].split()) for paper, event in zip(
        lines(shared_data / "text/docs_acl_2016plus.jsonl.gz"), text.read_events(), strict=True
    )}  # fmt: skip
    expected = {
        papers[line["doc"]]: set(line["queries"])
        for line in lines(shared_data / "text/matches_acl_every10th.jsonl.gz")
    }
    found: dict[int, set[str]] = {}
    for row in Index.build(columns).match_many(events, threads=1).to_pylist():
        found.setdefault(row["event"], set()).add(row["subscription"])
    known = [(at, event["words"]) for at, event in enumerate(rows_of(events)) if event["words"] in expected]
    assert len(known) > 150
    assert all(found.get(at, set()) == expected[words] for at, words in known)
