"""Test the life of an index against a dictionary: add, update, remove, merge, save, crash, open.

No ghost (a removed subscription still matches), no strand (a sibling is lost), never a mix of two states.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from pathlib import Path
from unittest import TestCase

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from tamis import Index, Limits, Subscription, parse, to_text
from tamis.contract.change import Change
from tamis.engines.engines import NAMES as ENGINES
from tamis.errors import DuplicateSubscription, UnknownSubscription
from tamis.expression.predicates import Compare, Exists, In, Like
from tamis.expression.tree import And, Expr, Not, Or
from tamis.expression.truth import matches
from tamis.failpoint import arm, disarm
from tamis.head import head
from tamis.head.bestar import tree
from tamis.head.leaves import postings
from tamis.head.structures import DEFAULT
from tamis.head.structures import NAMES as HEADS
from tamis.index import writer
from tamis.values.event import Event
from tests.strategies import expressions

FAILPOINTS = [
    "segment.arrays_written",
    "segment.before_rename",
    "sealed.before_rename",
    "save.before_manifest",
    "save.after_manifest",
]
LIMITS = Limits(dnf_clauses=4, head_subscriptions=40)
IDS = [f"s{n}" for n in range(40)]
EVENTS = [
    Event({}),
    Event({"a": (1,)}),
    Event({"a": (5,), "b": ("abc",)}),
    Event({"a": (1, 5), "b": ("abc", "x")}),
    Event({"b": ("b",), "c": (2.5,), "x.y": (True,)}),
]
# Many small and similar expressions, so that segments fill, share clauses and merge.
SIMPLE: list[Expr] = [
    And(()),
    Compare("a", "=", 1),
    Compare("a", ">", 2),
    Not(Compare("a", "=", 1)),
    Not(Exists("b")),
    In("b", ("abc", "b")),
    Like("b", "a%"),
    And((Compare("a", ">=", 1), Compare("b", "=", "abc"))),
    Or((Compare("a", "=", 5), Compare("c", "<", 3), Exists("x.y"))),
    And(tuple(Or((Compare("a", "=", n), Compare("b", "=", "abc"))) for n in range(4))),
]
trees = st.sampled_from(SIMPLE) | expressions(max_leaves=5)
State = dict[str, Subscription]


@pytest.fixture(autouse=True)
def _small_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make heads fill, be cut and become segments after a few steps."""
    for module, name, value in [
        (writer, "LEAST_HEAD", 12),
        (writer, "TESTS", 3),
        (writer, "SHAPES", 2),
        (writer, "BOOK", 8),
        (head, "FEW", 3),
        (postings, "LEAST_CUT", 4),
        (postings, "ENDS_EACH", 1),
        (tree, "RULES", tree.RULES._replace(capacity=1)),
        (tree, "WINDOW", 3),
    ]:
        monkeypatch.setattr(module, name, value)


class Crash(Exception):
    """A simulated death of the process."""


def crash() -> None:
    """Raise :class:`Crash`, as an armed failpoint does."""
    raise Crash


