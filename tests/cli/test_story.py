"""Our own broker over HTTPS: registered, changed, drifting, refreshed, checked, at rest."""

import json
from collections.abc import Iterator

import pytest

from osbctl.credentials import make_record, write_record
from osbctl.sources.read import read_source
from tests.broker.harness import Authority
from tests.cli.machine import PASSWORD, Machine
from tests.cli.program import ROOT

UNUSUAL = "pä-€-correct-horse"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[tuple[Machine, str]]:
    """A machine whose broker is running, with records for `platform` and `jürgen`, and its address."""
    machine = Machine(tmp_path_factory.mktemp("machine"))
    (machine.folder / "catalog.yaml").write_bytes((ROOT / "catalogs" / "data-services.yaml").read_bytes())
    record = machine.run("hash-password", "platform", "--password-stdin", "--rounds", "1000", stdin=PASSWORD)
    (machine.folder / "credentials.json").write_text(record)
    write_record(machine.folder / "credentials.json", make_record("jürgen", UNUSUAL, rounds=1000), append=True)
    with machine.serving(*authority.issue("story")) as url:
        yield machine, url
    assert PASSWORD not in machine.output
    assert UNUSUAL not in machine.output
    for file in machine.folder.iterdir():
        assert PASSWORD.encode() not in file.read_bytes(), file.name


def test_nothing_is_said_of_our_own_broker(served: tuple[Machine, str], authority: Authority) -> None:
    machine, url = served
    options = ("--user", "platform", "--password-stdin", "--ca-file", str(authority.cert), "--fail-on", "info")
    for version in ("2.13", "2.14", "2.17"):
        told = machine.run("check", url, *options, "--api-version", version, stdin=PASSWORD)
        assert told.splitlines() == [f"{url}/v2/catalog: no findings", "  every platform  accepts"]
    machine.run("check", url, *options, stdin="wrong", code=3)
    assert "authentication failed (401)" in machine.output


def test_a_password_of_any_letters(served: tuple[Machine, str], authority: Authority) -> None:
    machine, url = served
    options = ("--user", "jürgen", "--password-stdin", "--ca-file", str(authority.cert))
    for command in ("fetch", "check"):
        machine.run(command, url, *options, stdin=UNUSUAL)
    machine.run("fetch", url, *options, stdin="pä-€-wrong-horse", code=3)


def test_the_whole_story(served: tuple[Machine, str], authority: Authority) -> None:
    machine, url = served
    ca = ("--ca-file", str(authority.cert))
    catalog = read_source(str(machine.folder / "catalog.yaml")).data
    assert machine.run("brokers", "add", "data", url, "--user", "platform", *ca) == "data: added\n"
    assert machine.run("brokers", "refresh", "data", *ca) == "data: unchanged\n"
    assert machine.run("drift", "data", *ca) == ""

    service = catalog["services"][0]
    service["plans"][0]["free"] = not service["plans"][0].get("free", True)
    gone = service["plans"].pop()
    service["plans"].append({**gone, "id": "0D9AA6A6-4C0B-4E6A-8B8D-3C1E7D0C4A11", "name": "new"})
    machine.change(catalog, url, authority.cert)

    told = machine.run("drift", "data", *ca, code=1)
    name = f"{service['name']}/{gone['name']}"
    assert f"{name}: removed [change-plan-removed]" in told
    assert machine.run("drift", "--all", *ca, code=1).splitlines()[-1].split()[:2] == ["data", "drift"]
    assert f"deleted plan {name}" in machine.run("brokers", "refresh", "data", "--dry-run", *ca)
    machine.run("drift", "data", *ca, code=1)

    done = machine.run("brokers", "refresh", "data", *ca)
    assert "data: changed the stored catalog as Cloud Foundry does: " in done
    assert f"deleted plan {name}" in done
    assert f"created plan {service['name']}/new" in done
    assert machine.run("drift", "data", *ca) == ""
    assert machine.run("drift", "--all", *ca).splitlines()[-1].split()[:2] == ["data", "same"]
    assert json.loads(machine.run("brokers", "show", "data", "--format", "json")) == catalog
