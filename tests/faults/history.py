"""Record the acknowledged requests of a service and check the store and the receivers against them.

Lost: an acknowledged change or event that is missing, a match without a row, or a row without a
notification. Ghost: a row that no subscription in force explains. The tree evaluator decides both from the
store's own log and from the order in which the callers saw their answers.
"""

from __future__ import annotations

import functools
import json
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from tamis.expression.truth import matches
from tamis.language import parse
from tamis.store import Store
from tamis.values.event import event_from
from tests.faults.process import Caller, Process
from tests.waiting import eventually

OWNER = "admin"
COLOURS = ["red", "green", "blue"]
SHOPS = 12  # so that an event matches one or two of the subscriptions in force, not all


class Said(NamedTuple):
    """A subscription that was put or (without an expression) removed, or an event that was accepted."""

    name: str
    asked: float
    answered: float
    version: int  # of a subscription; 0 for events and removals


class History:
    """Callers that send requests until they are stopped, and the answers that they got."""

    def __init__(self, process: Process, hook: str) -> None:
        self._process, self._hook = process, hook
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.subscriptions: list[Said] = []
        self.removals: list[Said] = []
        self.events: list[Said] = []
        self.failures: list[Any] = []
        self.unanswered = 0  # calls that were refused temporarily, or lost
        work = (self._subscribe, self._publish, self._publish_many)
        self._threads = [threading.Thread(target=self._run, args=pair) for pair in enumerate(work)]

    def __enter__(self) -> History:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def grow(self, number: int) -> None:
        """Return when so many more events and subscriptions have been acknowledged."""
        goal = self._acknowledged() + number
        eventually(lambda: self._acknowledged() >= goal)

    def reach(self, number: int) -> None:
        """Return when so many events have been accepted in all."""
        eventually(lambda: len(self.events) >= number)

    def is_refused(self) -> None:
        """Return when one more call has not been answered well."""
        before = self.unanswered
        eventually(lambda: self.unanswered > before)

    def _acknowledged(self) -> int:
        return len(self.events) + len(self.subscriptions)

    def _run(self, seed: int, work: Callable[[random.Random, Caller], None]) -> None:
        caller = Caller(self._process)
        work(random.Random(seed), caller)
        caller.close()

    def _call(self, caller: Caller, method: str, path: str, body: Any) -> tuple[float, float, Any] | None:
        asked = time.monotonic()
        found = caller.call(method, path, body)
        answered = time.monotonic()
        if found is None or found[0] == 503:
            with self._lock:
                self.unanswered += 1
            time.sleep(0.02)  # a caller that pauses, so that it does not flood the service
            return None
        if found[0] >= 400 and found[0] != 404:
            self.failures.append((method, path, found))
        return asked, answered, found

    def _subscribe(self, rng: random.Random, caller: Caller) -> None:
        number, living = 0, list[str]()
        while not self._stop.is_set():
            if len(living) > 12 and rng.random() < 0.5:
                name = living.pop(rng.randrange(len(living)))
                done = self._call(caller, "DELETE", f"/v1/subscriptions/{name}", None)
                if done is not None:
                    self.removals.append(Said(name, *done[:2], 0))
                continue
            number += 1
            name = f"s{number}"
            body = {
                "id": name,
                "expression": f"price < {rng.randrange(10)} AND colour = '{rng.choice(COLOURS)}'"
                f" AND shop = {rng.randrange(SHOPS)}",
                "delivery": {"transport": "webhook", "url": self._hook},
            }
            done = self._call(caller, "POST", "/v1/subscriptions", body)
            if done is not None and done[2][0] == 201:
                self.subscriptions.append(Said(name, *done[:2], done[2][1]["version"]))
            living.append(name)  # also without an answer: the service may have stored it
            time.sleep(0.005)

    def _event(self, rng: random.Random, name: str) -> dict[str, Any]:
        body = {"price": rng.randrange(10), "colour": rng.choice(COLOURS), "shop": rng.randrange(SHOPS)}
        return {"id": name, "attributes": body}

    def _publish(self, rng: random.Random, caller: Caller) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            body = self._event(rng, f"one{number}")
            done = self._call(caller, "POST", "/v1/events", body)
            if done is not None and done[2][0] == 202:
                self._accept([body["id"]], done)
            time.sleep(0.005)

    def _publish_many(self, rng: random.Random, caller: Caller) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            lines = [self._event(rng, f"many{number}-{at}") for at in range(20)]
            text = "\n".join(map(json.dumps, lines)).encode()
            done = self._call(caller, "POST", "/v1/events", text)
            if done is not None and done[2][0] == 202:
                self._accept([line["id"] for line in done[2][1] if line.get("status") == "accepted"], done)
            time.sleep(0.03)

    def _accept(self, names: list[str], done: tuple[float, float, Any]) -> None:
        with self._lock:
            self.events += [Said(name, *done[:2], 0) for name in names]


