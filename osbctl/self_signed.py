"""A self-signed certificate for testing, kept in memory (outside of Linux, in a private temporary folder)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from osbctl.errors import ConfigError
from osbctl.extras import command_to_install

DAYS = 30
"""Validity of a certificate, in days."""


@contextmanager
def unseen_file(content: bytes) -> Iterator[Path]:
    """Yield the path of a temporary file with `content`: OpenSSL reads only files.

    On Linux it is in memory; elsewhere in a folder of mode 0700.
    """
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


def make_certificate() -> tuple[bytes, bytes]:
    """Create a certificate for localhost, 127.0.0.1 and ::1, and its key, both as PEM.

    Raises ConfigError if the package `cryptography` is not installed.
    """
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
        .not_valid_after(now + timedelta(days=DAYS))
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
    return cert.public_bytes(serialization.Encoding.PEM), private
