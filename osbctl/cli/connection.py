"""Options of the connection to a broker, and catalogs by the address of a broker or as a source."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Self

from typer import Option

from osbctl.cli.common import Credentials, Database, LocationOptions, MaxBytes, check_options_used
from osbctl.cli.output import print_note
from osbctl.cli.passwords import PasswordFinder, ask_password, read_password_from_stdin
from osbctl.errors import OsbctlError, UsageError
from osbctl.fields import describe_left_out
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion
from osbctl.sources.catalogs import require_services
from osbctl.sources.document import Document
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import MAX_BYTES, Limits, check_stdin_used_once, registered_name, report_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from osbctl.client.connection_options import ConnectionOptions
    from osbctl.config import Config
    from osbctl.registry.records import Registration
    from osbctl.tasks.registered_broker_client import RegisteredBrokerClient


def is_address(source: str) -> bool:
    """Return whether an argument is the address of a broker, not a source."""
    return source.lower().startswith(("http://", "https://"))


def source_name(source: str) -> str:
    """Name of a source or a broker in a report, without password. Raises UsageError: the address is wrong."""
    if not is_address(source):
        return report_name(source)
    from osbctl.client.catalog_client import parse_broker_url
    from osbctl.client.connection_options import redact_query

    return redact_query(parse_broker_url(source)[0])


User = Annotated[str | None, Option("--user", metavar="NAME", help="Username.  [default: that of the URL]")]


def _check_timeout(value: float) -> float:
    if not 0.1 <= value <= 86_400:  # a day; neither inf nor nan is between
        raise UsageError(f"--timeout {value} is not a number of seconds to wait", "write seconds, from 0.1 to 86400")
    return value


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """Options of connections to brokers."""

    ca_file: Annotated[str | None, Option(metavar="FILE", help="Trusted certificate authorities, PEM.")] = None
    client_cert: Annotated[str | None, Option(metavar="FILE", help="Client certificate and key, PEM.")] = None
    insecure: Annotated[bool, Option("--insecure", help="Accept any certificate. For testing only.")] = False
    timeout: Annotated[float, Option(metavar="N", callback=_check_timeout, help="Seconds for the whole answer.")] = 60.0

    @property
    def files(self) -> tuple[str | None, ...]:
        """Files that the options name."""
        return self.ca_file, self.client_cert

    def connection_options(self, **more: Any) -> ConnectionOptions:
        """The connection options, with the proxies of the environment; `more` are their other fields.

        Prints a warning with --insecure.
        """
        from urllib.request import getproxies_environment

        from osbctl.client.connection_options import ConnectionOptions

        if self.insecure:
            print_note("INSECURE: the certificate is not checked; others on the network can read the password")
        return ConnectionOptions(
            ca_file=self.ca_file,
            client_cert=self.client_cert,
            insecure=self.insecure,
            total_seconds=self.timeout,
            proxies=dict(getproxies_environment()),
            **more,
        )


@dataclass(frozen=True, slots=True)
class BrokerConnection(NetworkOptions):
    """Options of the connection to one broker, which may be a registered one."""

    user: User = None
    password_stdin: Annotated[
        bool,
        Option("--password-stdin", help="Read the password from standard input, not OSBCTL_PASSWORD or a prompt."),
    ] = False
    api_version: Annotated[
        ApiVersion | None, Option(help=f"API version to request.  [default: {DEFAULT_API_VERSION}]")
    ] = None
    max_bytes: MaxBytes = MAX_BYTES
    database: Database = None
    credentials: Credentials = None

    @property
    def files(self) -> tuple[str | None, ...]:
        """Files that the options name."""
        return self.ca_file, self.client_cert, self.database, self.credentials

    def resolve_connection(self, url: str) -> tuple[str, ConnectionOptions]:
        """The address in `url`, and the connection options; asks for the password if it is found nowhere else."""
        from osbctl.client.catalog_client import parse_broker_url

        address, named, password = parse_broker_url(url)
        user = self.user or named
        if ":" in user:
            raise UsageError("the user contains a colon", "HTTP Basic ends a username at the first colon (RFC 7617)")
        if not password:
            if self.password_stdin:
                password = _read_password_once()
            elif "OSBCTL_PASSWORD" in os.environ:
                password = os.environ["OSBCTL_PASSWORD"]
            elif user:
                if not sys.stdin.isatty():
                    raise UsageError(f"there is no password for {user}", "set OSBCTL_PASSWORD, or use --password-stdin")
                password = ask_password(f"Password of {user}: ")
        version = self.api_version or DEFAULT_API_VERSION
        return address, self.connection_options(
            user=user, password=password, api_version=version, max_bytes=self.max_bytes
        )

    def make_client(self, *, one_broker: bool) -> RegisteredBrokerClient:
        """A client of registered brokers; reads passwords that options name, and may ask for that of `one_broker`."""
        from osbctl.tasks.registered_broker_client import RegisteredBrokerClient

        finder = PasswordFinder(stdin=self.password_stdin, credentials=self.credentials, one_broker=one_broker)
        return RegisteredBrokerClient(self.connection_options(max_bytes=self.max_bytes), finder.find_password)

    def find_registration(self, broker: str) -> Registration | None:
        """The registered broker of that name; None if the argument is the address of a broker.

        Raises UsageError: it is neither, or an option is for the other kind.
        """
        is_file = os.path.exists(broker)  # noqa: PTH110
        if is_address(broker) or (not is_file and ("/" in broker or ":" in broker)):
            self._check_for_brokers(addresses=1)
            return None
        from osbctl.registry.location import find_registration

        try:
            found = find_registration(broker, self.database)
        except OsbctlError as error:
            if is_file:
                message = f"{broker} is a file or folder, not the address of a broker"
                raise UsageError(message, f"osbctl validate {shlex.quote(broker)}") from None
            error.advice += "; an address begins with https://"
            raise
        self._check_for_brokers(registered=1)
        return found

    def _check_for_brokers(self, *, addresses: int = 0, registered: int = 0) -> None:
        """Raise UsageError for an option that none of so many brokers can use, or that they cannot share."""
        if not registered:
            refuse_options(self, ["credentials"], "registered brokers")
        elif not addresses:
            refuse_options(self, ["user", "api_version"], "brokers that are not registered")
        if self.password_stdin and registered and addresses + registered > 1:
            raise UsageError(
                "standard input has one password, for several brokers", "set OSBCTL_BROKER_<NAME>_PASSWORD"
            )

    def connect(self, broker: str, registration: Registration | None) -> tuple[str, ConnectionOptions]:
        """The address of a broker, and the connection options: those of its `registration`, if it has one."""
        if registration is None:
            return self.resolve_connection(broker)
        return self.make_client(one_broker=True).resolve_connection(registration)

    def with_configured_version(self, config: Config) -> Self:
        """The options with the API version of the configuration, unless another is given."""
        from osbctl.tasks.options import requested_version

        return replace(self, api_version=requested_version(self.api_version, config))

    def check_used(self, where: LocationOptions, *sources: str, fetches_more: bool = False) -> None:
        """Raise UsageError for an option of connections if no source is a broker, or of files if every one is.

        `fetches_more`: the command fetches something else than catalogs, for which it uses some of the options.
        """
        check_options_used(sources, env=where.env)
        addresses, registered = sum(map(is_address, sources)), sum(bool(registered_name(source)) for source in sources)
        if where.at and addresses + registered == len(sources):
            raise UsageError("--at is for files, and every source is an address", "leave it out")
        if addresses or registered:
            self._check_for_brokers(addresses=addresses, registered=registered)
            return
        for field in fields(BrokerConnection):
            if field.name in ("ca_file", "insecure", "timeout") and fetches_more:
                continue
            if field.name not in ("max_bytes", "database") and getattr(self, field.name) != field.default:
                option = field.name.replace("_", "-")
                raise UsageError(f"--{option} is for brokers, and no source is an address", "leave it out")

    def check_stdin(self, *sources: str) -> None:
        """Raise UsageError if standard input would be read twice."""
        check_stdin_used_once([*sources, "-" if self.password_stdin else ""])


def refuse_options(options: object, names: Sequence[str], kind: str) -> None:
    """Raise UsageError if one of these `options` is given, which are for another `kind` of brokers."""
    for name in names:
        if getattr(options, name):
            raise UsageError(f"--{name.replace('_', '-')} is for {kind}", "leave it out")


_read_password_once = cache(read_password_from_stdin)
"""Standard input is read once, and may be for two brokers."""


def read_catalog(source: str, where: LocationOptions, **options: Any) -> Document:
    """Read a source with the `options` of `read_source`; print where the catalog is, if not at the top.

    Raises errors as that, and DocumentError: what was read has no `services`.
    """
    from osbctl.tasks.options import variables_lookup

    options |= {"at": where.at, "variables_of": variables_lookup(os.environ, where.env, where.config)}
    return print_catalog_location(require_services(read_source(source, **options)))


def read_source_or_broker(connection: BrokerConnection, source: str, where: LocationOptions) -> Document:
    """Read a catalog: from a broker if `source` is an address or `broker:NAME`, else from the source."""
    name = registered_name(source)
    if not (name or is_address(source)):
        return read_catalog(source, where, limits=Limits(bytes=connection.max_bytes))
    from osbctl.client.catalog_client import fetch_catalog, parse_catalog_response

    registration = None
    if name:
        from osbctl.registry.location import find_registration

        registration = find_registration(name, connection.database)
    answer = fetch_catalog(*connection.connect(source, registration))
    return print_catalog_location(parse_catalog_response(answer, connection.max_bytes))


def print_catalog_location(document: Document) -> Document:
    """Print where in its source the catalog is, unless at the top, and what it leaves out; return the document."""
    if document.read_as:
        print_note(document.read_as)
    if left_out := describe_left_out(document.data):
        print_note(f"{document.name}: {left_out}; see osbctl validate")
    return document
