"""The demonstrations of the README, run as they stand there."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from osbctl.credentials.file import write_record
from osbctl.credentials.record import make_record
from tests.broker.conftest import authority as authority
from tests.cli.machine import PASSWORD, Machine
from tests.cli.program import ROOT
from tools.walk import start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker.harness import Authority


def block(heading: str) -> list[str]:
    """The lines of the last block of commands under a heading."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"(?ms)^```console\n(.*?)^```", text)[-1].splitlines()


def run(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == int("# exit 1" in line), line + done.stdout + done.stderr
    return done


def test_a_catalog_is_built(tmp_path: Path) -> None:
    walk = start(tmp_path)
    shutil.copytree(ROOT / "catalogs", walk.folder / "catalogs")
    lines = block("Build")
    assert len(lines) == 6
    for line in lines:
        run(line.replace("exit 1", "1"), walk.folder, walk.environment)


def test_drift_is_seen_and_goes_away(tmp_path: Path, authority: Authority) -> None:
    walk = start(tmp_path)
    machine = Machine(walk.folder)
    shutil.copy(ROOT / "catalogs" / "data-services.yaml", walk.folder / "catalog.yaml")
    shutil.copy(authority.cert, walk.folder / "tls.crt")
    write_record(walk.folder / "credentials.json", make_record("platform", PASSWORD, rounds=1000))
    environment = {**walk.environment, **machine.environment, "PATH": walk.environment["PATH"]}
    lines = [
        line for line in block("Check and watch brokers") if line.startswith(("osbctl brokers", "osbctl drift", "sed"))
    ]
    assert len(lines) == 8
    with machine.serving(*authority.issue("broker")) as address:
        environment["OSBCTL_BROKER_DATA_URL"] = address  # as the block exports it
        assert "export OSBCTL_BROKER_DATA_URL=https://localhost:8443" in "\n".join(block("Check and watch brokers"))
        for line in lines:
            done = run(line.replace("https://localhost:8443", address), walk.folder, environment)
            assert ("# silent" not in line) or done.stdout + done.stderr == "", line


def test_what_needs_an_extra_names_it_beside() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for command, extra in (("`osbctl lsp`", "[lsp]"), ("`--self-signed`", "[self-signed]")):
        paragraph = next(part for part in text.split("\n\n") if command in part)
        assert re.search(rf"pipx install --force '[^']*{re.escape(extra)}", paragraph), command


def test_the_page_is_made_of_what_a_reader_has() -> None:
    lines = block("Page")
    assert lines[0].startswith("osbctl page catalog.yaml")
    assert not [line for line in lines if re.search(r"page .*\bdata\b", line)]
