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
    Column("delivery", Text),  # JSON: transport and address; null: kept for whoever asks
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
    Index("changes_subscription", "subscription_id", "sequence"),  # what a change has superseded
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
    # For the history of a subscription. By its token: an index by the subscription itself would write a page
    # for every row of a busy stream, this one a page for each token.
    Column("token", Integer, nullable=False, server_default="0"),
    Index("outbox_token", "token", "id", "subscription_id"),
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

# The one row says which store this is: what was made of another must not be taken for it.
identity = Table("identity", METADATA, Column("id", String(32), primary_key=True))

# Events that were accepted, in order. ``known`` is the last change before the event: it is matched against
# the subscriptions as they were then, whenever that is done.
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

# How far each reader of a numbered table has come, and who reads on at the moment.
positions = Table(
    "positions",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("value", BigInteger, nullable=False),
    Column("holder", Text),
    Column("until", BigInteger, nullable=False, server_default="0"),
)

# What becomes of rows of the outbox that are sent to somebody.
deliveries = Table(
    "deliveries",
    METADATA,
    Column("id", BIG_KEY, primary_key=True),
    Column("outbox_id", BigInteger, nullable=False, unique=True),
    Column("subscription_id", Text, nullable=False),
    Column("owner", Text),
    Column("transport", String(64), nullable=False),
    Column("endpoint", Text, nullable=False),  # who answers there, or not: what a breaker stands for
    Column("settings", Text, nullable=False),  # JSON: where to, for people; without secrets and templates
    Column("state", String(16), nullable=False),  # waiting, claimed, delivered, dead, cancelled
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("due", BigInteger, nullable=False),  # when to try next; of a claimed one, when the claim ends
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
    Column("quotas", Text),  # JSON: what differs from the defaults
    Column("created", BigInteger, nullable=False),
    Column("subscriptions", BigInteger, nullable=False, server_default="0"),  # how many are held
    Column("predicates", BigInteger, nullable=False, server_default="0"),  # the sum of their sizes
)

# Keys are random and long, so a plain hash of one cannot be turned back; the key itself is kept nowhere.
keys = Table(
    "keys",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("owner", Text, nullable=False, index=True),
    Column("scopes", Text, nullable=False),  # space between
    Column("name", Text),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),
    Column("revoked", BigInteger),
)

# What was answered to a request with an idempotency key; a repetition gets the same answer.
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
