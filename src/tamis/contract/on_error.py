"""Defines the treatment of refused events and subscriptions: the same three choices at every entry.

``report`` goes on with the good ones, keeps the refused ones and states their number. ``raise`` stops at the
first. ``skip`` drops them silently.
"""

from __future__ import annotations

from typing import Any, Literal

from tamis.errors import InputError
from tamis.values.value import short

OnError = Literal["report", "raise", "skip"]
REPORT, RAISE, SKIP = ON_ERROR = ("report", "raise", "skip")


def check_on_error(choice: Any) -> str:
    """Return ``choice`` if it is one of the three; otherwise raise ``InputError``."""
    if not isinstance(choice, str) or choice not in ON_ERROR:
        raise InputError(f"on_error is 'report', 'raise' or 'skip', not {short(choice)}")
    return choice
