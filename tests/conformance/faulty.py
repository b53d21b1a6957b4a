"""A broker that meets the contract except for one chosen fault."""

import base64
import gzip
import itertools
import json
import socketserver
import ssl
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from osbctl.client.connection_options import basic_auth

USER, PASSWORD = "platform", "correct-horse"
CATALOG = {
    "services": [
        {
            "id": "6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4",
            "name": "db",
            "description": "A database.",
            "bindable": True,
            "plan_updateable": False,
            "metadata": {"displayName": "DB"},
            "tags": ["db"],
            "dashboard_client": {"id": "db", "secret": "s3cr3t-of-db", "redirect_uri": "https://db.example.com"},
            "plans": [
                {
                    "id": "A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13",
                    "name": "small",
                    "description": "A small one.",
                    "free": True,
                }
            ],
        }
    ]
}
SLOW_SECONDS = 0.2
HOPS = {
    "redirects": {"/v2/catalog": "/elsewhere/v2/catalog"},
    "redirects-308": {"/v2/catalog": "/elsewhere/v2/catalog"},
    "redirects-twice": {"/v2/catalog": "/v2/catalog/", "/v2/catalog/": "/elsewhere/v2/catalog"},
}
PLACES = {
    "redirects-away": "https://example.com/v2/catalog",
    "redirects-nowhere": "http://[::1",
    "redirects-up": "https://localhost:1/v2/catalog",
}


