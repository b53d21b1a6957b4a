"""With a platform chosen, findings, verdicts, changes and commands name no other: no warning, and no word."""

import functools
import json
import re
from itertools import cycle, product
from pathlib import Path

import pytest

from osbctl.commands.diff import compare_documents
from osbctl.platforms import Identity, Platform
from osbctl.platforms.tools import tools_of
from osbctl.platforms.verdict import judge
from osbctl.reports import Format
from osbctl.reports.changes import DiffFormat
from osbctl.rule import RULES
from osbctl.sources.document import Document, parse_document
from tests import test_examples
from tests.case import case, each
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.program import osbctl
from tests.comparison.test_table import ROWS
from tests.corpus import EVERY_CASE
from tests.deploy.harness import edit
from tests.folders import catalogs_folder
from tests.platforms.known import KNOWN
from tests.registry.make import catalog, plan, service

WORDS = {platform: f"{platform.label}|{platform}" for platform in Platform} | {
    Platform.CLOUD_FOUNDRY: r"Cloud Foundry|Cloud Controller|cloudfoundry|\bcf \b",
    Platform.KUBERNETES: r"Service Catalog|Kubernetes|kubernetes|\bsvcat\b",
    Platform.SERVICE_MANAGER: r"Service Manager|service-manager|\bsmctl\b",
    Platform.KORIFI: r"Korifi|korifi",
}
"""Names of each platform and of its tools, which another one may have, too."""
REFUSED_BY = {
    Platform.CLOUD_FOUNDRY: service("s", plan("p", "small", description="d" * 10_001)),
    Platform.KUBERNETES: service("s", plan("p", "small"), plan("q", "q" * 64)),
}
"""Service offerings that one platform refuses."""


def words_of_others(platform: Platform, text: str) -> set[str]:
    others = "|".join(words for other, words in WORDS.items() if other is not platform)
    own = {tool.name for tool in tools_of([platform])}
    return {word for word in re.findall(others, text) if word.strip() not in own}


def test_each_platform_has_words() -> None:
    for platform in Platform:
        assert all(words_of_others(platform, other.label) for other in Platform if other is not platform)
        assert not words_of_others(platform, f"{platform.label} {platform}")


@each("platform", Platform)
def test_findings_of_every_rule(platform: Platform) -> None:
    """On the examples of all rules, which break each of them."""
    seen = set()
    for rule in test_examples.SHOWN:
        result = test_examples.judged(test_examples.examples(RULES[rule])[0], RULES[rule], frozenset({platform}))
        for finding in result.findings:
            seen.add(finding.rule)
            texts = (finding.rule, finding.message, finding.advice, *finding.platform_messages)
            with case(rule, finding.rule):
                assert set(finding.refused_by) <= {platform}
                assert not words_of_others(platform, "\n".join(texts))
        assert {*result.verdicts} == {platform} or result.data is None
    assert len(seen) > 60


@functools.cache
def as_document(side: str) -> Document:
    return parse_document(side.encode(), "c.json")


@each("platform", Platform)
def test_changes_of_every_kind(platform: Platform) -> None:
    seen = set()
    for row in ROWS:
        old, new = (as_document(json.dumps(side)) for side in (row.old, row.new))
        comparison = compare_documents(old, new, frozenset({platform}))
        for change in comparison.changes:
            seen.add(change.rule)
            texts = [change.message, change.advice, *(effect.reaction for effect in change.effects)]
            with case(row.name, change.rule):
                assert {effect.platform for effect in change.effects} <= {platform}
                assert not words_of_others(platform, "\n".join(texts))
        assert not words_of_others(platform, "\n".join(comparison.notes))
    assert len(seen) > 30


def results(name: str, text: str) -> str:
    """A report without the explanations of rules, which SARIF has in full."""
    return json.dumps(json.loads(text)["runs"][0]["results"]) if name == "sarif" else text


