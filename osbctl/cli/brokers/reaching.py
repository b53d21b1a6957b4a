"""How registered brokers are reached and their catalogs checked: what the registry needs and must not know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from osbctl.errors import DocumentError, SourceError, UsageError
from osbctl.findings import Severity
from osbctl.paths import pointer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from osbctl.cli.brokers.passwords import Passwords
    from osbctl.findings import Finding
    from osbctl.registry.records import Registration, Told
    from osbctl.sources.access import Access
    from osbctl.sources.broker import Answer


@dataclass(frozen=True, slots=True)
class Reach:
    """Fetches catalogs with one set of options; `access` is without user, password and version."""

    access: Access
    passwords: Passwords

    def fetch(self, broker: Registration, etag: str) -> Answer | None:
        """The broker's answer; None where `etag` still holds.

        Raises:
            SourceError: there is none, or no password.
        """
        from osbctl.sources.broker import fetch, split_url

        address, _, _ = split_url(broker.url)
        password = self.passwords.of(broker)
        access = replace(self.access, user=broker.username, password=password, api_version=broker.api_version)
        try:
            answer = fetch(address, access, etag)
        except SourceError as error:  # it may quote the broker, and a broker may quote the password
            raise SourceError(_without(password, broker.username, error.message), error.advice) from None
        # A tag goes into a header again, and into reports.
        return replace(answer, etag="") if answer and not _is_tag(answer.etag) else answer


def make_access(ca_file: str | None, client_cert: str | None, insecure: bool, timeout: float) -> Access:
    """What the options say of how to connect."""
    from osbctl.cli.connection import environment_proxies
    from osbctl.cli.output import note
    from osbctl.sources.access import Access

    if insecure:
        note("INSECURE: no certificate is checked; anybody in between can read the password")
    return Access(
        ca_file=ca_file,
        client_cert=client_cert,
        insecure=insecure,
        total_seconds=timeout,
        proxies=environment_proxies(),
    )


def base_url(url: str) -> tuple[str, str]:
    """The address without userinfo as it is stored, and the username in it, if any.

    Raises:
        UsageError: it is no address of a broker, or holds a password or a query.
    """
    from osbctl.sources.broker import CATALOG_PATH, split_url

    address, user, password = split_url(url)
    if "?" in address or not address.isprintable():
        raise UsageError("no base address of a broker: it has a query, or signs that cannot be shown")
    if password:
        raise UsageError(
            "a password in an address stays in the shell's history",
            "leave it out: it is asked for, or comes from --password-stdin",
        )
    return address.rstrip("/").removesuffix(CATALOG_PATH), user


def check(body: bytes, broker: Registration) -> tuple[Told, ...]:
    """Why the catalog in `body` is refused: errors, and what the broker's platform refuses."""
    from osbctl.platforms import ApiVersion
    from osbctl.sources.parse import parse_document
    from osbctl.validation.judge import judge
    from osbctl.validation.options import ValidationOptions

    options = ValidationOptions(ApiVersion(broker.api_version), frozenset({broker.platform}))
    try:
        findings: Iterable[Finding] = judge(parse_document(body, "catalog.json"), options).findings
    except DocumentError as error:
        findings = error.findings
    return tuple(_told(finding) for finding in findings if finding.severity is Severity.ERROR)


def _told(finding: Finding) -> Told:
    from osbctl.registry.records import Told
    from osbctl.secrecy import looks_secret

    secret = any(looks_secret(step) for step in finding.path)
    message = "the value is not as it must be (it may be a secret, and is not shown)" if secret else finding.message
    return Told(finding.rule, finding.severity.value, pointer(finding.path), message)


def _without(password: str, user: str, text: str) -> str:
    import base64

    basic = base64.b64encode(f"{user}:{password}".encode()).decode()
    return text.replace(basic, "***").replace(password, "***") if password else text


def _is_tag(text: str) -> bool:
    return text.isascii() and text.isprintable() and len(text) <= 1000
