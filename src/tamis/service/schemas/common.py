"""What the other shapes are made of: names, moments, pages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tamis.contract.names import LOCAL, OWNER


def exactly(pattern: str) -> str:
    """From the beginning to the end: Python's ``$`` alone would let a line break follow."""
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
Items = Annotated[int, Meta(ge=1, description="Items of a page; no more than the limit page_items.")]
Cursor = Annotated[str, Meta(pattern=exactly("[A-Za-z0-9_-]+"), description="``next`` of the page before.")]
Moment = Annotated[datetime, Meta(tz=True)]


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What is sent: a field that is not known is refused by name."""


class Sent(msgspec.Struct, kw_only=True):
    """What is answered."""


class ForOwner(Strict):
    """The owner that an administrator acts for."""

    owner: OwnerName | None = None


class PageOf(ForOwner):
    """A page."""

    limit: Items = 100
    cursor: Cursor | None = None
