"""Every limit, error code and command stands in the documentation."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import click
import pytest

import tamis
from tamis.cli import main
from tamis.engines.engines import NAMES, engine_class
from tamis.errors import TamisError
from tamis.limits import Limits

DOCS = Path(__file__).resolve().parents[2] / "docs"


def family(error: type[TamisError]) -> list[type[TamisError]]:
    """The class and all its descendants."""
    return [error, *(member for child in error.__subclasses__() for member in family(child))]


def commands(group: click.Group, path: str = "tamis") -> list[str]:
    """Every command with the words that call it, groups included."""
    found = []
    for name, command in group.commands.items():
        found.append(f"{path} {name}")
        if isinstance(command, click.Group):
            found += commands(command, f"{path} {name}")
    return found


ERRORS = family(TamisError)


def page(name: str) -> str:
    file = DOCS / name
    assert file.is_file(), f"docs/{name} is missing"
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("limit", [field.name for field in dataclasses.fields(Limits)])
def test_limit_is_documented(limit: str) -> None:
    assert f"`{limit}`" in page("limits.md"), f"docs/limits.md does not name `{limit}`"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_error_code_is_documented(error: type[TamisError]) -> None:
    assert f"`{error.code}`" in page("errors.md"), f"docs/errors.md does not name `{error.code}`"


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [vars(error).get("code") for error in ERRORS]
    assert None not in codes, [error.__name__ for error in ERRORS if "code" not in vars(error)]
    assert len(set(codes)) == len(codes), sorted(code for code in codes if codes.count(code) > 1)


def test_there_are_commands() -> None:
    assert commands(main), "the command line has no commands, so none can be documented"


@pytest.mark.parametrize("command", commands(main))
def test_command_is_documented(command: str) -> None:
    assert command in page("cli.md"), f"docs/cli.md does not name '{command}'"


@pytest.mark.parametrize("engine", NAMES)
def test_engine_and_its_parameters_are_documented(engine: str) -> None:
    text = page("engines.md")
    assert f"| `{engine}` |" in text, f"docs/engines.md does not name `{engine}`"
    for name, allowed in engine_class(engine).parameters.items():
        row = next((line for line in text.splitlines() if line.startswith(f"| `{engine}` | `{name}` |")), "")
        assert row, f"docs/engines.md has no row for the parameter {name} of {engine}"
        stated = row.split("|")[3].strip().replace(",", "").replace("−", "-")
        assert float(stated) == allowed.default, row


def test_public_names_are_grouped_once_in_the_api_page() -> None:
    table = page("api.md").partition("| group | names |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", table)
    assert sorted(named) == sorted(tamis.__all__)
