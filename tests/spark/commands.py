"""Provide a book, events, an index and the command for the tests of ``tamis spark``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from tamis.cli import main

BOOK = {"phone": "model = 'iphone5s' AND price <= 580", "cheap": "price < 100", "bad": "price <="}
EVENTS = [
    {"id": "a", "model": "iphone5s", "price": 550},
    {"id": "b", "price": 20.5},
    {"id": "c", "model": "nokia", "price": 300},
]
PAIRS = [("a", "phone"), ("b", "cheap")]

Call = Callable[..., Result]


@pytest.fixture
def tamis() -> Call:
    def call(*arguments: str | Path) -> Result:
        return CliRunner().invoke(main, ["spark", *map(str, arguments)])

    return call


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the book and the events as JSON lines; one line is no event."""
    folder = tmp_path_factory.mktemp("cli")
    book = [json.dumps({"id": name, "expression": text}) for name, text in BOOK.items()]
    (folder / "book.jsonl").write_text("\n".join(book), encoding="utf-8")
    lines = [*map(json.dumps, EVENTS), "", "nonsense"]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def index(spark: Any, files: Path) -> Path:
    target = files / "index"
    bad = files / "bad"
    arguments = [
        "spark",
        "build",
        str(files / "book.jsonl"),
        "-o",
        str(target),
        "--quarantine",
        str(bad),
        "--shards",
        "2",
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert f"{target}: 2 subscriptions, 1 refused, version 1, 2 of 2 shards built" in result.stderr
    assert f"1 row cannot be used; they are in {bad}" in result.stderr
    (row,) = [json.loads(line) for file in bad.glob("*.json") for line in file.read_text().splitlines()]
    assert (row["id"], row["code"]) == ("bad", "expression-syntax")
    return target


def pairs_in(folder: Path) -> list[tuple[str, str]]:
    table = pq.read_table(folder)
    return sorted(zip(table["event_id"].to_pylist(), table["subscription_id"].to_pylist(), strict=True))
