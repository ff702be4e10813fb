"""Adds an index to find superseded changes by subscription, and a position for retention."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the index and the position."""
    op.create_index("changes_subscription", "changes", ["subscription_id", "sequence"])
    positions = sa.table("positions", sa.column("name"), sa.column("value"))
    op.bulk_insert(positions, [{"name": "forget", "value": 0}])
