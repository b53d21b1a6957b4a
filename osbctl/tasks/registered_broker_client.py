"""A client of registered brokers: it finds the password, fetches the catalog and validates it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from osbctl.client.catalog_client import CatalogResponse, fetch_catalog, split_url
from osbctl.client.connection_options import ConnectionOptions
from osbctl.errors import SourceError
from osbctl.findings import DocumentError, Finding, Severity
from osbctl.paths import pointer
from osbctl.platforms import ApiVersion
from osbctl.redaction import SURE_LENGTH, find_secrets, may_be_secret_name
from osbctl.registry.records import HELD, BrokerCatalog, Registration, Remark
from osbctl.sources.parse import parse_document
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document


@dataclass(frozen=True, slots=True)
class RegisteredBrokerClient:
    """Fetches and validates catalogs of registered brokers; may be used by several threads.

    `options` have no user, password and version. `password_of` is empty for a broker that needs none, and raises
    SourceError if it is not found. `notes` collects sentences to report beside the outcomes.
    """

    options: ConnectionOptions
    password_of: Callable[[Registration], str]
    notes: list[str] = field(default_factory=list)
    _sent: dict[str, str] = field(default_factory=dict, repr=False)

    def fetch(self, broker: Registration, etag: str) -> CatalogResponse | None:
        """The answer of the broker; None if the catalog still has this `etag`. Raises SourceError."""
        address, _, _ = split_url(broker.url)
        password = self._sent[broker.name] = self.password_of(broker)
        options = replace(self.options, user=broker.username, password=password, api_version=broker.api_version)
        try:
            answer = fetch_catalog(address, options, etag)
        except SourceError as error:  # it may quote the broker, and a broker may quote the password
            raise SourceError(options.hide(error.message), error.advice) from None
        if answer is None:
            return None
        # The ETag is sent in a header and printed, so a hostile one is dropped.
        fit = answer.etag.isascii() and answer.etag.isprintable() and len(answer.etag) <= 1000
        return replace(answer, etag=answer.etag if fit and options.hide(answer.etag) == answer.etag else "")

    def validate(self, body: bytes, broker: Registration) -> BrokerCatalog:
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
            unreadable = tuple(_remark(one) for one in error.findings if one.severity is Severity.ERROR)
        held = self._held(body, data, broker)
        if held is not None:
            return BrokerCatalog(body, data, (held,))
        secrets = self._forms(broker)
        sure = secrets if len(secrets[-1]) >= SURE_LENGTH else ()
        if unreadable:
            return BrokerCatalog(body, data, unreadable, secrets=sure)
        result = validate_document(document, options)
        errors = tuple(map(_remark, result.errors))
        infos = tuple(_remark(finding) for finding in result.findings if finding.rule == "null-object")
        refusals = broker.platform.record.judge(data).redacted.refusals if errors else ()
        return BrokerCatalog(body, data, errors=errors, infos=infos, refusals=refusals, secrets=sure)

    def check_secret(self, body: bytes, data: dict[str, Any], broker: Registration) -> None:
        """Raise SourceError if the catalog must not be shown, because it contains the password sent to the broker."""
        held = self._held(body, data, broker)
        if held:
            raise SourceError(held.message)

    def _held(self, body: bytes, data: dict[str, Any], broker: Registration) -> Remark | None:
        """The refusal of a catalog that contains the password, if it does; only a note if the password is short."""
        password, secrets = self._sent.get(broker.name, ""), self._forms(broker)
        places = find_secrets(secrets, data) if password else []
        sure = len(password) >= SURE_LENGTH
        if not places and not (sure and not data and password.encode() in body):
            return None
        if not sure:
            message = f"the catalog contains the broker's password, perhaps by chance, at {len(places):,} places"
            self.notes.append(f"{broker.name}: {message}: use a password of {SURE_LENGTH} or more characters")
            return None
        message = "the catalog contains the broker's own password: remove it, and change the password"
        place = places[0] if places else ""
        hidden = find_secrets(secrets, place)
        return Remark(HELD, "error", "" if hidden else place, message)

    def _forms(self, broker: Registration) -> tuple[str, ...]:
        """The password that was sent to the broker, as sent in the header and as text."""
        password = self._sent.get(broker.name, "")
        return (replace(self.options, user=broker.username, password=password).sent, password)


def _remark(finding: Finding) -> Remark:
    secret = any(may_be_secret_name(step) for step in finding.path)
    message = "the value is invalid (it may be a secret, and is not shown)" if secret else finding.message
    return Remark(finding.rule, finding.severity.value, pointer(finding.path), message)
