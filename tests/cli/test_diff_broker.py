"""`osbctl diff` with a running broker on either side."""

from __future__ import annotations

import copy
import re
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from osbctl.credentials.file import write_record
from osbctl.credentials.record import make_record
from osbctl.sources.yaml_text import dump
from tests.cli.machine import PASSWORD, Machine
from tests.cli.test_diff import OLD, changed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker.harness import Authority


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    (tmp_path / "catalog.yaml").write_text(dump(OLD))
    (tmp_path / "same.yaml").write_text(dump(copy.deepcopy(OLD)))
    (tmp_path / "new.yaml").write_text(dump(changed(free=False)))
    write_record(tmp_path / "credentials.json", make_record("platform", PASSWORD, rounds=1000))
    return made


@pytest.fixture
def address(machine: Machine, authority: Authority) -> Iterator[str]:
    with machine.serving(*authority.issue("broker")) as url:
        yield url


def test_a_broker_on_either_side(machine: Machine, authority: Authority, address: str) -> None:
    reached: Any = {"stdin": PASSWORD}
    options = ("--user", "platform", "--password-stdin", "--ca-file", str(authority.cert))
    assert machine.run("diff", *options, address, "same.yaml", **reached) == ""
    told = machine.run("diff", *options, address, "new.yaml", code=1, **reached)
    assert "change-free-to-paid" in told
    assert re.search(r"^    /services/0/plans/1/free → \d+:\d+$", told, re.MULTILINE)
    assert told.splitlines()[-1].startswith(f"{address}/v2/catalog → new.yaml: ")
    back = machine.run("diff", *options, "new.yaml", address, **reached)
    assert "no breaking changes, but the catalogs differ" in back


def test_a_password_in_an_address_is_used_and_never_told(machine: Machine, authority: Authority, address: str) -> None:
    machine.output = ""
    secret = address.replace("https://", f"https://platform:{PASSWORD}@")
    wrong = address.replace("https://", f"https://platform:x{PASSWORD}@")
    for form in ("text", "json", "markdown", "sarif"):
        machine.run("diff", "--ca-file", str(authority.cert), "-f", form, secret, "new.yaml", code=1)
    machine.run("diff", secret, "new.yaml", code=3)  # the certificate is of an unknown authority
    machine.run("diff", "--ca-file", str(authority.cert), wrong, "new.yaml", code=3)
    machine.run("show", secret, code=2)
    assert "authentication failed (401)" in machine.output
    assert "TLS failed" in machine.output
    assert "osbctl fetch" in machine.output
    for told in (PASSWORD, b64encode(f"platform:{PASSWORD}".encode()).decode()):
        assert told not in machine.output


def test_one_password_on_standard_input_for_two_brokers(machine: Machine, authority: Authority, address: str) -> None:
    options = ("--user", "platform", "--password-stdin", "--ca-file", str(authority.cert))
    assert machine.run("diff", *options, address, address.replace("https", "HTTPS"), stdin=PASSWORD) == ""


def test_standard_input_is_one_thing(machine: Machine) -> None:
    machine.run("diff", "--password-stdin", "https://localhost:1", "-", code=2)
