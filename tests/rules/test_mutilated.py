"""Test that a damaged rule of any format is imported or refused, and raises nothing else."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from tamis import rules
from tests.rules import (
    test_cel,
    test_cesql,
    test_cql2,
    test_elasticsearch,
    test_flags,
    test_jsonlogic,
    test_mongodb,
    test_sql,
)

ROUNDS = 120
OBJECTS: dict[str, list[Any]] = {
    "elasticsearch": [rule for rule, _ in test_elasticsearch.EXPRESSED],
    "mongodb": [rule for rule, _ in test_mongodb.EXPRESSED],
    "jsonlogic": [rule for rule, _ in test_jsonlogic.EXPRESSED],
    "unleash": [rule for rule, _ in test_flags.UNLEASH],
    "growthbook": [rule for rule, _ in test_flags.GROWTHBOOK],
    "cql2": [rule for rule, _ in test_cql2.JSON],
    "eventbridge": [{"a": {"b": [{"anything-but": "x"}, {"numeric": [">", 1, "<", 5]}]}, "c": ["d", None]}],
}
TEXTS: dict[str, list[str]] = {
    "sql": [text for _, text, _ in test_sql.EXPRESSED],
    "cql2": [text for text, _ in test_cql2.TEXTS],
    "cesql": [text for text, _ in test_cesql.EXPRESSED],
    "cel": [text for text, _ in test_cel.EXPRESSED],
    "lucene": ["a AND b*", '+x -"y z"~2 f:[1 TO 5}'],
}
JUNK: list[Any] = [None, [], {}, "", -1, 1.5, True, "now", [[]], {"a": [{}]}, 10**30, ["a"], {"var": None}]
SIGNS = [
    "'",
    '"',
    "(",
    ")",
    "=",
    "<",
    " AND ",
    " NOT ",
    " in ",
    "[",
    "]",
    "?",
    "\\",
    ",",
    ".",
    "!",
    "BBOX(",
    "5",
]


def places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return each container with each of its keys."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found.append((value, key))
        places(value[key], found)
    return found


def assert_decided(form: str, text: str) -> None:
    found = rules.read(form, text)
    for one in found.refused:
        assert one.error.message, text


@pytest.mark.parametrize("form", OBJECTS)
def test_damaged_objects_are_imported_or_refused(form: str) -> None:
    chance = random.Random(form)
    for _ in range(ROUNDS):
        whole = {"rule": copy.deepcopy(chance.choice(OBJECTS[form]))}
        for _ in range(chance.randint(1, 2)):
            container, key = chance.choice(places(whole, []))
            container[key] = copy.deepcopy(chance.choice(JUNK))
        assert_decided(form, json.dumps(whole["rule"]))


@pytest.mark.parametrize("form", TEXTS)
def test_damaged_texts_are_imported_or_refused(form: str) -> None:
    chance = random.Random(form)
    for _ in range(ROUNDS):
        letters = list(chance.choice(TEXTS[form]))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(letters) + 1)
            if chance.random() < 0.5:
                letters.insert(at, chance.choice(SIGNS))
            else:
                del letters[at : at + chance.randint(1, 6)]
        assert_decided(form, "".join(letters))
