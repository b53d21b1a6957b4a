"""TLS certificates: loaded and renewed."""

import logging
import re
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import floor
from pathlib import Path

from osbctl.broker.reload import WatchedFiles
from osbctl.errors import ConfigError
from osbctl.files import check_regular_file, read_bounded

_log = logging.getLogger("osbctl.broker")

SOON_DAYS = 14  # warn of a certificate that expires sooner
LARGEST_FILE = 1 << 20  # bytes of a certificate chain or key at most; a usual chain has less than 10,000
_DATE = "%Y-%m-%d %H:%M UTC"
_CLOCK_SKEW = timedelta(minutes=5)  # of the authority, which may have issued a certificate just now


@dataclass(frozen=True, slots=True)
class Certificate:
    """A loaded certificate: its context, and when it begins and ceases to be valid (UTC)."""

    context: ssl.SSLContext
    not_before: datetime
    not_after: datetime

    @property
    def is_too_early(self) -> bool:
        """Return whether it is not valid yet."""
        return self.not_before > datetime.now(UTC) + _CLOCK_SKEW

    @property
    def is_valid(self) -> bool:
        """Return whether clients accept its dates now."""
        return self.days_left() >= 0 and not self.is_too_early

    def days_left(self) -> float:
        """Days until expiry; negative afterwards."""
        return (self.not_after - datetime.now(UTC)).total_seconds() / 86400

    def __str__(self) -> str:
        days, until = self.days_left(), self.not_after.strftime(_DATE)
        if self.is_too_early:
            return f"the certificate is not valid before {self.not_before.strftime(_DATE)}"
        if days < 0:
            return f"the certificate expired on {until}"
        return f"the certificate lasts {days:.0f} days, until {until}"


class Tls:
    """The certificate of new connections, from two PEM files that are watched; open connections keep theirs.

    Raises ConfigError if it cannot be used.
    """

    def __init__(self, cert_file: Path, key_file: Path) -> None:
        files = (cert_file, key_file)
        self.watched = WatchedFiles("certificate", lambda: files, self._load_certificate, self._replace, (key_file,))
        self.certificate = load_certificate(*files)
        self._logged_days: int | None = None

    def log_expiry(self) -> None:
        days = floor(self.certificate.days_left())
        level = logging.INFO if days >= SOON_DAYS else logging.WARNING
        _log.log(level if self.certificate.is_valid else logging.ERROR, "%s", self.certificate)
        self._logged_days = days

    def log_expiry_if_soon(self) -> None:
        """Log the expiry once a day in the last `SOON_DAYS`, and when it comes. Cheap: call it often."""
        days = floor(self.certificate.days_left())
        if days < SOON_DAYS and days != self._logged_days:
            self.log_expiry()

    def _replace(self, new: Certificate) -> None:
        self.certificate = new
        self.log_expiry()

    def _load_certificate(self) -> Certificate:
        """Load the next certificate. Raises ConfigError, also if it is not valid now while the current one is."""
        new = load_certificate(*self.watched.paths())
        if self.certificate.is_valid and not new.is_valid:
            raise ConfigError(f"{new}", "renew it" if new.days_left() < 0 else "send SIGHUP once it is valid")
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
            if len(read_bounded(file, LARGEST_FILE)) > LARGEST_FILE:  # OpenSSL would read all of it
                raise ConfigError(f"{file} is larger than {LARGEST_FILE:,} bytes", "give a PEM file")
        context.load_cert_chain(cert_file, key_file, password=_refuse_encrypted_key)
        pem = read_bounded(cert_file, LARGEST_FILE).decode("ascii", errors="replace")
        return Certificate(context, *parse_certificate_dates(pem))
    except ssl.SSLError as error:
        reason = f": {error.reason}" if error.reason else ""
        text = f"the TLS certificate {cert_file} and key {key_file} cannot be used{reason}"
        advice = "both must be PEM, the key unencrypted and the one that the certificate was made for"
        raise ConfigError(text, advice) from error
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from error


def _refuse_encrypted_key() -> str:
    """Raise ConfigError; OpenSSL calls this for a password, and would prompt at the terminal without it."""
    raise ConfigError("the TLS key is encrypted", "give a key without a passphrase, readable by this user only")


def parse_certificate_dates(pem: str) -> tuple[datetime, datetime]:
    """Parse begin and end of validity of the first certificate in `pem`. Raises ConfigError if there is none.

    RFC 5280 §4.1.2.5: a certificate has two adjacent times, begin and end. Their years have two digits
    (tag 0x17, below 50 they are 20YY) or four (0x18).
    """
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    first = pem.find(begin)
    try:
        der = ssl.PEM_cert_to_DER_cert(pem[first : pem.index(end, first) + len(end)])
        one_time = rb"(\x17\r\d{12}Z|\x18\x0f\d{14}Z)"
        times = re.search(one_time * 2, der)
        not_before, not_after = times.groups() if times else (b"", b"")
        return _parse_time(not_before), _parse_time(not_after)
    except ValueError as error:
        raise ConfigError("the certificate file contains no readable certificate") from error


def _parse_time(der: bytes) -> datetime:
    """Parse a time with its tag and length. Raises ValueError."""
    digits = der[2:].decode()
    if len(digits) == len("YYMMDDhhmmssZ"):
        digits = ("20" if digits[:2] < "50" else "19") + digits
    return datetime.strptime(digits, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