class Handler(BaseHTTPRequestHandler):
    """Answers as the fault of its server wants."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def handle_one_request(self) -> None:
        if self.server.fault == "drips-head":
            self.connection.recv(65_536)
            self._send_slowly(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 60_000)
        elif self.server.fault == "garbage":
            self.connection.recv(65_536)
            self.wfile.write(b"\x00\x01 SSH-2.0 what do you want\r\n\r\n")
            self.close_connection = True
        elif self.server.fault == "closes":
            self.connection.recv(65_536)
            self.close_connection = True
        else:
            super().handle_one_request()

    def do_GET(self) -> None:
        fault, self.count = self.server.fault, next(self.server.counter)
        if fault == "hangs" or (fault == "hangs-later" and self.count):
            self.server.stop.wait(1000)
            self.close_connection = True
        elif fault == "limits" and self.count >= 4:
            self._send_error(429)
        elif fault == "throttles" and self.count >= 4:
            self._send(503, b'{"description": "Later."}', {"Retry-After": "5"})
        elif fault == "loops":
            self._send(302, b"", {"Location": "/elsewhere/v2/catalog"})
        elif fault == "gateway":
            self._send(503, b"<html>try again later</html>", {"Content-Type": "text/html"})
        elif fault == "open-and-closes" and "%" in self.headers.get("Authorization", ""):
            self.close_connection = True
        elif not self._is_authorized() and not fault.startswith("open"):
            self.server.locked |= fault == "locks"
            self._refuse_credentials()
        else:
            self._route_request()

    def _route_request(self) -> None:
        fault = self.server.fault
        asked = self.requestline.split()[1].partition("?")[0]  # `path` has lost a doubled slash already
        path = asked.replace("//", "/") if fault != "double-slash" else asked
        if fault.startswith("redirects") and path in HOPS.get(fault, {}):
            return self._send(308 if fault.endswith("308") else 301, b"", {"Location": HOPS[fault][path]})
        if fault.startswith("cleans-") and "//" in asked:
            return self._send(int(fault[-3:]), b"", {"Location": "/v2/catalog"})
        if fault in PLACES:
            return self._send(302, b"", {"Location": PLACES[fault]})
        if path.removeprefix("/elsewhere") != "/v2/catalog" or (fault == "keyed" and "?key=" not in self.requestline):
            return self._send_error(404)
        version = self.headers.get("X-Broker-API-Version")
        if fault == "empty-version" and version == "":
            return self._send_catalog()
        if fault != "version-unchecked" and not (version or "").startswith("2."):
            return self._send_error({"version-400": 400, "version-500": 500}.get(fault, 412))
        if version in {"version-old": ("2.17",), "version-new": ("2.14", "2.15")}.get(fault, ()):
            return self._send_error(412)
        return self._send_catalog()

    def _send_slowly(self, data: bytes) -> None:
        """Send byte by byte, each long before the client's patience with one ends; what comes here takes an hour."""
        for byte in data:
            if self.server.stop.wait(0.05):
                break
            self.wfile.write(bytes([byte]))
        self.close_connection = True

    def _is_authorized(self) -> bool:
        given = self.headers.get("Authorization", "")
        if self.server.locked:
            return False
        if self.server.fault == "any-password" and given.startswith("Basic ") and "%" not in given:
            return True
        if self.server.fault == "any-user":
            given = basic_auth(USER, base64.b64decode(given[6:] + "==").decode("latin-1").partition(":")[2])
        return given == basic_auth(USER, PASSWORD)

    def _refuse_credentials(self) -> None:
        fault = self.server.fault
        if fault == "plain-401":
            return self._send(401, b"no", {"Content-Type": "text/plain", "WWW-Authenticate": "Basic realm=x"})
        if fault == "forbidden":
            return self._send_error(403)
        if fault == "malformed-400" and "%" in self.headers.get("Authorization", ""):
            return self._send_error(400)
        challenges = {"two-challenges": 'Bearer realm="x", Basic realm="b"', "two-fields": 'Basic realm="x"\nBearer'}
        challenge = challenges.get(fault, 'Basic realm="x"')
        headers = {} if fault == "no-challenge" else {"WWW-Authenticate": challenge}
        if fault == "echoes-401":
            headers["X-Sent"] = self.headers.get("Authorization", "")
        return self._send_error(401, headers)

    def _faulty_catalog(self) -> dict[str, Any]:
        """The catalog, another one for some versions, or each time."""
        catalog: dict[str, Any] = json.loads(json.dumps(CATALOG))
        (service,) = catalog["services"]
        (plan,) = service["plans"]
        version = self.headers.get("X-Broker-API-Version") or ""
        match self.server.fault:
            case "unstable":
                plan["id"] = f"A1F7C254-3B6D-4C8E-8F02-{self.count:012}"
            case "updated":
                service["metadata"]["updatedAt"] = f"{self.count:04}"
            case "nests":
                service["metadata"] = json.loads(f'{{"{self.count}": ' * 700 + "1" + "}" * 700)
            case "reorders":
                service["plans"].insert(self.count % 2, {**plan, "id": "another", "name": "large"})
            case "empty-when-new" if version > "2.15":
                catalog["services"] = []
            case "less-when-new" if version > "2.15":
                del service["metadata"]
            case "own-password":
                service["description"] = f"Log in with {PASSWORD.upper().replace('-', '%2D')}."
            case "bad-catalog":
                del plan["name"]
        return catalog

    def _faulty_body(self) -> bytes:
        version = self.headers.get("X-Broker-API-Version") or ""
        body = json.dumps(self._faulty_catalog()).encode()
        html = b"<html>hello</html>"
        bodies = {
            "not-json": html,
            "html-when-new": html if version > "2.15" else body,
            "html-when-old": body if version > "2.15" else html,
            "a-list": b"[]",
            "not-200": b"{}",
            "nan": b'{"services": NaN}',
            "mark": b"\xef\xbb\xbf" + body,
            "trailing": body + b"\n--\n",
        }
        return bodies.get(self.server.fault, body)

    def _compress_body(self, body: bytes) -> tuple[bytes, dict[str, str]]:
        fault = self.server.fault
        if fault in ("br", "deflate", "identity", "utf-8"):
            return body if fault in ("identity", "utf-8") else zlib.compress(body), {"Content-Encoding": fault}
        if fault != "gzip-unasked" and "gzip" not in self.headers.get("Accept-Encoding", ""):
            return body, {}
        packed = gzip.compress(body)
        wrong = {"gzip-broken": b"this is no gzip", "gzip-half": packed[:-20]}
        return wrong.get(fault, packed), {"Content-Encoding": "x-gzip" if fault == "x-gzip" else "gzip"}

    def _send_catalog(self) -> None:
        fault, body = self.server.fault, self._faulty_body()
        html = fault == "content-type" or body.startswith(b"<html>")
        headers = {"Content-Type": "text/html" if html else "application/json"}
        if fault != "no-echo" and (identity := self.headers.get("X-Broker-API-Request-Identity")):
            headers["X-Broker-API-Request-Identity"] = identity
        if fault.startswith("own-header"):
            headers["X-Debug"] = self.headers.get("Authorization", "") + ("\n-" if fault == "own-header-first" else "")
        if fault == "two-fields":
            headers["Content-Type"] += "\napplication/json"
        if fault == "many-headers":
            headers |= {f"X-{number}": "" for number in range(100)}
        if fault == "leaks":
            headers["X-Broker-API-Request-Identity"] = self.headers.get("Authorization", "")
        body, packing = self._compress_body(body)
        headers |= packing
        if fault == "slow":
            time.sleep(SLOW_SECONDS)
        if fault == "not-modified":
            return self._send(304, b"", {})
        if fault == "created":
            return self._send(201, body, headers)
        status = 500 if fault == "not-200" else 200
        return self._send(status, body, headers, cut=fault == "cut")

    def _send_error(self, status: int, headers: dict[str, str] | None = None) -> None:
        description = {"description": "It does not go that way."}
        if self.server.fault == "echoes":
            description["description"] += " You sent " + self.headers.get("Authorization", "nothing")
        fields = {"Content-Type": "application/json", **(headers or {})}
        self._send(status, b"{}" if self.server.fault == "bare-errors" else json.dumps(description).encode(), fields)

    def _send(self, status: int, body: bytes, headers: dict[str, str], cut: bool = False) -> None:
        self.send_response_only(status)
        if self.server.fault == "drips-body":
            body += b" " * 60_000
        if status != 304:
            self.send_header("Content-Length", str(len(body) * 2 if cut else len(body)))
        self.send_header("Connection", "close")
        for name, value in headers.items():  # `X-Debug` is the last one
            for line in value.split("\n"):
                self.send_header(name, line)
        self.end_headers()
        if self.server.fault == "drips-body":
            self._send_slowly(body)
        else:
            self.wfile.write(body)
        self.close_connection = True


class Server(socketserver.ThreadingTCPServer):
    """The faulty broker; `asked` counts its connections."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, fault: str, context: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault, self.context = fault, context
        self.locked = False
        self.counter = itertools.count()
        self.asked = 0
        self.stop = threading.Event()

    def get_request(self) -> Any:
        connection, address = super().get_request()
        self.asked += 1
        if self.context:
            connection = self.context.wrap_socket(connection, server_side=True)
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no fault of the test."""


@contextmanager
def faulty(fault: str = "", context: ssl.SSLContext | None = None) -> Iterator[tuple[str, Server]]:
    """The address of the catalog of a running faulty broker, and the broker."""
    with Server(fault, context) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            scheme = "https" if context else "http"
            yield f"{scheme}://localhost:{server.server_address[1]}/v2/catalog", server
        finally:
            server.stop.set()
            server.shutdown()
            thread.join(60)
