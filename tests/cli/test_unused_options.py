"""An option that no source of the run can use is wrong usage: the option or a source is a mistake."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.case import case
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.program import failure, osbctl
from tests.registry.make import catalog, plan, service
from tests.sources.folder import brokerpaks

CATALOG = catalog(service("s", plan("p", "small")))
CONNECTION = [
    "--user u", "--password-stdin", "--ca-file ca.pem", "--client-cert c.pem", "--insecure", "--timeout 5",
    "--api-version 2.15",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(CATALOG))
    (tmp_path / "vars.env").write_text("GSB_COMPATIBILITY_ENABLE_BETA_SERVICES=true\n")
    osbctl("init", "source", "--service", "db", cwd=tmp_path, code=0)
    texts = {"manifest": brokerpaks.MANIFEST.replace("- redis.yml\n", "")}
    brokerpaks.brokerpak(tmp_path / "pak", **texts)
    return tmp_path


def test_options_that_no_source_can_use(folder: Path) -> None:
    address = "http://127.0.0.1:9"
    calls = [
        *((f"{call} --env vars.env", "--env is for brokerpaks") for call in (
            "validate a.json", "validate source a.json -", "show a.json", "show source", "params a.json service-s small",
            "page a.json", f"page {address}", "diff a.json b.json", "drift a.json b.json", "fix a.json", "build source",
            "split a.json new", "validate HEAD:a.json",
        )),
        *((f"{call} --stdin-filename x.json", "--stdin-filename names standard input") for call in (
            "validate a.json", "validate a.json source", "show a.json", "params a.json service-s small", "fix a.json",
        )),
        *((f"{call} {option}", f"{option.split()[0]} is for brokers") for option in CONNECTION for call in (
            "diff a.json b.json", "diff a.json source", "page a.json", "page a.json --since b.json", "drift a.json b.json",
        )),
        *((f"{call} --at /x", "--at is for files") for call in (f"diff {address} {address}", f"page {address}")),
        ("params a.json service-s small -b x", "--broker is for the commands"),
        ("params a.json service-s small --for update -c {} --previous {}", "--previous is for brokerpaks"),
        ("drift a --api-version 2.15", "--api-version is for brokers that are not registered"),
        ("drift --all --at /x", "--at is for brokers that are not registered"),
        ("drift a --env vars.env", "--env is for brokers that are not registered"),
        ("drift a.json b.json --credentials c.json", "--credentials is for registered brokers"),
    ]  # fmt: skip
    for call, told in calls:
        with case(call):
            assert told in failure(*call.split(), cwd=folder, code=2)
    assert json.loads((folder / "a.json").read_text()) == CATALOG


def test_options_that_one_source_can_use(folder: Path) -> None:
    text = (folder / "a.json").read_text()
    for call in (
        "validate a.json pak --env vars.env", "show pak --env vars.env", "diff a.json pak --env vars.env --fail-on never",
        "page a.json pak --env vars.env", "validate - a.json --stdin-filename x.json", "show - --stdin-filename x.json",
        "build pak --env vars.env", "fix --check pak --env vars.env", "diff a.json b.json --max-bytes 100000",
        "params a.json service-s small -c {} -b x",
    ):  # fmt: skip
        with case(call):
            assert osbctl(*call.split(), cwd=folder, stdin=text).returncode in (0, 1)
    with broker(CATALOG) as server:
        password = {"OSBCTL_PASSWORD": PASSWORD}
        for call in ("diff a.json URL", "page a.json URL", "page a.json --since URL", "drift URL a.json"):
            words = call.replace("URL", server.url).split()
            with case(call):
                osbctl(*words, "--user", USER, "--timeout", "5", cwd=folder, code=0, **password)
    # A source that is missing is what is wrong.
    assert "no such file" in osbctl("validate", "nowhere", "--env", "vars.env", cwd=folder, code=3).stdout