class Life(RuleBasedStateMachine):
    """The index beside a dictionary of what it must hold."""

    engine = "hybrid"
    head = "pstree"
    names = Bundle("names")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="tamis-life-"))
        self.path = self.folder / "index"
        self.model: State = {}
        self.saved: State | None = None
        self.added = 0

    def teardown(self) -> None:
        disarm()
        shutil.rmtree(self.folder, ignore_errors=True)

    @initialize(book=st.lists(trees, max_size=12))
    def build(self, book: list[Expr]) -> None:
        self.model = {f"b{n}": Subscription(f"b{n}", expr) for n, expr in enumerate(book)}
        self.index = Index.build(self.model.values(), engine=self.engine, head=self.head, limits=LIMITS)
        self.added = len(self.model)

    @rule(target=names, name=st.sampled_from(IDS), expr=trees, priority=st.sampled_from([0.0, 2.0]))
    def add(self, name: str, expr: Expr, priority: float) -> str:
        if name in self.model:
            with pytest.raises(DuplicateSubscription):
                self.index.add(name, expr)
        else:
            self.index.add(name, expr, priority=priority)
            self.model[name] = Subscription(name, expr, priority)
            self.added += 1
        return name

    @rule(target=names, first=st.integers(0, 500), count=st.integers(0, 40), expr=trees)
    def add_many(self, first: int, count: int, expr: Expr) -> object:
        book = {f"m{n}": expr for n in range(first, first + count)}
        if known := sorted(book.keys() & self.model.keys()):
            before = len(self.index)
            with pytest.raises(DuplicateSubscription):
                self.index.add(book)
            assert len(self.index) == before  # all or nothing
            return multiple(*known[:2])
        self.index.add(book)
        self.model |= {name: Subscription(name, expr) for name in book}
        self.added += count
        return multiple(*list(book)[:2])

    @rule(name=names, expr=trees)
    def update(self, name: str, expr: Expr) -> None:
        if name in self.model:
            self.index.update(name, expr, priority=1.0)
            self.model[name] = Subscription(name, expr, 1.0)
            self.added += 1
        else:
            with pytest.raises(UnknownSubscription):
                self.index.update(name, expr)

    @rule(
        puts=st.dictionaries(st.sampled_from(IDS), trees, max_size=6),
        gone=st.sets(st.sampled_from(IDS), max_size=4),
    )
    def apply(self, puts: dict[str, Expr], gone: set[str]) -> None:
        news = {name: parse(to_text(expr), LIMITS) for name, expr in puts.items()}
        log = [Change(n, name, to_text(expr)) for n, (name, expr) in enumerate(news.items(), 1)]
        log += [Change(len(log) + n, name, None) for n, name in enumerate(sorted(gone), 1)]
        assert self.index.apply(log) == []
        self.model |= {
            change.id: Subscription(change.id, news[change.id], 0.0, change.version)
            for change in log[: len(news)]
        }
        for name in gone:
            self.model.pop(name, None)
        self.added += len(news)

    @rule(name=names)
    def remove(self, name: str) -> None:
        if name in self.model:
            self.index.remove(name)
            del self.model[name]
        else:
            with pytest.raises(UnknownSubscription):
                self.index.remove(name)

    @rule(keep=st.integers(0, 3))
    def remove_most(self, keep: int) -> None:
        for name in list(self.model)[keep:]:
            self.index.remove(name)
            del self.model[name]

    @rule()
    def merge(self) -> None:
        self.index.merge()
        assert len(self.index.info()["segments"]) <= 1
        assert self.index.info()["fresh"] == 0

    @rule()
    def save(self) -> None:
        self.index.save(self.path)
        self.saved = dict(self.model)

    @rule(verify=st.booleans())
    def reopen(self, verify: bool) -> None:
        if self.saved is not None:
            self.index = Index.open(self.path, head=self.head, limits=LIMITS, verify=verify)
            self.model = dict(self.saved)

    @rule(where=st.sampled_from(FAILPOINTS))
    def crash_while_saving(self, where: str) -> None:
        arm(where, crash)
        try:
            self.index.save(self.path)
        except Crash:
            reached = where
        else:
            reached = ""  # nothing new to write before this place
        finally:
            disarm()
        if self.saved is None and not list(self.path.glob("manifest-*.json")):
            return  # the first save failed: there is nothing to open
        reopened = Index.open(self.path, limits=LIMITS)
        states = [dict(self.model)] if self.saved is None else [self.saved, dict(self.model)]
        state = self.agrees_with_one_of(reopened, states)
        if reached in ("", "save.after_manifest"):
            assert state == self.model
        self.index, self.model, self.saved = reopened, dict(state), dict(state)

    def agrees_with_one_of(self, index: Index, states: list[State]) -> State:
        """Assert that the index holds exactly the old or the new state."""
        held = {name: index.subscription(name) for state in states for name in state if name in index}
        for state in states:
            if len(index) == len(state) and held == state:
                return state
        raise AssertionError(f"a mix of states: {sorted(held)} of {[sorted(state) for state in states]}")

    @invariant()
    def nothing_is_lost_or_left(self) -> None:
        if not hasattr(self, "index"):
            return
        self.index.check()
        assert len(self.index) == len(self.model)
        for event in EVENTS:
            expected = sorted(held.id for held in self.model.values() if matches(held.expression, event))
            assert sorted(self.index.match(event)) == expected
        table = self.index.match_many(EVENTS)
        found = sorted(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))
        assert found == sorted(
            (row, held.id)
            for row, event in enumerate(EVENTS)
            for held in self.model.values()
            if matches(held.expression, event)
        )

    @invariant()
    def segments_stay_few(self) -> None:
        if hasattr(self, "index"):
            info = self.index.info()
            assert info["fresh"] < LIMITS.head_subscriptions
            assert len(info["segments"]) <= 1 + math.log(max(self.added, 1), 2)
            assert all(segment["subscriptions"] > segment["removed"] for segment in info["segments"])

    @invariant()
    def priorities_and_expressions_are_kept(self) -> None:
        if hasattr(self, "index"):
            for name in list(self.model)[-3:]:
                assert self.index.subscription(name) == self.model[name]


def life_of(engine: str, examples: int) -> type[TestCase]:
    """Return the life of an index with the given engine, and its head if it has one, as a test case."""
    given = {"engine": engine, "head": engine if engine in HEADS else DEFAULT}
    case: type[TestCase] = type(f"{engine.title()}Life", (Life,), given).TestCase
    case.settings = settings(max_examples=examples, stateful_step_count=40)  # type: ignore[attr-defined]
    return case


for name in ENGINES:
    lives = 60 if name == "hybrid" else 15
    globals()[f"Test{name.title()}"] = life_of(name, max(5, lives * settings.default.max_examples // 100))
