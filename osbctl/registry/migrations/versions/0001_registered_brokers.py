"""Registered brokers, and what is kept beside their catalogs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    op.create_table(
        "osbctl_brokers",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(100), nullable=False, unique=True),
        sa.Column("variable", sa.String(100), nullable=False, unique=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("username", sa.Text, nullable=False),
        sa.Column("api_version", sa.String(20), nullable=False),
        sa.Column("platform", sa.String(40), nullable=False),
        sa.Column("etag", sa.Text, nullable=False),
        sa.Column("services", sa.Integer, nullable=False),
        sa.Column("plans", sa.Integer, nullable=False),
        sa.Column("kept_plans", sa.Integer, nullable=False),
        sa.Column("registered_at", sa.String(20), nullable=False),
        sa.Column("refreshed_at", sa.String(20), nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("catalog", sa.LargeBinary, nullable=False),
        sa.Column("previous", sa.LargeBinary),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "osbctl_kept",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "broker_id",
            sa.Integer,
            sa.ForeignKey("osbctl_brokers.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("content", sa.Text, nullable=False),
    )
