"""Subscriptions and their changes are stored, and a refused row affects no other."""

from __future__ import annotations

import copy
import pickle  # noqa: TID251  (that a store can be sent to a worker)

import pyarrow as pa
import pytest

from tamis.contract.change import Change
from tamis.contract.token import token_of
from tamis.errors import InputError, ParseError, SubscriptionError, UnknownSubscription
from tamis.language import attr, parse, to_json
from tamis.limits import Limits
from tamis.store import Store


def test_new_store_is_empty(store: Store) -> None:
    assert (store.count(), store.last_change(), store.changes(0), store.get("s")) == (0, 0, [], None)
    assert list(store.subscriptions()) == []


def test_subscription_is_put_read_changed_and_removed(store: Store) -> None:
    first = store.put("s", "price < 5", owner="ann", priority=2.5, schedule="daily at 9 in Europe/Berlin")
    daily = "daily at 9 in Europe/Berlin"
    held = store.get("s")
    assert held is not None
    assert held[:9] == ("s", "ann", "price < 5", 2.5, daily, None, "active", 1, first)
    second = store.put("s", "price < 6")
    assert second > first
    changed = store.get("s")
    assert changed is not None
    assert changed[:9] == ("s", None, "price < 6", 0.0, None, None, "active", 1, second)
    assert changed.created == held.created < changed.updated
    third = store.remove("s")
    assert third > second
    assert store.get("s") is None
    assert store.changes(0) == [
        Change(first, "s", "price < 5", 2.5),
        Change(second, "s", "price < 6", 0.0),
        Change(third, "s", None, 0.0),
    ]
    assert store.changes(second) == [Change(third, "s", None, 0.0)]
    assert store.last_change() == third
    assert store.changes(0, most=2)[-1].sequence == second


def test_put_that_changes_nothing_keeps_the_version(store: Store) -> None:
    version = store.put("s", "price < 5", owner="ann")
    assert store.put("s", "price < 5", owner="ann") == version
    assert store.last_change() == version
    assert store.put("s", "price < 5", owner="bob") > version


def test_version_is_never_reused(store: Store) -> None:
    version = store.put("s", "a = 1")
    gone = store.remove("s")
    assert store.put("s", "a = 1") > gone > version


def test_remove_refuses_an_unknown_subscription(store: Store) -> None:
    with pytest.raises(UnknownSubscription, match="'nobody'"):
        store.remove("nobody")
    assert store.last_change() == 0


def test_trees_and_json_are_stored_as_text(store: Store) -> None:
    store.put("tree", attr("price") < 5)
    store.put("json", to_json(parse("price < 5 OR a = 1")))
    assert [store.get(name).expression for name in ("tree", "json")] == ["price < 5", "price < 5 OR a = 1"]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ({"id": "s", "expression": "price <"}, ParseError),
        ({"id": "", "expression": "a = 1"}, SubscriptionError),
        ({"id": "x" * 257, "expression": "a = 1"}, SubscriptionError),
        ({"id": "s\0", "expression": "a = 1"}, SubscriptionError),
        ({"id": "s", "expression": "a = 'x\0y'"}, SubscriptionError),
        ({"id": "s", "expression": "a = 1", "owner": 7}, SubscriptionError),
        ({"id": "s", "expression": "a = 1", "owner": "\ud800"}, SubscriptionError),
        ({"id": "s", "expression": "a = 1", "owner": "o" * 257}, SubscriptionError),
        ({"id": "s", "expression": "a = 1", "priority": float("nan")}, SubscriptionError),
        ({"id": "s", "expression": "a = 1", "schedule": "every now and then"}, SubscriptionError),
    ],
)
def test_invalid_subscription_is_refused_before_any_write(store: Store, bad: dict, error: type) -> None:
    with pytest.raises(error):
        store.put(**bad)
    written = store.put_many([("good", "a = 1"), bad, ("fine", "b = 2")])
    assert (written.changed, len(written.refused)) == (2, 1)
    assert written.refused[0].code
    assert written.refused[0].id == bad["id"]
    assert store.count() == 2


def test_refusal_gives_the_position(store: Store) -> None:
    refused = store.put_many([{"id": "s9", "expression": "price <= 5 AND"}]).refused[0]
    assert (refused.id, refused.code, refused.position) == ("s9", "expression-syntax", 14)
    assert refused.text == "price <= 5 AND"


def test_row_that_is_no_subscription_is_refused(store: Store) -> None:
    written = store.put_many([17, None, ("only",), {"expression": "a = 1"}, ("ok", "a = 1")])
    assert (written.changed, len(written.refused)) == (1, 4)
    with pytest.raises(InputError):
        store.put_many("a = 1")
    with pytest.raises(InputError):
        store.put_many(17)


