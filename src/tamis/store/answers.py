"""Answers to requests with an idempotency key: a repetition gets the same, and does nothing again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.errors import AnswerConflict
from tamis.store.moments import now
from tamis.store.tables import answers

_A = answers.c


class Asked(NamedTuple):
    """A request that may be repeated."""

    owner: str
    key: str
    fingerprint: str  # of all that it asks for


class Given(NamedTuple):
    """What was answered."""

    status: int
    headers: Mapping[str, str]
    body: str


def find(connection: Connection, asked: Asked) -> Given | None:
    """Return the answer that was given before; another request with the same key is refused."""
    query = sa.select(_A.fingerprint, _A.status, _A.headers, _A.body)
    row = connection.execute(query.where(_A.owner == asked.owner, _A.key == asked.key)).first()
    if row is None:
        return None
    fingerprint, status, headers, body = row
    if fingerprint != asked.fingerprint:
        raise AnswerConflict(
            "this Idempotency-Key was used for another request; take a new key for a new request"
        )
    return Given(status, msgspec.json.decode(headers), body)


def keep(connection: Connection, pairs: Iterable[tuple[Asked, Given]]) -> None:
    """Remember what was answered, in the transaction that did it."""
    rows = [
        {
            **asked._asdict(),
            "status": given.status,
            "headers": msgspec.json.encode(given.headers).decode(),
            "body": given.body,
            "created": now(),
        }
        for asked, given in pairs
    ]
    if rows:
        connection.execute(sa.insert(answers), rows)


def forget(connection: Connection, before: int) -> int:
    """Drop the answers of before that moment; how many went."""
    return int(connection.execute(sa.delete(answers).where(_A.created < before)).rowcount)
