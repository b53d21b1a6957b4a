"""`osbctl brokers`: the platform's side, a database of registered brokers with their catalogs."""

from __future__ import annotations

import typer

from osbctl.cli.brokers.add import add
from osbctl.cli.brokers.history import history
from osbctl.cli.brokers.listing import list_brokers
from osbctl.cli.brokers.refresh import refresh
from osbctl.cli.brokers.remove import remove
from osbctl.cli.brokers.show import show

brokers = typer.Typer(
    help="""Register brokers and keep their catalogs, as a platform does.

The database is an SQLite file in your data folder, or PostgreSQL for a team. Passwords are never part of it.""",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
brokers.command("add")(add)
brokers.command("list")(list_brokers)
brokers.command("show")(show)
brokers.command("refresh")(refresh)
brokers.command("history")(history)
brokers.command("remove")(remove)
