"""Test ``tamis build``: every input, and the treatment of bad subscriptions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

CSV = "id,expression,priority\nphone,\"model = 'iphone5s' AND price <= 580\",2\ncheap,price < 100,\n"
ROWS = [
    {"id": "phone", "expression": "model = 'iphone5s' AND price <= 580", "priority": 2.0},
    {"id": "cheap", "expression": "price < 100"},
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def matches(tamis: Any, index: Path) -> list[str]:
    event = '{"model": "iphone5s", "price": 50}'
    result: Result = tamis("match", index, stdin=event)
    assert result.exit_code == 0, result.output
    return sorted(json.loads(result.stdout)["subscriptions"])


def test_build_reads_json_lines(tamis: Any, tmp_path: Path) -> None:
    (tmp_path / "book.jsonl").write_text(LINES, encoding="utf-8")
    result = tamis("build", tmp_path / "book.jsonl", "-o", tmp_path / "index")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "2 subscriptions" in result.stderr
    assert matches(tamis, tmp_path / "index") == ["cheap", "phone"]


def test_build_reads_gzipped_json_lines(tamis: Any, tmp_path: Path) -> None:
    (tmp_path / "book.jsonl.gz").write_bytes(gzip.compress(LINES.encode()))
    assert tamis("build", tmp_path / "book.jsonl.gz", "-o", tmp_path / "index").exit_code == 0
    assert matches(tamis, tmp_path / "index") == ["cheap", "phone"]


def test_pipe_is_read_as_json_lines(tamis: Any, tmp_path: Path) -> None:
    result = tamis("build", "-", "-o", tmp_path / "index", stdin=LINES)
    assert result.exit_code == 0, result.output
    assert matches(tamis, tmp_path / "index") == ["cheap", "phone"]


def test_build_reads_csv_files_and_pipes(tamis: Any, tmp_path: Path) -> None:
    (tmp_path / "book.csv").write_text(CSV, encoding="utf-8")
    result = tamis("build", tmp_path / "book.csv", "-o", tmp_path / "one")
    assert result.exit_code == 0, result.output
    assert tamis("build", "-", "--format", "csv", "-o", tmp_path / "two", stdin=CSV).exit_code == 0
    assert matches(tamis, tmp_path / "one") == matches(tamis, tmp_path / "two") == ["cheap", "phone"]


def test_build_reads_parquet(tamis: Any, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "book.parquet")
    assert tamis("build", tmp_path / "book.parquet", "-o", tmp_path / "index").exit_code == 0
    assert matches(tamis, tmp_path / "index") == ["cheap", "phone"]


def test_build_reads_bulk_columns_in_parquet(tamis: Any, tmp_path: Path) -> None:
    from bench.workloads import WORKLOADS

    pq.write_table(WORKLOADS["w4-dense"].subscriptions(500, 1), tmp_path / "bulk.parquet")
    result = tamis("build", tmp_path / "bulk.parquet", "-o", tmp_path / "index", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["subscriptions"] == 500


def test_file_without_extension_needs_a_format(tamis: Any, tmp_path: Path) -> None:
    (tmp_path / "book").write_text(LINES, encoding="utf-8")
    result = tamis("build", tmp_path / "book", "-o", tmp_path / "index")
    assert result.exit_code == 1
    assert "input-invalid" in result.stderr
    assert "--format" in result.stderr
    assert tamis("build", tmp_path / "book", "--format", "jsonl", "-o", tmp_path / "index").exit_code == 0


def test_build_prints_a_json_summary(tamis: Any, tmp_path: Path) -> None:
    result = tamis("build", "-", "-o", tmp_path / "index", "--json", stdin=LINES)
    summary = json.loads(result.stdout)
    assert summary["subscriptions"] == 2
    assert summary["refused"] == []


BAD = LINES + '{"id": "broken", "expression": "price <="}\n'


def test_bad_subscription_stops_the_build(tamis: Any, tmp_path: Path) -> None:
    result = tamis("build", "-", "-o", tmp_path / "index", stdin=BAD)
    assert result.exit_code == 1
    assert "expression-syntax" in result.stderr
    assert not (tmp_path / "index").exists()


def test_bad_subscriptions_can_be_left_out(tamis: Any, tmp_path: Path) -> None:
    result = tamis("build", "-", "-o", tmp_path / "index", "--skip-errors", stdin=BAD)
    assert result.exit_code == 0, result.output
    assert "1 refused" in result.stderr
    assert "broken" in result.stderr
    assert matches(tamis, tmp_path / "index") == ["cheap", "phone"]


def test_refused_subscriptions_are_listed(tamis: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    assert tamis("build", "-", "-o", tmp_path / "index", "--refused", bad, stdin=BAD).exit_code == 0
    (row,) = map(json.loads, bad.read_text(encoding="utf-8").splitlines())
    assert row["id"] == "broken"
    assert row["code"] == "expression-syntax"


def test_existing_index_is_not_overwritten(tamis: Any, tmp_path: Path) -> None:
    target = tmp_path / "index"
    assert tamis("build", "-", "-o", target, stdin=LINES).exit_code == 0
    again = tamis("build", "-", "-o", target, stdin=LINES)
    assert again.exit_code == 1
    assert "--force" in again.stderr
    forced = tamis("build", "-", "-o", target, "--force", stdin=LINES.splitlines()[1])
    assert forced.exit_code == 0, forced.output
    assert matches(tamis, target) == ["cheap"]


def test_build_takes_every_engine(tamis: Any, tmp_path: Path) -> None:
    assert tamis("build", "-", "-o", tmp_path / "index", "--engine", "scan", stdin=LINES).exit_code == 0
    assert matches(tamis, tmp_path / "index") == ["cheap", "phone"]
    unknown = tamis("build", "-", "-o", tmp_path / "other", "--engine", "warp", stdin=LINES)
    assert unknown.exit_code == 1
    assert "engine-unknown" in unknown.stderr


def test_build_takes_a_sample_of_events(tamis: Any, tmp_path: Path) -> None:
    sample = tmp_path / "sample.jsonl"
    sample.write_text('{"price": 5}\n{"price": 50, "model": "x"}\n', encoding="utf-8")
    assert tamis("build", "-", "-o", tmp_path / "index", "--sample", sample, stdin=LINES).exit_code == 0
    assert matches(tamis, tmp_path / "index") == ["cheap", "phone"]


@pytest.mark.parametrize("text", ["id,words\n1,2\n", "expression\na = 1\n"])
def test_csv_needs_its_columns(tamis: Any, tmp_path: Path, text: str) -> None:
    result = tamis("build", "-", "--format", "csv", "-o", tmp_path / "index", stdin=text)
    assert result.exit_code == 1
    assert "needs the column" in result.stderr


def test_missing_file_is_wrong_usage(tamis: Any, tmp_path: Path) -> None:
    assert tamis("build", tmp_path / "nothing.jsonl", "-o", tmp_path / "index").exit_code == 2


def test_build_takes_engine_parameters(tamis: Any, tmp_path: Path) -> None:
    rows = "".join(f'{{"id": "s{n}", "expression": "x = {n}"}}\n' for n in range(20))
    made = tamis(
        "build", "-", "-o", tmp_path / "index", "--engine", "auto", "--parameter", "least=0", stdin=rows
    )
    assert made.exit_code == 0, made.output
    told = tamis("info", tmp_path / "index").stdout
    assert "engine: auto" in told
    assert "considered:" in told
    wrong = tamis("build", "-", "-o", tmp_path / "other", "--parameter", "pairs", stdin=rows)
    assert wrong.exit_code == 1
    assert "NAME=NUMBER" in wrong.stderr
    beyond = tamis("build", "-", "-o", tmp_path / "other", "--parameter", "pairs=2.5", stdin=rows)
    assert "pairs must lie between 0 and 2" in beyond.stderr


def test_failing_build_names_every_bad_line(tamis: Any, tmp_path: Path) -> None:
    book = tmp_path / "book.jsonl"
    lines = [*LINES.splitlines(), "", *(f'{{"id": "bad{n}", "expression": "price <="}}' for n in range(25))]
    book.write_text("\n".join(lines), encoding="utf-8")
    result = tamis("build", book, "-o", tmp_path / "index")
    assert result.exit_code == 1
    assert "subscriptions-refused: 25 subscriptions cannot be used" in result.stderr
    assert f"subscription 'bad0', row 3, line 4 of {book}" in result.stderr
    assert "… and 5 more" in result.stderr


def test_unknown_column_is_refused_unless_ignored(tamis: Any, tmp_path: Path) -> None:
    text = "id,expression,owner\nphone,price < 580,ann\n"
    command = ["build", "-", "--format", "csv", "-o", tmp_path / "index"]
    refused = tamis(*command, stdin=text)
    assert refused.exit_code == 1
    assert "'owner'" in refused.stderr
    assert "--ignore" in refused.stderr
    assert tamis(*command, "--ignore", "owner", stdin=text).exit_code == 0
    misspelt = tamis("build", "-", "-o", tmp_path / "other", stdin='{"id": "a", "expresion": "b = 1"}')
    assert "did you mean 'expression'" in misspelt.stderr


def test_csv_ids_stay_text(tamis: Any, tmp_path: Path) -> None:
    text = "id,expression\n007,price < 580\n"
    assert tamis("build", "-", "--format", "csv", "-o", tmp_path / "index", stdin=text).exit_code == 0
    assert matches(tamis, tmp_path / "index") == ["007"]


def test_build_reads_parquet_from_a_pipe(tamis: Any, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "book.parquet")
    piped = (tmp_path / "book.parquet").read_bytes()
    assert tamis("build", "-", "--format", "parquet", "-o", tmp_path / "index", stdin=piped).exit_code == 0
    assert matches(tamis, tmp_path / "index") == ["cheap", "phone"]


def test_build_takes_limits(tamis: Any, tmp_path: Path) -> None:
    (tmp_path / "book.jsonl").write_text(LINES, encoding="utf-8")
    words = ("build", tmp_path / "book.jsonl", "-o", tmp_path / "index", "--limit")
    refused = tamis(*words, "expression_predicates=1")
    assert refused.exit_code == 1
    assert "more than expression_predicates = 1" in refused.stderr
    assert tamis(*words, "expression_predicates=2").exit_code == 0
