"""TLS certificates: loaded, renewed, self-signed."""

import logging
import os
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from math import floor
from pathlib import Path

from osbctl.errors import ConfigError
from osbctl.extras import command_to_install
from osbctl.files import check_regular

_log = logging.getLogger("osbctl.broker")

SOON_DAYS = 14
"""Warn of a certificate that expires sooner."""

_SELF_SIGNED_DAYS = 30
"""Validity of a self-signed certificate."""

PROTOCOLS = ("http/1.1", "http/1.0")
"""Supported protocols, by their ALPN names."""

NO_COMMON_PROTOCOL = b"\x15\x03\x03\0\x02\x02\x78"
"""The fatal alert no_application_protocol (RFC 7301 §3.2), as a record before anything is encrypted."""


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

    def log_expiry_daily(self) -> None:
        """Log the expiry once a day in the last `SOON_DAYS`, and when it comes. Cheap: call it often."""
        days = floor(self.certificate.days_left())
        if days < SOON_DAYS and days != self._logged_days:
            self.log_expiry()

    def swap(self, new: Certificate) -> None:
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
    context.set_alpn_protocols(list(PROTOCOLS))
    try:
        for file in (cert_file, key_file):
            check_regular(file)
        context.load_cert_chain(cert_file, key_file, password=_no_password)
        return Certificate(context, expiry(cert_file.read_text(encoding="ascii", errors="replace")))
    except ssl.SSLError as error:
        raise ConfigError(
            f"the TLS certificate {cert_file} and key {key_file} cannot be used: {error.reason or error}",
            "both must be PEM, the key unencrypted and the one that the certificate was made for",
        ) from error
    except OSError as error:
        missing = key_file if cert_file.is_file() else cert_file
        raise ConfigError(f"cannot read {missing}: {error.strerror}") from error


def offers_http(hello: bytes) -> bool:
    """Return False if a client offers only protocols outside of `PROTOCOLS` (RFC 7301 §3.1), which `ssl` would accept.

    `hello` begins with a ClientHello that OpenSSL has accepted. One in several records, which no
    client sends, is not examined.
    """
    rest = hello[5 + 4 + 2 + 32 :]  # record, message, version, random
    for size in (1, 2, 1):  # session, cipher suites, compression
        _, rest = _vector(rest, size)
    extensions, _ = _vector(rest, 2)
    while len(hello) >= 9 and extensions:
        kind = extensions[:2]
        content, extensions = _vector(extensions[2:], 2)
        if kind == b"\0\x10":
            return any(bytes([len(name)]) + name.encode() in content for name in PROTOCOLS)
    return True


def _vector(data: bytes, size: int) -> tuple[bytes, bytes]:
    """Split off a TLS vector whose length field has `size` bytes; returns it and the rest."""
    end = size + int.from_bytes(data[:size], "big")
    return data[size:end], data[end:]


def _no_password() -> str:
    # Without this OpenSSL would prompt at the terminal.
    raise ConfigError("the TLS key is encrypted", "give a key without a passphrase, readable by this user only")


def expiry(pem: str) -> datetime:
    """End of validity of the first certificate in `pem`. Raises ConfigError if there is none.

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


@contextmanager
def _unseen_file(content: bytes) -> Iterator[Path]:
    """A file for OpenSSL, which reads nothing else: in memory on Linux, elsewhere in a folder of mode 0700."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("osbctl", os.MFD_CLOEXEC), "wb") as file:
            file.write(content)
            file.flush()
            yield Path(f"/proc/self/fd/{file.fileno()}")
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pem")
        path.touch(mode=0o600)
        path.write_bytes(content)
        yield path


def self_signed() -> Certificate:
    """Create a certificate for localhost, 127.0.0.1 and ::1. Raises ConfigError without package `cryptography`."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError as error:
        raise ConfigError(
            "--self-signed needs the package cryptography",
            f"{command_to_install('self-signed')}, or give --tls-cert and --tls-key",
        ) from error
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), *(x509.IPAddress(ip_address(text)) for text in ("127.0.0.1", "::1"))]
    now = datetime.now(UTC)
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=_SELF_SIGNED_DAYS))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        # Strict clients (RFC 5280; Python since 3.13) require key identifiers.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = cert.public_bytes(serialization.Encoding.PEM)
    with _unseen_file(public) as cert_file, _unseen_file(private) as key_file:
        return load_certificate(cert_file, key_file)
