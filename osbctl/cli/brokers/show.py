"""`osbctl brokers show`: a registered broker in full."""

from __future__ import annotations

import json

from osbctl.cli.brokers import options as common
from osbctl.cli.output import put
from osbctl.registry import location


def show(
    name: common.Name,
    format: common.Format = common.BrokersFormat.TEXT,  # the option's own name
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
    if format is common.BrokersFormat.JSON:
        from osbctl.registry.as_json import of_broker

        put(json.dumps({"version": 1, **of_broker(broker)}, indent=2) + "\n", None)
    else:
        from osbctl.registry.text import broker_lines

        put("\n".join(broker_lines(broker)) + "\n", None)
    return 0
