"""`osbctl check` and `osbctl fetch`: check a running broker, and fetch its catalog."""

from typing import Annotated

from typer import Argument, Option

from osbctl.cli import common
from osbctl.cli.connection import BrokerConnection
from osbctl.cli.output import print_note, write_output
from osbctl.cli.validate import FailingSeverity, ReportFormat
from osbctl.cli.validation_report import Display, write_report
from osbctl.errors import SourceError
from osbctl.platforms import ApiVersion
from osbctl.rule import Category, rule_of
from osbctl.tasks.options import Request, effective_fail_on, first_config, validation_options
from osbctl.text import escape_text

_Broker = Annotated[
    str, Argument(metavar="BROKER", help="Its base address, that of its catalog, or the name of a registered broker.")
]


@common.expand_option_groups
def check(
    url: _Broker,
    platforms: common.CountedPlatforms = None,
    fail_on: FailingSeverity = None,
    ignore: common.Ignore = None,
    format: ReportFormat = None,  # the option's own name
    output: common.Output = None,
    color: common.ColorChoice = "auto",
    config: common.Config = None,
    *,
    connection: BrokerConnection,
) -> int:
    """Check a running broker: its answers, its catalog, and which platforms could register it.

    Sends about a dozen requests, one after the other: with and without version and credentials, compressed, with a
    doubled slash. The last ones use wrong credentials. The password is found as by osbctl fetch. A registered broker is
    judged as its platform does, unless --platform names another.

    \b
    osbctl check https://broker.example.com --user platform
    osbctl check data
    osbctl check https://broker.example.com --fail-on warning -f junit -o a.xml
    """
    from osbctl.tasks.check import check_running_broker
    from osbctl.tasks.output_checks import check_output

    check_output(output, (config, *connection.files))
    registered = connection.find_registration(url)
    request = Request(
        sources=(),
        api_version=ApiVersion(registered.api_version) if registered else connection.api_version,
        platforms=tuple(platforms or ([registered.platform] if registered else ())),
        ignore=tuple(ignore or ()),
        fail_on=fail_on,
        of_broker=True,
    )
    settings = first_config((), config)
    options, severity = validation_options(request, settings), effective_fail_on(request, settings)
    connection = connection.with_configured_version(settings)
    result = check_running_broker(*connection.connect(url, registered), options)
    code = write_report([result._replace(fail_on=severity)], Display(format, output, color))
    if not result.left_out and not any(rule_of(finding).category is Category.WIRE for finding in result.findings):
        print_note("tested and well: status, headers and body of the catalog; right, wrong and missing credentials;")
        print_note("old, unknown and missing API versions; compression; a doubled slash; the form of errors")
    return SourceError.exit_code if any(rule_of(finding).stops_check for finding in result.findings) else code


@common.expand_option_groups
def fetch(
    url: _Broker,
    output: Annotated[str | None, Option("--output", "-o", metavar="FILE", help="Write the catalog to FILE.")] = None,
    config: common.Config = None,
    *,
    connection: BrokerConnection,
) -> int:
    """Fetch the catalog of a running broker, as a platform does.

    The password comes from the URL, OSBCTL_PASSWORD, standard input or a prompt, never from an option. It is sent to no
    other host. That of a registered broker is found as by osbctl brokers add.

    \b
    osbctl fetch https://broker.example.com --user platform -o catalog.json
    osbctl fetch data -o catalog.json
    osbctl fetch https://broker.example.com --user platform | osbctl validate -
    """
    from osbctl.client.catalog_client import fetch_catalog, not_a_catalog_error, parse_json_body
    from osbctl.tasks.output_checks import CATALOG, check_output

    check_output(output, (config, *connection.files), replaces=CATALOG)
    registered = connection.find_registration(url)
    connection = connection.with_configured_version(first_config((), config))
    answer = fetch_catalog(*connection.connect(url, registered))
    if why := parse_json_body(answer.body)[1]:
        raise not_a_catalog_error(answer.name, why)
    text = answer.body.decode().rstrip("\n") + "\n"
    write_output(escape_text(text, pairs=True) if output in (None, "-") else text, output)
    return 0
