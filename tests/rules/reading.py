"""Read one rule of a format, for tables of tests."""

from __future__ import annotations

import json
from typing import Any

from tamis import rules
from tamis.expression.truth import matches
from tamis.values.event import event_from


def imported(form: str, rule: Any, **options: Any) -> str:
    """Return the text of a rule, with its differences behind ``|``, or ``refused: `` and the reason."""
    source = rule if isinstance(rule, str) and form in TEXTS else json.dumps(rule)
    found = rules.read(form, source, **options)
    (one,) = [*found.rules, *found.refused]
    if isinstance(one, rules.Refused):
        return f"refused: {one.error.message}"
    return " | ".join((one.text, *one.differences))


TEXTS = ("sql", "cesql", "cel", "cql2", "lucene")


def verdict(form: str, rule: Any, event: dict[str, Any], **options: Any) -> bool | str:
    """Return whether the imported rule matches an event, or the reason why there is none."""
    source = rule if isinstance(rule, str) and form in TEXTS else json.dumps(rule)
    found = rules.read(form, source, **options)
    if found.refused:
        return found.refused[0].error.message
    return matches(found.rules[0].expression, event_from(event))
