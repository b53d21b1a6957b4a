"""A client of registered brokers: it finds the password, fetches the catalog and validates it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from osbctl.client.catalog_client import (
    OWN_PASSWORD,
    CatalogResponse,
    fetch_catalog,
    find_sent_password,
    parse_broker_url,
)
from osbctl.client.connection_options import ConnectionOptions
from osbctl.errors import SourceError
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.paths import pointer
from osbctl.platforms import ApiVersion
from osbctl.platforms.verdict import judge
from osbctl.redaction import is_secret_path, may_be_secret_name
from osbctl.registry.records import BrokerCatalog, RegisteredBroker, Registration, Remark
from osbctl.sources.parse import parse_document
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document

_HELD = "password-in-catalog"
"""Reason of a refusal: the catalog contains the password of its own broker."""


@dataclass(frozen=True, slots=True)
class RegisteredBrokerClient:
    """Fetches and validates catalogs of registered brokers; may be used by several threads.

    `options` have no user, password and version. `password_of` is empty for a broker that needs none, and raises
    SourceError if it is not found.
    """

    options: ConnectionOptions
    password_of: Callable[[Registration], str]

    def resolve_connection(self, broker: Registration) -> tuple[str, ConnectionOptions]:
        """The address of the broker's catalog, and the options of requests to it. Raises SourceError: no password."""
        address, _, _ = parse_broker_url(broker.url)
        return address, replace(
            self.options, user=broker.username, password=self.password_of(broker), api_version=broker.api_version
        )

    def fetch(self, broker: Registration) -> tuple[CatalogResponse, ConnectionOptions]:
        """The answer of the broker, and the options sent, whose password is searched for below. Raises SourceError."""
        address, options = self.resolve_connection(broker)
        try:
            return fetch_catalog(address, options), options
        except DocumentError as error:
            raise SourceError(error.message, error.advice) from None

    def validate(self, body: bytes, broker: Registration, sent: ConnectionOptions) -> BrokerCatalog:
        """The catalog in `body`, with its errors, the refusals of the broker's platform, and reasons not to store it.

        These are: it cannot be read, or contains the password of the broker, which would be stored and shown with it.
        """
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
        found = _find_password(broker.catalog, broker.data, sent)
        return tuple(replace(one, message=message) for one in found)

    def check_no_password(self, body: bytes, data: dict[str, Any], sent: ConnectionOptions) -> None:
        """Raise SourceError if the catalog must not be shown, because it contains the password sent to the broker."""
        for held in _find_password(body, data, sent):
            raise SourceError(held.message)


def _find_password(body: bytes, data: dict[str, Any], sent: ConnectionOptions) -> tuple[Remark, ...]:
    """The refusal of a catalog that contains the password."""
    place = find_sent_password(body, data, sent)
    return () if place is None else (Remark(_HELD, "error", place, OWN_PASSWORD),)


def _to_remark(finding: Finding, sent: ConnectionOptions) -> Remark:
    secret = is_secret_path(finding.path) or any(map(may_be_secret_name, finding.path))
    message = "the value is invalid (it may be a secret, and is not shown)" if secret else finding.message
    place = pointer(finding.path)
    return Remark(finding.rule, finding.severity.value, *map(sent.redact_credentials, (place, message)))
