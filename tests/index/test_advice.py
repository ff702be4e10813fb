"""Advice: what is said is true, every warning has its example, and it takes little time for large ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Event, Index, Limits, advise, parse, to_text
from tamis.expression.predicates import In
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.expression.truth import matches
from tamis.index.advice import CODES, Advice
from tamis.index.advice.likelihood import Counted, guessed
from tamis.index.advice.parts import idle_parts
from tamis.index.advice.sample import COMPARISONS, LEAST, MOST, typical_events
from tamis.language import span_of
from tests.strategies import events, expressions

few = st.sampled_from(["a", "a", "b"])
happenings = st.lists(events(few), min_size=1, max_size=6)

# -- what is said is true ---------------------------------------------------------------------------------


@given(expressions(few), happenings)
def test_never_and_everything_are_never_said_wrongly(expr: Expr, batch: list[Event]) -> None:
    for found in (advise(expr), advise(expr, batch)):
        truths = [matches(expr, event) for event in batch]
        assert not (found.kind == "never" and any(truths))
        assert not (found.kind == "always" and not all(truths))
        codes = {warning.code for warning in found.warnings}
        assert ("never-matches" in codes, "matches-everything" in codes) == (
            found.kind == "never",
            found.kind == "always",
        )
        assert ("matches-absent" in codes) == (found.kind != "always" and matches(expr, Event({})))
    assert (found.selectivity.events, found.selectivity.matched) == (len(batch), sum(truths))
    again = msgspec.json.decode(msgspec.json.encode(found), type=Advice)
    assert again == found


@given(expressions(few), happenings)
def test_idle_parts_can_be_left_out(expr: Expr, batch: list[Event]) -> None:
    for part in idle_parts(expr, span_of(expr)):
        without = _replaced(expr, part.span.start, part.span.end, part.fault)
        for event in batch:
            assert matches(without, event) == matches(expr, event), (part, to_text(without))


def _replaced(expr: Expr, start: int, end: int, fault: str, span: Any = None, parent: Any = None) -> Expr:
    """The tree with the node at this place made into what it is said to amount to."""
    span = span or span_of(expr)
    if (span.start, span.end) == (start, end) and parent is not None:
        neutral = TRUE if isinstance(parent, And) else FALSE
        return {"contradiction": FALSE, "tautology": TRUE, "redundant": neutral}[fault]
    children = [
        _replaced(child, start, end, fault, place, expr)
        for child, place in zip(expr.children, span.children, strict=True)
    ]
    if isinstance(expr, Not):
        return Not(children[0])
    return type(expr)(tuple(children)) if isinstance(expr, And | Or) else expr


@given(expressions(few), happenings)
def test_events_are_counted_as_the_evaluator_does(expr: Expr, batch: list[Event]) -> None:
    assert Counted(batch).truth(expr).tolist() == [matches(expr, event) for event in batch]
    assert 0.0 <= guessed(expr) <= 1.0


@given(expressions(few, weighted=False), happenings)
def test_events_that_match_come_by_an_access_condition(expr: Expr, batch: list[Event]) -> None:
    cost = advise(expr, batch).cost
    assert sum(matches(expr, event) for event in batch) / len(batch) <= cost.share + 1e-9
    assert cost.share <= cost.candidates + 1e-9


# -- every warning ----------------------------------------------------------------------------------------

SAMPLE = [
    {"price": 100 + at, "city": "Oslo" if at % 4 else "Rome", "title": "a wool coat", "User.Id": at}
    for at in range(100)
]
DEEP = " AND ".join(f"(a{at} = 1 OR b{at} = 1)" for at in range(9))
EXAMPLES = [
    ("price < 5 AND price IS NULL", "never-matches", None),
    ("price < 5 OR NOT price < 5", "matches-everything", None),
    ("NOT city = 'Oslo'", "matches-absent", None),
    ("city = 'Oslo' OR price = 1 AND price IS NULL", "contradiction", "price = 1 AND price IS NULL"),
    ("city = 'Rome' AND (title HAS 'warm' OR TRUE)", "tautology", "title HAS 'warm' OR TRUE"),
    ("price < 120 AND price < 150 AND city = 'Rome'", "redundant", "price < 150"),
    ("city = 'Rome' OR city = 'Rome' AND price = 1", "redundant", "city = 'Rome' AND price = 1"),
    ("price = 100 OR price = '100'", "mixed-types", None),
    ("price LIKE '1%'", "type-not-seen", "price LIKE '1%'"),
    ("prize < 120", "attribute-not-seen", "prize < 120"),
    ("city = 'Oslo'", "broad", None),
    ("city = 'Rome' OR NOT price < 500", "every-event", None),
    ("city RLIKE '^R'", "regex", "city RLIKE '^R'"),
    ("title LIKE 'a%c%t'", "regex", "title LIKE 'a%c%t'"),
    ("city = 'Ro%'", "literal-wildcard", "city = 'Ro%'"),
    ("city IN ('Oslo', '%me')", "literal-wildcard", "city IN ('Oslo', '%me')"),
    ("city LIKE 'Ro*'", "literal-wildcard", "city LIKE 'Ro*'"),
    ("city RLIKE '/rome/i'", "literal-wildcard", "city RLIKE '/rome/i'"),
    ("city > '2026-11-15'", "quoted-value", "city > '2026-11-15'"),
    ("city = '15.11.2026'", "quoted-value", "city = '15.11.2026'"),
    ("city = '11/15/2026'", "quoted-value", "city = '11/15/2026'"),
    ("city < '5'", "quoted-value", "city < '5'"),
    ("city BETWEEN '1,000' AND '2,000'", "quoted-value", "city BETWEEN '1,000' AND '2,000'"),
    ("city != 'true'", "quoted-value", "city != 'true'"),
    ("city = 'NULL'", "quoted-value", "city = 'NULL'"),
    (DEEP, "cover", None),
]


@pytest.mark.parametrize(("text", "code", "part"), EXAMPLES, ids=[code for _, code, _ in EXAMPLES])
def test_every_warning(text: str, code: str, part: str | None) -> None:
    found = advise(text, SAMPLE)
    (warning,) = [warning for warning in found.warnings if warning.code == code]
    place = None if warning.start is None else found.text[warning.start : warning.end]
    assert place == part
    if part is not None:
        assert part in warning.text or code.endswith("not-seen")


def test_every_code_is_tried_and_documented(repo_root: Path) -> None:
    assert {code for _, code, _ in EXAMPLES} == set(CODES)
    page = (repo_root / "docs" / "api.md").read_text(encoding="utf-8")
    assert [code for code in CODES if f"| `{code}` |" not in page] == []


@pytest.mark.parametrize(
    "text",
    [
        "city = '50%'",
        "city = '007'",
        "city LIKE '%*%'",
        "path RLIKE '/admin/'",
        "city = '%'",
        "city = 'truth'",
    ],
)
def test_ordinary_operands_are_not_suspected(text: str) -> None:
    assert not {"literal-wildcard", "quoted-value"} & {warning.code for warning in advise(text).warnings}


def test_a_sound_expression_gets_no_warning() -> None:
    assert advise("city = 'Rome' AND price BETWEEN 100 AND 120", SAMPLE).warnings == ()
    assert advise("model = 'iphone5s' AND price <= 580").warnings == ()


def test_names_that_were_meant() -> None:
    for name, meant in [
        ("CITY", "city"),
        ("citty", "city"),
        ('"user.id"', "User.Id"),
        ("nothing_like_it", ""),
    ]:
        (warning,) = advise(f"{name} IS NOT NULL", SAMPLE).warnings
        assert warning.text.partition("; did you mean ")[2] == (f"{meant}?" if meant else "")
    assert not advise("\"$null\" = 'city'", SAMPLE).warnings


# -- shares and cost ----------------------------------------------------------------------------------------


def test_shares_are_counted_in_a_sample() -> None:
    found = advise("city = 'Rome' AND price < 150", SAMPLE)
    assert (found.selectivity.share, found.selectivity.matched, found.selectivity.events) == (0.13, 13, 100)
    assert found.selectivity.measured
    assert [(access.condition, access.share) for access in found.cost.accesses] == [("city = 'Rome'", 0.25)]
    assert (found.cost.share, found.cost.candidates, found.cost.revised) == (0.25, 0.25, 0.0)
    joined = advise("price >= 110 AND price < 120 AND city = 'Rome'", SAMPLE)
    assert joined.cost.accesses[0].condition == "price >= 110 AND price < 120"
    either = advise("price < 110 OR city = 'Rome' OR NOT title HAS 'wool'", SAMPLE)
    assert (either.cost.share, either.clauses, either.cost.accesses[0].condition) == (1.0, 3, None)


def test_a_cover_costs_trees() -> None:
    found = advise(DEEP.replace("a0 = 1", "city = 'Rome'"), SAMPLE, Limits(dnf_clauses=4))
    assert (found.kind, found.clauses <= 4) == ("cover", True)
    assert found.cost.revised <= 0.25
    assert "dnf_clauses = 4" in next(w.text for w in found.warnings if w.code == "cover")


def test_samples_come_from_anywhere() -> None:
    text = "city = 'Rome' AND price < 150"
    index = Index.build({"s": "price < 5"})
    assert not advise(text, index).selectivity.measured
    index.match_many(SAMPLE * 3, batch_size=10)
    seen = advise(text, index).selectivity
    assert seen.measured
    assert 0.0 < seen.share < 0.3
    given_one = Index.build({"s": "price < 5"}, sample=SAMPLE)
    table = pa.Table.from_pylist([{k: v for k, v in event.items() if "." not in k} for event in SAMPLE])
    lines = [msgspec.json.encode(event) for event in SAMPLE]
    for sample in (given_one, table, iter(lines), [*lines, "nonsense", {"price": 2**70}]):
        assert advise(text, sample).selectivity.matched == 13


def test_all_ways_to_write_it() -> None:
    tree = parse("city = 'Rome'")
    expected = advise(tree)
    assert advise("city='Rome'") == advise('{"attribute": "city", "op": "=", "value": "Rome"}') == expected
    assert expected.tree == {"attribute": "city", "op": "=", "value": "Rome"}


def test_large_expressions_meet_fewer_events() -> None:
    many = list(SAMPLE) * 10
    for operands, count in [(1, MOST), (1_000, 100), (COMPARISONS // LEAST, LEAST), (65_536, 0)]:
        assert len(typical_events(many, operands, Limits())) == count
    wide = Or(tuple([And((parse(f"a{at} = 1"), parse(f"b{at} LIKE '%x%'"))) for at in range(256)]))
    found = advise(wide, many)
    assert (found.predicates, found.clauses, found.selectivity.events) == (512, 256, 195)
    endless = And((In("a", tuple(range(65_536))), In("a", tuple(range(65_535)))))
    assert (advise(endless, many).selectivity.measured, advise(endless).warnings) == (False, ())


def test_operands_are_counted() -> None:
    box = "BOX (0, 0, 1, 1)"
    counts = {
        "a = 1": 1,
        "a IN (1, 2)": 2,
        "a IN ()": 1,
        "a HAS ALL ('x', 'y', 'z')": 3,
        f"a WITHIN {box}": 1,
    }
    counts |= {"a IN CIDR ('10.0.0.0/8', '::/0')": 2, "a WITHIN POLYGON ((0 0, 4 0, 4 4, 0 0))": 4}
    assert {text: parse(text).comparisons for text in counts} == counts  # type: ignore[arg-type]
