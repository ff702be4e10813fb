"""Names in the service: owners, and the ids of their subscriptions and events.

Everything is stored as ``owner/name``. So two owners can use the same name, and a conflict does not reveal
another owner's names.
"""

from __future__ import annotations

import os
import random
import re
import time

from tamis.errors import RequestInvalid

OWNER = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
LOCAL = r"[A-Za-z0-9._~:@-]{1,128}"
DOT_SEGMENTS = (".", "..")  # no URL can end in these: clients resolve them before the request

_rng = random.Random()  # seeded with the system's randomness, which is slow to read for each name
os.register_at_fork(after_in_child=_rng.seed)
_owner, _local = re.compile(OWNER), re.compile(LOCAL)


def check_owner(name: str) -> str:
    """Return a valid owner name, or raise ``RequestInvalid``."""
    _check_text(name, "owner")
    if not _owner.fullmatch(name):
        raise RequestInvalid(
            f"an owner is 1 to 64 letters, digits and . _ -, the first a letter or digit; not {name[:80]!r}",
            field="owner",
        )
    return name


def check_local(name: str) -> str:
    """Return a valid id within an owner, or raise ``RequestInvalid``."""
    _check_text(name, "id")
    if not _local.fullmatch(name):
        raise RequestInvalid(
            f"an id is 1 to 128 letters, digits and . _ ~ : @ -; not {name[:140]!r}", field="id"
        )
    if name in DOT_SEGMENTS:
        raise RequestInvalid(f"{name!r} is a step in a path and cannot be an id; add a letter", field="id")
    return name


def _check_text(name: object, field: str) -> None:
    """Raise ``RequestInvalid`` for a name that is not a string: 7 and '7' must not be confused."""
    if not isinstance(name, str):
        kind = type(name).__name__
        raise RequestInvalid(f"an {field} is a string, not a value of type {kind}; write str(…)", field=field)


def is_storable(text: str) -> bool:
    """Return whether a store can hold the text: PostgreSQL cannot store U+0000."""
    return "\0" not in text


def stored_name(owner: str, local: str) -> str:
    """Return the name under which an owner's item is stored."""
    return f"{owner}/{local}"


def owner_of(stored: str) -> str:
    """Return the owner's part of a stored name, or an empty string if it has none."""
    owner, slash, _ = stored.partition("/")
    return owner if slash else ""


def local_name(stored: str) -> str:
    """Return a stored name without its owner's part."""
    return stored.partition("/")[2] or stored


def new_name() -> str:
    """Return a new unique name, beginning with the time, so that later names sort later."""
    return f"{time.time_ns() // 1_000_000:012x}{_rng.getrandbits(80):020x}"
