"""Reads the headers ``If-Match`` and ``If-None-Match`` (RFC 9110) and ``Idempotency-Key``."""

from __future__ import annotations

import re
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.types import Scope

from tamis.errors import RequestInvalid, VersionConflict
from tamis.limits import Limits
from tamis.service.bodies import header
from tamis.store.subscriptions import StoredSubscription

ANY = "*"
TAGS = r'^(\*|(W/)?"[!#-~]*"(, *(W/)?"[!#-~]*")*)$'  # for the OpenAPI description
KEY = "^[ -~]{1,255}$"
_TAGS = re.compile(r'\s*(W/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)')


def tag_of(version: int) -> str:
    """Return a version as an entity tag."""
    return f'"{version}"'


class Conditions(NamedTuple):
    """The conditions on the current version; ``None`` means no condition."""

    match: frozenset[str] | None
    none_match: frozenset[str] | None

    @classmethod
    def of(cls, headers: Headers) -> Conditions:
        """Return the conditions of a request."""
        return cls(
            _tags(headers, "if-match", weak=False),  # a change needs a strong match
            _tags(headers, "if-none-match", weak=True),
        )

    def check(self, current: StoredSubscription | None) -> None:
        """Raise ``VersionConflict`` unless the conditions hold for the current version, or its absence."""
        if self.match is not None and not _holds(self.match, current):
            there = "there is none" if current is None else f"it is at {tag_of(current.version)}"
            raise VersionConflict(f"If-Match does not hold: {there}; read it again, then decide")
        if self.none_match is not None and _holds(self.none_match, current):
            raise VersionConflict("If-None-Match does not hold: there is one already")

    def is_unchanged(self, current: StoredSubscription) -> bool:
        """Return whether the client already has this version."""
        return self.none_match is not None and _holds(self.none_match, current)


def _holds(tags: frozenset[str], current: StoredSubscription | None) -> bool:
    return current is not None and (ANY in tags or str(current.version) in tags)


def _tags(headers: Headers, name: str, weak: bool) -> frozenset[str] | None:
    text = ",".join(headers.getlist(name))
    if not text:
        return None
    if text.strip() == ANY:
        return frozenset({ANY})
    tags, at = set(), 0
    while at < len(text):
        tag = _TAGS.match(text, at)
        if tag is None:
            raise RequestInvalid(
                f'{name} is * or a list of tags such as "17", not {text[:80]!r}', header=name
            )
        at = tag.end()
        if weak or not tag[1]:
            tags.add(tag[2])
    return frozenset(tags)


def idempotency_key(scope: Scope, limits: Limits) -> str | None:
    """Return the idempotency key of a request, or ``None`` if it has none."""
    key, most = header(scope, b"idempotency-key"), limits.idempotency_key_bytes
    if key is not None and not (1 <= len(key) <= most and key.isascii() and key.isprintable()):
        raise RequestInvalid(
            f"an Idempotency-Key is 1 to idempotency_key_bytes = {most} ASCII characters",
            header="idempotency-key",
            limit="idempotency_key_bytes",
        )
    return key
