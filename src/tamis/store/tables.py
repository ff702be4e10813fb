"""The tables, as they are after all migrations.

Moments are whole microseconds since 1970 in UTC: both databases order and compare them alike, and Arrow's
timestamps become them without a conversion.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData()
BIG_KEY = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only what it calls INTEGER

# One row for each row of numbers that grows. Whoever takes a number holds the row until the end of the
# transaction: so numbers become visible in order, without gaps and in both databases.
counters = Table(
    "counters",
    METADATA,
    Column("name", String(32), primary_key=True),
    Column("value", BigInteger, nullable=False),
)

subscriptions = Table(
    "subscriptions",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("token", Integer, nullable=False, index=True),
    Column("owner", Text),
    Column("expression", Text, nullable=False),
    Column("priority", Float(53), nullable=False),
    Column("schedule", Text),
    Column("version", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
)

changes = Table(
    "changes",
    METADATA,
    Column("sequence", BIG_KEY, primary_key=True, autoincrement=False),
    Column("subscription_id", Text, nullable=False),
    Column("token", Integer, nullable=False),
    Column("expression", Text),  # null: removed
    Column("priority", Float(53), nullable=False),
    Column("at", BigInteger, nullable=False),
)

# Rows become visible in the order of ``id``, so a worker that delivers them may remember how far it has read.
outbox = Table(
    "outbox",
    METADATA,
    Column("id", BIG_KEY, primary_key=True),
    Column("kind", String(16), nullable=False),  # match, digest
    Column("event_id", Text, nullable=False),
    Column("subscription_id", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("score", Float(53)),
    Column("event_time", BigInteger),
    Column("payload", Text),
    Column("query", Text, nullable=False),
    Column("batch_id", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("event_id", "subscription_id", "version", name="outbox_once"),
    sqlite_autoincrement=True,  # an id is never used again
)

batches = Table(
    "batches",
    METADATA,
    Column("query", Text, primary_key=True),
    Column("batch_id", BIG_KEY, primary_key=True, autoincrement=False),
    Column("index_version", BigInteger, nullable=False),
    Column("began_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Column("rows", BigInteger),
)

quarantine = Table(
    "quarantine",
    METADATA,
    Column("id", BIG_KEY, primary_key=True),
    Column("query", Text, nullable=False),
    Column("batch_id", BigInteger, nullable=False),
    Column("fingerprint", String(64), nullable=False),  # of all that follows: a replay adds nothing
    Column("event_id", Text),
    Column("subscription_id", Text),
    Column("code", String(64), nullable=False),
    Column("message", Text, nullable=False),
    Column("text", Text),
    Column("created_at", BigInteger, nullable=False),
    UniqueConstraint("query", "batch_id", "fingerprint", name="quarantine_once"),
)

digest_parts = Table(
    "digest_parts",
    METADATA,
    Column("id", BIG_KEY, primary_key=True),
    Column("query", Text, nullable=False),
    Column("subscription_id", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("start", BigInteger, nullable=False),  # of the tick that the part covers
    Column("end", BigInteger, nullable=False),
    Column("count", BigInteger, nullable=False),
    Column("events", Text, nullable=False),  # JSON; the first of them, in order
    Column("due", BigInteger, nullable=False),  # when to look at it next
    Index("digest_parts_due", "query", "due"),
    Index("digest_parts_subscription", "query", "subscription_id"),
)

# How many digests of a limited subscription ("at most 10 per hour") have gone out in its period.
digests_sent = Table(
    "digests_sent",
    METADATA,
    Column("query", Text, primary_key=True),
    Column("subscription_id", Text, primary_key=True),
    Column("start", BIG_KEY, primary_key=True, autoincrement=False),
    Column("end", BigInteger, nullable=False),
    Column("sent", BigInteger, nullable=False),
)

OUTBOX_ORDER = "outbox"
CHANGE_ORDER = "change"
