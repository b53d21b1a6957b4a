"""`osbctl brokers list`: all registered brokers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from osbctl.cli.brokers import options as common
from osbctl.cli.options import Color, ColorChoice
from osbctl.cli.output import put
from osbctl.registry import location

if TYPE_CHECKING:
    from osbctl.registry.store import Registry


def list_brokers(
    format: common.Format = common.BrokersFormat.TEXT,  # the option's own name
    color: ColorChoice = Color.AUTO,
    database: common.Database = None,
) -> int:
    """List the registered brokers.

    A table at a terminal, tab-separated columns in a pipe.

    \b
    osbctl brokers list
    osbctl brokers list --format json | jq -r '.brokers[].name'
    """
    with location.open_registry(database) as registry:
        if format is common.BrokersFormat.JSON:
            _json(registry)
        elif sys.stdout.isatty() or color is Color.ALWAYS:
            _table(registry, color)
        else:
            from osbctl.registry.text import COLUMNS, cells

            put("\t".join(COLUMNS) + "\n", None)
            for row in registry.brokers():
                put("\t".join(cells(row)) + "\n", None)
    return 0


def _json(registry: Registry) -> None:
    import json

    from osbctl.registry.as_json import of_row

    rows = [of_row(row) for row in registry.brokers()]
    put(json.dumps({"version": 1, "brokers": rows}, indent=2) + "\n", None)


def _table(registry: Registry, color: Color) -> None:
    from osbctl.cli.terminal import use_color, width
    from osbctl.registry.text import table

    put(table(registry.brokers(), width(), colored=use_color(color.value, sys.stdout)), None)
