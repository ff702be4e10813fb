"""Test threads: while one writes, every match of the others is true of a moment during the call."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tamis import Index
from tamis.engines.engines import NAMES
from tamis.expression.predicates import Compare, Exists
from tamis.expression.tree import And, Expr, Not, Or
from tamis.expression.truth import matches
from tamis.index import batches
from tamis.index.batches import pieces
from tamis.values.event import Event
from tests.waiting import eventually

EVENT = {"a": 1, "b": "x"}
CHOICES: list[Expr] = [
    Compare("a", "=", 1),
    Compare("a", "=", 2),
    Not(Exists("a")),
    Or((Compare("b", "=", "x"), Compare("a", ">", 5))),
    And((Compare("a", ">", 0), Compare("b", "!=", "x"))),
]
STEPS = 400
MOMENTS = 20  # that the readers must have seen
SEED = 20_26


class History:
    """The book's answer to EVENT after each change, and the number of changes so far."""

    def __init__(self, index: Index, book: dict[str, Expr]) -> None:
        self.index, self.book = index, dict(book)
        self.answers = [self._answer()]
        self.begun = self.done = 0

    def _answer(self) -> frozenset[str]:
        whole = Event({name: (value,) for name, value in EVENT.items()})
        return frozenset(name for name, expr in self.book.items() if matches(expr, whole))

    def change(self, book: dict[str, Expr], action: Callable[[], None]) -> None:
        """Run ``action``, after which the index holds ``book``."""
        self.book = book
        self.answers.append(self._answer())
        self.begun += 1
        action()
        self.done += 1

    def step(self, random: random.Random) -> None:
        """Make one random change."""
        index, book = self.index, dict(self.book)
        name, expr = f"s{random.randrange(60)}", random.choice(CHOICES)
        if name not in book:
            book[name] = expr
            self.change(book, lambda: index.add(name, expr))
        elif random.random() < 0.5:
            book[name] = expr
            self.change(book, lambda: index.update(name, expr))
        else:
            del book[name]
            self.change(book, lambda: index.remove(name))


def run_against(writing: Callable[[], None], reading: list[Callable[[], None]]) -> None:
    """Run the readers over and over until the writer is done; raise the first failure of any."""
    finished = threading.Event()
    failures: list[BaseException] = []

    def guarded(work: Callable[[], None], again: bool) -> None:
        try:
            while True:
                work()
                if not again or finished.is_set() or failures:
                    return
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(work, True)) for work in reading]
    patience = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads interrupt each other everywhere
    for thread in threads:
        thread.start()
    guarded(writing, False)
    finished.set()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(patience)
    if failures:
        raise failures[0]


@pytest.mark.parametrize("engine", NAMES)
def test_every_answer_is_true_of_some_moment(engine: str) -> None:
    book = {f"s{n}": CHOICES[n % len(CHOICES)] for n in range(0, 60, 2)}
    history = History(Index.build(book, engine=engine), book)
    history.index.match(EVENT)  # compile kernels before the race begins
    chance = random.Random(SEED)
    seen: set[int] = set()

    def check(read: Callable[[], list[str]]) -> None:
        first = history.done
        found = read()
        last = history.begun
        assert len(found) == len(set(found))
        states = history.answers[first : last + 1]
        assert frozenset(found) in states, (first, last, sorted(found), [sorted(state) for state in states])
        seen.add(last)

    def many() -> list[str]:
        return history.index.match_many([EVENT], threads=1)["subscription"].to_pylist()

    def write() -> None:
        for _ in range(STEPS):
            history.step(chance)
        # On a busy machine the readers may have seen few of these moments.
        eventually(lambda: len(seen) > MOMENTS, lambda: history.step(chance), every=0.0)

    run_against(write, [lambda: check(lambda: history.index.match(EVENT)), lambda: check(many)])
    assert history.done >= STEPS


def test_matching_subscription_is_never_missing_while_it_is_updated() -> None:
    index = Index.build({"always": And(()), **{f"s{n}": Compare("c", "=", n) for n in range(200)}})
    versions: list[Expr] = [Not(Exists("nowhere")), And(()), Compare("a", "=", 1), Exists("b")]

    def write() -> None:
        for n in range(STEPS):
            index.update("always", versions[n % len(versions)])
            if n % 100 == 0:
                index.merge()

    def read() -> None:
        assert index.match(EVENT) == ["always"]
        assert [name for name, _ in index.top_k(EVENT, 2)] == ["always"]

    run_against(write, [read, read])


def test_save_is_consistent_while_others_read_and_write(tmp_path: Path) -> None:
    index = Index.build({"always": And(()), "other": Compare("a", "=", 2)})

    def write() -> None:
        for n in range(60):
            index.add(f"s{n}", Compare("c", "=", n))
            index.save(tmp_path / "index")

    def read() -> None:
        assert index.match(EVENT) == ["always"]
        if list((tmp_path / "index").glob("manifest-*.json")):
            assert Index.open(tmp_path / "index").match(EVENT) == ["always"]

    run_against(write, [read])


def test_match_many_on_several_threads_keeps_the_order() -> None:
    index = Index.build({f"s{n}": Compare("a", "=", n % 50) for n in range(500)})
    events = [{"a": n % 70} for n in range(5000)]
    table = index.match_many(events, threads=4, batch_size=64)
    rows = table["event"].to_pylist()
    assert rows == sorted(rows)
    assert len(rows) == sum(10 for event in events if event["a"] < 50)
    assert index.match_many(events, threads=1).equals(table)
    assert len(list(pieces(events, 64, index.limits))) == 79


def test_thread_of_the_pool_may_close_the_iterator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector closes an abandoned iterator in whichever thread it happens to run."""
    index = Index.build([("s", "a = 1")])
    is_abandoned, is_closed = threading.Event(), threading.Event()
    held: list[Any] = []
    plain = batches.match_piece

    def match_piece(snapshot: Any, piece: Any, first: int, run: Any) -> Any:
        if first == 3:
            is_abandoned.wait()
            held.pop()
            is_closed.set()
        return plain(snapshot, piece, first, run)

    monkeypatch.setattr("tamis.index.matching.match_piece", match_piece)
    held.append(index.match_batches([EVENT] * 50, threads=2, batch_size=1))
    next(held[0])
    is_abandoned.set()
    is_closed.wait()
    assert index.match(EVENT) == ["s"]  # pytest fails the test when closing raised an exception
