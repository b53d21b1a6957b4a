"""Keys of the configuration by commands: each command reads those of `READERS`, and no other has an effect on it."""

import copy
import json
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

from osbctl.catalog import LoadedCatalog
from osbctl.commands.load_catalog import CatalogSource, load
from osbctl.commands.settings import variables_lookup
from osbctl.config import KEYS
from osbctl.credentials import make_record, write_record
from osbctl.editor.open_files import analyse_source
from tests.case import case, each
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.program import commands, osbctl
from tests.corpus import EVERY_CASE
from tests.fragments import catalog, changed
from tests.sources.folder import brokerpaks
from tools.reference import READERS

GOOD = catalog()
NEW_NAME = "a" * 64
"""A plan name that Kubernetes Service Catalog alone refuses."""


def other_plan(**more: Any) -> dict[str, Any]:
    return {**copy.deepcopy(GOOD["services"][0]["plans"][0]), "id": "6D7B8C1E-52F0-4B8E-9A6D-0C3E5F7A9B12", **more}


PLANS = GOOD["services"][0]["plans"]
LONG = changed(GOOD, ("services", 0, "plans"), [*PLANS, other_plan(name=NEW_NAME)])
FAULTY = changed(
    LONG,
    ("services", 0, "plans"),
    [*PLANS, other_plan(name=NEW_NAME, maintenance_info={"version": 5}), other_plan(binding_rotatable=True)],
)
"""With an error, a plan id of two plans of one name; a refusal of one platform; and a fault that is one from 2.15 on."""

SETTINGS = {
    "api-version": 'api-version = "2.17"',
    "platform": 'platform = ["kubernetes"]',
    "fail-on": 'fail-on = "never"',
    "select": 'select = ["url-not-https"]',
    "ignore": 'ignore = ["id-duplicate", "plan-name-duplicate"]',
    "schema": 'schema = ["rules.json"]',
    "ignore-at": '[[ignore-at]]\nrule = "id-duplicate"\nservice = "postgres"',
    "severity": '[severity]\nid-duplicate = "info"',
    "env": 'env = "vars.env"',
    "per-path": '[[per-path]]\npaths = ["*"]\nenv = "vars.env"',
    "page": '[page]\ntitle = "A title of its own"',
}
"""Each key, with a value that every command which reads it shows."""

SERVE = "--credentials credentials.json --insecure-http --port PORT"
"""The port is taken, so that it ends."""
ASK = f"--user {USER}"
CALLS = {
    "validate": ["faulty.json", "pak"],
    "fix": ["--check faulty.json", "--check pak"],
    "build": ["source", "pak"],
    "serve": [f"faulty.json {SERVE}", f"pak {SERVE}"],
    "show": ["faulty.json", "pak"],
    "params": ["good.json postgres small -c {}", "pak acme-database.v1 small"],
    "split": ["good.json new", "pak new"],
    "diff": ["good.json long.json", f"good.json URL {ASK}", "good.json pak"],
    "drift": ["long.json good.json", f"URL good.json {ASK}", "pak good.json"],
    "page": ["--findings faulty.json", "pak", f"URL {ASK}"],
    "check": [f"URL {ASK}"],
    "fetch": [f"URL {ASK}"],
    "init": ["new"],
    "new": ["service redis -C source"],
    "schema": [""],
    "rules": [""],
    "hash-password": ["a"],
    "verify-password": ["none.json a --password-stdin"],
    "brokers add": [f"data URL {ASK} --database b.sqlite"],
    "brokers list": ["--database b.sqlite"],
    "brokers show": ["data --database b.sqlite"],
    "brokers refresh": ["--database b.sqlite"],
    "brokers remove": ["data --database b.sqlite"],
}
NAMES = {name for name, command in commands().items() if name and not hasattr(command, "commands")}
RANDOM = ("init", "new", "hash-password")
"""Commands that make ids or salts: only their exit code is compared."""


