"""API keys, and stored responses for repeated requests."""

from __future__ import annotations

import pytest

from tamis.errors import AnswerConflict
from tamis.store import Store, idempotency, keys
from tamis.store.idempotency import IdempotentRequest, StoredResponse
from tamis.store.timestamps import now


def test_key_is_accepted_only_with_its_exact_text(store: Store) -> None:
    with store.database.writing() as connection:
        assert keys.is_empty(connection)
        made, text = keys.create(connection, "ann", ["subscribe", "publish"], "laptop")
    with store.database.reading() as connection:
        assert not keys.is_empty(connection)
        assert keys.id_in(text) == made.id
        found = keys.find(connection, made.id)
        assert keys.find(connection, "0" * 16) is None
    assert found == made
    assert made.scopes == {"publish", "subscribe"}
    assert made.opens_with(text)
    assert not made.opens_with(text[:-1] + ("0" if text[-1] != "0" else "1"))
    assert not made.opens_with("")


def test_key_text_is_not_stored(store: Store) -> None:
    with store.database.writing() as connection:
        _, text = keys.create(connection, "ann", ["admin"])
        row = connection.exec_driver_sql("SELECT * FROM keys").one()
    assert text.rsplit("_", 1)[1] not in str(row)


@pytest.mark.parametrize(
    "text", ["", "tamis", "tamis_x_y", "tamis_" + "0" * 16 + "_" + "g" * 64, "x" * 10_000, "tamis_é_"]
)
def test_malformed_key_has_no_id(text: str) -> None:
    assert keys.id_in(text) is None


def test_revoked_and_expired_keys_are_refused(store: Store) -> None:
    with store.database.writing() as connection:
        made, text = keys.create(connection, "ann", ["admin"])
        late, other = keys.create(connection, "bob", ["admin"], expires=now() - 1)
        assert keys.revoke(connection, made.id)
        first = keys.find(connection, made.id)
        assert keys.revoke(connection, made.id)
        assert keys.find(connection, made.id) == first
        assert not keys.revoke(connection, "0" * 16)
    assert first is not None
    assert not first.opens_with(text)
    assert not late.opens_with(other)


def test_keys_are_listed_in_pages(store: Store) -> None:
    with store.database.writing() as connection:
        made = sorted(keys.create(connection, owner, ["publish"])[0].id for owner in ("ann", "bob", "ann"))
        assert [key.id for key in keys.page(connection, None, "", 2)] == made[:2]
        assert [key.id for key in keys.page(connection, None, made[1], 2)] == made[2:]
        assert {key.owner for key in keys.page(connection, "ann", "", 9)} == {"ann"}


def test_stored_responses_are_found_by_owner_and_request(store: Store) -> None:
    asked, given = IdempotentRequest("ann", "k1", "f" * 64), StoredResponse(201, {"etag": '"1"'}, "{}")
    with store.database.writing() as connection:
        assert idempotency.find(connection, asked) is None
        idempotency.keep(connection, [(asked, given)])
        idempotency.keep(connection, [])
    with store.database.reading() as connection:
        assert idempotency.find(connection, asked) == given
        assert idempotency.find(connection, asked._replace(owner="bob")) is None
        with pytest.raises(AnswerConflict):
            idempotency.find(connection, asked._replace(fingerprint="0" * 64))
    with store.database.writing() as connection:
        assert idempotency.forget(connection, now() - 60_000_000) == 0
        assert idempotency.forget(connection, now() + 1) == 1
        assert idempotency.find(connection, asked) is None
