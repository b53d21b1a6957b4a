"""`osbctl page` without a browser: what is in the file, what is not, and that it is always the same."""

import json
import re
import subprocess
import time
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from markupsafe import escape

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.commands.page import PageCatalog, add_requests, make_page
from osbctl.pages import Branding, Content, Part
from osbctl.pages.render import render_page
from osbctl.pages.safe_content import MAX_IMAGE_BYTES, clean_data_url, image_to_data_url, monogram
from osbctl.platforms import Platform
from osbctl.platforms.tools import ProvisionRequest, Purpose
from osbctl.platforms.verdict import Outcome, Refusal, VerdictKind
from osbctl.requests import build_commands
from osbctl.sources.document import Document, parse_document
from osbctl.sources.read import read_source
from osbctl.text import escape_line
from osbctl.validation.options import ValidationOptions
from osbctl.views import bullets as bullets_of
from tests.case import each
from tests.corpus import EVERY_CASE, catalogs, needs_corpus
from tests.folders import catalogs_folder
from tests.requests.tools import COMMANDS, NAME_BROKERS

SHIPPED = catalogs_folder() / "data-services.yaml"
LOADING = {"src", "href", "srcset", "srcdoc", "action", "formaction", "poster", "data", "background", "ping", "cite"}


class Read(HTMLParser):
    """Content of a page: its tags with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self._in = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in = tag

    def handle_data(self, data: str) -> None:
        (self.scripts if self._in in ("script", "style") else self.words).append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.tags if "id" in attributes]


def page_catalog(source: Path | str) -> PageCatalog:
    return PageCatalog("a", read_source(str(source)))


def page(data: dict[str, Any], **options: Any) -> str:
    return render_page(Content([Part("a", Catalog.of(data))], **options))


def page_with_requests(data: dict[str, Any]) -> str:
    return render_page(Content(add_requests([Part("a", Catalog.of(data), platforms=tuple(Platform))])))


def made(data: dict[str, Any], before: dict[str, Any] | None = None, **options: Any) -> str:
    """The page of `data` with its findings, verdicts, changes and commands, as the command makes it."""
    return make_page([PageCatalog("a", document(data), document(before) if before else None)], Content(**options))


def document(data: dict[str, Any]) -> Document:
    return parse_document(json.dumps(data).encode(), "catalog.json")


def of_create(schema: dict[str, Any]) -> dict[str, Any]:
    """The field of a plan with that schema for the parameters of a new instance."""
    return {"schemas": {"service_instance": {"create": {"parameters": schema}}}}


def service(**fields: Any) -> dict[str, Any]:
    plan = {"id": "p-1", "name": "small", "description": "A plan", **fields.pop("plan", {})}
    return {"services": [{"id": "s-1", "name": "db", "description": "A database", "plans": [plan], **fields}]}


def test_a_page_has_all_parts_of_a_catalog() -> None:
    read = Read(make_page([page_catalog(SHIPPED)], Content()))
    for service in Catalog.of(read_source(str(SHIPPED)).data).services:
        for words in (service.metadata["displayName"], service.description, *service.tags):
            assert words in read.text
        for plan in service.plans:
            assert plan.description in read.text
            assert plan.id in read.text
    assert "17.48" in read.text
    assert "Major version of the engine." in read.text


def test_the_same_bytes_each_time() -> None:
    content = Content(date="2026-11-01", branding=Branding(accent="#0A7"))
    one, other = (make_page([page_catalog(SHIPPED)], content) for _ in range(2))
    assert one == other
    assert ":root{--brand:#0A7}" in one


def test_the_policy_allows_this_style_and_script_alone() -> None:
    html = make_page([page_catalog(SHIPPED)], Content(branding=Branding(accent="#00aa77")))
    policy = next(a["content"] or "" for t, a in Read(html).tags if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert (rules["default-src"], rules["base-uri"], rules["form-action"]) == ("'none'",) * 3
    assert rules["img-src"] == "data:"
    assert rules.keys() == {"default-src", "style-src", "script-src", "img-src", "base-uri", "form-action"}
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        body = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert len(body) == 1
        assert rules[rule] == f"'sha256-{b64encode(sha256(body[0].encode()).digest()).decode()}'"
    assert not [a for _, a in Read(html).tags if "style" in a or any(name.startswith("on") for name in a)]


def test_nothing_is_loaded_from_elsewhere() -> None:
    data = service(metadata={"imageUrl": "https://img.example/x.png", "documentationUrl": "https://docs.example/x"})
    for tag, attributes in Read(page(data)).tags:
        for name in LOADING & set(attributes):
            value = attributes[name] or ""
            assert value.startswith(("#", "data:")) or (tag == "a" and value == "https://docs.example/x")


def test_a_page_without_data_is_small() -> None:
    assert len(page({"services": []}).encode()) <= 100_000


def test_anchors_are_made_of_ids_and_survive_changes() -> None:
    data = service(plan=of_create({"properties": {"a b": {}}}))
    ids = Read(page(data)).ids()
    created = "service/s-1/parameters/create"
    assert {"service/s-1", "service/s-1/p-1", created, f"{created}/a%20b"} <= set(ids)
    data["services"].insert(0, {"id": "s-0", "name": "first", "description": "New", "plans": []})
    assert set(ids) <= set(Read(page(data)).ids())


def test_anchors_differ_if_ids_are_equal() -> None:
    data = service()
    data["services"] *= 2
    ids = Read(render_page(Content([Part("a", Catalog.of(data)), Part("b", Catalog.of(service()))]))).ids()
    assert len(ids) == len(set(ids))
    assert {"service/s-1%40a", "service/s-1%40b"} <= set(ids)
    for names in ("ab", "ba"):
        ids = Read(render_page(Content([Part(name, Catalog.of(service())) for name in names]))).ids()
        assert [f"service/s-1%40{name}/p-1" in ids for name in names] == [True, True]
        assert "service/s-1" not in ids


@each("url", [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "https://user:password@docs.example/",
    "https://docs.example\u202e/",
    "//docs.example/",
    "file:///etc/passwd",
    "file://docs.example/x",
    "https://docs.example\\.evil.example/",
    'https://docs.example/"onclick=',
    "https://docs.example/a b",
    "https://",
    "https://docs.example:port/",
    ["https://docs.example"],
])  # fmt: skip
def test_only_web_addresses_become_links(url: Any) -> None:
    html = page(service(metadata={"documentationUrl": url, "supportUrl": url}))
    assert all((a.get("href") or "#").startswith(("#", "data:,")) for _, a in Read(html).tags)


def test_markup_in_texts_is_escaped() -> None:
    text = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\u200b\x00id\x00{{ 7*7 }}%(id)s"
    schema = {"properties": {text: {"type": "string", "default": text, "description": text}, "__proto__": {}}}
    data = service(
        name=text, id=text, tags=[text] * 10_000,
        metadata={"displayName": text, "longDescription": text * 10_000, "imageUrl": f"data:image/svg+xml,{text}"},
        plan={"name": text, "metadata": {"bullets": [text], "costs": [{"amount": {text: text}, "unit": text}]},
              **of_create(schema)},
    )  # fmt: skip
    html = page_with_requests(data)
    read = Read(html)
    assert [t for t, _ in read.tags].count("script") == 1
    assert not [t for t, _ in read.tags if t == "img"]
    assert not set(html) & set("\u202e\u200b\x00")
    assert "\\u202e" in read.text
    assert "\\x00id\\x00{{ 7*7 }}%(id)s" in read.text.split("side by side")[-1]
    assert "49" not in read.text.replace(text, "")
    assert len(html) < 3_000_000


def test_secrets_are_left_out_and_counted() -> None:
    secret = {"type": "string", "default": "hunter2", "examples": ["hunter2"]}
    schema = {
        "definitions": {"plain": {"type": "string", "default": "hunter2"}},
        "properties": {
            "password": secret,
            "token": {"$ref": "#/definitions/plain"},
            "name": {"default": "me"},
            "smtp": {"default": {"password": "hunter2"}},
        },
    }
    data = service(
        dashboard_client={"id": "x", "secret": "hunter2", "redirect_uri": "https://d.example"},
        metadata={"longDescription": "see https://me:hunter2@docs.example/"},
        plan={"metadata": {"apiToken": "hunter2"}, **of_create(schema)},
    )
    html = page(data)
    assert "hunter2" not in html
    assert re.search(r"Secrets are left out of this page: \d values", Read(html).text)
    assert "Secrets are left out" not in page(service())


def test_recursive_and_deep_schemas_make_a_page() -> None:
    schemas: list[dict[str, Any]] = [{"properties": {"a": {"$ref": "#"}}}]
    for depth in (100, 600, 2_000):
        deep: dict[str, Any] = {}
        for _ in range(depth):
            deep = {"properties": {"a": deep}}
        schemas.append(deep)
    for schema in schemas:
        assert "a.a.a" in Read(page_with_requests(service(plan=of_create(schema)))).text


def test_a_refusal_is_shown_at_its_service_offering() -> None:
    data = service(bindable=True)
    data["services"].append({"id": "s-2", "name": "bare", "description": "No plans", "bindable": True, "plans": []})
    html = made(data, audience="operator")
    first, second = html.split("<article")[1:3]
    assert 'class="platforms"' in second
    assert "<dd>refused" in second
    assert 'class="words"' in second
    assert 'class="platforms"' not in first
    assert not re.search('refuse|class="words"|class="mark[^>]*>Cloud Foundry', first), (
        "the other service offering is no reason"
    )
    front = html.split('id="platforms"')[1].split("</section>")[0]
    assert 'refused, because of <a href="#service/s-2">bare</a>' in front
    assert 'id="platforms"' not in made(service(bindable=True), audience="operator")


def test_a_reason_of_no_service_offering_is_shown_at_the_top() -> None:
    reasons = Refusal("r", (), "too many services"), Refusal("r", ("services", 0, "name"), "bad name")
    outcomes = {Platform.KORIFI: Outcome(VerdictKind.REFUSES, reasons)}
    data = service()
    data["services"].append({"id": "s-2", "name": "other", "description": "d", "plans": []})
    front, *articles = render_page(Content([Part("a", Catalog.of(data), outcomes)])).split("<article")
    assert "refused, because of db too many services" in Read(front).text
    assert "bad name" in articles[0]
    assert "Korifi" not in articles[1]


def test_what_is_unclear_is_shown_where_the_value_is() -> None:
    data = service(bindable="((bindable))")
    data["services"].append({"id": "s-2", "name": "other", "description": "d", "bindable": True, "plans": []})
    data["services"][1]["plans"] = [{"id": "p-2", "name": "p", "description": "d"}]
    front, first, second = made(data, audience="operator").split("<article")
    assert "unclear: a value is not known yet, because of" in Read(front).text
    assert "unclear: a value is not known yet" in first
    assert "unclear" not in second


def test_verdicts_and_the_commands_of_all_platforms_are_for_the_operator() -> None:
    data = service(bindable=True)
    data["services"].append({"id": "s-2", "name": "bare", "description": "No plans", "bindable": True, "plans": []})
    catalogs = [PageCatalog("a", document(data))]
    tools = ("cf create-service", "svcat provision", "btp create", "kubectl apply")

    def found(html: str) -> list[str]:
        return [tool for tool in tools if tool in html]

    customer = make_page(catalogs, Content())
    assert found(customer) == []
    assert not re.search("Cloud Foundry|Korifi|refused|Accepted by", Read(customer).text)
    operator = make_page(catalogs, Content(audience="operator"))
    assert found(operator) == list(tools)
    assert "Accepted by Korifi" in operator
    options = ValidationOptions(platforms=frozenset({Platform.KUBERNETES}))
    chosen = [PageCatalog("a", document(data), options=options)]
    assert found(make_page(chosen, Content())) == ["svcat provision", "kubectl apply"]
    assert "refused" not in Read(make_page(chosen, Content())).text
    operator = make_page(chosen, Content(audience="operator"))
    assert found(operator) == ["svcat provision", "kubectl apply"]
    assert "refused" in operator
    assert "Cloud Foundry" not in operator
    findings = make_page(catalogs, Content(findings=True))
    assert "<h3>Findings</h3>" in findings
    assert 'id="platforms"' not in findings


def test_the_only_service_is_open() -> None:
    data = service()
    assert '<details class="body" open>' in page(data)
    data["services"] *= 2
    assert '<details class="body" open>' not in page(data)


@each("plans, words", [
    ([None, 49], "Free plan; Paid plan: 49 USD a month"),
    ([None, 99, 49], "Free plan; Paid plans from 49 USD a month"),
    ([99, 49], "Paid; From 49 USD a month"),
    ([49], "Paid; 49 USD a month"),
    ([None], "Free"),
    ([None, 49, "HOURLY"], "Free plan"),
    ([49, 0.5, "MONTHLY"], "Paid; From 0.50 USD a month"),
    ([49, ()], "Paid"),
    ([None, (), 49], "Free plan"),
])  # fmt: skip
def test_the_price_on_a_card(plans: list[Any], words: str) -> None:
    unit = next((plan for plan in plans if isinstance(plan, str)), "MONTHLY")
    amounts = [plan for plan in plans if not isinstance(plan, str)]
    offered = [
        {"id": f"p{n}", "name": f"p{n}", "description": "d", "free": amount is None,
         "metadata": {} if not amount else {"costs": [{"amount": {"usd": amount}, "unit": unit if n == 1 else "MONTHLY"}]}}
        for n, amount in enumerate(amounts)
    ]  # fmt: skip
    if unit == "HOURLY":
        offered.append({**offered[1], "id": "x", "name": "x"})
    badges = re.findall(r'<p class="badges">(.*?)</p>', page(service(plans=offered)), re.DOTALL)[0]
    assert " ".join(unescape(re.sub("<[^>]*>", "", badges)).split()) == words


def test_changes_are_at_the_top_and_at_their_service_offering() -> None:
    old, new = service(), service(plan={"free": False})
    new["services"][0]["bindable"] = True
    front, article = made(new, old, since="Since main.").split('id="services"')
    assert "Since main." in front
    assert 'href="#service/s-1/p-1"' in front
    assert "free" in Read(front).text
    assert 'class="badge changed"' in article


def test_findings_are_shown_on_request() -> None:
    data = service(description="")
    assert "catalog.json:1:" in Read(made(data, findings=True)).text
    assert "catalog.json:1:" not in Read(made(data)).text


@pytest.mark.parametrize("name", ["small", "db.small_2", "true", "two words", "-x", "%(name)s", "<b>", "名", "x" * 401])
def test_each_plan_has_the_commands_with_its_own_name(name: str) -> None:
    for more in ({}, of_create({"properties": {"size": {"default": "large"}}, "required": ["size"]})):
        plans = [{"id": f"p{n}", "name": plan, "description": "d", **more} for n, plan in enumerate(["first", name])]
        html = page_with_requests({"services": [{"id": "s", "name": name, "description": "d", "plans": plans}]})
        requests = [ProvisionRequest(name, plan) for plan in ("first", name)]
        expected = [command.text for each in requests for command in build_commands(each, Purpose.CREATE)]
        missing = [text for text in expected if escape("\n".join(map(escape_line, text.split("\n")))) not in html]
        assert not more or "params.json" in html
        assert more or missing == []


@each("fields, said", [
    ({"metadata": {"state": "deprecated"}}, "Deprecated"),
    ({"metadata": {"state": "deprecated", "sunset": "2027-03-31"}}, "Deprecated, available until 2027-03-31"),
    ({"description": "[DEPRECATED] use another"}, "Deprecated"),
    ({"metadata": {"state": "active"}, "description": "Undeprecated"}, ""),
])  # fmt: skip
def test_deprecated_services_and_plans_have_a_badge(fields: dict[str, Any], said: str) -> None:
    badge = f'<span class="badge deprecated">{said}</span>'
    for data in (service(**fields), service(plan=fields)):
        assert (badge in page(data), "badge deprecated" in page(data)) == (bool(said), bool(said))


def test_plans_with_one_title_have_their_names() -> None:
    titles = zip("abc", "XXY", strict=True)
    plans = [{"id": n, "name": n, "description": "d", "metadata": {"displayName": t}} for n, t in titles]
    assert re.findall(r'<th scope="col"[^>]*><a [^>]*>([^<]*)', page(service(plans=plans))) == ["X (a)", "X (b)", "Y"]


def test_plans_are_compared_in_words() -> None:
    metadata = {"highAvailability": True, "maxIOPS": 3000, "disk_type": "ssd", "__": "x", "imageUrl": "https://x"}
    costs = [{"amount": {"usd": 1234.5}, "unit": "MONTHLY"}, {"amount": {"usd": 7000}, "unit": "SETUP"}]
    plans = [{"id": n, "name": n, "description": "d", "metadata": {**metadata, "costs": costs}} for n in "ab"]
    rows = re.findall(r'<tr[^>]*><th scope="row">([^<]*)</th><td>([^<]*)', page(service(plans=plans)))
    assert rows == [
        ("USD a month", "1,234.50"), ("Further costs", "7,000 USD / SETUP"), ("Bindable", "no"), ("Plan can be changed", "no"),
        ("High availability", "yes"), ("Max IOPS", "3000"), ("Disk type", "ssd"), ("__", "x"),
    ]  # fmt: skip


def test_a_comparison_keeps_features_with_equal_labels() -> None:
    metadata = {"maxUsers": 5, "max_users": 6, "bullets": ["1 GB RAM", "2 GB RAM", "2 GB RAM", "backups"]}
    plans = [{"id": n, "name": n, "description": "d", "metadata": metadata} for n in "ab"]
    rows = re.findall(r'<tr[^>]*><th scope="row">([^<]*)</th><td>([^<]*)', page(service(plans=plans)))
    assert {("Max users", "5"), ("Max users", "6"), ("RAM", "1 GB; 2 GB"), ("Backups", "✓")} <= set(rows)


def test_what_a_page_leaves_out_is_counted() -> None:
    words = [f"{first}{second}" for first in "abcdef" for second in "abcdefghijklmnopqrstuvwxy"]
    lines = [f"feature {word}" for word in words]
    plans = [{"id": n, "name": n, "metadata": {f"fact_{word}": n for word in words}} for n in "ab"]
    one = Read(page(service(plan={"metadata": {"bullets": lines}}))).text
    assert "feature dy and 50 more" in one
    assert "feature ea" not in one
    assert "52 more rows are not shown" in Read(page(service(plans=plans))).text
    faulty = [{"id": 5, "name": f"p{n}", "description": "d"} for n in range(60)]
    assert re.search(r"and \d+ more", Read(made(service(plans=faulty), audience="operator")).text)


def test_lines_that_differ_in_an_amount_share_a_row() -> None:
    lines = [["Storage: 1 GB", "minimum 1 core", "SSH access", "Postgres 15 on 2 disks", "VPN access"],
             ["Up to 10 GB storage", "Minimum 4 cores", "SSH access", "Postgres 16 on 2 disks"]]  # fmt: skip
    plans = [{"id": n, "name": n, "metadata": {"bullets": bullets}} for n, bullets in zip("ab", lines, strict=True)]
    rows = re.findall(r'<th scope="row">([^<]*)</th><td>([^<]*)</td><td>([^<]*)', page(service(plans=plans)))
    shared = [("Storage", "1 GB", "Up to 10 GB"), ("Core", "minimum 1", "Minimum 4"), ("SSH access", "✓", "✓")]
    assert rows[:-2] == shared


@each("lines, row", [
    ("RAM: 2 GB|ram 4GB", ("RAM", "2 GB", "4GB")),
    ("storage up to 10 GB|20 GB storage", ("Storage", "up to 10 GB", "20 GB")),
    ("Backup: daily|Backup: none", ("Backup", "daily", "none")),
    ("Replicas: 2 or more|replicas: 3", ("Replicas", "2 or more", "3")),
    ("PostgreSQL 15|PostgreSQL 16", ("PostgreSQL", "15", "16")),
    ("Encrypted  disks|encrypted disks", ("Encrypted disks", "✓", "✓")),
    ("30-day backups|30-day backups", ("30-day backups", "✓", "✓")),
    ("30-day backups|7-day backups", None),
    ("Version 9.5 server|Version 9.6 server", None),
    ("24/7 support|24 support", None),
    ("No backup|No backup", None),
    ("without support|without support", None),
    ("Storage encrypted|", None),
    ("2 dedicated servers|Dedicated server", None),
    ("See https://a.example|See https://b.example", None),
])  # fmt: skip
def test_only_what_is_comparable_is_compared(lines: str, row: Any) -> None:
    plans = [{"id": n, "name": n, "metadata": {"bullets": line.split(";")}} for n, line in zip("ab", lines.split("|"), strict=True)]  # fmt: skip
    html = page(service(plans=plans))
    rows = re.findall(r'<th scope="row">([^<]*)</th><td>([^<]*)</td><td>([^<]*)', html)
    assert rows[:-2] == ([row] if row else [])
    for line in filter(None, lines.split("|")):
        assert f"<li>{' '.join(line.split())}</li>" in " ".join(html.split()), "a plan has its bullets"


def test_what_a_plan_does_not_state_is_not_denied() -> None:
    bullets = [["Storage encrypted", "no backup"], ["Storage encrypted"], [], ["no backup"]]
    about = ["d", "d", "With storage encrypted.", "d"]
    plans = [
        {"id": f"p{n}", "name": f"p{n}", "description": text, "free": n == 0, "metadata": {"bullets": lines}}
        for n, (lines, text) in enumerate(zip(bullets, about, strict=True))
    ]
    plans[1]["metadata"]["costs"] = [{"amount": {"usd": 5}, "unit": "MONTHLY"}]
    html = page(service(plans=plans))
    found = dict(table_rows(html))
    assert found["Storage encrypted"] == ["✓", "✓", "see the plan", "not stated"]
    assert found["USD a month"] == ["free", "5", "not stated", "not stated"]
    assert "No backup" not in found
    assert "–" not in html.split("<article")[1].split("</article")[0]
    assert "Empty cells: the catalog does not state it." in html


def table_rows(html: str) -> list[tuple[str, list[str]]]:
    """Labels and cells of the comparisons."""
    rows = re.findall(r'<tr[^>]*><th scope="row">([^<]*)</th>(.*?)</tr>', html)
    return [
        (unescape(label), [unescape(re.sub("<[^>]*>", "", cell)) for cell in cells.split("</td>")[:-1]])
        for label, cells in rows
    ]


@needs_corpus
def test_comparisons_of_real_catalogs_say_what_the_catalog_says() -> None:
    """Each tick and value is in the plan, and no bullet of one plan alone has a row."""
    checked = Counter[str]()
    for file in [SHIPPED, *catalogs()]:
        catalog = Catalog.of(read_source(str(file)).data).redacted
        articles = render_page(Content([Part("a", catalog)])).split("<article")[1:]
        for offered, article in zip(catalog.services, articles, strict=True):
            fields = {_in_words(key) for plan in offered.plans for key in plan.metadata}
            for label, cells in table_rows(article):
                assert "–" not in cells
                told = sum(cell not in ("not stated", "see the plan") for cell in cells)
                others = {"bindable", "plan can be changed", "costs", "further costs", "parameters"}
                is_bullet = label.casefold() not in fields | others
                assert told > 1 or not is_bullet or label.endswith(" a month"), (file.name, label)
                for plan, cell in zip(offered.plans, cells, strict=True):
                    if (stated := _stated_field(offered, plan, label)) is not None:
                        assert cell == stated, (file.name, label)
                        checked["field"] += 1
                        continue
                    kind = _check_cell(plan, label, cell)
                    assert kind or not is_bullet, (file.name, label, cell)
                    checked[kind] += 1
    assert min(checked[kind] for kind in ("price", "tick", "limit", "field")) > 30, checked


def _stated_field(offered: ServiceOffering, plan: ServicePlan, label: str) -> str | None:
    """The cell of a flag or of another field of the metadata as the catalog has it; None for other rows."""
    words = {True: "yes", False: "no"}
    if flag := {"Bindable": "bindable", "Plan can be changed": "plan_updateable"}.get(label):
        value = plan.data.get(flag, offered.data.get(flag, False))
        return words[value] if isinstance(value, bool) else "unclear"
    other = [value for key, value in plan.metadata.items() if _in_words(key) == label.casefold() and key != "costs"]
    return None if not other else words[other[0]] if isinstance(other[0], bool) else str(other[0])


def _check_cell(plan: ServicePlan, label: str, cell: str) -> str:
    """The kind of a cell that says what the catalog says; empty for another one."""
    lines = [" ".join(line.split()).casefold() for line in bullets_of(plan)]
    if cell == "✓":
        return "tick" * (label.casefold() in lines)
    if label.endswith(" a month"):
        units = ("monthly", "per month", "month")
        costs = [cost["amount"] for cost in plan.metadata.get("costs", ()) if cost["unit"].lower() in units]
        amounts = [cost[key] for cost in costs for key in cost if key.upper() == label.split()[0]]
        is_same = (
            cell == ("free" if plan.data.get("free", "costs" not in plan.metadata) else "not stated")
            if not amounts
            else float(cell.replace(",", "")) == pytest.approx(sum(amounts))
        )
        return "price" * is_same
    if cell in ("not stated", "see the plan"):
        return "gap" * (label.casefold() not in lines)
    return "limit" * all(
        any(label.casefold() in line and value.casefold() in line for line in lines) for value in cell.split("; ")
    )


def _in_words(key: str) -> str:
    return " ".join(re.split(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+", key)).casefold()


def test_plans_are_compared_by_their_parameters() -> None:
    """Those that no plan may set are not named; a plan without a schema states nothing."""
    many: dict[str, Any] = {f"p{n}": {} for n in range(9)}
    nested: dict[str, Any] = {"size": {"properties": {"inner": {}}}, "a<b": {}}
    cases: list[Any] = [
        ([nested, {"size": {}}], ["size, a<b", "size"]),
        ([nested, nested], ["size, a<b", "size, a<b"]),
        ([{"size": {}, "zone": False}, {}, None], ["size", "none named", "not stated"]),
        ([many, {**many, "zone": {}}, None], ["9 common ones", "9 common ones, zone", "not stated"]),
        ([many, {}], [", ".join(many), "none named"]),
        ([None, None], None),
    ]
    for properties_of_plans, cells in cases:
        plans = [
            {"id": str(n), "name": str(n)} | (of_create({"properties": properties}) if properties is not None else {})
            for n, properties in enumerate(properties_of_plans)
        ]
        html = page(service(plans=plans))
        assert dict(table_rows(html)).get("Parameters") == cells
        assert "<code>zone</code>" not in html or "zone" in str(cells)
    reference = {"$ref": "#/$defs/all", "$defs": {"all": {"properties": {"far": {}}}}}
    plans = [{"id": name, "name": name, **of_create(reference)} for name in "ab"]
    assert dict(table_rows(page(service(plans=plans))))["Parameters"] == ["far", "far"]


def test_parameters_of_several_plans_are_merged() -> None:
    plans = []
    for name, most, more in (("small", 10, {}), ("large", 20, {}), ("huge", 20, {"zone": {"type": "string"}})):
        size = {"type": "integer", "maximum": most, "default": most, "description": "Storage in gigabytes."}
        schema = {"properties": {"size": size, "version": {"enum": ["15", "16"]}, **more}}
        plans.append({"id": name, "name": name, "description": "d", **of_create(schema)})
    html = page_with_requests(service(plans=plans))
    text = Read(html).text
    assert text.count("Storage in gigabytes.") == html.count("<code>version</code>") == 1
    assert "small default 10; limits ≤ 10 large, huge default 20; limits ≤ 20" in text
    assert "small, large not a parameter" in text
    assert html.count("By plan<") == 2
    assert text.count("Fullest request (small)") == text.count("Fullest request") == 1


def test_a_description_is_split_at_blank_lines_and_list_items() -> None:
    words = "One sentence that is\nbroken at its\r\nwidth, in\n2019. Yes.\n\n\nAnother:\n- one\n- two\n  more\n\n* three\n1. four"
    text = '<p class="text">One sentence that is broken at its width, in 2019. Yes.</p>\n<p class="text">Another:</p>\n'
    items = '<ul class="text"><li>one</li><li>two more</li><li>three</li></ul>\n<ol class="text"><li>four</li></ol>\n'
    assert text + items in page(service(metadata={"longDescription": words}))
    assert text + items in page(service(plan={"description": words}))
    assert text.split("\n", 1)[1] + items in page(service(description=words)), "the first paragraph is on the card"
    assert f'<p class="about">{text[16 : text.index("</p>")]}</p>' in page(service(description=words))
    assert page(service(description="Same  words", metadata={"longDescription": "Same words"})).count("Same words") == 1


@each("words, shown", [
    ("# Title #\ntext", '<p class="text"><b>Title</b></p>\n<p class="text">text</p>'),
    ("a\n---\nb", '<p class="text">a</p>\n<p class="text">b</p>'),
    ("7. x\n\ny\n\n8. z", '<ol class="text" start="7"><li>x</li></ol>\n<p class="text">y</p>\n<ol class="text" start="8">'),
    ("```\n<b>\n  - c\n```\nd", '<pre tabindex="0">&lt;b&gt;\n  - c</pre>\n<p class="text">d</p>'),
    ("| a | b |\n|---|---|", '<pre tabindex="0">| a | b |\n|---|---|</pre>'),
    ("**bold** and `x<y` and __b__", "<b>bold</b> and <code>x&lt;y</code> and <b>b</b>"),
    ("a ** b ** c and my__own__name `", "a ** b ** c and my__own__name `"),
    ("[docs](https://d.example/?a=1&b)", 'href="https://d.example/?a=1&amp;b" target="_blank" rel="noopener noreferrer">docs<'),
    ("![logo](https://d.example/x.png)", '<p class="text">logo</p>'),
    ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
    ("[x](https://me@d.example/)", "[x](https://***@d.example/)"),
    ('[x](https://d.example/"onclick=)', "[x](https://d.example/&#34;onclick=)"),
    ("**<script>**<img src=x>", "<b>&lt;script&gt;</b>&lt;img src=x&gt;"),
    ("**\u202ex** \u202ey", "<b>\\u202ex</b> \\u202ey"),
])  # fmt: skip
def test_markdown_in_descriptions(words: str, shown: str) -> None:
    html = page(service(metadata={"longDescription": words}))
    assert shown in html.split('class="inside"')[1].split("<h3>")[0]


def test_long_descriptions_take_little_time() -> None:
    clock = time.process_time()
    for text in ("**a ", "[a" * 2, "# ", "- ", "*" * 7, "`", "__a", "1. ", "|\n", "> ", "_ " * 3 + "\n", "[a](" * 2):
        page(service(metadata={"longDescription": text * (20_000 // len(text))}))
    assert time.process_time() - clock < 5


@needs_corpus
@pytest.mark.fuzz
def test_real_catalogs_make_a_page() -> None:
    for file in catalogs()[:: 1 if EVERY_CASE else 4]:
        read = Read(make_page([page_catalog(file)], Content(findings=True)))
        catalog = Catalog.of(read_source(str(file)).data)
        assert [t for t, _ in read.tags].count("article") == len(catalog.services), file.name
        ids = read.ids()
        assert len(ids) == len(set(ids)), file.name


def test_a_page_of_very_many_plans_has_no_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "commands and examples are left out"
    full = made(service(), audience="operator")
    assert told not in full
    assert "cf create-service" in full
    monkeypatch.setattr("osbctl.commands.page.MAX_WITH_REQUESTS", 0)
    short = made(service(), audience="operator")
    assert told in short
    assert "cf create-service" not in short


@needs_corpus
def test_requests_of_real_catalogs_are_valid(tmp_path: Path) -> None:
    """Each example is proved by two validators; a real bash hands each line on as the names of the order."""
    proved, expected, script = 0, [], []
    for file in [SHIPPED, *catalogs()]:
        catalog = Catalog.of(read_source(str(file)).data)
        part, _ = add_requests([Part(broker, catalog, platforms=tuple(Platform)) for broker in ("b", "other")])
        for owner, plan in [(one, plan) for one in catalog.services for plan in one.plans]:
            found = part.requests[plan.path]
            for place, examples in found.examples.items():
                proved += sum(_proved(plan.parameters[place], json.loads(text)) for _, text in examples if text)
            for command in [command for _, shown in found.commands for command in shown]:
                if command.text and command.label.split()[0] in COMMANDS:
                    script.append(command.text)
                    expected.append((command.label.split()[0], owner.name, plan.name))
    (tmp_path / "params.json").write_text("{}")
    tools = "".join(f"{tool}() {{ printf '%s\\0' {tool} \"$@\"; echo; }}\n" for tool in COMMANDS)
    ran = subprocess.run(
        ["bash"], input=(tools + "\n".join(script)).encode(), cwd=tmp_path, capture_output=True, timeout=60, check=True
    )
    assert ran.stderr == b""
    lines = [line.split("\0")[:-1] for line in ran.stdout.decode().splitlines()]
    assert proved > 20
    assert len(lines) > 1_000
    for line, (tool, service_name, plan_name) in zip(lines, expected, strict=True):
        assert line[0] == tool
        assert {service_name, plan_name, "my-instance"} <= set(line)
        assert tool not in NAME_BROKERS or line[line.index("-b") + 1] == "b"


def _proved(schema: Any, value: Any) -> bool:
    # Where a schema names no dialect, draft 7 is taken, as platforms do.
    jsonschema.validators.validator_for(schema, default=jsonschema.Draft7Validator)(schema).validate(value)
    draft = {} if "$schema" in schema else {"draft": jsonschema_rs.Draft7}
    jsonschema_rs.validate(schema, value, **draft)
    return True


# Icons: pictures in the catalog itself, known by their first bytes, and the initials in place of one.


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.mark.parametrize("data", [PNG, SVG, b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF1234WEBP", b"<!-- x -->\n<svg >"])
def test_images_are_recognised_by_their_first_bytes(data: bytes) -> None:
    assert clean_data_url(f"data:image/png;base64,{b64encode(data).decode()}") == image_to_data_url(data) != ""


@each("url", [
    "data:image/png;base64,%%%",
    "data:text/html;base64," + b64encode(PNG).decode(),
    "data:image/svg+xml,<html><svg>",
    "data:image/png;base64," + b64encode(b"<html>").decode(),
    "data:image/png",
    "https://img.example/x.png",
    None,
])  # fmt: skip
def test_other_values_are_not_images(url: object) -> None:
    assert clean_data_url(url) == ""


@pytest.mark.parametrize(
    "content",
    ["<script>x</script>", "<svg:script/>", "<g onload = 'x'/>", '<g id="x"onclick="x"/>', "<IFRAME src='x'/>"],
)
def test_an_svg_with_scripts_or_entities_is_not_shown(content: str) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M1 1" class="icon on"/>{}</svg>'
    assert image_to_data_url(svg.format("<title>on = one</title>").encode()) != ""
    assert image_to_data_url(svg.format(content).encode()) == ""
    assert image_to_data_url(b'<!DOCTYPE svg [<!ENTITY a "x><svg ">]><svg>&a;</svg>') == ""


def test_a_large_image_is_not_shown() -> None:
    assert image_to_data_url(PNG.ljust(MAX_IMAGE_BYTES)) != ""
    assert image_to_data_url(PNG.ljust(MAX_IMAGE_BYTES + 1)) == ""


def test_monograms() -> None:
    names = ["Object Storage", "redis", "", "--", "ß x", "r"]
    assert [monogram(name) for name in names] == ["OS", "RE", "?", "?", "SS", "R"]
    data = service()
    data["services"] += [{"id": "s-2", "name": "Redis", "plans": []}]
    assert re.findall(r'"icon mono (m\d)" aria-hidden="true">(\w+)<', page(data)) == [("m0", "DB"), ("m1", "RE")]
