"""Random expressions and events over small pools, so that they meet: every kind of predicate and of value.

Nothing here is tuned to one engine: the language, the passes and every index are tried with the same.
"""

from __future__ import annotations

from datetime import UTC, datetime
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
    "plus-size WOOL",
    "wool",
    "Ünïcode wool",
    "a%b_c\\d",
    "line\nbreak",
]
ADDRESSES = ["10.0.0.1", "10.1.2.3", "192.168.0.1", "2001:db8::1", "::ffff:10.0.0.1", "300.1.1.1"]
STRINGS = WORDS + TEXTS + ADDRESSES
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
PHRASES = [("new", "york"), ("plus", "size"), ("york", "coats"), ("wool",), ("a", "new", "coat")]
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
negations = st.booleans()
weights = st.sampled_from(WEIGHTS)


def numbers() -> st.SearchStrategy[Any]:
    """Mostly numbers at the edges of exactness, sometimes any."""
    anything = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    return st.sampled_from(NUMBERS) | st.integers(-3, 8) | anything


def strings() -> st.SearchStrategy[str]:
    """Mostly strings that share prefixes and suffixes, sometimes any."""
    return (
        st.sampled_from(STRINGS)
        | st.sampled_from(WORDS)
        | st.text("abcé𝒳' ", max_size=4)
        | st.text(max_size=6)
    )


def times() -> st.SearchStrategy[datetime]:
    """Times in UTC."""
    return st.sampled_from(TIMES) | st.datetimes(timezones=st.just(UTC))


def scalars() -> st.SearchStrategy[Any]:
    """Any value but points and intervals."""
    return numbers() | strings() | st.booleans() | times()


@st.composite
def _ordered_pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    family = draw(st.sampled_from([numbers(), numbers(), strings(), times()]))
    return draw(family), draw(family)


@st.composite
def predicates(
    draw: st.DrawFn, attributes: st.SearchStrategy[str] = names, weighted: bool = True
) -> Predicate:
    """One valid predicate of any kind, on any attribute."""
    kind = draw(st.sampled_from(_KINDS))
    operator = draw(st.sampled_from([kind.OPERATORS[0], *kind.OPERATORS]))
    negated = draw(negations) and operator.negative is not None
    weight = draw(weights) if weighted else 1.0
    built = kind.build(operator, draw(attributes), draw(_operands(operator)), negated, weight)
    return check_tree(built)  # type: ignore[return-value]


def _operands(operator: Operator) -> st.SearchStrategy[tuple[Any, ...]]:
    """Valid operands of an operator, by what it takes: a new operator is tried without a word here."""
    operand = operator.operand
    match operand.kind:
        case "nothing":
            return st.just(())
        case "value" if operator.name == "=":
            return st.tuples(scalars() | st.sampled_from(POINTS))
        case "value":
            return _ordered_pairs().map(lambda pair: pair[:1])
        case "values":
            return st.lists(scalars(), max_size=4).map(tuple)
        case "ends":
            return _ends()
        case "shape":
            return st.tuples(st.sampled_from(SHAPES))
        case "string" if operator.name == "has phrase":
            return st.sampled_from(PHRASES)
        case "string":
            return st.tuples(st.sampled_from(POOLS[operand.noun]) if operand.noun in POOLS else strings())
    return st.lists(st.sampled_from(POOLS[operand.noun]), min_size=1, max_size=3).map(tuple)


@st.composite
def _ends(draw: st.DrawFn) -> tuple[Any, Any]:
    low, high = draw(_ordered_pairs())
    if low > high and draw(st.booleans()):  # a backwards range stays one now and then
        low, high = high, low
    return low, high


# Strings that mean something to an operator, by the noun of its operand; other operators take any string.
POOLS = {"a pattern": PATTERNS, "a regular expression": REGEXES, "term": TERMS, "CIDR block": BLOCKS}

# Plain kinds come more than once: they are what an index spends its life on.
_KINDS = [Compare, Compare, In, *PREDICATES]


def expressions(
    attributes: st.SearchStrategy[str] = names, max_leaves: int = 12, weighted: bool = True
) -> st.SearchStrategy[Expr]:
    """Valid trees: any nesting, NOT-only ones, constants, repeated predicates, plain conjunctions."""
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


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """Intervals with open, closed or absent ends."""
    low, high = draw(_ordered_pairs())
    if low > high:
        low, high = high, low
    missing = draw(st.sampled_from(["", "", "low", "high"]))
    try:
        return clean_interval(
            Interval(
                None if missing == "low" else low,
                None if missing == "high" else high,
                draw(st.booleans()),
                draw(st.booleans()),
            )
        )
    except EventValue:  # open at its only point
        return clean_interval(Interval(low, high))


def values() -> st.SearchStrategy[Any]:
    """Any value of an event."""
    return (numbers() | strings() | scalars() | st.sampled_from(POINTS) | intervals()).map(clean_value)


@st.composite
def events(draw: st.DrawFn, attributes: st.SearchStrategy[str] = names) -> Event:
    """An event with some of the attributes, some of them multi-valued, some weighted."""
    sizes = st.sampled_from([1, 1, 1, 2, 3])
    chosen = draw(st.lists(attributes, max_size=6, unique=True))
    found = {
        name: tuple(draw(st.lists(values(), min_size=(n := draw(sizes)), max_size=n))) for name in chosen
    }
    weighted = (
        draw(st.dictionaries(st.sampled_from(chosen), st.sampled_from([0.0, 0.5, 3.0]))) if chosen else {}
    )
    return Event(found, weights=weighted)
