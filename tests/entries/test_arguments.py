"""The entry table, arguments: every option of the library × values that it cannot take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis.errors import TamisError
from tests.entries.outcome import refused

BOOK = {"s": "x = 1"}
EVENT = {"x": 1}
INDEX = tamis.Index.build(BOOK)
NOT_WHOLE: list[Any] = [0, -1, "2", 1.5, True, float("nan"), b"1", [1]]
NO_TEXT: list[Any] = [5, None, b"s", ["s"], True]
NO_FUNCTION: list[Any] = [5, "sum", [sum], True]
NO_MAPPING: list[Any] = [5, "a", [1], {1: 2}, True]

CALLS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "match_many threads": (lambda value: INDEX.match_many([EVENT], threads=value), NOT_WHOLE),
    "match_many batch_size": (lambda value: INDEX.match_many([EVENT], batch_size=value), NOT_WHOLE),
    "match_batches threads": (lambda value: list(INDEX.match_batches([EVENT], threads=value)), NOT_WHOLE),
    "match_many on_error": (
        lambda value: INDEX.match_many([EVENT], on_error=value),
        ["ignore", 5, None, [], True],
    ),
    "match_many audit": (
        lambda value: INDEX.match_many([EVENT], audit=value),
        [0, 2, "0.1", float("nan"), True],
    ),
    "match_many events": (INDEX.match_many, [5, None, True, b"{}", {"x": 1}, "missing.jsonl", "/", object()]),
    "match event": (INDEX.match, [5, None, "{}", b"{}", [EVENT], True, object()]),
    "top_k k": (lambda value: INDEX.top_k(EVENT, value), [*NOT_WHOLE, None]),
    "top_k prefix": (lambda value: INDEX.top_k(EVENT, prefix=value), NO_TEXT),
    "top_k combine": (lambda value: INDEX.top_k(EVENT, combine=value), [*NO_FUNCTION, None]),
    "top_k what combine gives": (
        lambda value: INDEX.top_k(EVENT, combine=lambda scores: value),
        ["a", None, float("nan"), True, [1]],
    ),
    "build source": (tamis.Index.build, [5, None, True, b"x", "missing.jsonl", "/", object(), [5], [None]]),
    "build engine": (lambda value: tamis.Index.build(BOOK, engine=value), [*NO_TEXT, "nope"]),
    "build parameters": (
        lambda value: tamis.Index.build(BOOK, parameters=value),
        [*NO_MAPPING, {"nope": 1}, {"pairs": "x"}, {"pairs": True}],
    ),
    "build sample": (
        lambda value: tamis.Index.build(BOOK, sample=value),
        [5, b"x", EVENT, "missing.jsonl", True],
    ),
    "build limits": (lambda value: tamis.Index.build(BOOK, limits=value), [5, None, "a", {}, True]),
    "build on_error": (lambda value: tamis.Index.build(BOOK, on_error=value), ["ignore", 5, None, True]),
    "build ignore": (
        lambda value: tamis.Index.build([{"id": "s", "expression": "x = 1"}], ignore=value),
        [5, None, True],
    ),
    "build progress": (lambda value: tamis.Index.build(BOOK, progress=value), NO_FUNCTION),
    "update priority": (
        lambda value: INDEX.update("s", "x = 1", priority=value),
        ["a", float("nan"), 10**400, True],
    ),
    "apply": (INDEX.apply, [5, None, "s", [5], [None], [("s", "x = 1")]]),
    "versions": (INDEX.versions, [5, None, "s", [5], ["unknown"]]),
    "explain event": (lambda value: INDEX.explain("s", value), [5, None, "{}", [EVENT]]),
    "advise expression": (tamis.advise, [5, None, b"x", "", {}]),
    "advise sample": (lambda value: tamis.advise("x = 1", value), [5, b"x", "missing.jsonl", True]),
    "to_text": (tamis.to_text, [5, None, "x = 1", {}]),
    "to_json": (tamis.to_json, [5, None, "x = 1", {}]),
    "Audit": (tamis.Audit, [0, -1, 2, "a", None, float("nan"), True]),
    "Audit folder": (lambda value: tamis.Audit(0.5, value), [5, None, b"x"]),
    "Point": (lambda value: tamis.Point(value, 0.0), ["1", None, True, float("nan"), 10**400, 181]),
    "Limits": (lambda value: tamis.Limits(event_bytes=value), [-1, "a", None, 1.5, True]),
}
CELLS = [
    pytest.param(call, value, id=f"{name} {at}")
    for name, (call, values) in CALLS.items()
    for at, value in enumerate(values)
]


@pytest.mark.parametrize(("call", "value"), CELLS)
def test_invalid_argument_is_refused_with_a_typed_error(call: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(TamisError) as caught:
        call(value)
    refused(caught.value.code, caught.value.message)
    assert INDEX.match(EVENT) == ["s"]


@pytest.mark.parametrize(
    "notes", [5, "a", [1], {1: 2}, {"a": object()}, {"a": float("nan")}, {"a": (1, 2)}], ids=range(7)
)
def test_notes_that_json_would_change_are_refused(notes: Any, tmp_path: Path) -> None:
    with pytest.raises(TamisError):
        INDEX.save(tmp_path / "index", notes=notes)
    assert not (tmp_path / "index").exists()
