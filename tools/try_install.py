"""Installs the wheel with pip and with pipx, and runs the commands.

    python tools/try_install.py python3.11 python3.15

Each Python gets a fresh environment, home and working folder. Ends with 1 at the first step that fails.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from base64 import b64encode
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*command: str | Path, **environment: str) -> str:
    """Output of `command`; on failure, exit with it."""
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=600
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def with_pip(python: str, wheel: Path, place: Path) -> Path:
    run(python, "-m", "venv", place)
    run(place / "bin" / "pip", "install", "--quiet", wheel)
    return place / "bin" / "osbctl"


def with_pipx(python: str, wheel: Path, place: Path) -> Path:
    places = {"PIPX_HOME": str(place / "home"), "PIPX_BIN_DIR": str(place / "bin"), "PIPX_MAN_DIR": str(place / "man")}
    run(sys.executable, "-m", "pipx", "install", "--quiet", "--python", python, wheel, **places)
    return place / "bin" / "osbctl"


def walk(osbctl: Path, folder: Path) -> None:
    """The first steps of a new user, in an empty folder."""
    catalog, credentials = folder / "my-catalog", folder / "credentials.json"
    run(osbctl, "--version")
    run(osbctl, "init", catalog)
    run(osbctl, "validate", ROOT / "catalogs" / "interface-example.json", catalog)
    password = run(osbctl, "hash-password", "platform", "--generate", "-o", credentials).split()[-1]
    command = [osbctl, "serve", catalog, "--credentials", credentials, "--insecure-http", "--port", "0"]
    broker = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        answer = ask(address(broker), "platform", password)
        broker.send_signal(signal.SIGTERM)
        code = broker.wait(timeout=30)
    finally:
        broker.kill()
    if b'"services"' not in answer or code:
        raise SystemExit(f"{osbctl}: the broker answered {answer[:80]!r} and ended with {code}")


def address(broker: subprocess.Popen[str]) -> str:
    assert broker.stderr
    told = ""
    for line in broker.stderr:
        told += line
        if re.search(r" serving \d+ service", line):
            return re.findall(r"listening on (http://\S+)", told)[0]
    raise SystemExit(f"the broker ended before it listened:\n{told}")


def ask(url: str, identity: str, password: str) -> bytes:
    request = urllib.request.Request(f"{url}/v2/catalog", headers={"X-Broker-API-Version": "2.14"})
    request.add_header("Authorization", "Basic " + b64encode(f"{identity}:{password}".encode()).decode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        body: bytes = answer.read()
    return body


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", scratch, ROOT)
        (wheel,) = Path(scratch).glob("*.whl")
        for python in sys.argv[1:]:
            for install in (with_pip, with_pipx):
                folder = Path(tempfile.mkdtemp(dir=scratch))
                walk(install(python, wheel, folder / "environment"), folder)
                print(f"{run(python, '--version').strip()} {install.__name__.replace('_', ' ')}: {wheel.name} works")


if __name__ == "__main__":
    main()
