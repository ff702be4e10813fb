"""The demonstration with small data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from bench.demo import demo

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_demo_runs_explains_and_draws(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    sizes = ["--searches", "5000", "--listings", "5000", "--seconds", "4", "--rate", "100"]
    arguments = [*sizes, "--folder", str(folder)]
    result = CliRunner().invoke(demo, arguments)
    assert result.exit_code == 0, result.output
    assert len(re.findall("searches match, among them|one search matches:", result.stdout)) == 2
    assert "the same" in result.stdout
    assert "without a restart" in result.stdout
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
