"""TLS certificates: loaded and renewed."""

import logging
import re
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor
from pathlib import Path

from osbctl.errors import ConfigError
from osbctl.files import check_regular_file

_log = logging.getLogger("osbctl.broker")

SOON_DAYS = 14
"""Warn of a certificate that expires sooner."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A loaded certificate: its context and its expiry (UTC)."""

    context: ssl.SSLContext
    not_after: datetime

    def days_left(self) -> float:
        """Days until expiry; negative afterwards."""
        return (self.not_after - datetime.now(UTC)).total_seconds() / 86400

    def __str__(self) -> str:
        days, until = self.days_left(), self.not_after.strftime("%Y-%m-%d %H:%M UTC")
        if days < 0:
            return f"the certificate expired on {until}"
        return f"the certificate lasts {days:.0f} days, until {until}"


class Tls:
    """TLS context of new connections; open ones keep theirs if a reload replaces `certificate`."""

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        self._logged_days: int | None = None

    def log_expiry(self) -> None:
        days = floor(self.certificate.days_left())
        level = logging.INFO if days >= SOON_DAYS else logging.WARNING if days >= 0 else logging.ERROR
        _log.log(level, "%s", self.certificate)
        self._logged_days = days

    def log_expiry_if_soon(self) -> None:
        """Log the expiry once a day in the last `SOON_DAYS`, and when it comes. Cheap: call it often."""
        days = floor(self.certificate.days_left())
        if days < SOON_DAYS and days != self._logged_days:
            self.log_expiry()

    def replace_certificate(self, new: Certificate) -> None:
        self.certificate = new
        self.log_expiry()

    def check_not_expired(self, new: Certificate) -> Certificate:
        """Return `new`. Raises ConfigError if it has expired while the current one has not."""
        if new.days_left() < 0 <= self.certificate.days_left():
            raise ConfigError(f"{new}", "renew it")
        return new


def load_certificate(cert_file: Path, key_file: Path) -> Certificate:
    """Read a PEM certificate chain and its key. Raises ConfigError if they cannot be read or do not match."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # RFC 9325: no compression, no renegotiation.
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    context.set_alpn_protocols(["http/1.1"])
    try:
        for file in (cert_file, key_file):
            check_regular_file(file)
        context.load_cert_chain(cert_file, key_file, password=_refuse_encrypted_key)
        return Certificate(context, parse_certificate_expiry(cert_file.read_text(encoding="ascii", errors="replace")))
    except ssl.SSLError as error:
        reason = f": {error.reason}" if error.reason else ""
        raise ConfigError(
            f"the TLS certificate {cert_file} and key {key_file} cannot be used{reason}",
            "both must be PEM, the key unencrypted and the one that the certificate was made for",
        ) from error
    except OSError as error:
        missing = key_file if cert_file.is_file() else cert_file
        raise ConfigError(f"cannot read {missing}: {error.strerror}") from error


def _refuse_encrypted_key() -> str:
    """Raise ConfigError; OpenSSL calls this for a password, and would prompt at the terminal without it."""
    raise ConfigError("the TLS key is encrypted", "give a key without a passphrase, readable by this user only")


def parse_certificate_expiry(pem: str) -> datetime:
    """Parse the end of validity of the first certificate in `pem`. Raises ConfigError if there is none.

    RFC 5280 §4.1.2.5: a certificate has two adjacent times, begin and end. Their years have two digits
    (tag 0x17, below 50 they are 20YY) or four (0x18).
    """
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    first = pem.find(begin)
    try:
        der = ssl.PEM_cert_to_DER_cert(pem[first : pem.index(end, first) + len(end)])
        times = re.search(rb"(?:\x17\r\d{12}Z|\x18\x0f\d{14}Z)(?:\x17\r(\d{12}Z)|\x18\x0f(\d{14}Z))", der)
        short, long = times.groups() if times else (b"", b"")
        digits = (long or (b"20" if short[:2] < b"50" else b"19") + short).decode()
        return datetime.strptime(digits, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise ConfigError("the certificate file contains no readable certificate") from error
