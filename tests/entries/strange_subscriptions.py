"""Define strange subscriptions as ids, expressions and other fields, each with its expected outcome.

``wanted`` is ``True`` if it is accepted and matches ``{"x": 1}``, ``False`` if it is accepted and does not,
or the codes of errors that may refuse it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import tamis
from tamis import attr

BAD_ID = frozenset({"!subscription-invalid", "!request-invalid", "!input-invalid", "!route-unknown"})
BAD_FIELD = frozenset({"!subscription-invalid", "!input-invalid", "!request-invalid"})
BAD_TEXT = frozenset(
    {"!expression-syntax", "!expression-type", "!expression-limit", "!expression-pattern", "!request-invalid"}
)
TOO_LARGE = frozenset(
    {"!expression-limit", "!subscription-invalid", "!request-too-large", "!request-invalid"}
)
TWICE = frozenset({"!subscription-duplicate"})


class Name(str):
    """A subclass of ``str``."""


class Kind(NamedTuple):
    """A kind of strange subscription."""

    name: str
    wanted: frozenset[str] | bool
    id: Any = "s"
    expression: Any = "x = 1"
    fields: dict[str, Any] | None = None
    is_json: bool = True  # whether JSON can write it


def _deep(depth: int) -> Any:
    tree: Any = {"not": {"op": "=", "attribute": "x", "value": 2}}
    for _ in range(depth):
        tree = {"not": tree}
    return tree


KINDS = (
    Kind("plain", True),
    Kind("integer id", BAD_ID, id=7),
    Kind("boolean id", BAD_ID, id=True),
    Kind("null id", BAD_ID, id=None),
    Kind("empty id", BAD_ID, id=""),
    Kind("oversized id", BAD_ID, id="i" * 5_000),
    Kind("surrogate in the id", BAD_ID | {"!event-value", "!expression-syntax"}, id="a\ud800", is_json=False),
    Kind("subclass as id", True, id=Name("s"), is_json=False),
    Kind("bytes as id", BAD_ID, id=b"s", is_json=False),
    Kind("unknown field", BAD_FIELD, fields={"prioritty": 1}),
    Kind("huge priority", BAD_FIELD, fields={"priority": 10**400}),
    Kind("priority of text", BAD_FIELD, fields={"priority": "high"}),
    Kind("boolean priority", BAD_FIELD, fields={"priority": True}),
    Kind("NaN priority", BAD_FIELD | BAD_TEXT, fields={"priority": float("nan")}, is_json=False),
    Kind("negative zero priority", True, fields={"priority": -0.0}),
    Kind("null expression", BAD_TEXT | BAD_FIELD, expression=None),
    Kind("empty expression", BAD_TEXT, expression=""),
    Kind("expression of a number", BAD_TEXT | BAD_FIELD, expression=5),
    Kind("expression of a list", BAD_TEXT | BAD_FIELD, expression=["x = 1"]),
    Kind("empty object as expression", BAD_TEXT | BAD_FIELD, expression={}),
    Kind("broken expression", BAD_TEXT, expression="x ="),
    Kind("foreign expression", BAD_TEXT, expression="x == 1 && y"),
    Kind("oversized expression", TOO_LARGE, expression="x = '" + "a" * 20_000 + "'"),
    Kind("too many predicates", TOO_LARGE, expression=" AND ".join(["x = 1"] * 600)),
    Kind("deep nesting", TOO_LARGE | BAD_TEXT, expression=_deep(100)),
    Kind(
        "surrogate in the expression",
        BAD_TEXT | {"!input-invalid"},
        expression="x = 'a\ud800'",
        is_json=False,
    ),
    Kind("huge integer operand", BAD_TEXT, expression=f"x = 1{'0' * 400}"),
    Kind("float beyond range", BAD_TEXT, expression="x = 1e400"),
    Kind(
        "NaN operand",
        BAD_TEXT,
        expression={"op": "=", "attribute": "x", "value": float("nan")},
        is_json=False,
    ),
    Kind("huge weight", BAD_TEXT, expression=f"x = 1 ^ 1{'0' * 400}"),
    Kind("huge coordinate", BAD_TEXT, expression=f"x = POINT (1{'0' * 400} 0)"),
    Kind("time without a zone", False, expression="x > TIMESTAMP '2026-05-01T00:00:00'"),
    Kind("wildcard in a term", False, expression="x HAS 'coat*'"),
    Kind("fuzzy term with three edits", BAD_TEXT, expression="x HAS 'coat~3'"),
    Kind("invalid polygon", BAD_TEXT, expression="x WITHIN POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))"),
    Kind("negative zero operand", False, expression="x = -0.0"),
    Kind("tree", True, expression=attr("x") == 1, is_json=False),
    Kind("JSON form", True, expression={"op": "=", "attribute": "x", "value": 1}),
    Kind("naive datetime operand", False, expression=attr("x") > datetime(2026, 5, 1), is_json=False),
    Kind("not a tree", BAD_TEXT | BAD_FIELD, expression=tamis.attr("x"), is_json=False),
)
