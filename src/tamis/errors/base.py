"""Define the base of all failures."""

from __future__ import annotations

from typing import Any, ClassVar


class TamisError(Exception):
    """The root of all errors that Tamis raises on purpose. ``code`` is stable, ``details`` is plain data."""

    code: ClassVar[str] = "tamis-error"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def as_dict(self) -> dict[str, Any]:
        """Return the error as plain data, for JSON output, quarantine rows and HTTP problems."""
        return {"code": self.code, "message": self.message, **self.details}


class RefusedWarning(UserWarning):
    """Some events or subscriptions of a batch were refused; the rest was processed."""


def point_at(text: str, position: int) -> str:
    """Return the line of ``text`` around ``position`` with a caret below the place."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)]
    column = position - start
    if len(line) > 100:  # show a window, so that a 16 KiB one-liner stays readable
        left = max(0, column - 50)
        line, column = line[left : left + 100], column - left
    return f"  {line}\n  {' ' * column}^"
