"""Conditional changes, quotas, and the sums behind the quotas."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from tamis.errors import QuotaExceeded, TamisError, UnknownSubscription, VersionConflict
from tamis.limits import Limits
from tamis.store import Store, owners, registry
from tamis.store.registry import Outcome, Put
from tamis.store.subscriptions import Entry, StoredSubscription, entry_from

LIMITS = Limits(owner_subscriptions=3, owner_predicates=10)


def entry(local: str, expression: str = "a = 1", owner: str = "ann", **more: Any) -> Entry:
    return entry_from({"id": f"{owner}/{local}", "expression": expression, "owner": owner, **more}, LIMITS)


def put(store: Store, *writes: Put) -> list[Outcome | TamisError]:
    with store.database.writing() as connection:
        return registry.put(connection, writes, LIMITS)


def sums(store: Store, owner: str = "ann") -> tuple[int, int]:
    """Return the subscriptions and predicates of the owner, after checking that the stored sums agree."""
    with store.database.reading() as connection:
        counted = sa.text("SELECT count(*), coalesce(sum(size), 0) FROM subscriptions WHERE owner = :owner")
        current = tuple(connection.execute(counted, {"owner": owner}).one())
        noted = owners.find_or_default(connection, owner)
    assert current == (noted.subscriptions, noted.predicates)
    return current  # type: ignore[return-value]


def verbs(outcomes: list[Outcome | TamisError]) -> list[str]:
    return [one.verb if isinstance(one, Outcome) else one.code for one in outcomes]


def test_put_reports_created_replaced_and_unchanged(store: Store) -> None:
    first = put(store, Put(entry("1")), Put(entry("2")))
    assert verbs(first) == ["created", "created"]
    again = put(store, Put(entry("1")), Put(entry("2", "a = 2")))
    assert verbs(again) == ["unchanged", "replaced"]
    assert isinstance(again[1], Outcome)
    assert again[1].after == store.get("ann/2")
    assert sums(store) == (2, 2)


def test_repeated_id_in_one_batch_sees_the_earlier_change(store: Store) -> None:
    outcomes = put(
        store,
        Put(entry("1")),
        Put(entry("1", "a = 2")),
        Put(entry("1", "a = 2")),
    )
    assert verbs(outcomes) == ["created", "replaced", "unchanged"]
    assert [one.after.version for one in outcomes if isinstance(one, Outcome)] == [1, 2, 2]


def test_failed_check_refuses_only_its_own_change(store: Store) -> None:
    def never(current: StoredSubscription | None) -> None:
        raise VersionConflict("not now")

    outcomes = put(store, Put(entry("1")), Put(entry("2"), never), Put(entry("3")))
    assert verbs(outcomes) == ["created", "version-conflict", "created"]
    assert store.get("ann/2") is None


def test_subscription_quota_holds_at_its_edge(store: Store) -> None:
    outcomes = put(store, *(Put(entry(str(n))) for n in range(4)))
    assert verbs(outcomes) == ["created"] * 3 + ["quota-exceeded"]
    assert sums(store) == (3, 3)
    assert verbs(put(store, Put(entry("0", "b = 1")))) == ["replaced"]
    assert verbs(put(store, Put(entry("0", owner="bob")))) == ["created"]
    with store.database.writing() as connection:
        registry.remove(connection, "ann/0")
    assert verbs(put(store, Put(entry("3")))) == ["created"]


def test_predicate_quota_holds_at_its_edge(store: Store) -> None:
    nine = "a IN (1, 2, 3, 4, 5, 6) AND (b = 1 OR c HAS ANY ('x', 'y'))"
    assert verbs(put(store, Put(entry("1", nine)), Put(entry("2", "a = 1 AND b = 1")))) == [
        "created",
        "quota-exceeded",
    ]
    assert verbs(put(store, Put(entry("2")))) == ["created"]
    assert sums(store) == (2, 10)
    (refused,) = put(store, Put(entry("2", "a = 1 AND b = 1")))
    assert isinstance(refused, QuotaExceeded)
    assert (refused.details["quota"], refused.details["limit"]) == ("predicates", 10)
    assert verbs(put(store, Put(entry("1")), Put(entry("2", "a = 1 AND b = 1")))) == ["replaced"] * 2
    assert sums(store) == (2, 3)


def test_quotas_are_set_by_owner(store: Store) -> None:
    with store.database.writing() as connection:
        assert owners.put(connection, "ann", {"subscriptions": 1}).quotas(LIMITS).predicates == 10
    assert verbs(put(store, Put(entry("1")), Put(entry("2")))) == [
        "created",
        "quota-exceeded",
    ]
    with store.database.writing() as connection:
        owners.put(connection, "ann", {"subscriptions": 5, "predicates": 2})
    assert verbs(put(store, Put(entry("2")), Put(entry("3")))) == [
        "created",
        "quota-exceeded",
    ]
    with store.database.writing() as connection:
        assert owners.put(connection, "ann", {}).given == {}
    # Over a quota that was lowered, existing subscriptions may still be changed and made smaller.
    with store.database.writing() as connection:
        owners.put(connection, "ann", {"subscriptions": 1, "predicates": 1})
    assert verbs(put(store, Put(entry("1", "z = 9")))) == ["replaced"]


def test_sums_are_correct_for_every_writer(store: Store) -> None:
    store.put("ann/1", "a IN (1, 2, 3)", owner="ann")
    store.put("ann/1", "a = 1", owner="bob")
    store.put_many([{"id": f"ann/{n}", "expression": "a = 1", "owner": "ann"} for n in range(2, 5)])
    store.put("free", "a = 1")
    assert (sums(store), sums(store, "bob")) == ((3, 3), (1, 1))
    store.remove("ann/1")
    store.remove("free")
    assert (sums(store), sums(store, "bob")) == ((3, 3), (0, 0))


def test_remove_checks_its_condition(store: Store) -> None:
    put(store, Put(entry("1")))

    def never(current: StoredSubscription | None) -> None:
        raise VersionConflict("not now")

    with pytest.raises(VersionConflict), store.database.writing() as connection:
        registry.remove(connection, "ann/1", never)
    with store.database.writing() as connection:
        assert registry.remove(connection, "ann/1").id == "ann/1"
    with pytest.raises(UnknownSubscription, match="'1'"), store.database.writing() as connection:
        registry.remove(connection, "ann/1")
