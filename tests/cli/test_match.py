"""Test ``tamis match`` and ``tamis top``: every input and output."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.cli.events import line_batches

EVENTS: list[dict[str, Any]] = [
    {"model": "iphone5s", "price": 550},
    {"price": 50, "model": "iphone5s"},
    {"colour": "red"},
    {"title": "A warm wool coat", "size": "L", "place": {"$point": [9.52, 47.14]}},
]
EXPECTED = {0: {"phone"}, 1: {"cheap", "phone"}, 3: {"near", "wool"}}
LINES = "".join(json.dumps(event) + "\n" for event in EVENTS)


def found(text: str) -> dict[int, set[str]]:
    rows = [json.loads(line) for line in text.splitlines()]
    return {row["event"]: set(row["subscriptions"]) for row in rows}


def test_match_reads_a_pipe(tamis: Any, index: Path) -> None:
    result = tamis("match", index, stdin=LINES)
    assert result.exit_code == 0, result.output
    assert found(result.stdout) == EXPECTED
    assert result.stderr == ""


def test_blank_lines_do_not_count(tamis: Any, index: Path) -> None:
    assert found(tamis("match", index, stdin="\n \n" + LINES.replace("\n", "\r\n\n")).stdout) == EXPECTED


def test_match_accepts_no_events(tamis: Any, index: Path) -> None:
    result = tamis("match", index, stdin="")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize("name", ["events.jsonl", "events.jsonl.gz"])
def test_match_reads_files_of_lines(tamis: Any, index: Path, tmp_path: Path, name: str) -> None:
    data = LINES.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert found(tamis("match", index, tmp_path / name).stdout) == EXPECTED


def test_match_reads_and_writes_parquet(tamis: Any, index: Path, tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"price": [5, 500, 50], "model": ["a", "iphone5s", "iphone5s"]}), tmp_path / "e.parquet"
    )
    target = tmp_path / "pairs.parquet"
    result = tamis("match", index, tmp_path / "e.parquet", "--format", "parquet", "-o", target, "--json")
    assert result.exit_code == 0, result.output
    pairs = {(row["event"], row["subscription"]) for row in pq.read_table(target).to_pylist()}
    assert pairs == {(0, "cheap"), (1, "phone"), (2, "cheap"), (2, "phone")}
    assert json.loads(result.stdout) == {
        "events": 3,
        "matches": 4,
        "refused": 0,
        "refused_by_code": {},
        "advice": [],
    }


def test_match_writes_tab_separated_values(tamis: Any, index: Path) -> None:
    lines = tamis("match", index, "--format", "tsv", stdin=LINES).stdout.splitlines()
    assert sorted(lines) == ["0\tphone", "1\tcheap", "1\tphone", "3\tnear", "3\twool"]


def test_match_shows_all_events_and_their_content(tamis: Any, index: Path) -> None:
    result = tamis("match", index, "--all", "--with-event", stdin=LINES)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["event"] for row in rows] == [0, 1, 2, 3]
    assert [row["attributes"] for row in rows] == EVENTS
    assert rows[2]["subscriptions"] == []


def test_output_goes_to_a_file(tamis: Any, index: Path, tmp_path: Path) -> None:
    result = tamis("match", index, "-o", tmp_path / "out.jsonl", stdin=LINES)
    assert result.stdout == ""
    assert found((tmp_path / "out.jsonl").read_text(encoding="utf-8")) == EXPECTED


def test_parquet_output_needs_a_file(tamis: Any, index: Path) -> None:
    assert tamis("match", index, "--format", "parquet", stdin=LINES).exit_code == 2


BAD = (
    LINES.splitlines()[1]
    + '\n{"price": 99999999999999999999}\nnonsense\n{"a": 1, "a": 2}\n'
    + LINES.splitlines()[0]
)


def test_refused_events_are_counted_and_the_others_match(tamis: Any, index: Path) -> None:
    result = tamis("match", index, "--all", stdin=BAD)
    assert result.exit_code == 0
    assert found(result.stdout) == {0: {"cheap", "phone"}, 4: {"phone"}}
    assert "3 of 5 events refused" in result.stderr
    assert "first: event 1:" in result.stderr


def test_refused_events_are_written_to_quarantine(tamis: Any, index: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    tamis("match", index, "--quarantine", bad, stdin=BAD)
    rows = [json.loads(line) for line in bad.read_text(encoding="utf-8").splitlines()]
    assert [(row["event"], row["code"]) for row in rows] == [
        (1, "event-value"),
        (2, "event-syntax"),
        (3, "event-syntax"),
    ]
    assert rows[1]["line"] == "nonsense"


def test_invalid_utf8_is_refused(tamis: Any, index: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    result = tamis("match", index, "--quarantine", bad, stdin=b'{"a": "\xff\xfe"}\n' + LINES.encode())
    assert result.exit_code == 0
    assert set(found(result.stdout)) == {1, 2, 4}
    assert json.loads(bad.read_text(encoding="utf-8"))["code"].startswith("event-")


def test_missing_index_is_an_error(tamis: Any, tmp_path: Path) -> None:
    result = tamis("match", tmp_path / "nothing", stdin=LINES)
    assert result.exit_code == 1
    assert result.stderr.startswith("tamis: index-not-found: ")
    assert "Traceback" not in result.stderr


def test_malformed_parquet_is_an_error(tamis: Any, index: Path, tmp_path: Path) -> None:
    (tmp_path / "e.parquet").write_bytes(b"no")
    result = tamis("match", index, tmp_path / "e.parquet")
    assert result.exit_code == 1
    assert "tamis: input-invalid: " in result.stderr


def test_top_prints_the_best_matches(tamis: Any, index: Path) -> None:
    result = tamis("top", index, "-k", "1", stdin=LINES)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows[1] == {"event": 1, "top": [{"id": "phone", "score": 2.0}]}
    assert rows[2] == {"event": 2, "top": []}


def test_top_reads_parquet(tamis: Any, index: Path, tmp_path: Path) -> None:
    place = pa.array([{"lon": 9.52, "lat": 47.14}, {"lon": 0.0, "lat": 0.0}])
    pq.write_table(pa.table({"place": place, "price": [50, None]}), tmp_path / "e.parquet")
    rows = [json.loads(line) for line in tamis("top", index, tmp_path / "e.parquet").stdout.splitlines()]
    assert [[entry["id"] for entry in row["top"]] for row in rows] == [["cheap", "near"], []]


def test_top_reports_refused_events(tamis: Any, index: Path) -> None:
    result = tamis("top", index, stdin=BAD)
    assert result.exit_code == 0
    assert [json.loads(line)["event"] for line in result.stdout.splitlines()] == [0, 4]
    assert "event 2 refused: event-syntax" in result.stderr


class Trickle(BytesIO):
    """A stream that gives a few bytes at a time."""

    def read1(self, size: int | None = -1) -> bytes:
        return self.read(7)


def test_lines_stay_whole_when_bytes_trickle() -> None:
    lines = [line for batch in line_batches(Trickle(b"first\n\nsecond line\nthird"), 100) for line in batch]
    assert lines == [b"first", b"second line", b"third"]


def test_endless_line_is_cut_and_the_next_is_whole() -> None:
    stream = Trickle(b"x" * 1000 + b"\nnext\n" + b"y" * 500)
    lines = [line for batch in line_batches(stream, 20) for line in batch]
    assert [len(lines[0]) > 20, lines[1], len(lines[2]) > 20] == [True, b"next", True]
    assert max(map(len, lines)) < 40
