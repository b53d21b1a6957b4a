"""The served certificate: renewed, expired, expiring soon."""

import ssl
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from osbctl.broker.reload import Watcher
from osbctl.broker.tls import Certificate, Tls
from tests.broker.harness import Authority, encrypted, until
from tests.broker.processes import admin, over_tls, process
from tests.cli.program import at_controlling_terminal
from tests.deploy.running import serve_options


def test_certificate_is_reloaded_if_valid(tmp_path: Path, authority: Authority, trust: ssl.SSLContext) -> None:
    cert, key = authority.issue("served")
    told = {"tls_cert": str(cert), "tls_key": str(key), "admin_listen": "127.0.0.1:0"}
    with process(tmp_path, **told) as broker:
        cert.write_text("broken")
        assert until(lambda: "cannot reload the certificate" in broker.log)
        assert over_tls(trust, broker.port())[0] == 200
        authority.issue("served", days=9)
        assert until(lambda: "the certificate lasts 9 days" in broker.log)
        authority.issue("served", days=-0.01)
        stays = "cannot reload the certificate, the old version stays in use: the certificate expired"
        assert until(lambda: stays in broker.log)
        authority.issue("served", begins=5)
        assert until(lambda: "stays in use: the certificate is not valid before" in broker.log)
        assert over_tls(trust, broker.port())[0] == 200
        authority.issue("served", begins=0.002, days=8)  # by a clock that is three minutes ahead
        assert until(lambda: "the certificate lasts 8 days" in broker.log)
        authority.issue("served", days=-0.01)
    with process(tmp_path, **told) as broker:  # at the start an expired certificate is logged, and served
        assert "ERROR the certificate expired on" in broker.log
        assert admin(broker.port("admin on"), "/readyz") == (200, b"ready\n")


def test_a_certificate_renewed_during_the_start_is_loaded(authority: Authority) -> None:
    cert, key = authority.issue("renewed", days=9)
    served = Tls(cert, key)
    authority.issue("renewed", days=20)
    watcher = Watcher([served.watched], Counter(), seconds=0.01)
    try:
        watcher.start()
        assert until(lambda: served.certificate.days_left() > 19)
    finally:
        watcher.close()


def test_certificate_expiry_is_logged_daily(pair: tuple[Path, Path], caplog: pytest.LogCaptureFixture) -> None:
    context, begin = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), datetime(2020, 1, 1, tzinfo=UTC)
    certificate = Certificate(context, begin, datetime(2030, 1, 31, 12, tzinfo=UTC))
    served = Tls(*pair)
    served.certificate = certificate
    with pytest.MonkeyPatch.context() as patch:
        for days in (20.0, 14.1, 13.9, 13.2, 12.9, 0.1, -0.1, -0.2, -1.1):
            patch.setattr(Certificate, "days_left", lambda _, days=days: days)
            served.log_expiry_if_soon()
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3 + ["ERROR"] * 2
    assert "the certificate lasts 13 days, until 2030-01-31 12:00 UTC" in caplog.text
    assert "the certificate expired on 2030-01-31 12:00 UTC" in caplog.text


def test_encrypted_key_does_not_prompt(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    locked = tmp_path / "locked.key"
    locked.write_bytes(encrypted(pair[1]))
    code, said = at_controlling_terminal("serve", *serve_options(tmp_path, (pair[0], locked)))
    assert (code, b"the TLS key is encrypted" in said, b"pass phrase" in said) == (3, True, False)