class Desk(NamedTuple):
    folder: Path
    url: str

    def run(self, command: str, settings: str, option: str = "") -> Iterator[object]:
        """What each call of a command prints and writes, beside a configuration or with it as `--config`."""
        (self.folder / "osbctl.toml").write_text("" if option else settings)
        (self.folder / "named.toml").write_text(settings)
        if command == "lsp":
            yield from map(self.analyse, ("faulty.json", "pak"))
            return
        (self.folder / "b.sqlite").unlink(missing_ok=True)
        for call in CALLS[command]:
            call = call.replace("URL", self.url).replace("PORT", self.url.rpartition(":")[2])
            words = [*command.split(), *call.split(), *option.split()]
            done = osbctl(*words, cwd=self.folder, OSBCTL_PASSWORD=PASSWORD, OSBCTL_BROKER_DATA_PASSWORD=PASSWORD)
            texts = {str(file): file.read_text() for file in (self.folder / "new").rglob("*.yaml")}
            shown = [text.replace(f"{self.folder}/", "") for text in (done.stdout, done.stderr)]
            shutil.rmtree(self.folder / "new", ignore_errors=True)
            if "source" in call:
                shutil.rmtree(self.folder / "source")
                shutil.copytree(self.folder / "kept", self.folder / "source")
            yield (done.returncode, *(() if command in RANDOM else (*shown, texts)))

    def shows(self, command: str, settings: str, plain: list[object]) -> bool:
        """Return whether a call of the command tells another thing than without settings; the first that does ends it."""
        return any(told != before for told, before in zip(self.run(command, settings), plain, strict=False))

    def analyse(self, name: str) -> object:
        file = self.folder / name
        texts = {str(file): file.read_text()} if file.is_file() else {}
        analysis = analyse_source(str(file), texts, variables_lookup())
        return analysis.findings, analysis.verdicts, analysis.document and analysis.document.data


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    for name, data in (("good", GOOD), ("long", LONG), ("faulty", FAULTY)):
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    rules = {"x-osbctl": {"rule": "house-a"}, "properties": {"services": {"items": {"required": ["dashboard_client"]}}}}
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    (tmp_path / "vars.env").write_text("GSB_COMPATIBILITY_ENABLE_BETA_SERVICES=true\n")
    brokerpaks.brokerpak(tmp_path / "pak", manifest=brokerpaks.MANIFEST.replace("- redis.yml\n", ""))
    osbctl("split", "faulty.json", "source", cwd=tmp_path, code=0)
    shutil.copytree(tmp_path / "source", tmp_path / "kept")
    write_record(tmp_path / "credentials.json", make_record(USER, PASSWORD, rounds=1000))
    with broker(FAULTY) as server:

        def answer(headers: Any) -> tuple[int, bytes]:
            version = headers.get("X-Broker-API-Version")
            return 200, json.dumps(changed(FAULTY, ("services", 0, "description"), f"Asked with {version}.")).encode()

        server.answer = answer  # type: ignore[method-assign]
        yield Desk(tmp_path, server.url)


def load_here(source: CatalogSource) -> LoadedCatalog:
    """As `serve` does in a process of its own."""
    return load(source, variables_lookup(config_file=source.config))


@pytest.mark.fuzz
def test_each_command_reads_the_keys_of_the_table_and_no_others(desk: Desk) -> None:
    """Also from a file that it extends, and one that `--config` names."""
    assert READERS.keys() == KEYS.keys() == {"extends", *SETTINGS}
    assert {"lsp", *CALLS} == NAMES
    assert {name for readers in READERS.values() for name in readers.split()} <= NAMES
    here = nullcontext() if EVERY_CASE else mock.patch("osbctl.commands.serve.load_in_subprocess", load_here)
    for command in sorted(NAMES):
        plain = [*desk.run(command, "")]
        read = [key for key in SETTINGS if command in READERS[key].split()]
        others = "\n".join(
            sorted((SETTINGS[key] for key in SETTINGS.keys() - {*read}), key=lambda text: text.startswith("["))
        )
        with case(command, "other keys"), here:
            assert [*desk.run(command, others)] == plain
        for key in read:
            with case(command, key):
                often = {"api-version", "env", "schema"} if EVERY_CASE or command == "validate" else set()
                if key != read[0] and key not in often:  # all keys of a file come in one way, those of paths in another
                    with here:
                        assert desk.shows(command, SETTINGS[key], plain)
                    continue
                found = [*desk.run(command, SETTINGS[key])]
                assert found != plain
                if command != "lsp":
                    assert [*desk.run(command, SETTINGS[key], "--config named.toml")] == found
                (desk.folder / "base.toml").write_text(SETTINGS[key])
                with here:
                    assert [*desk.run(command, 'extends = "base.toml"')] == found
        assert (command in READERS["extends"].split()) is bool(read)


def test_a_page_takes_the_rules_that_are_only_for_source_folders(desk: Desk) -> None:
    (desk.folder / "osbctl.toml").write_text('select = ["build"]')
    for words in ("validate source", "page source -o p.html", "page faulty.json source -o p.html"):
        with case(words):
            assert osbctl(*words.split(), cwd=desk.folder, code=0)
    assert "selects nothing" in osbctl("page", "faulty.json", cwd=desk.folder, code=3).stderr


RULE, GROUP, PREFIX = 'id-duplicate = "info"\n', 'spec = "warning"\n', '"id-*" = "warning"\n'


@each("base, own, severity", [
    ("", RULE + GROUP, "info"), ("", GROUP + RULE, "info"), ("", RULE + PREFIX, "info"), ("", PREFIX + RULE, "info"),
    (RULE, GROUP, "warning"), (GROUP, RULE, "info"), (GROUP + RULE, PREFIX, "warning"), (GROUP + RULE, GROUP, "warning"),
])  # fmt: skip
def test_a_severity_of_a_rule_wins_over_that_of_its_group(tmp_path: Path, base: str, own: str, severity: str) -> None:
    """The one of a later file or entry wins over both."""
    (tmp_path / "faulty.json").write_text(json.dumps(FAULTY))
    (tmp_path / "base.toml").write_text(f"[severity]\n{base}")
    for text in (
        f'extends = "base.toml"\n[severity]\n{own}',
        f'[severity]\n{base}\n[[per-path]]\npaths = ["*"]\n[per-path.severity]\n{own}',
    ):
        (tmp_path / "osbctl.toml").write_text(text)
        told = json.loads(osbctl("validate", "faulty.json", "-f", "json", cwd=tmp_path).stdout)
        found = told["documents"][0]["findings"]
        assert {one["severity"] for one in found if one["rule"] == "id-duplicate"} == {severity}
