"""`osbctl fetch`: the catalog of a running broker."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from osbctl.cli import options as common
from osbctl.cli.connection import BrokerConnection
from osbctl.cli.output import put
from osbctl.cli.spread import spread
from osbctl.text import escaped


@spread
def fetch(
    url: Annotated[str, Argument(metavar="URL", help="The broker's base address, or that of its catalog.")],
    output: common.Output = None,
    *,
    connection: BrokerConnection,
) -> int:
    """Fetch the catalog of a running broker, as a platform would.

    The password comes from the URL, OSBCTL_PASSWORD, standard input or a prompt, never from an option, and goes to
    no other host.

    \b
    osbctl fetch https://broker.example.com --user platform -o catalog.json
    osbctl fetch https://broker.example.com --user platform | osbctl validate -
    """
    from osbctl.client.catalog_client import not_a_catalog, read_json
    from osbctl.tasks.outputs import CATALOG, check_output

    check_output(output, connection.how.files, replaces=CATALOG)
    answer = connection.fetch(url)
    if why := read_json(answer.body)[1]:
        raise not_a_catalog(answer.name, why)
    text = answer.body.decode().rstrip("\n") + "\n"
    put(escaped(text, pairs=True) if output in (None, "-") else text, output)
    return 0