class Verdict(NamedTuple):
    """The findings of a check; the guarantee holds when all of them are empty."""

    lost: list[Any]
    ghosts: list[Any]
    duplicates: list[Any]
    disorder: list[Any]
    untold: list[Any]


def check(store: Store, history: History, told: list[str]) -> Verdict:
    """Compare the acknowledgements with the store, and the store with the trees and the notifications."""
    changes = _all_changes(store)
    events = _table(store, "SELECT event_id, known, text FROM events")
    known = {row[0]: row[1] for row in events}
    rows = _table(store, "SELECT event_id, subscription_id, version FROM outbox")
    wanted = _expected(changes, events)
    found = set(rows)
    versions = {change.sequence for change in changes}
    lost: list[Any] = [said for said in history.subscriptions if said.version not in versions]
    lost += [said for said in history.events if f"{OWNER}/{said.name}" not in known]
    lost += sorted(wanted - found)
    duplicates = [row for row in rows if rows.count(row) > 1] if len(found) < len(rows) else []
    return Verdict(lost, sorted(found - wanted), duplicates, _disorder(history, known), _untold(store, told))


def _all_changes(store: Store) -> list[Any]:
    changes: list[Any] = []
    while more := store.changes(changes[-1].sequence if changes else 0):
        changes += more
    return changes


def _expected(changes: list[Any], events: list[Any]) -> set[tuple[str, str, int]]:
    """Return the matches of every event with the subscriptions after change ``known``."""
    by_known: dict[int, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    for event_id, known, text in events:
        by_known[known].append((event_id, json.loads(text)))
    force: dict[str, tuple[str, int]] = {}
    at, expected = 0, set()
    for known in sorted(by_known):
        while at < len(changes) and changes[at].sequence <= known:
            change = changes[at]
            force.pop(change.id, None)
            if change.expression is not None:
                force[change.id] = change.expression, change.sequence
            at += 1
        for event_id, body in by_known[known]:
            event = event_from(body)
            expected |= {
                (event_id, name, version)
                for name, (text, version) in force.items()
                if matches(parsed(text), event)
            }
    return expected


@functools.cache
def parsed(text: str) -> Any:
    """Return the tree of an expression."""
    return parse(text)


def _disorder(history: History, known: dict[str, int]) -> list[Any]:
    """Return events that were sent after a subscription's 201 and did not see it."""
    wrong = []
    events = [(said, known.get(f"{OWNER}/{said.name}")) for said in history.events]
    for said in history.subscriptions:
        wrong += [
            (said, event)
            for event, at in events
            if at is not None and event.asked > said.answered and at < said.version
        ]
    return wrong


def _untold(store: Store, told: list[str]) -> list[Any]:
    """Return rows that should be sent and are not done, or are marked delivered and never arrived."""
    states = _table(store, "SELECT outbox_id, state FROM deliveries")
    open_rows = [row for row in states if row[1] not in ("delivered", "cancelled")]
    delivered = sum(state == "delivered" for _, state in states)
    return open_rows + (
        [("told", len(set(told)), "delivered", delivered)] if len(set(told)) < delivered else []
    )


def _table(store: Store, query: str) -> list[Any]:
    with store.database.reading() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]
