"""Alembic environment: runs migrations in the transaction that `osbctl.registry.tables` opened."""

from alembic import context

from osbctl.registry.tables import METADATA, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
