"""Provide a small book, its index, and a way to call the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tamis.cli import main

BOOK = {
    "phone": "model = 'iphone5s' AND price <= 580",
    "cheap": "price < 100",
    "wool": "title HAS ALL ('wool', 'coat') AND NOT size IN ('XS', 'S')",
    "near": "place WITHIN 5 KM OF POINT (9.52 47.14)",
}

Call = Callable[..., Result]


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def tamis() -> Call:
    """Return a function that calls the command in this process."""

    def call(*arguments: str | Path, stdin: str | bytes = "") -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)

    return call


@pytest.fixture(scope="session")
def book_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("book") / "book.jsonl"
    file.write_text(
        jsonl([{"id": name, "expression": text} for name, text in BOOK.items()]), encoding="utf-8"
    )
    return file


@pytest.fixture(scope="session")
def index(book_file: Path) -> Path:
    """Return the index of the book, built by the command and used once, so that kernels are compiled."""
    target = book_file.with_name("book.index")
    result = CliRunner().invoke(main, ["build", str(book_file), "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert CliRunner().invoke(main, ["match", str(target)], input='{"price": 1}').exit_code == 0
    return target
