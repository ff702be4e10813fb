"""The entry table, subscriptions: every entry point × every kind of strange subscription."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tamis
from tamis import language
from tamis.errors import TamisError
from tests.entries.outcome import check, refused
from tests.entries.strange_subscriptions import KINDS, Kind
from tests.entries.subscription_entries import SUBSCRIPTION_ENTRIES, Entry, Verdict

CELLS = [
    pytest.param(entry, kind, id=f"{entry.name} × {kind.name}")
    for entry in SUBSCRIPTION_ENTRIES
    for kind in KINDS
]


@pytest.mark.parametrize(("entry", "kind"), CELLS)
def test_subscription_is_accepted_or_refused(entry: Entry, kind: Kind, tmp_path: Path) -> None:
    try:
        found: Verdict = entry.run(kind, tmp_path)
    except TamisError as bad:
        found = refused(bad.code, bad.message)
    judge(found, kind)


def judge(found: Verdict, kind: Kind) -> None:
    """Compare the outcome of a subscription with the expected one."""
    if isinstance(kind.wanted, bool):
        assert found == kind.wanted
    else:
        assert not isinstance(found, bool), "it was accepted"
        check(found, kind.wanted)


def test_duplicate_ids_are_refused_with_their_rows() -> None:
    index = tamis.Index.build([("s", "x = 1"), ("s", "x = 2")], on_error="skip")
    ((name, error),) = index.refused
    assert (name, error.code, error.details["row"]) == ("s", "subscription-duplicate", 2)


STRANGE_TEXTS: list[Any] = [
    "",
    " ",
    "\ud800",
    "a\x00b",
    "%",
    "%zz=1",
    "&&&",
    "=",
    "a" * 20_000,
    "x=1&x=2",
    "+",
    "-",
    "ſ",
    5,
    None,
    b"x",
    ["x"],
    {},
]


@pytest.mark.parametrize("text", STRANGE_TEXTS, ids=lambda text: repr(text)[:20])
@pytest.mark.parametrize(
    "reader",
    ["from_query_string", "from_search_box", "from_eventbridge", "from_lucene", "from_json", "parse"],
)
def test_reader_returns_a_tree_or_raises_a_typed_error(reader: str, text: Any) -> None:
    try:
        tree = getattr(language, reader)(text)
    except TamisError as bad:
        refused(bad.code, bad.message)
    else:
        assert tamis.from_json(tamis.to_json(tree)) == tree


STRANGE_ARGUMENTS: list[Any] = [None, 5, 1.5, b"s", object(), "", "unknown", ["s"], ("s",), True]


@pytest.mark.parametrize("argument", STRANGE_ARGUMENTS, ids=range(len(STRANGE_ARGUMENTS)))
@pytest.mark.parametrize(
    "method", ["remove", "subscription", "expression", "explain", "update", "versions", "__contains__"]
)
def test_id_of_another_type_is_refused_by_every_method(method: str, argument: Any) -> None:
    index = tamis.Index.build({"s": "x = 1"})
    call = getattr(index, method)
    more = {"explain": ({"x": 1},), "update": ("x = 2",)}.get(method, ())
    given = [argument] if method == "versions" else argument
    if method == "__contains__" and isinstance(argument, str):
        assert call(argument) is False
        return
    with pytest.raises(TamisError) as caught:
        call(given, *more)
    refused(caught.value.code, caught.value.message)
    assert list(index) == ["s"]
