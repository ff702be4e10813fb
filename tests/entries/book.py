"""Define the subscriptions against which the entry table decides every cell."""

from __future__ import annotations

BOOK = {
    "one": "x = 1",
    "not-one": "x != 1",
    "text": "x = 'a'",
    "day": "x >= DATE '2026-05-01'",
    "zero": "x = 0",
    "has": "x IS NOT NULL",
    "none": "x IS NULL",
    "deep": "x.y = 1",
    "always": "TRUE",
}
NOTHING = frozenset({"none", "always"})  # matched by an event without x
