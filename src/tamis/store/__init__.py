"""The store: subscriptions, their change log, and the outbox, in SQLite or PostgreSQL."""
