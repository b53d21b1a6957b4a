"""`osbctl brokers history`: what the refreshes of a broker brought."""

from __future__ import annotations

import json

from osbctl.cli.brokers import options as common
from osbctl.cli.output import put
from osbctl.registry import location


def history(
    name: common.Name,
    format: common.Format = common.BrokersFormat.TEXT,  # the option's own name
    database: common.Database = None,
) -> int:
    """Show what each refresh of a broker brought.

    The newest first: when, how it ended, the tag, the changes.

    \b
    osbctl brokers history data
    """
    with location.open_registry(database) as registry:
        refreshes = registry.history(name)
    if format is common.BrokersFormat.JSON:
        from osbctl.registry.as_json import of_refresh

        whole = {"version": 1, "name": name, "refreshes": [of_refresh(one) for one in refreshes]}
        put(json.dumps(whole, indent=2) + "\n", None)
    else:
        from osbctl.registry.text import history_lines

        put("\n".join(history_lines(refreshes)) + "\n", None)
    return 0
