"""How registered brokers are reached, and what is made of what they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from osbctl.errors import DocumentError, SourceError, UsageError
from osbctl.findings import Finding, Severity
from osbctl.paths import pointer
from osbctl.platforms import ApiVersion
from osbctl.registry.records import BrokerCatalog, Registration, Remark
from osbctl.registry.secrets import HELD
from osbctl.secrecy import SURE_LENGTH, looks_secret, places_of
from osbctl.sources.broker import CATALOG_PATH, Answer, fetch, split_url

if TYPE_CHECKING:
    from osbctl.sources.access import Access


@dataclass(frozen=True, slots=True)
class Reach:
    """Asks brokers under one set of conditions; may be used by several threads.

    `access` is without user, password and version; `password` finds that of a broker, or raises SourceError; `tell`
    takes a sentence that is to be said beside the outcome.
    """

    access: Access
    password: Callable[[Registration], str]
    tell: Callable[[str], None]
    _sent: dict[str, str] = field(default_factory=dict, repr=False)

    def fetch(self, broker: Registration, etag: str) -> Answer | None:
        """The broker's answer; None where `etag` still holds.

        Raises:
            SourceError: there is none, or no password.
        """
        address, _, _ = split_url(broker.url)
        password = self._sent[broker.name] = self.password(broker)
        access = replace(self.access, user=broker.username, password=password, api_version=broker.api_version)
        try:
            answer = fetch(address, access, etag)
        except SourceError as error:  # it may quote the broker, and a broker may quote the password
            raise SourceError(access.hide(error.message), error.advice) from None
        if answer is None:
            return None
        # A tag goes into a header again, and into reports.
        fit = answer.etag.isascii() and answer.etag.isprintable() and len(answer.etag) <= 1000
        return replace(answer, etag=answer.etag if fit and access.hide(answer.etag) == answer.etag else "")

    def judge(self, body: bytes, broker: Registration) -> BrokerCatalog:
        """The catalog in `body`, with the reasons to refuse it.

        These are errors, what the broker's platform refuses, and a text in it that is the password which was sent to
        the broker: the catalog is stored and shown, and so would be the password.
        """
        from osbctl.sources.parse import parse_document
        from osbctl.validation.judge import judge
        from osbctl.validation.options import ValidationOptions

        version = ApiVersion(broker.api_version)
        options = ValidationOptions(version, frozenset({broker.platform}), errors_alone=True, literal=True)
        data: dict[str, Any] = {}
        errors: Iterable[Finding]
        try:
            document = parse_document(body, "catalog.json")
            data, errors = document.data, judge(document, options).errors
        except DocumentError as error:
            errors = [finding for finding in error.findings if finding.severity is Severity.ERROR]
        held = self._held(body, data, broker)
        if held is not None:
            return BrokerCatalog(body, data, (held,))
        secrets = self._forms(broker)
        sure = secrets if len(secrets[-1]) >= SURE_LENGTH else ()
        return BrokerCatalog(body, data, tuple(_remark(finding) for finding in errors), sure)

    def check_secret(self, body: bytes, data: dict[str, Any], broker: Registration) -> None:
        """Raise SourceError where the catalog must not be shown, since it holds the password sent to the broker."""
        held = self._held(body, data, broker)
        if held:
            raise SourceError(held.message)

    def _held(self, body: bytes, data: dict[str, Any], broker: Registration) -> Remark | None:
        """Why the catalog is refused where it holds the password; a note alone where that may be chance."""
        password, secrets = self._sent.get(broker.name, ""), self._forms(broker)
        places = places_of(secrets, data) if password else []
        sure = len(password) >= SURE_LENGTH
        if not places and not (sure and not data and password.encode() in body):
            return None
        if not sure:
            told = f"the catalog holds the text of the broker's password, perhaps by chance, at {len(places):,} places"
            self.tell(f"{broker.name}: {told}: use a password of {SURE_LENGTH} or more characters")
            return None
        message = "the catalog contains the broker's own password: remove it, and change the password"
        place = places[0] if places else ""
        hidden = places_of(secrets, place)
        return Remark(HELD, "error", "" if hidden else place, message)

    def _forms(self, broker: Registration) -> tuple[str, ...]:
        """The password that was sent to the broker, as it is sent and as it is."""
        password = self._sent.get(broker.name, "")
        return (replace(self.access, user=broker.username, password=password).sent, password)


def base_url(url: str) -> tuple[str, str]:
    """The address without userinfo as it is stored, and the username in it, if any.

    Raises:
        UsageError: it is no address of a broker, or holds a password or a query.
    """
    address, user, password = split_url(url)
    if "?" in address or not address.isprintable():
        raise UsageError("not the base address of a broker: it has a query, or characters that cannot be shown")
    if password:
        raise UsageError(
            "a password in an address stays in the shell's history",
            "leave it out: osbctl asks for it, or reads it with --password-stdin",
        )
    return address.rstrip("/").removesuffix(CATALOG_PATH), user


def _remark(finding: Finding) -> Remark:
    secret = any(looks_secret(step) for step in finding.path)
    message = "the value is invalid (it may be a secret, and is not shown)" if secret else finding.message
    return Remark(finding.rule, finding.severity.value, pointer(finding.path), message)
