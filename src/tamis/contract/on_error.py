"""What happens to events and subscriptions that are refused: the same three choices at every way in.

``report`` goes on with the good ones, keeps the refused ones and states their number. ``raise`` stops at the
first. ``skip`` goes on without a word.
"""

from __future__ import annotations

from typing import Any, Literal

from tamis.errors import InputError
from tamis.values.value import short

OnError = Literal["report", "raise", "skip"]
REPORT, RAISE, SKIP = ON_ERROR = ("report", "raise", "skip")


def check_on_error(choice: Any) -> str:
    """``choice``, if it is one of the three."""
    if not isinstance(choice, str) or choice not in ON_ERROR:
        raise InputError(f"on_error is 'report', 'raise' or 'skip', not {short(choice)}")
    return choice
