"""A broker of openbrokerapi, which other people wrote, on two servers."""

import logging
import threading
from contextlib import suppress

import pytest

from osbctl.client.connection_options import ConnectionOptions
from osbctl.conformance.check import check_broker
from osbctl.findings import Severity

OPTIONS = ConnectionOptions(user="platform", password="correct-horse")
EXPECTED = {
    ("wire-plain-http", Severity.WARNING),
    ("wire-version-status", Severity.INFO),
    ("wire-request-identity", Severity.INFO),
}


def openbrokerapi_app() -> object:
    """As the documentation of openbrokerapi makes it."""
    flask = pytest.importorskip("flask")
    api = pytest.importorskip("openbrokerapi.api")
    from openbrokerapi.catalog import ServicePlan
    from openbrokerapi.service_broker import Service, ServiceBroker

    class Small(ServiceBroker):
        def catalog(self) -> Service:
            plan = ServicePlan(id="A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13", name="small", description="A small one.")
            return Service(
                id="6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4", name="db", description="A db.", bindable=True, plans=[plan]
            )

    made = flask.Flask(__name__)
    credentials = api.BrokerCredentials("platform", "correct-horse")
    made.register_blueprint(api.get_blueprint(Small(), credentials, logging.getLogger("broker")))
    return made


def check_findings(port: int) -> None:
    checked = check_broker(f"http://127.0.0.1:{port}/v2/catalog", OPTIONS)
    assert {(finding.rule, finding.severity) for finding in checked.findings} == EXPECTED
    assert b"A small one." in (checked.catalog or b"")


def test_openbrokerapi_with_flasks_server() -> None:
    made = openbrokerapi_app()
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, made, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        check_findings(server.port)
    finally:
        server.shutdown()
        thread.join(60)


def test_openbrokerapi_with_waitress() -> None:
    made = openbrokerapi_app()
    import waitress

    server = waitress.create_server(made, host="127.0.0.1", port=0)

    def run() -> None:
        with suppress(OSError):  # its select() may meet a socket that is closed at the end of the test
            server.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        check_findings(server.effective_port)
    finally:
        server.close()
        thread.join(60)
