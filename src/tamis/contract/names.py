"""Names in the service: owners, and what they call their subscriptions and events.

Everything is stored under its owner, as ``owner/name``. So two owners may use the same name, and nobody
learns from a conflict what another has.
"""

from __future__ import annotations

import os
import random
import re
import time

from tamis.errors import RequestInvalid

OWNER = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
LOCAL = r"[A-Za-z0-9._~:@-]{1,128}"
STEPS = (".", "..")  # no address can end in these: they are resolved before anything is asked

_chance = random.Random()  # begins with the system's randomness, which is slow to ask for each name
os.register_at_fork(after_in_child=_chance.seed)
_owner, _local = re.compile(OWNER), re.compile(LOCAL)


def check_owner(name: str) -> str:
    """Return a usable owner's name."""
    _check_text(name, "owner")
    if not _owner.fullmatch(name):
        raise RequestInvalid(
            f"an owner is 1 to 64 letters, digits and . _ -, the first a letter or digit; not {name[:80]!r}",
            field="owner",
        )
    return name


def check_local(name: str) -> str:
    """Return a usable name within an owner's."""
    _check_text(name, "id")
    if not _local.fullmatch(name):
        raise RequestInvalid(
            f"an id is 1 to 128 letters, digits and . _ ~ : @ -; not {name[:140]!r}", field="id"
        )
    if name in STEPS:
        raise RequestInvalid(f"{name!r} is a step in a path and cannot be an id; add a letter", field="id")
    return name


def _check_text(name: object, field: str) -> None:
    """Refuse a name that is no text: 7 and '7' must not be confused."""
    if not isinstance(name, str):
        kind = type(name).__name__
        raise RequestInvalid(f"an {field} is a string, not a value of type {kind}; write str(…)", field=field)


def is_storable(text: str) -> bool:
    """Return whether a store can hold it, so that it is worth a question: in PostgreSQL nothing has a
    U+0000."""
    return "\0" not in text


def stored_name(owner: str, local: str) -> str:
    """What the store calls it."""
    return f"{owner}/{local}"


def owner_of(stored: str) -> str:
    """Whose it is; empty for what was stored without an owner."""
    owner, slash, _ = stored.partition("/")
    return owner if slash else ""


def local_name(stored: str) -> str:
    """What its owner calls it."""
    return stored.partition("/")[2] or stored


def new_name() -> str:
    """Return a name that nothing else has: time first, so that names made later sort later."""
    return f"{time.time_ns() // 1_000_000:012x}{_chance.getrandbits(80):020x}"
