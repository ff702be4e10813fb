"""Provide sample notifications."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from tamis.notify.message import Message, NotifiedEvent

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


def event(number: int = 1, **attributes: Any) -> NotifiedEvent:
    text = json.dumps(attributes or {"title": "Wool coat", "price": 550, "city": "Oslo"})
    return NotifiedEvent(id=f"e{number}", time=NOON, text=text)


def message(*events: NotifiedEvent, **changes: Any) -> Message:
    shown = events or (event(),)
    plain: dict[str, Any] = {
        "id": "msg_7",
        "kind": "match",
        "owner": "ann",
        "subscription": "coats",
        "version": 3,
        "expression": "price < 580",
        "created": NOON,
        "count": len(shown),
        "events": tuple(shown),
    }
    return Message(**(plain | changes))
