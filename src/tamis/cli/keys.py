"""``tamis keys``: manages API keys directly in the store, also while no service runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tamis.cli.data import data_options, store_url
from tamis.cli.support import json_line
from tamis.errors import InputError, ResourceUnknown

DAY = 86_400_000_000  # microseconds
PAGE = 1_000


@click.group(short_help="Create, list and revoke API keys.")
def keys() -> None:
    """Create, list and revoke the API keys of a service."""


@keys.command()
@data_options
@click.option("--owner", required=True, help="The owner of the key.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["publish", "subscribe", "admin"]),
    multiple=True,
    required=True,
    help="What the key may do; repeatable.",
)
@click.option("--name", help="A note for people.")
@click.option(
    "--days", type=click.IntRange(min=1), help="Days until it expires; without this option it never does."
)
def create(
    data: Path | None,
    url: str | None,
    owner: str,
    scopes: tuple[str, ...],
    name: str | None,
    days: int | None,
) -> None:
    """Create a key and print it. The key is not stored."""
    from tamis.contract.names import check_owner
    from tamis.store import Store
    from tamis.store import keys as stored
    from tamis.store.timestamps import now

    if days is not None and days * DAY > stored.LONGEST:
        raise InputError("a key is valid for at most a hundred years; without --days it never expires")
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
    """Revoke a key. Services refuse it within a second."""
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
