"""The tables after all migrations.

Times are whole microseconds since 1970 in UTC: both databases order and compare them alike, and Arrow's
timestamps need no conversion.
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
BIG_KEY = BigInteger().with_variant(Integer, "sqlite")  # SQLite increments only INTEGER keys

# One row for each growing series of numbers. A transaction that takes numbers locks the row until it ends, so
# that numbers become visible in order and without gaps, in both databases.
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
    Column("delivery", Text),  # JSON: transport and address; null: matches are only kept
    Column("status", String(16), nullable=False, server_default="active"),  # active, paused
    Column("size", Integer, nullable=False, server_default="1"),  # of the expression, in predicates
    Index("subscriptions_owner", "owner", "id"),
)

changes = Table(
    "changes",
    METADATA,
    Column("sequence", BIG_KEY, primary_key=True, autoincrement=False),
    Column("subscription_id", Text, nullable=False),
    Column("token", Integer, nullable=False),
    Column("expression", Text),  # null: removed or paused
    Column("priority", Float(53), nullable=False),
    Column("at", BigInteger, nullable=False),
    # Finds the changes that a later one supersedes.
    Index("changes_subscription", "subscription_id", "sequence"),
)

# Rows become visible in the order of ``id``, so a worker that delivers them can store the last id it has
# read.
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
    # Finds the history of a subscription. An index by subscription would write a page for every row of a busy
    # stream; this one writes a page for each token.
    Column("token", Integer, nullable=False, server_default="0"),
    Index("outbox_token", "token", "id", "subscription_id"),
    sqlite_autoincrement=True,  # an id is never reused
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
    Column("fingerprint", String(64), nullable=False),  # of the following columns: a replay adds nothing
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
    Column("due", BigInteger, nullable=False),  # time to examine it again
    Index("digest_parts_due", "query", "due"),
    Index("digest_parts_subscription", "query", "subscription_id"),
)

# The number of digests of a limited subscription ("at most 10 per hour") in its period.
digests_sent = Table(
    "digests_sent",
    METADATA,
    Column("query", Text, primary_key=True),
    Column("subscription_id", Text, primary_key=True),
    Column("start", BIG_KEY, primary_key=True, autoincrement=False),
    Column("end", BigInteger, nullable=False),
    Column("sent", BigInteger, nullable=False),
)

# The single row identifies this store, so that an index made from another store is not taken for its own.
identity = Table("identity", METADATA, Column("id", String(32), primary_key=True))

# Accepted events, in order. ``known`` is the last change before the event: the event is always matched
# against the subscriptions of that time.
events = Table(
    "events",
    METADATA,
    Column("id", BIG_KEY, primary_key=True, autoincrement=False),
    Column("event_id", Text, nullable=False, unique=True),
    Column("owner", Text, nullable=False),
    Column("known", BigInteger, nullable=False),
    Column("event_time", BigInteger),
    Column("text", Text, nullable=False),  # JSON
    Column("received_at", BigInteger, nullable=False),
)

# The position of each reader of a numbered table, and the holder of its lease.
positions = Table(
    "positions",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("value", BigInteger, nullable=False),
    Column("holder", Text),
    Column("until", BigInteger, nullable=False, server_default="0"),
)

# Deliveries of outbox rows, with their state.
deliveries = Table(
    "deliveries",
    METADATA,
    Column("id", BIG_KEY, primary_key=True),
    Column("outbox_id", BigInteger, nullable=False, unique=True),
    Column("subscription_id", Text, nullable=False),
    Column("owner", Text),
    Column("transport", String(64), nullable=False),
    Column("endpoint", Text, nullable=False),  # groups deliveries for fairness and breakers
    Column("settings", Text, nullable=False),  # JSON: the receiver, for people; without secrets and templates
    Column("state", String(16), nullable=False),  # waiting, claimed, delivered, dead, cancelled
    Column("attempts", Integer, nullable=False, server_default="0"),
    # Time of the next attempt; for a claimed one, end of the lease.
    Column("due", BigInteger, nullable=False),
    Column("claimed_by", Text),
    Column("error", Text),  # of the last attempt
    Column("created_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Index("deliveries_due", "state", "due"),
    Index("deliveries_endpoint", "state", "endpoint", "due"),
    Index("deliveries_subscription", "subscription_id", "id"),
    Index("deliveries_owner", "owner", "state", "id"),
    sqlite_autoincrement=True,
)

owners = Table(
    "owners",
    METADATA,
    Column("owner", Text, primary_key=True),
    Column("quotas", Text),  # JSON: those that differ from the defaults
    Column("created", BigInteger, nullable=False),
    Column("subscriptions", BigInteger, nullable=False, server_default="0"),  # number stored
    Column("predicates", BigInteger, nullable=False, server_default="0"),  # sum of their sizes
)

# Keys are random and long, so their hash cannot be reversed; the key itself is not stored.
keys = Table(
    "keys",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("owner", Text, nullable=False, index=True),
    Column("scopes", Text, nullable=False),  # separated by spaces
    Column("name", Text),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),
    Column("revoked", BigInteger),
)

# Responses to requests with an idempotency key; a retry gets the same response.
answers = Table(
    "answers",
    METADATA,
    Column("owner", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", String(64), nullable=False),  # of the request
    Column("status", Integer, nullable=False),
    Column("headers", Text, nullable=False),  # JSON
    Column("body", Text, nullable=False),
    Column("created", BigInteger, nullable=False, index=True),
)

OUTBOX_ORDER = "outbox"
CHANGE_ORDER = "change"
EVENT_ORDER = "event"
