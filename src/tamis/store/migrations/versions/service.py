"""Adds delivery and status of subscriptions, events, positions, deliveries, owners, keys and answers."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from alembic import op

from tamis.errors import ExpressionError
from tamis.expression.tree import size_of
from tamis.language import parse

revision = "0002"
down_revision = "0001"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the tables and columns of the service."""
    op.add_column("subscriptions", sa.Column("delivery", sa.Text))
    op.add_column(
        "subscriptions", sa.Column("status", sa.String(16), nullable=False, server_default="active")
    )
    op.add_column("subscriptions", sa.Column("size", sa.Integer, nullable=False, server_default="1"))
    op.create_index("subscriptions_owner", "subscriptions", ["owner", "id"])
    op.create_index("outbox_subscription", "outbox", ["subscription_id", "id"])
    op.execute("INSERT INTO counters (name, value) VALUES ('event', 0)")
    identity = op.create_table("identity", sa.Column("id", sa.String(32), primary_key=True))
    op.bulk_insert(identity, [{"id": uuid.uuid4().hex}])
    _events()
    _deliveries()
    _access()
    _count_what_is_held(op.get_bind())


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", KEY, primary_key=True, autoincrement=False),
        sa.Column("event_id", sa.Text, nullable=False, unique=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("known", sa.BigInteger, nullable=False),
        sa.Column("event_time", sa.BigInteger),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("received_at", sa.BigInteger, nullable=False),
    )
    positions = op.create_table(
        "positions",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("until", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.bulk_insert(positions, [{"name": "live", "value": 0}, {"name": "notify", "value": 0}])


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("outbox_id", sa.BigInteger, nullable=False, unique=True),
        sa.Column("subscription_id", sa.Text, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("transport", sa.String(64), nullable=False),
        sa.Column("endpoint", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("due", sa.BigInteger, nullable=False),
        sa.Column("claimed_by", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sqlite_autoincrement=True,
    )
    op.create_index("deliveries_due", "deliveries", ["state", "due"])
    op.create_index("deliveries_endpoint", "deliveries", ["state", "endpoint", "due"])
    op.create_index("deliveries_subscription", "deliveries", ["subscription_id", "id"])
    op.create_index("deliveries_owner", "deliveries", ["owner", "state", "id"])


def _access() -> None:
    op.create_table(
        "owners",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("quotas", sa.Text),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("subscriptions", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("predicates", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("owner", sa.Text, nullable=False, index=True),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.BigInteger),
        sa.Column("revoked", sa.BigInteger),
    )
    op.create_table(
        "answers",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("headers", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False, index=True),
    )


def _count_what_is_held(connection: sa.Connection) -> None:
    """Compute the size of each subscription, and the totals of each owner."""
    held = connection.execute(sa.text("SELECT id, expression FROM subscriptions")).all()
    sizes = [{"id": identity, "size": _size(text)} for identity, text in held]
    if sizes:
        connection.execute(sa.text("UPDATE subscriptions SET size = :size WHERE id = :id"), sizes)
    connection.execute(
        sa.text(
            "INSERT INTO owners (owner, created, subscriptions, predicates) "
            "SELECT owner, min(created), count(*), sum(size) FROM subscriptions "
            "WHERE owner IS NOT NULL GROUP BY owner"
        )
    )


def _size(text: str) -> int:
    try:
        return size_of(parse(text))
    except ExpressionError:  # it was written under wider limits
        return 1
