"""The store against a dictionary and a list: put, put many, remove, and the complete change log."""

from __future__ import annotations

from typing import Any, ClassVar

import sqlalchemy as sa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tamis.errors import UnknownSubscription
from tamis.store import Store
from tamis.store.tables import subscriptions

IDS = st.sampled_from(["a", "b", "c", "d", "é", "日本"])
EXPRESSIONS = st.sampled_from(["x = 1", "x = 2", "y < 3 OR z = 'ü'"])
PRIORITIES = st.sampled_from([0.0, 1.5, -2.0])
OWNERS = st.sampled_from([None, "ann", "bob"])
ROWS = st.fixed_dictionaries({"id": IDS, "expression": EXPRESSIONS, "priority": PRIORITIES, "owner": OWNERS})


class Books(RuleBasedStateMachine):
    store: ClassVar[Store]

    @initialize()
    def begin(self) -> None:
        with self.store.database.writing() as connection:
            connection.execute(sa.delete(subscriptions))
        self.first = self.store.last_change()
        self.held: dict[str, dict[str, Any]] = {}
        self.log: list[tuple[str, str | None, float]] = []

    def expect(self, row: dict[str, Any]) -> None:
        if self.held.get(row["id"]) != row:
            self.held[row["id"]] = row
            self.log.append((row["id"], row["expression"], row["priority"]))

    @rule(row=ROWS)
    def put(self, row: dict[str, Any]) -> None:
        version = self.store.put(**row)
        self.expect(row)
        held = self.store.get(row["id"])
        assert held is not None
        assert held.version == version

    @rule(rows=st.lists(ROWS, max_size=6), spoil=st.booleans())
    def put_many(self, rows: list[dict[str, Any]], spoil: bool) -> None:
        bad = [{"id": "bad", "expression": "x ="}] if spoil else []
        written = self.store.put_many([*rows[:3], *bad, *rows[3:]])
        assert len(written.refused) == len(bad)
        last_of_each = {row["id"]: row for row in rows}
        before = len(self.log)
        for row in last_of_each.values():
            self.expect(row)
        assert written.changed == len(self.log) - before
        assert written.unchanged == len(last_of_each) - written.changed

    @rule(identity=IDS)
    def remove(self, identity: str) -> None:
        try:
            self.store.remove(identity)
        except UnknownSubscription:
            assert identity not in self.held
        else:
            del self.held[identity]
            self.log.append((identity, None, 0.0))

    @invariant()
    def the_book_and_the_log_agree(self) -> None:
        found = [row for batch in self.store.subscriptions() for row in batch.to_pylist()]
        assert {
            row["id"]: {key: row[key] for key in ("id", "expression", "priority", "owner")} for row in found
        } == (self.held)
        log = self.store.changes(self.first, most=1_000)
        assert [(change.id, change.expression, change.priority) for change in log] == self.log
        assert [change.sequence for change in log] == [self.first + 1 + place for place in range(len(log))]
        newest = {change.id: change.version for change in log}
        assert all(row["version"] == newest[row["id"]] for row in found)
        assert self.store.last_change() == self.first + len(self.log)


def test_store_agrees_with_a_dictionary(store: Store) -> None:
    class Here(Books):
        pass

    Here.store = store
    run_state_machine_as_test(Here, settings=settings(max_examples=15, stateful_step_count=12, deadline=None))
