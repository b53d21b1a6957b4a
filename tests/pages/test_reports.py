"""`--format html` of validate, diff and drift: a page that begins with their report."""

import json
import re
from pathlib import Path

from osbctl.catalog import Catalog
from osbctl.commands.diff import compare_documents
from osbctl.commands.page import PageCatalog, make_page
from osbctl.pages import Content
from osbctl.platforms import Platform
from osbctl.reports import Format, Report
from osbctl.reports import render as render_findings
from osbctl.reports.changes import DiffFormat, DiffReport, render
from osbctl.sources.document import parse_document
from osbctl.sources.read import read_source
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import unreadable_result, validate_document
from tests.folders import catalogs_folder
from tests.pages.test_page import Read, document, of_create, service
from tests.sources.folder import brokerpaks

SHIPPED = read_source(str(catalogs_folder() / "data-services.yaml"))


def changes(**fields: str) -> list:
    """Those of a plan that is removed, or of other `fields` of a service offering."""
    from osbctl.comparison.catalogs import compare_catalogs

    new = json.loads(json.dumps(SHIPPED.data))
    new["services"][0] |= fields
    if not fields:
        new["services"][0]["plans"].pop()
    return compare_catalogs(SHIPPED.data, new)


def test_diff_shows_the_changes_before_the_new_catalog() -> None:
    accepted = [(changes(description="Other words")[0], "nobody has it")]
    report = DiffReport("old.yaml", "new.yaml", changes(), dict, accepted=accepted, catalog=SHIPPED.data)
    front, behind = render(report, DiffFormat.HTML).split('id="services"')
    for words in ("old.yaml → new.yaml", changes()[0].message, "nobody has it"):
        assert words in Read(front).text
    assert behind.count("<article") == len(Catalog.of(SHIPPED.data).services)


def test_validate_shows_findings_at_the_top_and_at_the_services() -> None:
    judgement = validate_document(read_source(str(catalogs_folder() / "faulty.yaml")), ValidationOptions())
    lost = unreadable_result("lost.yaml", (judgement.findings[0]._replace(sentence="it is lost"),))
    front, behind = render_findings(Report([judgement, lost], dict), Format.HTML).split('id="services"')
    assert all(finding.message in Read(front).text for finding in (*judgement.findings, *lost.findings))
    assert f"{judgement.findings[0].location.source}:" in front
    assert "<h3>Findings</h3>" in behind


def test_each_place_of_a_finding_is_named_and_each_of_its_services_has_it() -> None:
    plans = "\n".join(f"  - {{id: {number}, name: p{number}, description: d}}" for number in range(13))
    services = "".join(
        f"- id: {name}\n  name: {name}\n  description: d\n  bindable: true\n  plans:\n{plans}\n" for name in "abc"
    )
    judgement = validate_document(
        parse_document(f"services:\n{services}".encode(), "c.yaml"),
        ValidationOptions(select=frozenset({"default-implicit"})),
    )
    front, behind = render_findings(Report([judgement], dict), Format.HTML).split('id="services"')
    places = re.findall(r'<a href="(#[^"]+)">(c.yaml:\d+:\d+)</a>', front)
    assert [int(place.split(":")[1]) for _, place in places] == [7, *range(8, 18)]
    assert len({anchor for anchor, _ in places}) == 1
    assert "and 28 more" in front
    assert behind.count("<h3>Findings</h3>") == 3


def test_a_page_since_another_has_the_changes_of_diff(tmp_path: Path) -> None:
    """Also of what schemas and brokerpaks say to cloud-service-broker alone: which parameters no update may set."""
    schemas = [
        {"properties": {one: {"type": "string", "prohibitUpdate": one == field} for one in ("size", "region")}}
        for field in ("region", "size")
    ]
    catalogs = [document(service(plan=of_create(schema))) for schema in schemas]
    shown = brokerpaks.DATABASE.replace(", beta", "")
    texts = {"old": shown, "new": shown.replace("nullable: true", "prohibit_update: true")}
    paks = [read_source(str(brokerpaks.brokerpak(tmp_path / name, database=text))) for name, text in texts.items()]
    for old, new in (catalogs, paks):
        changes = compare_documents(old, new, frozenset(Platform)).changes
        assert "breaking" in {change.level for change in changes}
        text = Read(make_page([PageCatalog("a", new, old)], Content(since="Since main."))).text
        assert all(change.message in text for change in changes), text


def test_a_page_since_another_has_the_refusals_of_diff() -> None:
    new = json.loads(json.dumps(SHIPPED.data))
    new["services"][0]["plans"] = []
    text = Read(make_page([PageCatalog("a", document(new), SHIPPED)], Content(since="Since main."))).text
    assert "Since main." in text
    assert "refused" in text
