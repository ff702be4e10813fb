"""Test the settings of commands: file, environment and options, in this order of strength."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tamis.cli import main
from tamis.cli.config import secret
from tamis.errors import InputError

FILE = """
[serve]
data = "market"
port = 9000
open-metrics = true
limit = {page_items = 50}
store = "postgresql://tamis:geheim@db/tamis"

[notify]
allow_network = ["10.0.0.0/8", "fc00::/7"]

[keys.list]
owner = "ann"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(main, [*arguments])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.output)["settings"]
    return found


def test_option_beats_environment_beats_file_beats_default(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "tamis.toml").write_text(FILE, encoding="utf-8")
    monkeypatch.setenv("TAMIS_SERVE_HOST", "0.0.0.0")
    monkeypatch.setenv("TAMIS_SERVE_PORT", "9100")
    found = settings("config", "--json", "serve", "--engine", "auto", "--port", "9200")
    assert found["port"] == {"value": 9200, "origin": "option"}
    assert found["engine"] == {"value": "auto", "origin": "option"}
    assert found["host"] == {"value": "0.0.0.0", "origin": "environment"}
    assert found["data"] == {"value": "market", "origin": "file"}
    assert found["open-metrics"] == {"value": True, "origin": "file"}
    assert found["limit"] == {"value": ["page_items=50"], "origin": "file"}
    assert found["head"] == {"value": "pstree", "origin": "default"}
    assert settings("config", "--json")["port"] == {"value": 9100, "origin": "environment"}


def test_lists_and_names_with_underscores_are_understood(folder: Path) -> None:
    (folder / "tamis.toml").write_text(FILE, encoding="utf-8")
    assert settings("config", "--json", "notify")["allow-network"]["value"] == ["10.0.0.0/8", "fc00::/7"]


def test_passwords_in_urls_are_hidden(folder: Path) -> None:
    (folder / "tamis.toml").write_text(FILE, encoding="utf-8")
    result = CliRunner().invoke(main, ["config"])
    assert "geheim" not in result.output
    assert 'file         "postgresql://tamis:***@db/tamis"' in result.output
    assert result.output.startswith("tamis serve, settings from tamis.toml\n")


def test_file_is_named_by_option_or_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "other.toml").write_text("[serve]\nport = 1", encoding="utf-8")
    assert settings("--config", "other.toml", "config", "--json")["port"]["value"] == 1
    monkeypatch.setenv("TAMIS_CONFIG", "other.toml")
    assert settings("config", "--json")["port"]["value"] == 1


def test_commands_take_their_values_from_the_file(folder: Path) -> None:
    (folder / "s.jsonl").write_text('{"id": "a", "expression": "x = 1"}\n', encoding="utf-8")
    (folder / "tamis.toml").write_text('[build]\noutput = "a.index"\nengine = "opindex"\n', encoding="utf-8")
    assert CliRunner().invoke(main, ["build", "s.jsonl"]).exit_code == 0
    shown = CliRunner().invoke(main, ["info", "a.index"])
    assert "opindex" in shown.output


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[serve]\nprot = 1", "tamis.toml has the key serve.prot, which is no option; did you mean port?"),
        ("[serv]\nport = 1", "tamis.toml has the table [serv], which is no command; did you mean serve?"),
        ("port = 1", "tamis.toml has the key port, which is no command"),
        ("[serve]\nport = [1]", "tamis.toml: serve.port is a single value"),
        ("[serve]\nopen-metrics = 1", "tamis.toml: serve.open-metrics is true or false"),
        ("[serve]\nlimit = 5", "tamis.toml: serve.limit is a list or a table"),
        (
            "[spark.bild]\nx = 1",
            "tamis.toml has the table [spark.bild], which is no command; did you mean build?",
        ),
        ("[serve", "tamis.toml is not TOML"),
    ],
)
def test_mistake_in_the_file_is_refused_with_its_place(folder: Path, text: str, why: str) -> None:
    (folder / "tamis.toml").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["info", "x"])
    assert result.exit_code == 1
    assert result.stderr.startswith("tamis: input-invalid: ")
    assert why in result.stderr


def test_value_of_the_wrong_type_is_refused_by_the_option(folder: Path) -> None:
    (folder / "tamis.toml").write_text('[serve]\nport = "high"', encoding="utf-8")
    result = CliRunner().invoke(main, ["config"])
    assert result.exit_code == 2
    assert "'high' is not a valid integer" in result.stderr


def test_missing_file_and_unknown_variable_and_command_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "cannot be read from no.toml" in CliRunner().invoke(main, ["--config", "no.toml", "config"]).stderr
    assert (
        "no command with settings; did you mean serve?" in CliRunner().invoke(main, ["config", "srve"]).stderr
    )
    monkeypatch.setenv("TAMIS_NOTIFY_SMTP", "mail")
    assert "did you mean TAMIS_SMTP?" in CliRunner().invoke(main, ["config"]).stderr
    monkeypatch.delenv("TAMIS_NOTIFY_SMTP")
    monkeypatch.setenv("TAMIS_SERVE_PROT", "1")
    stderr = CliRunner().invoke(main, ["config"]).stderr
    assert (
        "the variable TAMIS_SERVE_PROT is no setting of tamis serve; did you mean TAMIS_SERVE_PORT?" in stderr
    )


def test_secret_comes_from_a_variable_or_from_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert secret("TAMIS_SMTP_PASSWORD") is None
    (folder / "word").write_text("geheim\n", encoding="utf-8")
    monkeypatch.setenv("TAMIS_SMTP_PASSWORD_FILE", str(folder / "word"))
    assert secret("TAMIS_SMTP_PASSWORD") == "geheim"
    monkeypatch.setenv("TAMIS_SMTP_PASSWORD", "x")
    with pytest.raises(InputError, match="both TAMIS_SMTP_PASSWORD and TAMIS_SMTP_PASSWORD_FILE are set"):
        secret("TAMIS_SMTP_PASSWORD")
    monkeypatch.delenv("TAMIS_SMTP_PASSWORD_FILE")
    assert secret("TAMIS_SMTP_PASSWORD") == "x"
    monkeypatch.setenv("TAMIS_SMS_HEADER_FILE", str(folder / "none"))
    with pytest.raises(InputError, match=r"TAMIS_SMS_HEADER_FILE names .*none, which cannot be read"):
        secret("TAMIS_SMS_HEADER")
