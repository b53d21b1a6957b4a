"""Options of the connection to a broker, and catalogs by the address of a broker or as a source."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

from osbctl.commands.options import Credentials, Database, LocationOptions, MaxBytes, Option, check_options_used
from osbctl.commands.output import print_note
from osbctl.commands.settings import requested_version, variables_lookup
from osbctl.config import Config
from osbctl.errors import OsbctlError, SourceError, UsageError
from osbctl.fields import describe_left_out
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.messages import is_secret_path, may_be_secret_name
from osbctl.paths import pointer
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion
from osbctl.sources.catalogs import require_services
from osbctl.sources.document import Document, parse_document
from osbctl.sources.read import read_source
from osbctl.sources.read_bytes import (
    DEFAULT_LIMITS,
    MAX_BYTES,
    Limits,
    check_stdin_used_once,
    is_revision,
    registered_name,
    report_name,
    run_git,
)
from osbctl.validation.options import ValidationOptions

if TYPE_CHECKING:
    from osbctl.client.catalog_client import CatalogResponse
    from osbctl.client.connection_options import ConnectionOptions
    from osbctl.registry.records import BrokerCatalog, RegisteredBroker, Registration, Remark


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


def check_in_clone(revision: str, sources: Sequence[str]) -> None:
    """Raise UsageError for a source that a revision cannot hold: it is no file or folder of the clone."""
    up = run_git("rev-parse", "--show-cdup", folder=os.curdir) or b""
    top = Path(os.fsdecode(up).strip() or os.curdir).resolve()
    for source in sources:
        is_path = os.path.lexists(source)
        if is_path and not _is_in_clone(Path(source), top):
            what = "in this clone"
        elif is_revision(source):
            advice = f"name a file in each: {revision}:FILE {source}:FILE"
            raise UsageError(f"{source} is a revision of git, and {revision} is compared with a file or folder", advice)
        elif not is_path and (source == "-" or ":" in source):
            what = "a file"
        else:  # reading one that is missing says so
            continue
        advice = f"write the earlier catalog itself in place of {revision}: a file, or {revision}:PATH"
        raise UsageError(f"{source_name(source)} is not {what}, so git has no revision of it", advice)


def _is_in_clone(path: Path, top: Path) -> bool:
    """Return whether a file or folder is below the `top` of a clone, and in no other clone in it, as a submodule is."""
    folder = (path if path.is_dir() else path.parent).resolve()
    above = [one for one in (folder, *folder.parents) if one.is_relative_to(top)]
    return bool(above) and not any((one / ".git").exists() for one in above if one != top)


User = Annotated[str | None, Option("Username.  [default: that of the URL]", metavar="NAME")]


def _check_timeout(value: float) -> float:
    if not 0.1 <= value <= 86_400:  # a day; neither inf nor nan is between
        raise UsageError(f"--timeout {value} is not a number of seconds to wait", "write seconds, from 0.1 to 86400")
    return value


class NetworkOptions(NamedTuple):
    """Options of connections to brokers."""

    ca_file: Annotated[str | None, Option("Trusted certificate authorities, PEM.", metavar="FILE")] = None
    client_cert: Annotated[str | None, Option("Client certificate and key, PEM.", metavar="FILE")] = None
    insecure: Annotated[bool, Option("Accept any certificate. For testing only.")] = False
    timeout: Annotated[float, Option("Seconds for the whole answer.", metavar="N", callback=_check_timeout)] = 60.0

    @property
    def files(self) -> tuple[str | None, ...]:
        """Files that the options name."""
        return self.ca_file, self.client_cert

    def connection_options(self) -> ConnectionOptions:
        """The options of connections, with the proxies of the environment. Prints a warning with --insecure."""
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
        )


class BrokerConnection(NamedTuple):
    """Options of the connection to one broker, which may be a registered one."""

    network: NetworkOptions = NetworkOptions()
    user: User = None
    password_stdin: Annotated[
        bool, Option("Read the password from standard input, not OSBCTL_PASSWORD or a prompt.")
    ] = False
    api_version: Annotated[ApiVersion | None, Option(f"API version to request.  [default: {DEFAULT_API_VERSION}]")] = (
        None
    )
    max_bytes: MaxBytes = MAX_BYTES
    database: Database = None
    credentials: Credentials = None

    @property
    def files(self) -> tuple[str | None, ...]:
        """Files that the options name."""
        return *self.network.files, self.database, self.credentials

    def connect(self, broker: str, registration: Registration | None) -> tuple[str, ConnectionOptions]:
        """The address of a broker, and the connection options: those of its `registration`, if it has one.

        Else asks for the password if it is found nowhere else.
        """
        from osbctl.client.catalog_client import parse_broker_url

        if registration is not None:
            return self.make_client(is_only_broker=True).resolve_connection(registration)
        address, named, password = parse_broker_url(broker)
        user = self.user or named
        if ":" in user:
            raise UsageError("the user contains a colon", "HTTP Basic ends a username at the first colon (RFC 7617)")
        if not password:
            if self.password_stdin:
                password = _read_password_once()
            elif given := os.environ.get("OSBCTL_PASSWORD"):
                password = given
            elif user:
                from osbctl.commands.passwords import ask_password

                if not sys.stdin.isatty():
                    raise UsageError(f"there is no password for {user}", "set OSBCTL_PASSWORD, or use --password-stdin")
                password = ask_password(f"Password of {user}: ")
        version = self.api_version or DEFAULT_API_VERSION
        return address, replace(self._connection_options(), user=user, password=password, api_version=version)

    def _connection_options(self) -> ConnectionOptions:
        return replace(self.network.connection_options(), max_bytes=self.max_bytes)

    def make_client(self, *, is_only_broker: bool) -> RegisteredBrokerClient:
        """A client of registered brokers, which reads passwords that options name, and asks for that of an only one."""
        from osbctl.commands.passwords import PasswordFinder

        finder = PasswordFinder(stdin=self.password_stdin, credentials=self.credentials, is_only_broker=is_only_broker)
        return RegisteredBrokerClient(self._connection_options(), finder.find_password)

    def find_registration(self, broker: str) -> Registration | None:
        """The registered broker of that name. None if the argument is the address of a broker.

        Raises UsageError: it is neither, or an option is for the other kind.
        """
        is_file = os.path.exists(broker)  # noqa: PTH110
        if is_address(broker) or (not is_file and ("/" in broker or ":" in broker)):
            self._check_options_suit(addresses=1)
            return None
        from osbctl.registry import find_registration

        try:
            found = find_registration(broker, self.database)
        except OsbctlError as error:
            if is_file:
                message = f"{broker} is a file or folder, not the address of a broker"
                raise UsageError(message, f"osbctl validate {shlex.quote(broker)}") from None
            error.advice += "; an address begins with https://"
            raise
        self._check_options_suit(registered=1)
        return found

    def _check_options_suit(self, *, addresses: int = 0, registered: int = 0) -> None:
        """Raise UsageError for an option that none of so many brokers can use, or that they cannot share."""
        if not registered:
            refuse_options(self._asdict(), ["credentials"], "registered brokers")
        elif not addresses:
            refuse_options(self._asdict(), ["user", "api_version"], "brokers that are not registered")
        if self.password_stdin and registered and addresses + registered > 1:
            from osbctl.commands.passwords import several_brokers_error

            raise several_brokers_error()

    def with_configured_version(self, config: Config) -> Self:
        """The options with the API version of the configuration, unless another is given."""
        return self._replace(api_version=requested_version(self.api_version, config))

    def check_used(self, where: LocationOptions, *sources: str, fetches_more: bool = False) -> None:
        """Raise UsageError for an option of connections if no source is a broker, or of files if every one is.

        `fetches_more`: the command fetches something else than catalogs, for which it uses some of the options.
        """
        check_options_used(sources, env=where.env)
        addresses, registered = sum(map(is_address, sources)), sum(bool(registered_name(source)) for source in sources)
        if where.at and addresses + registered == len(sources):
            raise UsageError("--at is for files, and every source is an address", "leave it out")
        if addresses or registered:
            self._check_options_suit(addresses=addresses, registered=registered)
            return
        given = {**self.network._asdict(), **self._asdict()}
        unused = {**NetworkOptions._field_defaults, **self._field_defaults}
        used = {"network", "max_bytes", "database", *(("ca_file", "insecure", "timeout") if fetches_more else ())}
        changed = {name: True for name, value in given.items() if name not in used and value != unused[name]}
        refuse_options(changed, [*changed], "brokers, and no source is an address")

    def check_stdin(self, *sources: str) -> None:
        """Raise UsageError if standard input would be read twice."""
        check_stdin_used_once([*sources, "-" if self.password_stdin else ""])


def refuse_options(options: Mapping[str, Any], names: Sequence[str], kind: str) -> None:
    """Raise UsageError if one of these `options` is given, which are for another `kind` of brokers."""
    for name in names:
        if options[name]:
            raise UsageError(f"--{name.replace('_', '-')} is for {kind}", "leave it out")


@cache
def _read_password_once() -> str:
    """The password on standard input, which is read once, and may be for two brokers."""
    from osbctl.commands.passwords import read_password_from_stdin

    return read_password_from_stdin()


def read_catalog(
    source: str,
    where: LocationOptions,
    *,
    stdin_filename: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    allow_nested: bool = True,
) -> Document:
    """Read a source; print where the catalog is, if not at the top. Arguments as in `read_source`.

    Raises errors as that, and DocumentError: what was read has no `services`.
    """
    document = read_source(
        source,
        at=where.at,
        limits=limits,
        stdin_filename=stdin_filename,
        allow_nested=allow_nested,
        variables_of=variables_lookup(where.env, where.config),
    )
    return print_catalog_location(require_services(document))


def read_source_or_broker(connection: BrokerConnection, source: str, where: LocationOptions) -> Document:
    """Read a catalog: from a broker if `source` is an address or `broker:NAME`, else from the source."""
    name = registered_name(source)
    if not (name or is_address(source)):
        return read_catalog(source, where, limits=Limits.of_option(connection.max_bytes))
    from osbctl.client.catalog_client import fetch_catalog, parse_catalog_response

    registration = None
    if name:
        from osbctl.registry import find_registration

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


_HELD = "password-in-catalog"
"""Reason of a refusal: the catalog contains the password of its own broker."""


class RegisteredBrokerClient(NamedTuple):
    """Fetches and validates catalogs of registered brokers; may be used by several threads.

    `options` have no user, password and version. `password_of` is empty for a broker that needs none, and raises
    SourceError if it is not found.
    """

    options: ConnectionOptions
    password_of: Callable[[Registration], str]

    def resolve_connection(self, broker: Registration) -> tuple[str, ConnectionOptions]:
        """The address of the broker's catalog, and the options of requests to it. Raises SourceError: no password."""
        from osbctl.client.catalog_client import parse_broker_url

        address, _, _ = parse_broker_url(broker.url)
        return address, replace(
            self.options, user=broker.username, password=self.password_of(broker), api_version=broker.api_version
        )

    def fetch(self, broker: Registration) -> tuple[CatalogResponse, ConnectionOptions]:
        """The answer of the broker, and the options sent, whose password is searched for below. Raises SourceError."""
        from osbctl.client.catalog_client import fetch_catalog

        address, options = self.resolve_connection(broker)
        try:
            return fetch_catalog(address, options), options
        except DocumentError as error:
            raise SourceError(error.message, error.advice) from None

    def validate(self, body: bytes, broker: Registration, sent: ConnectionOptions) -> BrokerCatalog:
        """The catalog in `body`, with its errors, the refusals of the broker's platform, and reasons not to store it.

        These are: it cannot be read, or contains the password of the broker, which would be stored and shown with it.
        """
        from osbctl.platforms.verdict import judge
        from osbctl.registry.records import BrokerCatalog
        from osbctl.validation.pipeline import validate_document

        version = ApiVersion(broker.api_version)
        options = ValidationOptions(version, frozenset({broker.platform}), errors_only=True, literal=True)
        data: dict[str, Any] = {}
        unreadable: tuple[Remark, ...] = ()
        try:
            document = parse_document(body, "catalog.json")
            data = document.data
        except DocumentError as error:
            unreadable = tuple(_to_remark(one, sent) for one in error.findings if one.severity is Severity.ERROR)
        refused = _find_password(body, data, sent) or unreadable
        if refused:
            return BrokerCatalog(body, data, refused)
        errors = tuple(_to_remark(one, sent) for one in validate_document(document, options).errors)
        refusals = judge(broker.platform, data).refusals if errors else ()
        return BrokerCatalog(body, data, errors=errors, refusals=refusals)

    def find_password_in_stored_catalog(self, broker: RegisteredBroker, sent: ConnectionOptions) -> tuple[Remark, ...]:
        """The reason to show and compare nothing: the stored catalog contains the password of the broker."""
        message = "the stored catalog contains the broker's password: `osbctl brokers remove` it, and add it again"
        return tuple(replace(one, message=message) for one in _find_password(broker.catalog, broker.data, sent))

    def check_no_password(self, body: bytes, data: dict[str, Any], sent: ConnectionOptions) -> None:
        """Raise SourceError if the catalog must not be shown, because it contains the password sent to the broker."""
        for held in _find_password(body, data, sent):
            raise SourceError(held.message)


def _find_password(body: bytes, data: dict[str, Any], sent: ConnectionOptions) -> tuple[Remark, ...]:
    """The refusal of a catalog that contains the password."""
    from osbctl.client.catalog_client import OWN_PASSWORD, find_sent_password
    from osbctl.registry.records import Remark

    place = find_sent_password(body, data, sent)
    return () if place is None else (Remark(_HELD, "error", place, OWN_PASSWORD),)


def _to_remark(finding: Finding, sent: ConnectionOptions) -> Remark:
    from osbctl.registry.records import Remark

    secret = is_secret_path(finding.path) or any(map(may_be_secret_name, finding.path))
    message = "the value is invalid (it may be a secret, and is not shown)" if secret else finding.message
    place = pointer(finding.path)
    return Remark(finding.rule, finding.severity.value, *map(sent.redact_credentials, (place, message)))
