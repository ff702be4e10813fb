"""API keys, of which only hashes are stored, so a copy of the database contains no usable key.

A key is ``tamis_<id>_<secret>``. The secret has 256 random bits, so its SHA-256 cannot be reversed; a slow
hash would only slow down every request.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.store.tables import keys
from tamis.store.timestamps import now

PUBLISH, SUBSCRIBE, ADMIN = SCOPES = ("publish", "subscribe", "admin")
LONGEST = 36_500 * 86_400_000_000  # a hundred years, in microseconds: the longest validity

_K = keys.c
_FORM = re.compile(r"tamis_([0-9a-f]{16})_[0-9a-f]{64}")


class Key(NamedTuple):
    """A key without its secret."""

    id: str
    owner: str
    scopes: frozenset[str]
    name: str | None
    created: int
    expires: int | None
    revoked: int | None
    hash: str

    def opens_with(self, text: str) -> bool:
        """Return whether ``text`` is this key and it is valid, in constant time for every wrong text."""
        same = hmac.compare_digest(self.hash, _hash(text))
        return same and self.revoked is None and (self.expires is None or self.expires > now())


def create(
    connection: Connection,
    owner: str,
    scopes: Iterable[str],
    name: str | None = None,
    expires: int | None = None,
) -> tuple[Key, str]:
    """Create a key; return it and its text, which is never available again."""
    identity = secrets.token_hex(8)
    text = f"tamis_{identity}_{secrets.token_hex(32)}"
    key = Key(identity, owner, frozenset(scopes), name, now(), expires, None, _hash(text))
    row = key._asdict() | {"scopes": " ".join(sorted(key.scopes))}
    connection.execute(sa.insert(keys), row)
    return key, text


def id_in(text: str) -> str | None:
    """Return the id in a text with the form of a key, or ``None``."""
    form = _FORM.fullmatch(text)
    return form and form[1]


def find(connection: Connection, identity: str) -> Key | None:
    """Return the key with this id, or ``None``."""
    row = connection.execute(_select().where(_K.id == identity)).first()
    return None if row is None else _key(row)


def page(connection: Connection, owner: str | None, after: str, most: int) -> list[Key]:
    """Return keys in the order of their ids."""
    query = _select().where(_K.id > after).order_by(_K.id).limit(most)
    return [
        _key(row) for row in connection.execute(query if owner is None else query.where(_K.owner == owner))
    ]


def revoke(connection: Connection, identity: str) -> bool:
    """Revoke a key; return whether it exists. A repeated call changes nothing."""
    ended = sa.update(keys).where(_K.id == identity)
    return bool(connection.execute(ended.values(revoked=sa.func.coalesce(_K.revoked, now()))).rowcount)


def is_empty(connection: Connection) -> bool:
    """Return whether no key was ever created."""
    return connection.execute(sa.select(_K.id).limit(1)).first() is None


def _select() -> sa.Select[Any]:
    return sa.select(*(_K[name] for name in Key._fields))


def _key(row: Any) -> Key:
    return Key(*row)._replace(scopes=frozenset(row.scopes.split()))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
