"""Creates the tables of subscriptions, changes, outbox, batches, quarantine and digests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the first tables."""
    counters = op.create_table(
        "counters",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(counters, [{"name": "change", "value": 0}, {"name": "outbox", "value": 0}])
    _subscriptions()
    _outbox()
    _batches()
    _digests()


def _subscriptions() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("token", sa.Integer, nullable=False, index=True),
        sa.Column("owner", sa.Text),
        sa.Column("expression", sa.Text, nullable=False),
        sa.Column("priority", sa.Float(53), nullable=False),
        sa.Column("schedule", sa.Text),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "changes",
        sa.Column("sequence", KEY, primary_key=True, autoincrement=False),
        sa.Column("subscription_id", sa.Text, nullable=False),
        sa.Column("token", sa.Integer, nullable=False),
        sa.Column("expression", sa.Text),
        sa.Column("priority", sa.Float(53), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("event_id", sa.Text, nullable=False),
        sa.Column("subscription_id", sa.Text, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("score", sa.Float(53)),
        sa.Column("event_time", sa.BigInteger),
        sa.Column("payload", sa.Text),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("batch_id", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("event_id", "subscription_id", "version", name="outbox_once"),
        sqlite_autoincrement=True,
    )


def _batches() -> None:
    op.create_table(
        "batches",
        sa.Column("query", sa.Text, primary_key=True),
        sa.Column("batch_id", KEY, primary_key=True, autoincrement=False),
        sa.Column("index_version", sa.BigInteger, nullable=False),
        sa.Column("began_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.Column("rows", sa.BigInteger),
    )
    op.create_table(
        "quarantine",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("batch_id", sa.BigInteger, nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("event_id", sa.Text),
        sa.Column("subscription_id", sa.Text),
        sa.Column("code", sa.String(64), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("query", "batch_id", "fingerprint", name="quarantine_once"),
    )


def _digests() -> None:
    op.create_table(
        "digest_parts",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("subscription_id", sa.Text, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("start", sa.BigInteger, nullable=False),
        sa.Column("end", sa.BigInteger, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("events", sa.Text, nullable=False),
        sa.Column("due", sa.BigInteger, nullable=False),
    )
    op.create_index("digest_parts_due", "digest_parts", ["query", "due"])
    op.create_index("digest_parts_subscription", "digest_parts", ["query", "subscription_id"])
    op.create_table(
        "digests_sent",
        sa.Column("query", sa.Text, primary_key=True),
        sa.Column("subscription_id", sa.Text, primary_key=True),
        sa.Column("start", KEY, primary_key=True, autoincrement=False),
        sa.Column("end", sa.BigInteger, nullable=False),
        sa.Column("sent", sa.BigInteger, nullable=False),
    )
