"""Test the public names, one a line: adding or removing one is a decision, so it shows up in review."""

from __future__ import annotations

import tomllib
from pathlib import Path

import tamis

PUBLIC = """
AsyncClient
Audit
Client
Event
Index
Interval
Limits
Point
Subscription
advise
attr
backtest
errors
from_json
parse
suggest
to_json
to_text
"""


def test_public_names_equal_the_golden_list() -> None:
    assert sorted(tamis.__all__) == sorted(PUBLIC.split())


def test_public_names_exist() -> None:
    assert [name for name in tamis.__all__ if not hasattr(tamis, name)] == []


def test_version_is_the_package_s() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert tamis.__version__ == project["project"]["version"]
