"""List the fields of a subscription and report unknown ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from tamis.columns.bulk import OPERANDS
from tamis.errors import InputError, SubscriptionError
from tamis.index.arguments import several

TEXT_FIELDS = ("id", "expression", "priority", "version")
BULK_FIELDS = ("id", "attribute", "operator", *OPERANDS, "weight", "priority", "version")
NOTES = ("metadata", "source", "differences")
"""Fields that an import of rules writes for people and other programs; an index does not keep them."""

EVERY_OTHER = "*"  # as ``ignore``: all other fields


def ignored(ignore: str | Collection[str]) -> frozenset[str]:
    """Return the names of the fields that a user ignores."""
    return frozenset((ignore,) if isinstance(ignore, str) else several("ignore", ignore))


def unknown_field(names: Iterable[object], known: Collection[str], ignore: Collection[str]) -> str | None:
    """Return what is wrong with the first of ``names`` that is neither known nor ignored."""
    if EVERY_OTHER in ignore:
        return None
    for name in names:
        if name not in known and name not in NOTES and name not in ignore:
            near = get_close_matches(name.lower(), known, 1) if isinstance(name, str) else []
            suggestion = f"did you mean {near[0]!r}? " if near else ""
            return f"{str(name)[:80]!r}; {suggestion}The fields are {', '.join(known)}"
    return None


def check_keys(names: Iterable[object], known: Collection[str], ignore: Collection[str]) -> None:
    """Raise :class:`SubscriptionError` if an object has an unknown key."""
    wrong = unknown_field(names, known, ignore)
    if wrong is not None:
        raise SubscriptionError(
            f"a subscription has no field {wrong}. To pass over a field, name it in ignore"
        )


def check_columns(names: Iterable[str], known: Collection[str], ignore: Collection[str]) -> None:
    """Raise :class:`InputError` if a table has an unknown column."""
    wrong = unknown_field(names, known, ignore)
    if wrong is not None:
        raise InputError(
            f"the table of subscriptions has an unknown column {wrong}. Drop the column, or name it in ignore"
            " (--ignore on the command line)"
        )
