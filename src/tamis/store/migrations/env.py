"""Runs migrations for alembic, on the caller's connection and in its transaction."""

from __future__ import annotations

from alembic import context

from tamis.store.database import VERSION_TABLE
from tamis.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
)
context.run_migrations()
