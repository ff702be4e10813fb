"""``tamis keys``: API keys, straight in the store, also while no service runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tamis.cli.data import data_options, store_url
from tamis.cli.support import json_line
from tamis.errors import InputError, ResourceUnknown

DAY = 86_400_000_000  # microseconds
PAGE = 1_000


@click.group(short_help="Make, list and revoke API keys.")
def keys() -> None:
    """Make, list and revoke the API keys of a service."""


@keys.command()
@data_options
@click.option("--owner", required=True, help="Whose key it is.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["publish", "subscribe", "admin"]),
    multiple=True,
    required=True,
    help="What it may; may be repeated.",
)
@click.option("--name", help="For people.")
@click.option("--days", type=click.IntRange(min=1), help="How long it is in force; for ever unless given.")
def create(
    data: Path | None,
    url: str | None,
    owner: str,
    scopes: tuple[str, ...],
    name: str | None,
    days: int | None,
) -> None:
    """Make a key and print it: it is kept nowhere."""
    from tamis.contract.names import check_owner
    from tamis.store import Store
    from tamis.store import keys as stored
    from tamis.store.timestamps import now

    if days is not None and days * DAY > stored.LONGEST:
        raise InputError("a key is in force for at most a hundred years; without --days it is for ever")
    expires = None if days is None else now() + days * DAY
    with Store.open(store_url(data, url)) as store, store.database.writing() as connection:
        click.echo(stored.create(connection, check_owner(owner), scopes, name, expires)[1])


@keys.command("list")
@data_options
@click.option("--owner", help="Only keys of this owner.")
def list_(data: Path | None, url: str | None, owner: str | None) -> None:
    """List keys as JSON lines, without their secrets."""
    from tamis.store import Store
    from tamis.store import keys as stored

    with Store.open(store_url(data, url)) as store, store.database.reading() as connection:
        after = ""
        while page := stored.page(connection, owner, after, PAGE):
            for key in page:
                click.echo(json_line(_shown(key)), nl=False)
            after = page[-1].id


@keys.command()
@data_options
@click.argument("key", metavar="ID")
def revoke(data: Path | None, url: str | None, key: str) -> None:
    """End a key; services know within a second."""
    from tamis.store import Store
    from tamis.store import keys as stored

    with Store.open(store_url(data, url)) as store, store.database.writing() as connection:
        if not stored.revoke(connection, key):
            raise ResourceUnknown(f"there is no key {key[:40]!r}")


def _shown(key: Any) -> dict[str, Any]:
    from tamis.store.timestamps import iso

    moments = {name: value and iso(value) for name, value in key._asdict().items() if name in _MOMENTS}
    return {"id": key.id, "owner": key.owner, "scopes": sorted(key.scopes), "name": key.name, **moments}


_MOMENTS = ("created", "expires", "revoked")
