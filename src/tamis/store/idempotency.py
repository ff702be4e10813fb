"""Stores the responses to requests with an idempotency key: a retry gets the same response without effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tamis.errors import AnswerConflict
from tamis.store.tables import answers
from tamis.store.timestamps import now

_A = answers.c


class IdempotentRequest(NamedTuple):
    """A request with an idempotency key."""

    owner: str
    key: str
    fingerprint: str  # hash of the request's content


class StoredResponse(NamedTuple):
    """The stored response to a request."""

    status: int
    headers: Mapping[str, str]
    body: str


def find(connection: Connection, request: IdempotentRequest) -> StoredResponse | None:
    """Return the stored response; raise ``AnswerConflict`` if the key was used for another request."""
    query = sa.select(_A.fingerprint, _A.status, _A.headers, _A.body)
    row = connection.execute(query.where(_A.owner == request.owner, _A.key == request.key)).first()
    if row is None:
        return None
    fingerprint, status, headers, body = row
    if fingerprint != request.fingerprint:
        raise AnswerConflict(
            "this Idempotency-Key was used for another request; take a new key for a new request"
        )
    return StoredResponse(status, msgspec.json.decode(headers), body)


def keep(connection: Connection, pairs: Iterable[tuple[IdempotentRequest, StoredResponse]]) -> None:
    """Store responses, in the transaction that made the changes."""
    rows = [
        {
            **request._asdict(),
            "status": response.status,
            "headers": msgspec.json.encode(response.headers).decode(),
            "body": response.body,
            "created": now(),
        }
        for request, response in pairs
    ]
    if rows:
        connection.execute(sa.insert(answers), rows)


def forget(connection: Connection, before: int) -> int:
    """Delete the responses stored before this time; return their number."""
    return int(connection.execute(sa.delete(answers).where(_A.created < before)).rowcount)
