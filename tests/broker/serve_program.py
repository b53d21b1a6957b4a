"""A program that serves a file, for tests that need signals and processes: options as JSON in its argument."""

import json
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

from osbctl.broker import logs
from osbctl.broker.authenticator import CredentialCheck, Decision, RequestOutcome
from osbctl.broker.catalog_app import Response
from osbctl.broker.reload import WatchedFiles
from osbctl.broker.serve import serve
from osbctl.broker.settings import ServeOptions, Settings
from osbctl.errors import ConfigError, OsbctlError


class Catalog:
    """The application and its catalog in one."""

    modified, etag = 0, '"1"'

    def __init__(self, path: Path) -> None:
        self.path, self.body = path, path.read_bytes()
        self.catalog = self

    def __call__(self, _: object) -> Response:
        return Response("200 OK", (("X-Pid", str(os.getpid())),), self.body)

    def load(self) -> bytes:
        body = self.path.read_bytes()
        if body == b"bad":
            raise ConfigError("the catalog is bad")
        return body

    def swap(self, body: bytes) -> None:
        self.body = body


def main() -> int:
    told = json.loads(sys.argv[1])
    logs.configure_logging(told.get("log_format", "text"))
    catalog = Catalog(Path(told.pop("file")))
    ends = told.pop("threads_end", False)
    settings = Settings(**told.pop("settings", {}))
    for name in ("tls_cert", "tls_key", "unix_socket"):
        if name in told:
            told[name] = Path(told[name])
    told["trusted_proxies"] = tuple(told.get("trusted_proxies", ()))

    def make() -> SimpleNamespace:
        watched = WatchedFiles("catalog", lambda: [catalog.path], catalog.load, catalog.swap)
        check = CredentialCheck(Decision(RequestOutcome.ACCEPTED, "main"))
        thread = threading.Thread(target=lambda: None, name="a stand-in")
        thread.start()
        threads = {"thread": thread if ends else threading.current_thread()}
        authenticator = SimpleNamespace(check=lambda *_: check, queue_length=0, close=lambda: None, **threads)
        told = {"summary": ["1 service, 2 plans"], "log_new_expiry": lambda: None}
        return SimpleNamespace(app=catalog, authenticator=authenticator, watched=[watched], **told)

    try:
        return serve(ServeOptions(settings=settings, **told), make, os.environ)
    except OsbctlError as error:
        print(error.message, error.advice, sep="\n", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
