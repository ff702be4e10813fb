"""Adds the subscription's token to outbox rows, and an index that finds a subscription's history by it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tamis.contract.token import token_of

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column, and fill it in existing rows."""
    op.add_column("outbox", sa.Column("token", sa.Integer, nullable=False, server_default="0"))
    outbox = sa.table("outbox", sa.column("subscription_id"), sa.column("token"))
    connection = op.get_bind()
    names = connection.execute(sa.select(outbox.c.subscription_id).distinct()).scalars()
    values = [{"name": name, "of": token_of(name)} for name in names]
    if values:
        mine = sa.update(outbox).where(outbox.c.subscription_id == sa.bindparam("name"))
        connection.execute(mine.values(token=sa.bindparam("of")), values)
    op.create_index("outbox_token", "outbox", ["token", "id", "subscription_id"])
    op.drop_index("outbox_subscription", "outbox")
