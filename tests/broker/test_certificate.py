"""The served certificate: self-signed, renewed, expired, expiring soon."""

from __future__ import annotations

import fcntl
import os
import pty
import ssl
import subprocess
import sys
import tempfile
import termios
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization

from osbctl.broker import tls
from osbctl.broker.reload import Watcher
from osbctl.broker.serve import load_tls
from osbctl.broker.settings import ServeOptions
from osbctl.broker.shared_state import Stats
from osbctl.broker.tls import Certificate, Tls
from osbctl.credentials.file import write_record
from osbctl.credentials.record import make_record
from tests.broker.harness import Authority, until
from tests.broker.processes import admin, over_tls, process
from tests.cli.program import ROOT


def test_certificate_is_reloaded(tmp_path: Path, authority: Authority, trust: ssl.SSLContext) -> None:
    cert, key = authority.issue("served")
    with process(tmp_path, tls_cert=str(cert), tls_key=str(key)) as broker:
        cert.write_text("broken")
        assert until(lambda: "cannot reload the certificate" in broker.log)
        assert over_tls(trust, broker.port())[0] == 200
        authority.issue("served", days=9)
        assert until(lambda: "the certificate lasts 9 days" in broker.log)
        assert over_tls(trust, broker.port())[0] == 200


def test_expired_certificate_does_not_replace_a_valid_one(
    tmp_path: Path, authority: Authority, trust: ssl.SSLContext
) -> None:
    cert, key = authority.issue("expiring", days=9)
    told = {"tls_cert": str(cert), "tls_key": str(key), "admin_listen": "127.0.0.1:0"}
    with process(tmp_path, **told) as broker:
        authority.issue("expiring", days=-0.01)
        assert until(
            lambda: "cannot reload the certificate, the old version stays in use: the certificate expired" in broker.log
        )
        assert over_tls(trust, broker.port())[0] == 200
        assert admin(broker.port("admin on"), "/readyz") == (200, b"ready, but the certificate lasts 9 days\n")
    with process(tmp_path, **told) as broker:  # at the start an expired certificate is logged, and served
        assert "ERROR the certificate expired on" in broker.log
        assert admin(broker.port("admin on"), "/readyz") == (200, b"ready, but the certificate has expired\n")


def test_a_certificate_renewed_during_the_start_is_loaded(authority: Authority) -> None:
    cert, key = authority.issue("renewed", days=9)
    served, watched = load_tls(ServeOptions(tls_cert=cert, tls_key=key))
    assert served
    authority.issue("renewed", days=20)
    watcher = Watcher(watched, Stats(), seconds=0.01)
    try:
        watcher.start()
        assert until(lambda: served.certificate.days_left() > 19)
    finally:
        watcher.close()


def test_certificate_expiry_is_logged_daily(caplog: pytest.LogCaptureFixture) -> None:
    certificate = Certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), datetime(2030, 1, 31, 12, tzinfo=UTC))
    served = Tls(certificate)
    with pytest.MonkeyPatch.context() as patch:
        for days in (20.0, 14.1, 13.9, 13.2, 12.9, 0.1, -0.1, -0.2, -1.1):
            patch.setattr(Certificate, "days_left", lambda _, days=days: days)
            served.log_expiry_daily()
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3 + ["ERROR"] * 2
    assert "the certificate lasts 13 days, until 2030-01-31 12:00 UTC" in caplog.text
    assert "the certificate expired on 2030-01-31 12:00 UTC" in caplog.text


def test_encrypted_key_does_not_prompt(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    key = serialization.load_pem_private_key(pair[1].read_bytes(), None)
    locked = tmp_path / "locked.key"
    secret = serialization.BestAvailableEncryption(b"secret")
    form = serialization.PrivateFormat.PKCS8
    locked.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, secret))
    write_record(tmp_path / "c.json", make_record("platform", "right", rounds=1000))
    command = [sys.executable, "-m", "osbctl", "serve", "catalogs/interface-example.json", "--tls-cert", str(pair[0])]
    command += ["--tls-key", str(locked), "--credentials", str(tmp_path / "c.json"), "--port", "0"]
    ours, theirs = pty.openpty()
    try:
        ran = subprocess.run(
            command,
            stdin=theirs,
            capture_output=True,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),  # OpenSSL asks at the controlling one
            cwd=ROOT,
            timeout=20,
        )
        os.set_blocking(ours, False)
        with pytest.raises(BlockingIOError):
            os.read(ours, 100)
    finally:
        os.close(ours)
        os.close(theirs)
    assert ran.returncode == 3
    assert "the TLS key is encrypted" in ran.stderr


def test_self_signed_key_is_never_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a folder for temporary files")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    certificate, pem = tls.self_signed()
    assert 29 < certificate.days_left() < 31
    assert "PRIVATE" not in pem


def test_self_signed_key_without_memfd_create(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    assert 29 < tls.self_signed()[0].days_left() < 31
