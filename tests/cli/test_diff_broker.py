"""`osbctl diff` with a running broker on either side."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from osbctl.sources.yaml_text import dump
from tests.cli.broker_server import BASIC, PASSWORD, USER, broker
from tests.cli.machine import Machine
from tests.cli.test_diff import OLD, changed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker.harness import Authority


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "same.yaml").write_text(dump(OLD))
    (tmp_path / "new.yaml").write_text(dump(changed(free=False)))
    return Machine(tmp_path)


@pytest.fixture(scope="module")
def address(authority: Authority) -> Iterator[str]:
    with broker(OLD, authority.issue("diff")) as server:
        yield server.url


@pytest.fixture
def options(authority: Authority) -> tuple[str, ...]:
    return "--user", USER, "--password-stdin", "--ca-file", str(authority.cert)


def test_a_broker_on_either_side(machine: Machine, options: tuple[str, ...], address: str) -> None:
    assert machine.run("diff", *options, address, "same.yaml", stdin=PASSWORD) == ""
    told = machine.run("diff", *options, address, "new.yaml", code=1, stdin=PASSWORD)
    assert "change-free-to-paid" in told
    assert re.search(r"^    /services/0/plans/1/free → \d+:\d+$", told, re.MULTILINE)
    assert told.splitlines()[-1].startswith(f"{address}/v2/catalog → new.yaml: ")
    back = machine.run("diff", *options, "new.yaml", address, stdin=PASSWORD)
    assert "no breaking changes, but the catalogs differ" in back


def test_a_password_in_an_address_is_used_and_never_told(machine: Machine, authority: Authority, address: str) -> None:
    secret = address.replace("https://", f"https://{USER}:{PASSWORD}@")
    wrong = address.replace("https://", f"https://{USER}:x{PASSWORD}@")
    for form in ("text", "json", "markdown", "sarif"):
        machine.run("diff", "--ca-file", str(authority.cert), "-f", form, secret, "new.yaml", code=1)
    machine.run("diff", secret, "new.yaml", code=3)  # the certificate is of an unknown authority
    machine.run("diff", "--ca-file", str(authority.cert), wrong, "new.yaml", code=3)
    machine.run("show", secret, code=2)
    assert "authentication failed (401)" in machine.output
    assert "TLS failed" in machine.output
    assert "osbctl fetch" in machine.output
    assert PASSWORD not in machine.output
    assert BASIC not in machine.output


def test_one_password_on_standard_input_for_two_brokers(
    machine: Machine, options: tuple[str, ...], address: str
) -> None:
    assert machine.run("diff", *options, address, address.replace("https", "HTTPS"), stdin=PASSWORD) == ""


def test_standard_input_is_one_thing(machine: Machine) -> None:
    machine.run("diff", "--password-stdin", "https://localhost:1", "-", code=2)
