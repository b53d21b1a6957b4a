"""The extension for Visual Studio Code, packaged and installed in a real code-server, driven through Chromium.

The server's native modules are not compiled: npm runs no scripts of packages here, and an editor without a terminal needs none.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import osbctl
from tests.folders import catalogs_folder
from tests.pages.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
CODE_SERVER = {"20": "4.100.3", "22": "4.112.0", "24": "4.139.1"}  # the last release for each Node.js
NPM = ["npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
WAIT = 60_000  # milliseconds that a new user would wait


def npm_install(folder: Path, *packages: str) -> None:
    """Install into `folder`; the test is skipped by name where that is not possible."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm on PATH")
    try:
        done = subprocess.run([*NPM, *packages], cwd=folder, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm does not install {' '.join(packages) or folder.name} within ten minutes")
    if done.returncode:
        pytest.skip(f"npm cannot install {' '.join(packages) or folder.name}: {done.stderr[-200:]}")


@pytest.fixture(scope="module")
def server_program() -> Path:
    """The server of code-server, which is VS Code for a browser. Kept under build/ for the next run."""
    node = shutil.which("node")
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout[1:3] if node else ""
    if version not in CODE_SERVER:
        pytest.skip(f"no release of code-server is known for Node.js {version or '(not installed)'}")
    folder = ROOT / "build" / f"code-server-{CODE_SERVER[version]}"
    vscode = folder / "node_modules" / "code-server" / "lib" / "vscode"
    if not (vscode / "node_modules.asar").is_symlink():
        folder.mkdir(parents=True, exist_ok=True)
        npm_install(folder, "--prefix", ".", f"code-server@{CODE_SERVER[version]}")
        npm_install(vscode, "--omit=dev")
        npm_install(vscode / "extensions", "--omit=dev")
        (vscode / "node_modules.asar").symlink_to("node_modules")
    return vscode / "out" / "server-main.js"


@pytest.fixture(scope="module")
def vsix() -> Path:
    """The package, as `make extension` builds it."""
    if not (EXTENSION / "node_modules").is_dir():
        npm_install(EXTENSION)
    subprocess.run(["npm", "run", "--silent", "package"], cwd=EXTENSION, check=True, capture_output=True, timeout=300)
    return ROOT / "dist" / "osbctl.vsix"


def install_osbctl(folder: Path) -> None:
    """Make `.venv` in a workspace, with osbctl and its extra lsp from a wheel of this checkout."""
    subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
    pip = [str(folder / ".venv" / "bin" / "pip"), "install", "--quiet", f"{ROOT}[lsp]"]
    subprocess.run(pip, check=True, timeout=300)


@contextmanager
def served(program: Path, vsix: Path, home: Path) -> Iterator[str]:
    """The address of a code-server with an empty home and the extension installed."""
    environment = {
        "PATH": f"{Path(shutil.which('node') or '').parent}:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
    }
    folders = ["--server-data-dir", str(home / "data"), "--extensions-dir", str(home / "extensions")]
    command = ["node", str(program), *folders, "--accept-server-license-terms"]
    installed = subprocess.run(
        [*command, "--install-extension", str(vsix)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert "was successfully installed" in installed.stdout, installed.stdout + installed.stderr
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    listen = ["--host", "127.0.0.1", "--port", str(port), "--without-connection-token"]
    with (home / "server.log").open("w") as log:
        process = subprocess.Popen([*command, *listen], env=environment, stdout=log, stderr=log, cwd=home)
    try:
        await_answer(f"http://127.0.0.1:{port}/")
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def await_answer(url: str) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
        else:
            return
    pytest.fail("code-server does not answer")


def open_file(page: Page, address: str, file: Path) -> None:
    opened = json.dumps([["openFile", f"vscode-remote://{address}{file}"]])
    page.goto(f"http://{address}/?folder={file.parent}&payload={urllib.parse.quote(opened)}")


@pytest.mark.browser
def test_a_newcomer_sees_a_finding_and_mends_it(server_program: Path, vsix: Path, tmp_path: Path) -> None:
    """Installing osbctl and the extension is all it takes; before that, a message says what to type."""
    workspace, home = tmp_path / "my-broker", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    shutil.copy(catalogs_folder() / "faulty.yaml", workspace / "catalog.yaml")
    with served(server_program, vsix, home) as address, chromium() as browser:
        page = browser.new_context(viewport={"width": 1300, "height": 900}).new_page()
        page.set_default_timeout(WAIT)
        open_file(page, address, workspace / "catalog.yaml")
        page.locator(".notification-toast", has_text="not on PATH. Type: pipx install").wait_for()

        install_osbctl(workspace)
        page.get_by_text("Yes, I trust the authors").click()
        page.locator(".squiggly-error").first.wait_for()

        page.get_by_text('"true"').first.click()
        page.keyboard.press("Control+Period")
        page.get_by_text("Set bindable to true").wait_for()
        page.keyboard.press("Enter")
        page.locator(".view-line", has_text=re.compile(r"bindable:\s+true")).wait_for()

        page.keyboard.press("Control+End")
        page.keyboard.type("        descr")
        choose(page, "description")
        page.locator(".view-line", has_text=re.compile(r"^\s+description:\s*$")).wait_for()

        page.keyboard.press("Enter")
        page.keyboard.press("Shift+Home")
        page.keyboard.type("osb-plan")
        choose(page, "osb-plan")
        page.locator(".view-line", has_text=re.compile(r"-\s+id:\s+[0-9a-f-]{36}")).wait_for()


def choose(page: Page, label: str) -> None:
    """Ask for completion and take the entry of this name."""
    page.keyboard.press("Control+Space")
    page.locator(".suggest-widget .monaco-list-row", has_text=label).first.click()


def test_what_the_extension_says_is_what_osbctl_is() -> None:
    """The version is that of osbctl, the files of the manifest are there, and every snippet makes its ids anew."""
    manifest = json.loads((EXTENSION / "package.json").read_text())
    assert manifest["version"] == osbctl.__version__
    for entry in manifest["contributes"]["snippets"]:
        snippets = json.loads((EXTENSION / entry["path"]).read_text())
        assert {snippet["prefix"] for snippet in snippets.values()} == {
            "osb-service",
            "osb-plan",
            "osb-cost",
            "osb-schema",
        }
        ids = [line for snippet in snippets.values() for line in snippet["body"] if re.search(r"\bid\b", line)]
        assert len(ids) == 3
        assert all("${UUID}" in line for line in ids)
