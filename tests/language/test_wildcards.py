"""Test that wildcards of other search languages are refused in terms; natural punctuation is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from tamis import Index, attr, from_json, parse, to_text
from tamis.errors import ParseError
from tamis.language import check_tree, from_search_box

WILDCARDS = ["coat*", "*coat", "c*t", "wom?n", "coat~", "coat~2", "coat~0.8", "new york~2", "Mäntel*"]
NATURAL = ["what is this?", "5 * 4", "coat ***", "~coat", "a ~ b", "wool?", "(coat)", "rock & roll"]


def _json(op: str) -> Callable[[str], Any]:
    return lambda text: from_json({"attribute": "t", "op": op, "terms": [text]})


FORMS: dict[str, Callable[[str], Any]] = {
    "HAS": lambda text: parse(f"t HAS '{text}'"),
    "HAS PHRASE": lambda text: parse(f"t HAS PHRASE '{text}'"),
    "NOT HAS": lambda text: parse(f"x = 1 OR t NOT HAS '{text}'"),
    "has any in JSON": _json("has any"),
    "has all in JSON": _json("has all"),
    "has phrase in JSON": _json("has phrase"),
    "has in Python": lambda text: check_tree(attr("t").has(text)),
    "has_phrase in Python": lambda text: check_tree(attr("t").has_phrase(text)),
    "search box": lambda text: from_search_box(f'+wool "{text}"'),
}


@pytest.mark.parametrize("text", WILDCARDS)
@pytest.mark.parametrize("form", FORMS)
def test_wildcard_is_refused_with_a_hint(form: str, text: str) -> None:
    with pytest.raises(ParseError, match=r"not supported.*LIKE"):
        FORMS[form](text)


@pytest.mark.parametrize("text", NATURAL)
@pytest.mark.parametrize("form", FORMS)
def test_punctuation_of_natural_language_is_allowed(form: str, text: str) -> None:
    FORMS[form](text)


@pytest.mark.parametrize("mode", ["ALL", "ANY"])
def test_wildcard_in_a_list_of_terms_is_refused(mode: str) -> None:
    with pytest.raises(ParseError, match="wildcards in terms are not supported") as caught:
        parse(f"t HAS {mode} ('wool', 'coat*')")
    assert caught.value.position is not None


def test_search_box_points_at_the_wildcard() -> None:
    with pytest.raises(ParseError) as caught:
        from_search_box("wool +coat* warm")
    assert caught.value.position == "wool +coat* warm".index("*")
    with pytest.raises(ParseError, match="fuzzy") as caught:
        from_search_box('"new york"~2 coat')
    assert caught.value.position == '"new york"~2 coat'.index("~")


def test_bulk_table_refuses_a_wildcard() -> None:
    table = pa.table(
        {"id": ["a", "b"], "attribute": ["t", "t"], "operator": ["has any"] * 2, "value": ["coat*", "coat"]}
    )
    index = Index.build(table, on_error="skip")
    assert [name for name, _ in index.refused] == ["a"]
    assert index.match({"t": "a coat"}) == ["b"]


def test_patterns_keep_their_own_signs() -> None:
    assert to_text(parse("t LIKE 'coat*' OR t RLIKE 'coat.*' OR t = 'coat*'"))
