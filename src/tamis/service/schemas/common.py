"""Common parts of the schemas: names, times and pages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tamis.contract.names import LOCAL, OWNER


def exactly(pattern: str) -> str:
    """Return a pattern for the whole text; Python's ``$`` alone also matches before a line break."""
    return rf"^(?:{pattern})$(?!\n)"


Status = Literal["active", "paused"]
Scope = Literal["publish", "subscribe", "admin"]
LocalId = Annotated[
    str,
    Meta(
        pattern=exactly(LOCAL),
        description="1 to 128 letters, digits and . _ ~ : @ - but neither . nor .. alone",
    ),
]
OwnerName = Annotated[str, Meta(pattern=exactly(OWNER), description="1 to 64 letters, digits and . _ -")]
Items = Annotated[int, Meta(ge=1, description="Items per page, at most the limit page_items.")]
Cursor = Annotated[str, Meta(pattern=exactly("[A-Za-z0-9_-]+"), description="``next`` of the previous page.")]
Moment = Annotated[datetime, Meta(tz=True)]


class RequestModel(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A request body or query; an unknown field is refused by name."""


class ResponseModel(msgspec.Struct, kw_only=True):
    """A response body."""


class OwnerQuery(RequestModel):
    """The owner that an administrator acts for."""

    owner: OwnerName | None = None


class PageQuery(OwnerQuery):
    """A page."""

    limit: Items = 100
    cursor: Cursor | None = None