@pytest.mark.fuzz
@pytest.mark.parametrize("platform", Platform)
def test_reports_and_exit_codes(platform: Platform, tmp_path: Path) -> None:
    """By the configuration and by the option, which print the same; what is refused by others alone fails no run."""
    faulty = (catalogs_folder() / "faulty.yaml").read_text()
    small = service("s", plan("p", "small"))
    refused = {other: side for other, side in REFUSED_BY.items() if not judge(platform, catalog(side)).refusals}
    assert len(refused) == len(REFUSED_BY) - (platform in REFUSED_BY) or platform not in KNOWN
    for name, data in (("old", catalog(small)), *((str(other), catalog(side)) for other, side in refused.items())):
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    (tmp_path / "faulty.yaml").write_text(faulty)
    for other in refused:
        osbctl("validate", f"{other}.json", "--fail-on", "warning", cwd=tmp_path, code=1)  # with all platforms
    compared_as = product(refused, DiffFormat) if EVERY_CASE else zip(cycle(refused), DiffFormat, strict=False)
    calls = [
        *(f"validate faulty.yaml gone.yaml -f {name}" for name in Format),
        "validate faulty.yaml --concise",
        *(f"validate {other}.json --fail-on warning" for other in refused),
        *(f"diff old.json {other}.json -f {name}" for other, name in compared_as),
        *(f"diff old.json {other}.json --fail-on any" for other in refused),
        *(f"drift {other}.json old.json" for other in refused),
        "page faulty.yaml --findings --since old.json",
        "params old.json service-s small -c {}",
    ]
    compared = set()
    with broker(json.loads(json.dumps(catalog(small)))) as server:
        calls.append(f"check {server.url} --user {USER}")
        for call in calls:
            with case(call):
                given = osbctl(*call.split(), "-p", platform, cwd=tmp_path, OSBCTL_PASSWORD=PASSWORD)
                command = call.split()[0]
                if EVERY_CASE or command not in compared:
                    compared.add(command)
                    (tmp_path / "osbctl.toml").write_text(f'platform = ["{platform}"]')
                    configured = osbctl(*call.split(), cwd=tmp_path, OSBCTL_PASSWORD=PASSWORD)
                    (tmp_path / "osbctl.toml").unlink()
                    assert (configured.returncode, configured.stdout) == (given.returncode, given.stdout)
                shown = results(call.rpartition(" ")[2], given.stdout) + given.stderr
                # Names of our files, and a field of the catalog.
                shown = re.sub(rf"({'|'.join(Platform)})\.json|supported_platforms|supportedPlatform\w*", "", shown)
                assert not words_of_others(platform, shown)
                if call.startswith("validate") and "--fail-on" in call:
                    assert given.returncode == 0


@pytest.mark.parametrize("platform", Platform)
def test_source_folders_and_catalogs_together(platform: Platform, tmp_path: Path) -> None:
    """A changed id is refused by some platforms, and so is what two catalogs share."""
    client = {"dashboard_client": {"id": "c", "secret": "((s))", "redirect_uri": "https://ui.example.com"}}
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(catalog(service("s", plan("p", "small"), **client))))
    osbctl("init", "source", "--service", "db", cwd=tmp_path, code=0)
    osbctl("build", "source", "-o", "c.json", cwd=tmp_path, code=0)
    edit(tmp_path / "source/services/db.yaml", r"(?m)^id: .*", "id: 3D1B7F2C-9E84-4A65-B0D7-6C5A8E1F9B32")
    (tmp_path / "osbctl.toml").write_text(f'platform = ["{platform}"]')
    for call, told in (
        ("validate source", "[build-id-changed]"),
        ("validate source -f json", "build-id-changed"),
        ("build source", "[build-id-changed]"),
        ("validate --together a.json b.json", "[shared-id]"),
        ("validate --together a.json b.json -f github", "shared-service-name"),
    ):
        done = osbctl(*call.split(), cwd=tmp_path)
        with case(call):
            assert told in done.stdout + done.stderr
            assert not words_of_others(platform, done.stdout + done.stderr)
            assert ("shared-dashboard-client" in done.stdout) is (
                "together" in call and Identity.CLIENT_ID in platform.record.unique
            )
