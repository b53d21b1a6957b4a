"""The whole story: a broker over HTTPS, registered, changed, drifting, refreshed, at rest."""

from __future__ import annotations

import json
from pathlib import Path

from osbctl.sources.read import read_source
from osbctl.sources.yaml_text import dump
from tests.broker.harness import Authority
from tests.cli.machine import PASSWORD, Machine
from tests.cli.program import ROOT


def test_the_whole_story(tmp_path: Path, authority: Authority) -> None:
    machine, ca = Machine(tmp_path), ("--ca-file", str(authority.cert))
    catalog = read_source(str(ROOT / "catalogs" / "data-services.yaml")).data
    (tmp_path / "catalog.yaml").write_text(dump(catalog))
    record = machine.run("hash-password", "platform", "--password-stdin", "--rounds", "1000", stdin=PASSWORD)
    (tmp_path / "credentials.json").write_text(record)
    with machine.serving(*authority.issue("broker")) as url:
        assert machine.run("brokers", "add", "data", url, "--user", "platform", *ca) == "data: added\n"
        assert machine.run("drift", "data", *ca) == ""

        service = catalog["services"][0]
        service["plans"][0]["free"] = not service["plans"][0].get("free", True)
        gone = service["plans"].pop()
        machine.change(catalog, url, authority.cert)

        told = machine.run("drift", "data", *ca, code=1)
        name = f"{service['name']}/{gone['name']}"
        assert f"{name}: the platform has it, the broker no longer offers it [change-plan-removed]" in told
        assert machine.run("drift", "--all", *ca, code=1).splitlines()[-1].split()[:2] == ["data", "drift"]
        dry = machine.run("brokers", "refresh", "data", "--dry-run", *ca)
        assert f"deleted plan {name}" in dry
        machine.run("drift", "data", *ca, code=1)

        done = machine.run("brokers", "refresh", "data", *ca)
        assert "data: changed as on Cloud Foundry" in done
        assert f"deleted plan {name}" in done
        assert machine.run("drift", "data", *ca) == ""
        assert machine.run("drift", "--all", *ca).splitlines()[-1].split()[:2] == ["data", "same"]
        assert json.loads(machine.run("brokers", "show", "data", "--format", "json")) == catalog
    machine.run("drift", "data", *ca, code=3)
    assert PASSWORD not in machine.output
    for file in tmp_path.iterdir():
        assert PASSWORD.encode() not in file.read_bytes(), file.name
