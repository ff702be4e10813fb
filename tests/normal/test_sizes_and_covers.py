"""Test that estimates come first, expansion stays below its cap, and larger expressions are covered."""

from __future__ import annotations

import pytest

from tamis.expression.predicates import Compare
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.expression.truth import matches
from tamis.language import parse
from tamis.limits import Limits
from tamis.normal import Clause, clauses_of, cnf_size, cover, dnf_size, to_cnf, to_dnf
from tamis.values.event import Event
from tests.counting import lines_run
from tests.waiting import ending

ROOMY = Limits(expression_bytes=1 << 20)


def pairs(count: int) -> Expr:
    """Return a conjunction whose DNF has 2 ** count clauses."""
    return parse(" AND ".join(f"(a{i} = 1 OR b{i} = 2)" for i in range(count)), ROOMY)


@pytest.mark.parametrize(
    ("text", "dnf", "cnf"),
    [
        ("a = 1", 1, 1),
        ("TRUE", 1, 0),
        ("FALSE", 0, 1),
        ("a = 1 AND b = 2 AND c = 3", 1, 3),
        ("a = 1 OR b = 2 OR c = 3", 3, 1),
        ("(a = 1 OR b = 2) AND (c = 3 OR d = 4 OR e = 5)", 6, 2),
        ("NOT ((a = 1 OR b = 2) AND (c = 3 OR d = 4 OR e = 5))", 2, 6),
        ("NOT a != 1", 2, 1),
        ("a = 1 AND (b = 2 OR FALSE)", 1, 2),
    ],
)
def test_estimated_sizes_are_exact(text: str, dnf: int, cnf: int) -> None:
    assert dnf_size(parse(text), 100) == dnf
    assert cnf_size(parse(text), 100) == cnf


def test_counting_stops_at_the_cap() -> None:
    assert dnf_size(pairs(200), 256) == 257
    assert cnf_size(Not(pairs(200)), 256) == 257
    assert to_dnf(pairs(200), 256) is None
    assert to_cnf(Not(pairs(200)), 256) is None


@pytest.mark.parametrize(("count", "exact"), [(7, True), (8, True), (9, False)])
def test_cap_is_exact_at_its_edge(count: int, exact: bool) -> None:
    found = clauses_of(pairs(count), Limits(dnf_clauses=256))
    assert found.exact == exact
    assert len(found.clauses) <= 256
    assert all(found.clauses)


@pytest.mark.parametrize("edge", [-1, 0, 1])
def test_dnf_clauses_limit_decides_between_clauses_and_cover(edge: int) -> None:
    alternatives = " OR ".join(f"a{i} = 1" for i in range(10 + edge))
    assert clauses_of(parse(alternatives), Limits(dnf_clauses=10)).exact == (edge <= 0)


def test_constants_are_always_or_never() -> None:
    assert clauses_of(TRUE) == (((),), True, "always")
    assert clauses_of(FALSE) == ((), True, "never")
    assert to_dnf(TRUE, 1) == ((),)
    assert to_dnf(FALSE, 1) == ()
    assert to_cnf(TRUE, 1) == ()
    assert to_cnf(FALSE, 1) == ((),)


def test_plain_conjunction_is_its_own_clause() -> None:
    tree = parse("a = 1 AND b > 2 AND c IN (1, 2)")
    assert isinstance(tree, And)
    assert clauses_of(tree).clauses == (tree.children,)
    assert clauses_of(tree.children[0]).clauses == ((tree.children[0],),)


def texts(clauses: tuple[Clause, ...]) -> list[str]:
    from tamis.language import to_text

    return [" AND ".join(map(to_text, clause)) for clause in clauses]


def test_cover_keeps_the_necessary_conditions() -> None:
    tree = And((Compare("key", "=", 5), pairs(20)))
    clauses = cover(tree, 8)
    assert len(clauses) == 8
    assert all(Compare("key", "=", 5) in clause for clause in clauses)


def test_many_alternatives_become_a_set_or_presence_or_everything() -> None:
    same = parse(" OR ".join(f"a = {i} AND b{i} = 1" for i in range(20)))
    assert texts(cover(same, 4)) == [f"a IN ({', '.join(map(str, range(20)))})"]
    spread = parse(" OR ".join(f"a LIKE '%{i}%' AND b{i} > 1" for i in range(20)))
    assert texts(cover(spread, 4)) == ["a IS NOT NULL"]
    alien = parse(" OR ".join(f"a{i} = 1" for i in range(20)))
    assert cover(alien, 4) == ((),)
    denied = parse(" OR ".join(f"NOT a LIKE '%{i}%'" for i in range(20)))
    assert cover(denied, 4) == ((),)


@pytest.mark.parametrize(
    "text",
    [
        " AND ".join(f"(a{i} = 1 OR b{i} = 2)" for i in range(250)),
        " OR ".join(f"(a{i} = 1 AND b{i} = 2)" for i in range(250)),
        "NOT (" + " AND ".join(f"(a{i} != 1 OR b{i} != 2)" for i in range(250)) + ")",
        " OR ".join(f"a > {i}" for i in range(512)),
        " AND ".join(f"NOT a BETWEEN {i} AND {i + 5}" for i in range(512)),
        " AND ".join(f"a LIKE '%{i}%'" for i in range(512)) + "",
        " OR ".join(f"NOT a LIKE '%{i}%'" for i in range(512)),
    ],
    ids=lambda text: text[:30],
)
def test_large_expressions_take_few_steps(text: str) -> None:
    tree = parse(text, ROOMY)
    with ending():
        found = clauses_of(tree, ROOMY)
        assert lines_run(lambda: clauses_of(tree, ROOMY)) < 50_000  # explosion would never end
    assert len(found.clauses) <= ROOMY.dnf_clauses
    event = Event({f"a{i}": (1,) for i in range(300)} | {"a": (100_000, "0")})
    claim = any(all(matches(literal, event) for literal in clause) for clause in found.clauses)
    assert claim or not matches(tree, event)


def test_steps_for_huge_sets_grow_with_their_size() -> None:
    from tamis.expression.predicates import In

    steps = []
    for size in (1_000, 8_000):
        wide = Or(tuple(In("a", tuple(range(i, i + size)), i % 2 == 0) for i in range(20)))
        tree = And((wide, Not(wide), Compare("b", "=", 1)))
        with ending():
            steps.append(lines_run(lambda tree=tree: clauses_of(tree)))
    assert steps[1] < 10 * steps[0], steps


def test_alternatives_that_together_are_always_true_cover_nothing() -> None:
    def any_value(name: str) -> str:
        return f"({name} = 1 AND x = 1 OR NOT {name} = 1 AND y = 1)"

    assert cover(parse(f"{any_value('a')} AND {any_value('b')}"), 1) == ((),)
    assert cover(parse(f"{any_value('a')} AND c > 1"), 1) == ((Compare("c", ">", 1),),)
