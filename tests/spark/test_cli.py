"""``tamis spark``: the stages from a shell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.cli.spark.failures import error_of
from tamis.cli.spark.frames import format_of
from tamis.errors import IndexCorrupt, InputError, SparkFailed, TamisError
from tests.spark.commands import EVENTS, PAIRS, Call, pairs_in

# -- without Spark --------------------------------------------------------------------------------------


def test_help_needs_no_pyspark_and_is_quick(tmp_path: Path) -> None:
    (tmp_path / "pyspark.py").write_text("raise ImportError('not here')", encoding="utf-8")
    source = os.pathsep.join([str(tmp_path), *sys.path])
    code = "import sys; from tamis.cli import main; main(['spark', 'match', '--help'], prog_name='tamis')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": source}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "EVENTS INDEX" in done.stdout


def test_setting_without_a_value_is_refused(tamis: Call) -> None:
    result = tamis("match", "e.json", "i", "-o", "x", "--conf", "spark.nonsense")
    assert result.exit_code == 1
    assert "input-invalid: --conf takes KEY=VALUE, not 'spark.nonsense'" in result.stderr


def test_arrays_are_refused_for_csv(tamis: Call) -> None:
    result = tamis("match", "e.json", "i", "-o", "x", "--arrays", "--format", "csv")
    assert result.exit_code == 1
    assert "CSV has no arrays" in result.stderr


def test_format_is_found_by_name_or_folder_content(tmp_path: Path) -> None:
    assert format_of("s3://bucket/log.parquet/") == "parquet"
    assert format_of("log.jsonl.gz") == "json"
    assert format_of("log", "csv") == "csv"
    (tmp_path / "part-0.csv").touch()
    assert format_of(str(tmp_path)) == "csv"
    with pytest.raises(InputError, match="s3://bucket/log: the name says no format; add --format"):
        format_of("s3://bucket/log")


TRACE = """Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times:
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
tamis.errors.IndexCorrupt: shard 3 is torn

