"""`osbctl brokers remove`: forget a registered broker."""

from __future__ import annotations

from osbctl.cli.brokers import options as common
from osbctl.cli.output import put
from osbctl.registry import location
from osbctl.text import safe


def remove(name: common.Name, database: common.Database = None) -> int:
    """Forget a registered broker.

    Its stored catalog and its history go with it. The broker itself hears nothing of that.

    \b
    osbctl brokers remove data
    """
    with location.open_registry(database) as registry:
        registry.remove(name)
    put(f"{safe(name)}: removed\n", None)
    return 0
