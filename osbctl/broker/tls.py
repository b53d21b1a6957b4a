"""The TLS side: a context from certificate and key, swapped as a whole when they are renewed."""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor
from typing import TYPE_CHECKING

from osbctl.errors import ConfigError
from osbctl.files import check_regular

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger("osbctl.broker")

SOON_DAYS = 14
"""A certificate that ends sooner is a warning."""

_VERSION, _UTC_TIME = 0xA0, 0x17


@dataclass(frozen=True, slots=True)
class Certificate:
    """A loaded certificate: the context that shows it, and when it ends (UTC)."""

    context: ssl.SSLContext
    not_after: datetime

    def days_left(self, now: datetime | None = None) -> float:
        """Days until it ends; negative afterwards."""
        return (self.not_after - (now or datetime.now(UTC))).total_seconds() / 86400

    def __str__(self) -> str:
        days, until = floor(self.days_left()), self.not_after.strftime("%Y-%m-%d %H:%M UTC")
        if days < 0:
            return f"the certificate expired on {until}"
        return f"the certificate lasts {days} days, until {until}"


class Tls:
    """What new connections use. A reload swaps `certificate`; connections that stand keep theirs."""

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        self._told: int | None = None

    def tell(self) -> None:
        """Log how long the certificate lasts."""
        days = floor(self.certificate.days_left())
        level = logging.INFO if days >= SOON_DAYS else logging.WARNING if days >= 0 else logging.ERROR
        _log.log(level, "%s", self.certificate)
        self._told = days

    def remind(self) -> None:
        """Tell it once a day from `SOON_DAYS` on, and at the moment when it ends. Costs little: call it often."""
        days = floor(self.certificate.days_left())
        if days < SOON_DAYS and days != self._told:
            self.tell()

    def checked(self, new: Certificate) -> Certificate:
        """`new`. Raises ConfigError where it has expired while the one in use has not."""
        if new.days_left() < 0 <= self.certificate.days_left():
            raise ConfigError(f"{new}", "Renew it.")
        return new

    @property
    def context(self) -> ssl.SSLContext:
        return self.certificate.context


def load_certificate(cert_file: Path, key_file: Path) -> Certificate:
    """Read a PEM certificate chain and its key. Raises ConfigError: they cannot be read or do not fit."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # RFC 9325: no compression, no renegotiation.
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    context.set_alpn_protocols(["http/1.1"])
    try:
        for file in (cert_file, key_file):
            check_regular(file)
        context.load_cert_chain(cert_file, key_file, password=_no_password)
        return Certificate(context, expiry(cert_file.read_text(encoding="ascii", errors="replace")))
    except ssl.SSLError as error:
        raise ConfigError(
            f"the TLS certificate {cert_file} and key {key_file} cannot be used: {error.reason or error}",
            "Both must be PEM, the key unencrypted and the one that the certificate was made for.",
        ) from error
    except OSError as error:
        missing = key_file if cert_file.is_file() else cert_file
        raise ConfigError(f"cannot read {missing}: {error.strerror}") from error


def _no_password() -> str:
    # Without this OpenSSL would ask at the terminal.
    raise ConfigError("the TLS key is encrypted", "Give a key without a passphrase, readable by this user only.")


def expiry(pem: str) -> datetime:
    """When the first certificate in `pem` ends. Raises ConfigError where there is none.

    RFC 5280 §4.1: TBSCertificate begins with version, serial number, algorithm, issuer, validity.
    """
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    first = pem.find(begin)
    try:
        der = ssl.PEM_cert_to_DER_cert(pem[first : pem.index(end, first) + len(end)])
        to_be_signed = _children(_children(der)[0][1])[0][1]
        parts = [part for part in _children(to_be_signed) if part[0] != _VERSION]
        return _moment(*_children(parts[3][1])[1])
    except (ValueError, IndexError) as error:
        raise ConfigError("the certificate file holds no certificate that can be read") from error


def _children(data: bytes) -> list[tuple[int, bytes]]:
    """The tags and contents of the DER values in `data`, one after the other."""
    found = []
    while data:
        tag, length, start = data[0], data[1], 2
        if length & 0x80:
            start = 2 + (length & 0x7F)
            length = int.from_bytes(data[2:start], "big")
        found.append((tag, data[start : start + length]))
        data = data[start + length :]
    return found


def _moment(tag: int, text: bytes) -> datetime:
    digits = text.decode("ascii")
    if tag == _UTC_TIME:  # RFC 5280 §4.1.2.5.1: years below 50 are 20YY
        digits = ("20" if int(digits[:2]) < 50 else "19") + digits
    return datetime.strptime(digits, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
