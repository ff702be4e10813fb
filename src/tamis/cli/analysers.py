"""The option ``--analyser``, which declares how the texts of an attribute become terms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from tamis.errors import InputError

analyser_option = click.option(
    "--analyser",
    "analysers",
    metavar="ATTRIBUTE=NAME",
    multiple=True,
    help="The analyser of a text attribute: title=english, or title=FILE.json with settings; repeatable.",
)


def read_analysers(given: tuple[str, ...]) -> dict[str, Any]:
    """Return the analysers by attribute, as ``Index.build`` takes them."""
    found: dict[str, Any] = {}
    for text in given:
        attribute, sign, name = text.rpartition("=")
        if not sign or not attribute or not name:
            raise InputError(f"--analyser takes ATTRIBUTE=NAME, not {text[:80]!r}")
        if attribute in found:
            raise InputError(f"--analyser names {attribute[:80]!r} twice; an attribute has one analyser")
        found[attribute] = _settings(Path(name)) if name.endswith(".json") else name
    return found


def _settings(path: Path) -> Any:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as bad:
        raise InputError(f"the settings of an analyser cannot be read from {path}: {bad}") from None
    synonyms = settings.get("synonyms") if isinstance(settings, dict) else None
    if isinstance(synonyms, str):  # a path in the file is relative to the file
        settings["synonyms"] = str(path.parent / synonyms)
    return settings
