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
import yaml
from lsprotocol import types

import osbctl
from osbctl.editor.completion import new_catalog
from osbctl.editor.open_files import find_source
from osbctl.editor.text_document import TextDocument
from osbctl.sources.discovery import may_be_catalog
from tests.corpus import catalogs
from tests.editor.test_features import GUID, ID
from tests.editor.test_other_files import OTHERS
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
    path = f"{Path(shutil.which('node') or '').parent}:/usr/bin:/bin"
    environment = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8"}
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
    """Installing osbctl and the extension is all it takes; before that, the status bar leads to what to type."""
    workspace, home = tmp_path / "my-broker", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    shutil.copy(catalogs_folder() / "faulty.yaml", workspace / "catalog.yaml")
    with served(server_program, vsix, home) as address, chromium() as browser:
        page = browser.new_context(viewport={"width": 1300, "height": 900}).new_page()
        page.set_default_timeout(WAIT)
        open_file(page, address, workspace / "catalog.yaml")
        trusted = page.get_by_text("Yes, I trust the authors")
        trusted.wait_for()
        status = page.locator(".statusbar-item", has_text="osbctl")
        status.wait_for()
        assert page.locator(".notification-toast").count() == 0

        install_osbctl(workspace)
        trusted.click()
        page.locator(".squiggly-error").first.wait_for()
        status.wait_for(state="hidden")

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


@pytest.mark.browser
def test_other_projects_are_left_alone_and_problems_are_quiet(server_program: Path, vsix: Path, tmp_path: Path) -> None:
    """Beside a package.json nothing starts; beside a catalog an item of the status bar leads to the line to type."""
    workspace, home = tmp_path / "shop", tmp_path / "home"
    program = workspace / ".venv" / "bin" / "osbctl"
    program.parent.mkdir(parents=True)
    home.mkdir()
    program.write_text("#!/bin/sh\ntouch started\nexit 3\n")
    program.chmod(0o755)
    for name, text in {"package.json": '{"name": "shop"}', "catalog.yaml": ""}.items():
        (workspace / name).write_text(text)
    with served(server_program, vsix, home) as address, chromium() as browser:
        page = browser.new_context(viewport={"width": 1300, "height": 900}).new_page()
        page.set_default_timeout(WAIT)
        open_file(page, address, workspace / "package.json")
        page.get_by_text("Yes, I trust the authors").click()
        page.locator(".view-line", has_text="shop").wait_for()
        pick(page, "F1", "Show Running Extensions")
        activated = re.compile("osbctl.*Activation", re.DOTALL)
        page.locator(".runtime-extensions-editor .extension", has_text=activated).wait_for()
        assert not (workspace / "started").exists()
        program.unlink()

        open_from_list(page, "catalog.yaml")
        status = page.locator(".statusbar-item", has_text="osbctl")
        status.wait_for()
        assert page.locator(".notification-toast").count() == 0
        page.keyboard.press("Control+Space")
        first = page.locator(".suggest-widget .monaco-list-row").first
        first.wait_for()
        assert "osb-catalog" in first.inner_text()
        first.click()
        page.locator(".view-line", has_text=re.compile(r"-\s+id:\s+[0-9a-f-]{36}")).first.wait_for()

        open_from_list(page, "package.json")
        status.wait_for(state="hidden")
        open_from_list(page, "catalog.yaml")
        status.click()
        page.locator(".notification-toast", has_text=INSTALL_LINE).wait_for()


INSTALL_LINE = "not on PATH. In a clone of osbctl, type: pipx install --force '.[lsp]'"


def open_from_list(page: Page, name: str) -> None:
    """Open a file of the workspace by its name."""
    pick(page, "Control+p", name)
    page.locator(".tab.active", has_text=name).wait_for()


