"""`osbctl brokers`: the platform's side, a database of registered brokers with their catalogs; what is stored there."""

from __future__ import annotations

import sys

import typer

from osbctl.cli import options as common
from osbctl.cli.brokers.refresh import add, refresh
from osbctl.cli.options import Color, TextOrJson
from osbctl.cli.output import put, put_json, put_lines, use_color, width
from osbctl.registry import location
from osbctl.text import safe

brokers = typer.Typer(
    help="""Register brokers and keep their catalogs, as a platform does.

The database is an SQLite file in your data folder, or PostgreSQL for a team. Passwords are never part of it.""",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
brokers.command("add")(add)


@brokers.command("list")
def list_brokers(
    format: common.Format = TextOrJson.TEXT,  # the option's own name
    color: common.ColorChoice = Color.AUTO,
    database: common.Database = None,
) -> int:
    """List the registered brokers.

    A table at a terminal, tab-separated columns in a pipe.

    \b
    osbctl brokers list
    osbctl brokers list --format json | jq -r '.brokers[].name'
    """
    with location.open_registry(database) as registry:
        if format is TextOrJson.JSON:
            put_json({"version": 1, "brokers": [row.json for row in registry.brokers()]})
            return 0
        from osbctl.registry.text import COLUMNS, cells, table

        if sys.stdout.isatty() or color is Color.ALWAYS:
            put(table(registry.brokers(), width(), colored=use_color(color.value, sys.stdout)))
        else:
            put_lines("\t".join(row) for row in (COLUMNS, *map(cells, registry.brokers())))
    return 0


@brokers.command("show")
def show(
    name: common.BrokerName,
    format: common.Format = TextOrJson.TEXT,  # the option's own name
    database: common.Database = None,
) -> int:
    """Show a registered broker in full.

    How it is registered, its stored catalog, and what is kept beside that.

    \b
    osbctl brokers show data
    osbctl brokers show data --format json | jq .catalog | osbctl show -
    """
    with location.open_registry(database) as registry:
        broker = registry.broker(name)
    if format is TextOrJson.JSON:
        put_json({"version": 1, **broker.json})
    else:
        from osbctl.registry.text import broker_lines

        put_lines(broker_lines(broker))
    return 0


brokers.command("refresh")(refresh)


@brokers.command("history")
def history(
    name: common.BrokerName,
    format: common.Format = TextOrJson.TEXT,  # the option's own name
    database: common.Database = None,
) -> int:
    """Show what each refresh of a broker changed.

    The newest first: when, how it ended, the tag, the changes.

    \b
    osbctl brokers history data
    """
    with location.open_registry(database) as registry:
        refreshes = registry.history(name)
    if format is TextOrJson.JSON:
        put_json({"version": 1, "name": name, "refreshes": [one.json for one in refreshes]})
    else:
        from osbctl.registry.text import history_lines

        put_lines(history_lines(refreshes))
    return 0


@brokers.command("remove")
def remove(name: common.BrokerName, database: common.Database = None) -> int:
    """Forget a registered broker.

    Its stored catalog and its history go with it. The broker itself is not contacted.

    \b
    osbctl brokers remove data
    """
    with location.open_registry(database) as registry:
        registry.remove(name)
    put(f"{safe(name)}: removed\n")
    return 0
