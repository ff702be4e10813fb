"""Pages leave out and repeat nothing, and show each owner only its own rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tamis.store import Store, listing
from tamis.store.listing import SubscriptionFilter


def pages(store: Store, wanted: SubscriptionFilter, most: int) -> list[list[str]]:
    after: str | None = ""
    found = []
    while after is not None:
        with store.database.reading() as connection:
            page = listing.subscriptions_page(connection, wanted, after, most)
        found.append([held.id for held in page.items])
        after = page.next
    return found


@pytest.fixture
def book(store: Store) -> Store:
    rows: list[dict[str, Any]] = [
        {"id": f"ann/{n}", "owner": "ann", "expression": f"city = 'Oslo' AND n = {n}"} for n in range(10)
    ]
    rows += [{"id": "ann-b/1", "owner": "ann-b", "expression": "city = 'Oslo'"}]
    rows += [
        {"id": "other", "owner": "ann", "expression": "city = 'Oslo'"},
        {"id": "x", "expression": "a = 1"},
    ]
    rows[3]["status"] = "paused"
    rows[4]["expression"] = "city = '100%' AND b_c = 1"
    store.put_many(rows)
    return store


def test_pages_list_all_subscriptions_of_an_owner(book: Store) -> None:
    names = [f"ann/{n}" for n in range(10)]
    assert pages(book, SubscriptionFilter("ann"), 4) == [names[:4], names[4:8], names[8:]]
    assert pages(book, SubscriptionFilter("ann"), 10) == [names]
    assert pages(book, SubscriptionFilter("ann-b"), 10) == [["ann-b/1"]]
    assert pages(book, SubscriptionFilter("nobody"), 10) == [[]]
    assert len(pages(book, SubscriptionFilter(None), 100)[0]) == 13


def test_filters_select_subscriptions(book: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pages(book, SubscriptionFilter("ann", status="paused"), 9) == [["ann/3"]]
    assert pages(book, SubscriptionFilter("ann", text="OSLO"), 5) == [
        ["ann/0", "ann/1", "ann/2", "ann/3", "ann/5"],
        ["ann/6", "ann/7", "ann/8", "ann/9"],
    ]
    assert pages(book, SubscriptionFilter("ann", text="0%"), 5) == [["ann/4"]]
    assert pages(book, SubscriptionFilter("ann", text="b_c"), 5) == [["ann/4"]]
    assert pages(book, SubscriptionFilter("ann", "paused", "nowhere"), 5) == [[]]
    for everywhere in ("ann", "ann/", "/"):  # the owner is not part of the id
        assert pages(book, SubscriptionFilter("ann", text=everywhere), 5) == [[]]
    assert pages(book, SubscriptionFilter(None, text="OTHER"), 5) == [["other"]]
    assert pages(book, SubscriptionFilter(None, text="x"), 5) == [["x"]]
    assert pages(book, SubscriptionFilter("ann", text="7"), 5) == [["ann/7"]]
    monkeypatch.setattr(listing, "SCANNED", 4)  # pages are then shorter, and the listing continues
    assert pages(book, SubscriptionFilter("ann", text="= 9"), 5) == [[], [], ["ann/9"]]
    active = [name for page in pages(book, SubscriptionFilter("ann", status="active"), 3) for name in page]
    assert active == [f"ann/{n}" for n in range(10) if n != 3]


def test_outbox_is_listed_for_all_and_for_one_owner(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ["ann/1", "bob/1", "ann-b/1", "ann/2", "bob/2", "ann/3"]
    table = pa.table({"event_id": [f"e{n}" for n in range(6)], "subscription_id": ids, "version": [1] * 6})
    with store.database.reading() as connection:
        assert (listing.last_number(connection), listing.rows_after(connection, 0, 5)) == (0, ([], None))
    store.add_matches(table, "q", 0)
    with store.database.reading() as connection:
        everybody = listing.rows_after(connection, 0, 10)
        last = listing.last_number(connection)
        assert [told.subscription_id for told in everybody.items] == ids
        assert everybody.next == last == everybody.items[-1].id
        assert listing.rows_after(connection, last, 10) == ([], None)
        some = listing.rows_after(connection, 0, 4)
        assert (len(some.items), some.next) == (4, some.items[-1].id)
        mine = listing.rows_after(connection, 0, 2, "ann")
        assert [told.subscription_id for told in mine.items] == ["ann/1", "ann/2"]
        assert mine.next == mine.items[-1].id
        monkeypatch.setattr(listing, "SCANNED", 2)
        after, found = 0, []
        while True:
            page = listing.rows_after(connection, after, 5, "ann")
            found += [told.subscription_id for told in page.items]
            if page.next is None:
                break
            after = page.next
        assert found == ["ann/1", "ann/2", "ann/3"]


def test_quarantine_is_listed_in_pages(store: Store) -> None:
    shape = {"event_id": ["a", "b", "c"], "code": ["x"] * 3, "message": ["m"] * 3, "text": ["t"] * 3}
    store.quarantine_events(pa.table(shape), "q", 0)
    with store.database.reading() as connection:
        first = listing.refusals_page(connection, None, 2)
        assert [one.event_id for one in first.items] == ["c", "b"]
        second = listing.refusals_page(connection, first.next, 2)
        assert ([one.event_id for one in second.items], second.next) == (["a"], None)