def pick(page: Page, keys: str, label: str) -> None:
    """Open a list with these keys, and take the entry of this name."""
    page.keyboard.press(keys)
    page.locator(".quick-input-widget input").first.wait_for()
    page.keyboard.type(label)
    page.locator(".quick-input-list .monaco-list-row", has_text=label).first.click()


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
        prefixes = {f"osb-{what}" for what in ("catalog", "service", "plan", "cost", "schema")}
        assert {snippet["prefix"] for snippet in snippets.values()} == prefixes
        ids = [line for snippet in snippets.values() for line in snippet["body"] if re.search(r"\bid\b", line)]
        assert len(ids) == 5
        assert all("${UUID}" in line for line in ids)


@pytest.mark.parametrize("language", ["yaml", "json"])
def test_the_snippet_of_a_catalog_is_what_the_server_offers(language: str) -> None:
    """Both give the same catalog, so that it does not matter which of them an editor has."""
    snippets = json.loads((EXTENSION / "snippets" / f"{language}.json").read_text())
    text = "\n".join(snippets["OSB catalog"]["body"]).replace("${UUID}", ID).replace("$0", "")
    text = re.sub(r"\$\{\d\|true,false\|\}", "true", re.sub(r"\$\{\d:([^}]*)\}", r"\1", text))
    (offered,) = new_catalog(TextDocument(f"catalog.{language}", ""), types.Position(0, 0), snippets=False)
    assert offered.text_edit
    assert yaml.safe_load(text) == yaml.safe_load(re.sub(GUID, ID, offered.text_edit.new_text))


LEFT_ALONE = {
    **{name: text for name, text in OTHERS.items() if not re.search(r"\b(plans|bindable)\b", text) and text[0] != "{"},
    "package.json": '{"name": "shop", "version": "1.0.0", "scripts": {"services": "node ."}}',
    "tsconfig.json": '{"compilerOptions": {"strict": true}} // services',
    "values.yaml": "services:\n  web:\n    port: 80\n",
    "empty.yaml": "",
    "services/web.yaml": "port: 80\n",
}


@pytest.mark.browser
def test_the_extension_starts_for_what_the_server_takes(tmp_path: Path) -> None:
    """For each beginning of a catalog, too; and for no file whose text shows that it belongs to another program."""
    if not (EXTENSION / "node_modules").is_dir():
        npm_install(EXTENSION)
    built = tmp_path / "evidence.js"
    options = ["--platform=node", f"--outfile={built}", "--log-level=error", "--format=cjs"]
    subprocess.run(["node_modules/.bin/esbuild", "src/evidence.ts", *options], cwd=EXTENSION, check=True)
    shutil.copytree(catalogs_folder() / "source", tmp_path / "source")
    parts = [file for file in (tmp_path / "source").rglob("*.*") if file.suffix in (".yaml", ".json")]
    texts = {str(file): file.read_text() for file in parts}
    files = [file for file in (*catalogs_folder().glob("*.*"), *catalogs()) if may_be_catalog(file.name)]
    whole = {str(tmp_path / str(n) / file.name): file.read_text() for n, file in enumerate(files)}
    begun = {
        str(tmp_path / f"{n}-{Path(name).name}"): "".join(text.splitlines(keepends=True)[:n])
        for name, text in whole.items() for n in (1, 2, 3, 5, 8, 13, 40)
    }  # fmt: skip
    named = "services:\n- name: a"
    few = [named, "ser", "services:", "# ours\n", '{"services": [{"name": ', f"{named}\n  metadata: {{x: 1}}"]
    for name in ("catalog.yaml", "a.yaml"):
        begun |= {str(tmp_path / f"{n}" / name): text for n, text in enumerate(few)}
    cases = [*LEFT_ALONE.items(), *texts.items(), *whole.items(), *begun.items()]
    script = "const {mayBeCatalog} = require(process.argv[1]); const cases = JSON.parse(require('fs').readFileSync(0));"
    script += "console.log(JSON.stringify(cases.map(([path, text]) => mayBeCatalog(path, text))))"
    command = ["node", "-e", script, built]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=True)
    answers = dict(zip([name for name, _ in cases], json.loads(done.stdout), strict=True))
    assert [name for name in LEFT_ALONE if answers[name]] == []
    taken = [name for name, text in cases if find_source(name, text)]
    assert len(taken) > 20
    assert [name for name in taken if not answers[name]] == []
