"""The tables, as the newest migration leaves them. A change here needs a new migration."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text

METADATA = MetaData()

VERSION_TABLE = "osbctl_version"

BROKERS = Table(
    "osbctl_brokers",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    # The name as it stands in the name of the variable with the password: no two brokers share one.
    Column("variable", String(100), nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("username", Text, nullable=False),
    Column("api_version", String(20), nullable=False),
    Column("platform", String(40), nullable=False),
    Column("etag", Text, nullable=False),
    Column("services", Integer, nullable=False),
    Column("plans", Integer, nullable=False),
    Column("kept_plans", Integer, nullable=False),
    Column("registered_at", String(20), nullable=False),
    Column("refreshed_at", String(20), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("catalog", LargeBinary, nullable=False),
    sqlite_autoincrement=True,  # the id of a removed broker is never given again
)

KEPT = Table(
    "osbctl_kept",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("broker_id", ForeignKey("osbctl_brokers.id", ondelete="CASCADE"), nullable=False, index=True),
    # JSON, escaped to ASCII: ids and names of catalogs may hold what a text column refuses.
    Column("content", Text, nullable=False),
)

REFRESHES = Table(
    "osbctl_refreshes",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("broker_id", ForeignKey("osbctl_brokers.id", ondelete="CASCADE"), nullable=False),
    Column("at", String(20), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("platform", String(40), nullable=False),
    Column("etag", Text, nullable=False),
    Column("actions", Text, nullable=False),
    Column("told", Text, nullable=False),
    Index("ix_osbctl_refreshes_broker", "broker_id", "id"),
)

CATALOGS = Table(
    "osbctl_catalogs",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("broker_id", ForeignKey("osbctl_brokers.id", ondelete="CASCADE"), nullable=False),
    Column("at", String(20), nullable=False),
    Column("packed", LargeBinary, nullable=False),  # by zlib: a tenth of the catalog, mostly
    Index("ix_osbctl_catalogs_broker", "broker_id", "id"),
)