\tat org.apache.spark.Something(Something.java:1)"""


def test_worker_error_keeps_its_type() -> None:
    found = error_of(RuntimeError(TRACE))
    assert isinstance(found, IndexCorrupt)
    assert found.message == "shard 3 is torn"


def test_other_failure_is_reported_in_one_line() -> None:
    found = error_of(RuntimeError("[OUT_OF_MEMORY] No memory\nleft. SQLSTATE: 53200\n\n\tat org.apache"))
    assert isinstance(found, SparkFailed)
    assert found.message == "No memory left."
    assert type(error_of(RuntimeError("tamis.errors.NoSuchThing: hm"))) is TamisError


def test_submit_example_is_not_overwritten(tamis: Call, tmp_path: Path) -> None:
    result = tamis("submit-example", "--master", "spark://me:1", "-o", tmp_path / "x")
    assert result.exit_code == 0, result.output
    assert os.access(tmp_path / "x" / "pack.sh", os.X_OK)
    assert "spark://me:1" in (tmp_path / "x" / "submit.sh").read_text(encoding="utf-8")
    again = tamis("submit-example", "-o", tmp_path / "x")
    assert again.exit_code == 1
    assert "pack.sh exists" in again.stderr
    printed = tamis("submit-example")
    assert all(f"# ---- {name}" in printed.stdout for name in ("pack.sh", "submit.sh", "job.py"))


@pytest.mark.parametrize("script", ["pack.sh", "submit.sh"])
def test_submit_example_scripts_have_valid_syntax(tamis: Call, tmp_path: Path, script: str) -> None:
    tamis("submit-example", "-o", tmp_path)
    assert subprocess.run(["sh", "-n", tmp_path / script]).returncode == 0


# -- with Spark -----------------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize("plan", ["replicated", "sharded"])
def test_lines_are_matched(index: Path, files: Path, tmp_path: Path, tamis: Call, plan: str) -> None:
    out, bad = tmp_path / "out", tmp_path / "bad"
    result = tamis(
        "match",
        files / "events.jsonl",
        index,
        "-o",
        out,
        "--event-id",
        "id",
        "--plan",
        plan,
        "--quarantine",
        bad,
    )
    assert result.exit_code == 0, result.output
    assert pairs_in(out) == PAIRS
    assert f"{out}: 2 matches of 4 events, 1 refused, in " in result.stderr
    assert f"refused events are in {bad}" in result.stderr
    (row,) = [json.loads(line) for file in bad.glob("*.json") for line in file.read_text().splitlines()]
    assert (row["code"], row["text"]) == ("event-syntax", "nonsense")


@pytest.mark.spark
def test_typed_columns_are_matched_with_generated_ids(index: Path, tmp_path: Path, tamis: Call) -> None:
    pq.write_table(pa.Table.from_pylist([{**event, "id": None} for event in EVENTS]), tmp_path / "e.parquet")
    result = tamis(
        "match", tmp_path / "e.parquet", index, "-o", tmp_path / "out", "--top", "1", "--format", "json"
    )
    assert result.exit_code == 0, result.output
    rows = [
        json.loads(line)
        for file in (tmp_path / "out").glob("*.json")
        for line in file.read_text().splitlines()
    ]
    assert sorted((row["event_id"], row["subscription_id"], row["score"]) for row in rows) == [
        ("e.parquet:0", "phone", 2.0),
        ("e.parquet:1", "cheap", 1.0),
    ]


@pytest.mark.spark
def test_summary_counts_rows_when_rows_hold_arrays(index: Path, tmp_path: Path, tamis: Call) -> None:
    (tmp_path / "e.json").write_text('{"model": "iphone5s", "price": 50}\n', encoding="utf-8")
    result = tamis("match", tmp_path / "e.json", index, "-o", tmp_path / "out", "--arrays")
    assert result.exit_code == 0, result.output
    assert f"{tmp_path / 'out'}: 2 matches of 1 event in 1 row, in " in result.stderr
    (row,) = pq.read_table(tmp_path / "out")["subscriptions"].to_pylist()
    assert sorted(row) == ["cheap", "phone"]


@pytest.mark.spark
def test_csv_columns_are_typed_for_any_name(index: Path, tmp_path: Path, tamis: Call) -> None:
    (tmp_path / "e.csv").write_text("event_id,price,value\nx,20,{}\ny,200,nonsense\n", encoding="utf-8")
    result = tamis("match", tmp_path / "e.csv", index, "-o", tmp_path / "out", "--carry", "payload")
    assert result.exit_code == 0, result.output
    assert pairs_in(tmp_path / "out") == [("x", "cheap")]


@pytest.mark.spark
def test_columns_and_fields_are_carried(index: Path, tmp_path: Path, tamis: Call) -> None:
    (tmp_path / "e.csv").write_text("event_id,price,shop\nx,20,north\n", encoding="utf-8")
    (tmp_path / "e.json").write_text('{"id": "y", "price": 20, "shop": "south"}\n', encoding="utf-8")
    for source, carry, wanted in (
        ("e.csv", ["shop"], {"shop": "north"}),
        ("e.csv", ["all"], {"shop": "north", "price": 20, "payload": None, "event_time": None}),
        ("e.json", ["shop"], {"shop": "south"}),
    ):
        words = [word for name in carry for word in ("--carry", name)]
        result = tamis("match", tmp_path / source, index, "-o", tmp_path / "out", "--overwrite", *words)
        assert result.exit_code == 0, result.output
        (row,) = pq.read_table(tmp_path / "out").to_pylist()
        assert {name: row[name] for name in wanted} == wanted
    result = tamis(
        "match", tmp_path / "e.json", index, "-o", tmp_path / "out", "--overwrite", "--carry", "all"
    )
    assert result.exit_code == 1
    assert "input-invalid: --carry all: lines of JSON have no columns" in result.stderr


@pytest.mark.spark
def test_refused_events_follow_on_error(index: Path, tmp_path: Path, tamis: Call) -> None:
    (tmp_path / "e.json").write_text('{"price": 20}\n{"price": \n', encoding="utf-8")
    words = ("match", tmp_path / "e.json", index, "-o", tmp_path / "out", "--overwrite", "--on-error")
    assert "1 refused" in tamis(*words, "report").stderr
    skipped = tamis(*words, "skip")
    assert (skipped.exit_code, "1 refused" in skipped.stderr) == (0, False)
    failed = tamis(*words, "raise")
    assert failed.exit_code == 1
    assert "event-syntax: the event" in failed.stderr


@pytest.mark.spark
def test_event_with_an_unreadable_time_is_refused(index: Path, tmp_path: Path, tamis: Call) -> None:
    (tmp_path / "e.jsonl").write_text(
        '{"id": "good", "price": 1, "at": "2026-05-01T00:00:00Z"}\n'
        '{"id": "bad", "price": 1, "at": "some day"}\n'
        '{"id": "none", "price": 1}\n'
    )
    target, bad = tmp_path / "out", tmp_path / "bad"
    options = ("--event-id", "id", "--event-time", "at", "--quarantine", bad, "--format", "json")
    result = tamis("match", tmp_path / "e.jsonl", index, "-o", target, *options)
    assert result.exit_code == 0, result.output
    (row,) = [json.loads(line) for file in bad.glob("*.json") for line in file.read_text().splitlines()]
    assert (row["event_id"], row["code"]) == ("bad", "event-value")
    assert "not a time: some day" in row["message"]


@pytest.mark.spark
def test_explain_matches_nothing(index: Path, files: Path, tmp_path: Path, tamis: Call) -> None:
    result = tamis("match", files / "events.jsonl", index, "-o", tmp_path / "out", "--explain")
    assert result.exit_code == 0, result.output
    assert "replicated: " in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.spark
def test_error_is_reported_in_one_line(index: Path, files: Path, tmp_path: Path, tamis: Call) -> None:
    gone = tamis("match", tmp_path / "gone.json", index, "-o", tmp_path / "out")
    assert gone.exit_code == 1
    assert gone.stderr.splitlines()[-1].startswith("tamis: input-invalid: Path does not exist: ")
    nowhere = tamis("match", files / "events.jsonl", tmp_path / "nowhere", "-o", tmp_path / "out")
    assert nowhere.stderr.splitlines()[-1].startswith("tamis: index-not-found: ")
    column = tamis(
        "match", files / "events.jsonl", index, "-o", tmp_path / "o", "--schema", "a INT", "--event-id", "id"
    )
    assert (
        "tamis: input-invalid: events need a column 'event_id', and there is no column 'id'" in column.stderr
    )
    assert "Traceback" not in gone.stderr + nowhere.stderr + column.stderr
    traced = tamis("match", tmp_path / "gone.json", index, "-o", tmp_path / "out", "--debug")
    assert traced.exit_code == 1
    there = tamis("match", files / "events.jsonl", index, "-o", files)
    assert there.exit_code == 1
    assert "already exists" in there.stderr


@pytest.mark.spark
def test_profile_is_written(spark: Any, files: Path, tmp_path: Path, tamis: Call) -> None:
    from tamis.spark.profiling import Profile

    result = tamis("profile", files / "events.jsonl", "-o", tmp_path / "profile", "--sample", "2")
    assert result.exit_code == 0, result.output
    assert f"{tmp_path / 'profile'}: the profile of 4 events, 1 refused" in result.stderr
    assert Profile.open(str(tmp_path / "profile")).refused == 1


@pytest.mark.spark
def test_workload_is_generated(
    spark: Any, tmp_path: Path, tamis: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer = EntryPoint("bench", "bench.workloads:named", "tamis.workloads")
    module = import_module("tamis.spark.generate")
    monkeypatch.setattr(module, "entry_points", lambda group: [offer])  # as directly after the installation
    sizes = ("--subscriptions", "30", "--events", "20")
    result = tamis("generate", "market", "-o", tmp_path / "market", *sizes, "--as-text")
    assert result.exit_code == 0, result.output
    assert f"{tmp_path}/market/events" in result.stderr
    assert pq.read_table(tmp_path / "market" / "subscriptions").num_rows == 30
    assert pq.read_table(tmp_path / "market" / "events").num_rows == 20
    unknown = tamis("generate", "nonsense", "-o", tmp_path / "x")
    assert unknown.exit_code == 1
    assert "input-invalid: 'nonsense' is not one of " in unknown.stderr


# -- streaming queries ---------------------------------------------------------------------------------------


SECONDS = re.compile(r"in [\d.]+ s\b")


@pytest.mark.spark
def test_documented_session_prints_the_documented_output(spark: Any, tmp_path: Path, tamis: Call) -> None:
    page = (Path(__file__).parents[2] / "docs" / "spark.md").read_text(encoding="utf-8")
    (session,) = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    files = re.findall(r"(?:searches|offers)\.\w+|(?<=-o )matches", session)
    for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, printed = step.partition("\n")
        words = command.split()
        if words[0] == "cat":
            (tmp_path / words[1]).write_text(printed.rstrip("\n") + "\n", encoding="utf-8")
            continue
        assert words[:2] == ["tamis", "spark"]
        done = tamis(*[tmp_path / word if word in files else word for word in words[2:]])
        shown = done.output.replace(f"{tmp_path}/", "").strip()
        assert SECONDS.sub("in N s", shown) == SECONDS.sub("in N s", printed.strip())
