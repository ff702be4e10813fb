"""Run by alembic: migrate on the connection, and in the transaction, of the one who asks."""

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
