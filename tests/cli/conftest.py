"""A certificate authority for the brokers of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.broker.harness import Authority, certificate


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    from cryptography.hazmat.primitives import serialization

    made = Authority(tmp_path, tmp_path / "ca.pem")
    cert = certificate(made.key, made.key, "test authority", ca=True, days=50)
    made.cert.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    return made
