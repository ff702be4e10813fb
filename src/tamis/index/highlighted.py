"""Find the highlights of the subscriptions that an event matches, with their trees."""

from __future__ import annotations

from typing import Any

from tamis.errors import AuditFailed
from tamis.expression.highlight import Highlights, highlights
from tamis.limits import Limits
from tamis.values.event import Event


def highlights_of(
    ids: list[str], owners: list[tuple[Any, int]], event: Event, limits: Limits
) -> dict[str, Highlights]:
    """Return the highlights of each id, whose tree is that of its owner: a segment and an ordinal."""
    found: dict[str, Highlights] = {}
    for name, (segment, ordinal) in zip(ids, owners, strict=True):
        one = highlights(segment.expression(ordinal), event, limits.highlights)
        if one is None:
            raise AuditFailed(
                f"the index finds {name!r} and its expression does not match: this is a bug of Tamis;"
                " match_many(audit=1) writes a folder that reproduces it"
            )
        found[name] = one
    return found
