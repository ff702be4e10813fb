"""Test ``python -m bench generate``: its files give the matches of the data in memory."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from bench.__main__ import main
from bench.run.material import Material, make_index
from bench.run.plan import EngineSpec
from bench.workloads import WORKLOADS
from tamis import Index
from tamis.cli import main as tamis

pytestmark = pytest.mark.usefixtures("small_blocks")

N, M = 600, 150


def generate(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["generate", *arguments, "--out", str(folder)])


def pairs_of_files(folder: Path, form: str) -> list[str]:
    """Return the pairs that ``tamis build`` and ``tamis match`` find in the files."""
    index = folder / "index"
    for arguments in (
        ["build", folder / f"subscriptions.{form}", "-o", index],
        ["match", index, folder / f"events.{form}", "--format", "tsv", "-o", folder / "pairs.tsv"],
    ):
        done = CliRunner().invoke(tamis, [str(argument) for argument in arguments])
        assert done.exit_code == 0, done.output
    return sorted((folder / "pairs.tsv").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
@pytest.mark.parametrize("name", ["w1-cnf", "w1-prefix", "w2", "w3", "w5", "market"])
def test_files_match_like_the_data_in_memory(name: str, form: str, tmp_path: Path) -> None:
    done = generate(tmp_path, name, "-n", str(N), "-m", str(M), "--seed", "3", "--format", form)
    assert done.exit_code == 0, done.output
    workload = WORKLOADS[name]
    parts = workload.subscriptions(N, 3), workload.texts(N, 3), workload.events(M, 3, N)
    index = make_index(Material(*parts, None), EngineSpec.read("scan"), Index.build)
    expected = [
        f"{row['event']}\t{row['subscription']}" for row in index.match_many(parts[2], threads=1).to_pylist()
    ]
    found = pairs_of_files(tmp_path, form)
    assert found == sorted(expected)
    assert found or name in ("market", "w1-prefix")


def test_columns_stay_columns_and_are_written_in_pieces(tmp_path: Path) -> None:
    assert generate(tmp_path, "w4-sparse", "-n", "1500", "-m", "300").exit_code == 0
    book, stream = (pq.ParquetFile(tmp_path / f"{name}.parquet") for name in ("subscriptions", "events"))
    assert {"id", "attribute", "operator", "number"} <= set(book.schema_arrow.names)
    assert book.metadata.num_row_groups == 3
    assert stream.metadata.num_row_groups == 3
    assert stream.metadata.num_rows == 300


def test_match_probability_is_measured(tmp_path: Path) -> None:
    done = generate(tmp_path, "w2", "-n", "4000", "-m", "100", "--set", "match_probability=0.05")
    line = next(line for line in done.output.splitlines() if line.startswith("match probability"))
    assert "(wanted 0.05), measured on 4,000 subscriptions and 100 events" in line
    assert float(line.split()[2]) == pytest.approx(0.05, rel=0.2)


def test_files_are_replaced_only_when_forced(tmp_path: Path) -> None:
    (tmp_path / "events.parquet").write_text("mine", encoding="utf-8")
    done = generate(tmp_path, "w4-dense", "-n", "10", "-m", "10")
    assert done.exit_code == 1
    assert "events.parquet exists; --force replaces it" in done.output
    assert (tmp_path / "events.parquet").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "subscriptions.parquet").exists()
    assert generate(tmp_path, "w4-dense", "-n", "10", "-m", "10", "--force").exit_code == 0
    assert pq.read_table(tmp_path / "events.parquet").num_rows == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "'nonsense' is not one of w1, w1-dnf"),
        (["w1", "--set", "warp=1"], "w1 has no parameter 'warp'; it has dimensions"),
        (["w1", "--set", "most_predicates=99999"], "most_predicates must be from 1 to 20,000, not 99999"),
        (["w1", "--set", "alpha"], "'alpha' is not NAME=VALUE"),
    ],
)
def test_bad_input_is_explained(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = generate(tmp_path, *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", list(WORKLOADS))
def test_every_workload_can_be_described(name: str) -> None:
    done = CliRunner().invoke(main, ["describe", name, "-n", "400", "-m", "10"])
    assert done.exit_code == 0, done.output
    assert "match probability " in done.output
    assert ("wanted" in done.output) == bool(WORKLOADS[name].parameters().get("match_probability"))
