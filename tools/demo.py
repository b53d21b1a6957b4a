"""Demo on a shipped catalog: validate, show, create a credential record, serve, and fetch like a platform.

At a terminal the broker runs until Ctrl-C; otherwise the demo ends with 0.
"""

import contextlib
import os
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.request
from base64 import b64encode
from pathlib import Path

CATALOG = "catalogs/data-services.yaml"
OSBCTL = [sys.executable, "-m", "osbctl"]


def step(text: str) -> None:
    print(f"\n\x1b[1m== {text}\x1b[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def run(*arguments: str, good: tuple[int, ...] = (0,)) -> None:
    print(f"$ osbctl {' '.join(arguments)}", flush=True)
    done = subprocess.run([*OSBCTL, *arguments], check=False)
    if done.returncode not in good:
        raise SystemExit(f"osbctl ended with {done.returncode}")


def ask(url: str, certificate: Path, identity: str, password: str) -> None:
    """Request the catalog like Cloud Foundry."""
    request = urllib.request.Request(f"{url}/v2/catalog")
    request.add_header("X-Broker-API-Version", "2.14")
    request.add_header("Authorization", "Basic " + b64encode(f"{identity}:{password}".encode()).decode())
    trust = ssl.create_default_context(cafile=str(certificate))
    with urllib.request.urlopen(request, context=trust, timeout=30) as answer:
        body = answer.read()
        print(f"{answer.status} {answer.headers['Content-Type']}, {len(body):,} bytes, ETag {answer.headers['ETag']}")
    print(body[:160].decode("utf-8", "replace") + "…")


def address(broker: subprocess.Popen[str]) -> str:
    """Wait for the address in the broker's log."""
    assert broker.stderr
    told = ""
    for line in broker.stderr:
        print(line, end="")
        told += line
        if re.search(r" serving \d+ service", line):
            return re.findall(r"listening on (https://\S+)", told)[0]
    raise SystemExit("the broker ended before it listened")


def forward(broker: subprocess.Popen[str]) -> None:
    """Print the rest of the broker's log, so that its pipe never fills."""
    for line in broker.stderr or ():
        print(line, end="")


def make_certificate(cert: Path, key: Path) -> None:
    """Make a certificate for a trial on this machine."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    print(f"$ {' '.join(command)}", flush=True)
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def serve(folder: Path) -> None:
    step("Make a credential record with a generated password")
    record = folder / "credentials.json"
    print(f"$ osbctl hash-password demo --generate -o {record}", flush=True)
    password = subprocess.run(
        [*OSBCTL, "hash-password", "demo", "--generate", "-o", str(record)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()
    step("Serve the catalog over HTTPS")
    cert, key = folder / "tls.crt", folder / "tls.key"
    make_certificate(cert, key)
    tls = ["--tls-cert", str(cert), "--tls-key", str(key)]
    arguments = ["serve", CATALOG, "--credentials", str(record), *tls, "--port", "0"]
    print(f"$ osbctl {' '.join(arguments)}", flush=True)
    broker = subprocess.Popen([*OSBCTL, *arguments], stderr=subprocess.PIPE, text=True)
    try:
        url = address(broker)
        step("Ask it as a platform would")
        print(f"$ curl --cacert {cert} -u demo:{password} -H 'X-Broker-API-Version: 2.14' {url}/v2/catalog")
        ask(url, cert, "demo", password)
        if sys.stdin.isatty() and sys.stdout.isatty():
            print("\nThe broker is up. Try the line above; Ctrl-C ends it.")
            threading.Thread(target=forward, args=[broker], daemon=True).start()
            with contextlib.suppress(KeyboardInterrupt):
                broker.wait()
    finally:
        broker.terminate()
        broker.wait(timeout=30)


def main() -> None:
    os.chdir(Path(__file__).parent.parent)
    step("Validate a good catalog")
    run("validate", CATALOG)
    step("Validate a faulty one")
    run("validate", "catalogs/faulty.yaml", good=(1,))
    step("Show the good one")
    run("show", CATALOG)
    with tempfile.TemporaryDirectory() as folder:
        serve(Path(folder))
    print("\nAll well.")


if __name__ == "__main__":
    main()
