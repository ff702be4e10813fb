"""Every way to match agrees with the tree evaluator under every analyser."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tamis import Index
from tamis.expression.truth import matches
from tamis.language import expression_from
from tamis.limits import DEFAULT_LIMITS
from tamis.values.analysis import clean_analysers, known_names
from tamis.values.event import event_from

WORDS = (
    "coat", "Coats", "the", "of", "running", "runs", "café", "Cafe", "c++", "wi-fi", "Häuser", "haus",
    "東京都", "can't", "3.14", "x", "jacket", "книги", "ﬁn", "a_b", "cafe\u0301", "대한민국", "a.b", "\0",
    "word" * 200,
)  # fmt: skip
PATTERNS = ("coa*", "*at", "c?at", "cot~1", "/run.*/", "[a TO d]", "caf*")
ENGINES = ("hybrid", "presearch", "opindex", "scan")
CUSTOM = {"base": "english", "synonyms": [["coat", "jacket"]]}

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
terms = st.lists(st.sampled_from(WORDS + PATTERNS), min_size=1, max_size=3)
searches = st.one_of(
    terms.map(lambda some: f"t HAS PHRASE {_quoted(' '.join(some))}"),
    terms.map(lambda some: f"t HAS ANY ({', '.join(map(_quoted, some))})"),
    terms.map(lambda some: f"t HAS ALL ({', '.join(map(_quoted, some))})"),
    terms.map(lambda some: f"t HAS PHRASE {_quoted(' '.join(some))} SLOP 2"),
    terms.map(lambda some: f"t HAS NEAR {_quoted(' '.join(some))} WITHIN 4"),
    terms.map(lambda some: f"t HAS NEAR ORDERED {_quoted(' '.join(some))} WITHIN 4"),
    terms.map(lambda some: f"t HAS AT LEAST 2 OF ({', '.join(map(_quoted, some))})"),
)
conditions = st.tuples(st.sampled_from(["", "NOT "]), searches).map("".join)
analysers = st.sampled_from([*known_names(), CUSTOM])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@given(st.lists(conditions, min_size=1, max_size=6), st.lists(texts, min_size=1, max_size=6), analysers)
def test_analysers_agree_with_the_tree_evaluator(book: list[str], values: list[str], declared: Any) -> None:
    named = clean_analysers({"t": declared})
    wanted = Index.build(
        {str(at): text for at, text in enumerate(book)},
        engine="scan", analysers={"t": declared}, on_error="skip",
    )  # fmt: skip
    good = {name: book[int(name)] for name in wanted}
    trees = {name: expression_from(text, DEFAULT_LIMITS, named) for name, text in good.items()}
    events: list[dict[str, Any]] = [*({"t": value} for value in values), {"t": values}, {}]
    expected = [
        {name for name, tree in trees.items() if matches(tree, event_from(event, DEFAULT_LIMITS))}
        for event in events
    ]
    table = pa.table({"t": values})
    for engine in ENGINES:
        built = Index.build(good, engine=engine, analysers={"t": declared})
        fresh = Index.build(engine=engine, analysers={"t": declared})
        for name, text in good.items():
            fresh.add(name, text)
        for index in (built, fresh):
            assert [set(index.match(event)) for event in events] == expected
            found = index.match_many(table).to_pydict()
            pairs = set(zip(found["event"], found["subscription"], strict=True))
            assert pairs == {(row, name) for row in range(len(values)) for name in expected[row]}
