"""Options that set numbers by name: ``--limit`` and ``--parameter``."""

from __future__ import annotations

from typing import Any

import click

from tamis.errors import InputError

limit_option = click.option(
    "--limit", "limits", metavar="NAME=VALUE", multiple=True, help="Change a limit; repeatable."
)


def parameter(text: str, option: str = "--parameter") -> tuple[str, int | float]:
    """Return ``pairs=2`` as a name and a number; ``option`` names the option in errors."""
    name, _, value = text.partition("=")
    try:
        return name, int(value)
    except ValueError:
        pass
    try:
        return name, float(value)
    except ValueError:
        raise InputError(f"{option} takes NAME=NUMBER, not {text!r}") from None


def read_limits(given: tuple[str, ...]) -> Any:
    """Return the default limits with changes such as ``--limit page_items=50``."""
    from tamis.limits import Limits

    values = dict(parameter(text, "--limit") for text in given)
    unknown = [name for name in values if name not in Limits.__dataclass_fields__]
    if unknown:
        raise InputError(f"there is no limit {unknown[0][:40]!r}; docs/limits.md lists them")
    return Limits(**values)  # type: ignore[arg-type]
