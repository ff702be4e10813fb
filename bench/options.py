"""Read the options that commands share: workloads, engines, settings, files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from bench.workloads import Workload, named

Command = TypeVar("Command", bound=Callable[..., Any])
Item = TypeVar("Item")


def known_workload(_context: click.Context, _parameter: click.Parameter, name: str) -> Workload:
    """Return the workload called ``name``; the error lists the known ones."""
    try:
        return named(name)
    except ValueError as unknown:
        raise click.BadParameter(str(unknown)) from None


def known_engines(_context: click.Context, _parameter: click.Parameter, names: str) -> tuple[str, ...]:
    """Return the engines in a comma-separated list; the error lists the known ones."""
    from bench.engines import engine_names
    from bench.run.plan import EngineSpec

    texts = tuple(name.strip() for name in names.split(",") if name.strip())
    if not texts:
        raise click.BadParameter(f"name at least one of {', '.join(engine_names())}")
    try:
        return tuple(EngineSpec.read(text).known().text for text in texts)
    except ValueError as unknown:
        raise click.BadParameter(str(unknown)) from None


def chosen(names: str, known: Mapping[str, Item]) -> list[Item]:
    """Return the names in a comma-separated list, or all if it is empty; the error lists the known ones."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(known)}")
    return [known[name] for name in wanted or known]


def settings(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Return ``NAME=VALUE`` texts by name."""
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def changed_workload(workload: Workload, changes: dict[str, Any]) -> Workload:
    """Return ``workload`` with other parameters; a usage error lists the known ones."""
    from bench.workloads.base import changed

    try:
        return changed(workload, changes)
    except ValueError as wrong:
        raise click.BadParameter(str(wrong)) from None


def json_file(help_text: str = "Write the report here.") -> Callable[[Command], Command]:
    """Return the option ``--json FILE``."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option("--json", "file", type=kind, help=help_text)
