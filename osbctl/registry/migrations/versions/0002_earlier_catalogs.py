"""The catalogs that were stored of each broker, so that a later one can be compared with them."""

from __future__ import annotations

import zlib

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table, with the catalog that each broker has now."""
    catalogs = op.create_table(
        "osbctl_catalogs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("broker_id", sa.Integer, sa.ForeignKey("osbctl_brokers.id", ondelete="CASCADE"), nullable=False),
        sa.Column("at", sa.String(20), nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_osbctl_catalogs_broker", "osbctl_catalogs", ["broker_id", "id"])
    brokers = sa.table("osbctl_brokers", sa.column("id"), sa.column("refreshed_at"), sa.column("catalog"))
    for broker in list(op.get_bind().execute(sa.select(brokers.c.id, brokers.c.refreshed_at))):
        catalog = op.get_bind().scalar(sa.select(brokers.c.catalog).where(brokers.c.id == broker.id))
        row = {"broker_id": broker.id, "at": broker.refreshed_at, "packed": zlib.compress(catalog or b"")}
        op.bulk_insert(catalogs, [row])