def test_last_row_of_a_repeated_id_wins(store: Store) -> None:
    store.put_many([("s", "a = 1"), ("s", "a = 2")])
    held = store.get("s")
    assert held is not None
    assert held.expression == "a = 2"


def test_id_that_is_not_text_is_refused(store: Store) -> None:
    store.put("7", "x = 1")
    for call in (lambda: store.put(7, "x = 1"), lambda: store.remove(7), lambda: store.get(7)):  # type: ignore[arg-type]
        with pytest.raises(SubscriptionError, match="an id is a string"):
            call()
    assert store.count() == 1


def test_put_many_takes_tables_and_dictionaries(store: Store) -> None:
    table = pa.table(
        {"id": ["a", "b"], "expression": ["x = 1", "x = 2"], "owner": ["ann", None], "more": [1, 2]}
    )
    seen: list[tuple[int, int | None]] = []
    refused = store.put_many(table).refused
    assert [row.id for row in refused] == ["a", "b"]
    assert "no field 'more'" in refused[0].message
    written = store.put_many(table, lambda done, total: seen.append((done, total)), ignore="more")
    assert (written.changed, seen) == (2, [(2, 2)])
    assert store.put_many({"a": "x = 1", "c": "x = 3"}).changed == 2  # a now has no owner
    assert store.put_many(table, ignore=["more"]).unchanged == 1


def test_put_many_takes_more_rows_than_one_transaction(store: Store) -> None:
    rows = [(f"s{number}", f"a = {number}") for number in range(20_500)]
    written = store.put_many(iter(rows))
    assert written.changed == written.last_change == store.count() == 20_500
    assert [change.sequence for change in store.changes(20_000)] == list(range(20_001, 20_501))
    batches = list(store.subscriptions())
    assert sum(batch.num_rows for batch in batches) == 20_500
    assert len(batches) > 1


def test_token_ranges_partition_the_subscriptions(store: Store) -> None:
    ids = {f"s{number}" for number in range(500)}
    store.put_many([(name, "a = 1") for name in ids])
    found: list[str] = []
    for tokens in (range(300), range(300, 301), range(301, 1024)):
        for batch in store.subscriptions(tokens):
            found += batch.column("id").to_pylist()
            assert all(token in tokens for token in batch.column("token").to_pylist())
            assert batch.column("token").to_pylist() == [
                token_of(name) for name in batch.column("id").to_pylist()
            ]
    assert sorted(found) == sorted(ids)
    assert list(store.subscriptions(range(5, 5))) == []
    with pytest.raises(InputError, match="run"):
        list(store.subscriptions(range(0, 10, 2)))


def test_limits_are_applied(url: str) -> None:
    with Store.open(url, Limits(expression_predicates=1)) as strict:
        assert strict.put_many([("s", "a = 1 AND b = 2")]).refused[0].code == "expression-limit"


def test_store_is_pickled_and_copied(store: Store) -> None:
    store.put("s", "a = 1")
    with pickle.loads(pickle.dumps(store)) as again:
        assert again.count() == 1
        assert again.url == store.url
    with copy.copy(store) as other:
        assert other.last_change() == 1
    assert Store.shared(store.url) is Store.shared(store.url)
    Store.shared(store.url).close()


def test_any_text_round_trips(store: Store) -> None:
    odd = ['a "quoted" one', "comma, semicolon; tab\t", "line\nbreak\r\n", "\\N", "", "日本 🙂", "NULL", "'"]
    rows = [
        {
            "id": f"s{place}",
            "expression": f"a = '{text.replace(chr(39), chr(39) * 2)}'",
            "owner": text or None,
        }
        for place, text in enumerate(odd)
    ]
    assert store.put_many(rows).changed == len(odd)
    for row in rows:
        held = store.get(row["id"])
        assert held is not None
        assert (held.expression, held.owner) == (row["expression"], row["owner"])


def test_paused_subscription_is_stored_and_not_matched(store: Store) -> None:
    store.put("s", "price < 5")
    paused = store.put("s", "price < 5", status="paused")
    assert store.changes(1) == [Change(paused, "s", None, 0.0)]
    assert list(store.subscriptions()) == []
    assert store.count() == 1
    again = store.put("s", "price < 5")
    assert store.changes(paused) == [Change(again, "s", "price < 5", 0.0)]
    with pytest.raises(SubscriptionError, match="active or paused"):
        store.put("s", "price < 5", status="asleep")
