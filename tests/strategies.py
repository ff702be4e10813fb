"""Draw random expressions and events over small pools, so that they meet, with every kind of predicate.

Nothing here is tuned to one engine: the language, the passes and every index get the same data. Hypothesis
checks each new strategy object before it draws from it, which took a quarter of the time of all duels; so
each function here makes its strategy once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tamis.errors import EventValue
from tamis.expression.predicate import Operator
from tamis.expression.predicates import PREDICATES, Compare, In, Predicate
from tamis.expression.tree import FALSE, TRUE, And, Expr, Not, Or
from tamis.language import check_tree
from tamis.values.event import Event
from tamis.values.shape import Box, Circle, Polygon
from tamis.values.value import Interval, Point, clean_interval, clean_value

NAMES = ["a", "b", "c", "x.y", "AND", "two words", 'quo"te', "naïve", "𝒳", "date"]
INTEGERS = [-1, 0, 1, 2, 3, 5, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**61 - 1]
FLOATS = [-0.0, 0.1, 1.0, 2.5, 3.0, -1.5, float(2**53), 5e-324, 1e300, float(2**63), 0.30000000000000004]
NUMBERS: list[int | float] = [*INTEGERS, *FLOATS]
WORDS = [
    "",
    "a",
    "ab",
    "abc",
    "abcd",
    "b",
    "ba",
    "cab",
    "Abc",
    "ABC",
    "é",
    "É",
    "ß",
    "SS",
    "𝒳y",
    "x𝒳",
    "it's",
]
TEXTS = [
    "New York coats",
    "a new coat from York",
    "york: new, new coats (a coat)",
    "plus-size WOOL",
    "wool",
    "Ünïcode wool",
    "a%b_c\\d",
    "line\nbreak",
]
ADDRESSES = ["10.0.0.1", "10.1.2.3", "192.168.0.1", "2001:db8::1", "::ffff:10.0.0.1", "300.1.1.1"]
VERSIONS = ["2.9", "2.10.0", "2.10.0-beta.1", "2.10.0~rc1", "2.10.post1", "1:2.9-1"]
STRINGS = WORDS + TEXTS + ADDRESSES + VERSIONS
TIMES = [
    datetime(2026, 11, 15, 8, tzinfo=UTC),
    datetime(2026, 11, 15, 8, 0, 0, 1, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
]
POINTS = [
    Point(0.0, 0.0),
    Point(1.0, 1.0),
    Point(5.0, 5.0),
    Point(180.0, 0.0),
    Point(-179.5, 10.0),
    Point(0.0, 90.0),
]
PATTERNS = [
    "abc",
    "a%",
    "%c",
    "%b%",
    "%",
    "",
    "a_c",
    "_",
    "__",
    "a%c%",
    "%é%",
    "\\%",
    "%\\_%",
    "A%",
    "%ss",
    "𝒳_",
    "%%",
]
REGEXES = ["^a", "c$", "b+", "[a-c]{2}", "(?i)abc", ".", "^$", "\\d+\\.", "é|ß", "𝒳", "a'b"]
TERMS = ["new", "york", "coat", "wool", "plus", "size", "unicode", "a", "zzz"]
TERMS += [
    "coat*",
    "*t",
    "n?w",
    "*o*",
    "coot~1",
    "yrok~2",
    "wol~2,2",
    "/[a-c]+/",
    "/new|york/",
    "[b TO d}",
    "{new TO *]",
    "coots~3:levenshtein",
    "wxyl~2:hamming",
    "cat~3:hamming",
]
PHRASES = [
    ("new", "york"),
    ("plus", "size"),
    ("york", "coats"),
    ("wool",),
    ("a", "new", "coat"),
    ("new", "y*"),
    ("n?w", "york~1"),
]
GROUPS = [
    ("new", "york"),
    ("york", "new"),
    ("a", "new", "coat"),
    ("coat*", "york", "new"),
    ("new", "new"),
    ("*o*", "c?at", "n*"),
]
BLOCKS = ["10.0.0.0/8", "10.1.0.0/16", "10.0.0.1", "0.0.0.0/0", "2001:db8::/32", "::/0", "192.168.0.0/31"]
SQUARE = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (0.0, 0.0))
HOLE = ((1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (1.0, 3.0), (1.0, 1.0))
OVERLAP = ((2.0, 2.0), (6.0, 2.0), (6.0, 6.0), (2.0, 6.0), (2.0, 2.0))
FAR = ((4.5, 4.5), (6.0, 4.5), (6.0, 6.0), (4.5, 4.5))
SHAPES = [
    Polygon(((SQUARE,),)),
    Polygon(((SQUARE, HOLE),)),
    Polygon(((SQUARE,), (FAR,))),
    Polygon(((SQUARE,), (OVERLAP,))),
    Polygon(((SQUARE, HOLE), (HOLE,), (FAR,))),
    Box(-1.0, -1.0, 1.0, 1.0),
    Box(170.0, -10.0, -170.0, 10.0),
    Circle(Point(0.0, 0.0), 160_000.0),
    Circle(Point(0.5, 0.25), 1234.5),
    Circle(Point(180.0, 0.0), 0.0),
]
WEIGHTS = [1.0, 1.0, 1.0, 0.0, 2.0, 2.5, 0.1, 1e300]

names = st.sampled_from(NAMES)
booleans = st.booleans()
weights = st.sampled_from(WEIGHTS)


@cache
def numbers() -> st.SearchStrategy[Any]:
    """Draw mostly numbers at the edges of exactness, sometimes any."""
    anything = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    return st.sampled_from(NUMBERS) | st.integers(-3, 8) | anything


@cache
def strings() -> st.SearchStrategy[str]:
    """Draw mostly strings that share prefixes and suffixes, sometimes any."""
    return (
        st.sampled_from(STRINGS)
        | st.sampled_from(WORDS)
        | st.text("abcé𝒳' ", max_size=4)
        | st.text(max_size=6)
    )


@cache
def times() -> st.SearchStrategy[datetime]:
    """Draw times in UTC."""
    return st.sampled_from(TIMES) | st.datetimes(timezones=st.just(UTC))


@cache
def scalars() -> st.SearchStrategy[Any]:
    """Draw any value but points and intervals."""
    return numbers() | strings() | st.booleans() | times()


@cache
@st.composite
def _ordered_pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    family = draw(_FAMILIES)
    return draw(family), draw(family)


_FAMILIES = st.sampled_from([numbers(), numbers(), strings(), times()])


@cache
@st.composite
def predicates(
    draw: st.DrawFn, attributes: st.SearchStrategy[str] = names, weighted: bool = True
) -> Predicate:
    """Draw one valid predicate of any kind, on any attribute."""
    kind = draw(_kinds())
    operator = draw(_operators(kind))
    negated = draw(booleans) and operator.negative is not None
    weight = draw(weights) if weighted else 1.0
    built = kind.build(
        operator,
        draw(attributes),
        draw(_operands(operator.name, operator.operand.kind, operator.operand.noun)),
        negated,
        weight,
    )
    return check_tree(built)  # type: ignore[return-value]


@cache
def _kinds() -> st.SearchStrategy[type[Predicate]]:
    """Draw a kind of predicate; plain kinds come more often, because an index handles them most often."""
    return st.sampled_from([Compare, Compare, In, *PREDICATES])


@cache
def _operators(kind: type[Predicate]) -> st.SearchStrategy[Operator]:
    """Draw an operator of this kind, its first one most often."""
    return st.sampled_from([kind.OPERATORS[0], *kind.OPERATORS])


@cache
def _operands(operator: str, kind: str, noun: str) -> st.SearchStrategy[tuple[Any, ...]]:
    """Draw valid operands of an operator by their kind, so that a new operator needs no change here."""
    match kind:
        case "nothing":
            return st.just(())
        case "value" if operator == "=":
            return st.tuples(scalars() | st.sampled_from(POINTS))
        case "value":
            return _ordered_pairs().map(lambda pair: pair[:1])
        case "values":
            return st.lists(scalars(), max_size=4).map(tuple)
        case "ends":
            return _ends()
        case "shape":
            return st.tuples(st.sampled_from(SHAPES))
        case "string" if operator == "has phrase":
            return st.sampled_from(PHRASES)
        case "string and number":
            return st.tuples(st.sampled_from(GROUPS), st.integers(3, 6)).map(
                lambda drawn: (*drawn[0], drawn[1])
            )
        case "number of strings":
            return _some_of_terms()
        case "string":
            return st.tuples(st.sampled_from(POOLS[noun]) if noun in POOLS else strings())
    return st.lists(st.sampled_from(POOLS[noun]), min_size=1, max_size=3).map(tuple)


@cache
@st.composite
def _some_of_terms(draw: st.DrawFn) -> tuple[Any, ...]:
    """Draw different terms, and how many of them are asked for."""
    terms = draw(st.lists(st.sampled_from(TERMS), min_size=1, max_size=4, unique=True))
    return (*terms, draw(st.integers(1, len(terms))))


@cache
@st.composite
def _ends(draw: st.DrawFn) -> tuple[Any, Any]:
    low, high = draw(_ordered_pairs())
    if low > high and draw(booleans):  # sometimes keep a backwards range
        low, high = high, low
    return low, high


# Meaningful strings for an operator, by the noun of its operand; other operators take any string.
POOLS = {
    "a pattern": PATTERNS,
    "pattern": PATTERNS,
    "a regular expression": REGEXES,
    "term": TERMS,
    "CIDR block": BLOCKS,
    "semantic version": ["2.9", "2.10", "2.10.0-beta.1", "v2.10.0"],
    "PEP 440 version": ["2.9", "2.10", "2.10.0b1", "2.10.post1"],
    "Debian version": ["2.9", "2.10", "2.10.0~rc1", "1:2.9-1"],
}


@cache
def expressions(
    attributes: st.SearchStrategy[str] = names, max_leaves: int = 12, weighted: bool = True
) -> st.SearchStrategy[Expr]:
    """Draw valid trees: any nesting, NOT-only ones, constants, repeated predicates, plain conjunctions."""
    leaves = predicates(attributes, weighted) | st.sampled_from([TRUE, FALSE])
    trees = st.recursive(predicates(attributes, weighted) | leaves, _grown, max_leaves=max_leaves)
    plain = st.lists(predicates(attributes, weighted), min_size=2, max_size=5).map(lambda ps: And(tuple(ps)))
    denials = st.lists(predicates(attributes, weighted).map(Not), min_size=2, max_size=3).map(
        lambda ps: And(tuple(ps))
    )
    return (trees | trees | plain | denials).map(check_tree)


def _grown(children: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    several = st.lists(children, min_size=2, max_size=4).map(tuple)
    twice = children.map(lambda child: (child, child))
    return several.map(And) | several.map(Or) | children.map(Not) | twice.map(And) | twice.map(Or)


@cache
@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """Draw intervals with open, closed or absent ends."""
    low, high = draw(_ordered_pairs())
    if low > high:
        low, high = high, low
    missing = draw(_MISSING)
    try:
        return clean_interval(
            Interval(
                None if missing == "low" else low,
                None if missing == "high" else high,
                draw(booleans),
                draw(booleans),
            )
        )
    except EventValue:  # open at its only point
        return clean_interval(Interval(low, high))


_MISSING = st.sampled_from(["", "", "low", "high"])


@cache
def values() -> st.SearchStrategy[Any]:
    """Draw any value of an event."""
    return (numbers() | strings() | scalars() | st.sampled_from(POINTS) | intervals()).map(clean_value)


@cache
@st.composite
def events(draw: st.DrawFn, attributes: st.SearchStrategy[str] = names) -> Event:
    """Draw an event with some of the attributes, some of them multi-valued, some weighted."""
    chosen = draw(_some(attributes))
    found = {name: tuple(draw(values()) for _ in range(draw(_COUNTS))) for name in chosen}
    weighted = {name: draw(_EVENT_WEIGHTS) for name in chosen if draw(_IS_WEIGHTED)}
    return Event(found, weights=weighted)


@cache
def _some(attributes: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(attributes, max_size=6, unique=True)


_COUNTS = st.sampled_from([1, 1, 1, 2, 3])
_IS_WEIGHTED = st.sampled_from([False, False, False, True])
_EVENT_WEIGHTS = st.sampled_from([0.0, 0.5, 3.0])
