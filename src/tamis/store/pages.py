"""Pages of items, each with the start of the next page."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
Place = TypeVar("Place", str, int)


class Page(NamedTuple, Generic[Item, Place]):
    """A page of items, and the start of the next page or ``None``."""

    items: list[Item]
    next: Place | None


def page_of(items: list[Any], most: int) -> Page[Any, Any]:
    """Return a page of at most ``most`` items, of which one more was read to see whether a page follows."""
    return Page(items[:most], items[most - 1].id if len(items) > most else None)
