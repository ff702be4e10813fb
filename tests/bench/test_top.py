"""Test ``python -m bench top``: one line for every law of weights and every search."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from bench.__main__ import main
from bench.top import DATA, TOPS


def test_every_search_is_measured_on_every_law(tmp_path: Path) -> None:
    file = tmp_path / "top.json"
    ran = CliRunner().invoke(main, ["top", "-n", "3000", "-m", "20", "--json", str(file)])
    assert ran.exit_code == 0, ran.output
    rows = json.loads(file.read_text())["rows"]
    assert [row["law"] for row in rows] == [data.law for data in DATA]
    for row in rows:
        for name in ("all", *(f"top{k}" for k in TOPS)):
            assert row["measured"][f"{name}_us"] > 0
            assert row["measured"][f"{name}_candidates"] <= row["measured"]["all_candidates"]
        assert f"{row['law']} " in ran.output
