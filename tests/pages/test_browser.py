"""The page as people use it: in a real Chromium, by clicking and typing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from osbctl.commands.page import PageCatalog, make_page
from osbctl.pages import Branding, Content
from osbctl.sources.read import read_source
from tests.corpus import catalogs, needs_corpus
from tests.folders import catalogs_folder
from tests.pages.browser import browser as browser
from tests.pages.browser import opened
from tests.pages.test_page import document

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

POSTGRES = "#service/281FA6F5-54A5-454C-AA2E-C0035E0E14CA"
SMALL = f"{POSTGRES}/2399D29D-B61E-4BA5-B682-4DD6B80469B8"
CREATE = f"{POSTGRES}/parameters/create"
DAY = "maintenance_window.day"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)><a href=javascript:alert(1)>\u202ex"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of everything: two brokers, changes, findings."""
    whole = read_source(str(catalogs_folder() / "data-services.yaml"))
    before = json.loads(json.dumps(whole.data))
    before["services"][0]["plans"][1]["free"] = True
    before["services"][1]["description"] = "Before."
    other = {"services": [{"id": "x-1", "name": "postgres", "description": "From elsewhere", "bindable": True,
                           "tags": ["<b>bold</b>"], "plans": [plan("p-1")]}]}  # fmt: skip
    catalogs = [PageCatalog("northwind", whole, document(before)), PageCatalog("second", document(other))]
    return written(tmp_path_factory.mktemp("page"), catalogs, since="Since main.", findings=True)


def plan(id_: str, schema: Any = None) -> dict[str, Any]:
    schemas = {"schemas": {"service_instance": {"create": {"parameters": schema}}}} if schema is not None else {}
    return {"id": id_, "name": id_, "description": "A plan", **schemas}


def written(folder: Path, catalogs: list[PageCatalog], **options: Any) -> Path:
    path = folder / "page.html"
    path.write_text(make_page(catalogs, Content(**{"audience": "operator", **options})), "utf-8")
    return path


def of_plans(plans: list[dict[str, Any]]) -> list[PageCatalog]:
    """A catalog of one service offering with these plans."""
    service = {"id": "s", "name": "s", "description": "d", "bindable": True, "plans": plans}
    return [PageCatalog("a", document({"services": [service]}))]


def names(page: Page) -> list[str]:
    return [text.strip() for text in page.locator("article:visible h2").all_text_contents()]


def until(page: Page, expression: str) -> None:
    """Wait for what a script says; the page's policy keeps Playwright's own way of waiting out."""
    for _ in range(50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never came true: {expression}")


def test_the_search_finds_names_descriptions_tags_and_plans(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        assert len(names(page)) == 8
        search = page.get_by_role("searchbox")
        for text, found in [
            ("postgresql", ["PostgreSQL"]),
            ("FULL-TEXT documents", ["Search"]),
            ("streaming", ["Kafka"]),
            ("point-in-time nothing", []),
            ("thirty days", ["PostgreSQL"]),
            ("two replicas", ["PostgreSQL"]),
            ("storage", ["Object Storage", "PostgreSQL", "Search"]),
            ("maintenance_window", ["PostgreSQL"]),
            ("the engine", ["PostgreSQL"]),
            ("281FA6F5-54A5-454C-AA2E-C0035E0E14CA", []),
            ("2399D29D", []),
            ("postgers", ["PostgreSQL", "postgres"]),
            ("kakfa", ["Kafka"]),
        ]:
            search.fill(text)
            assert names(page) == found
        page.get_by_role("searchbox").fill("nothing that is there")
        assert page.get_by_text("No service matches.").is_visible()
        page.get_by_role("button", name="clear the search").click()
        until(page, "document.querySelectorAll('article:not([hidden])').length === 8")
        assert names(page)[0] == "PostgreSQL"


def test_filters_narrow_and_the_address_has_them(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        page.get_by_label("Tag", exact=True).select_option("messaging")
        assert names(page) == ["Kafka"]
        page.get_by_label("Tag", exact=True).select_option("")
        page.get_by_label("Plans", exact=True).select_option("free")
        free = names(page)
        assert "Kafka" not in free
        assert "PostgreSQL" in free
        page.get_by_label("Plans", exact=True).select_option("")
        page.get_by_label("Platform", exact=True).select_option("kubernetes")
        assert "PostgreSQL" in names(page)
        page.get_by_label("Broker", exact=True).select_option("second")
        until(page, "location.hash === '#?platform=kubernetes&broker=second'")
        page.reload()
        assert names(page) == ["postgres"]
        assert page.get_by_role("status").first.inner_text() == "1 of 8 services"
        page.get_by_role("button", name="Clear").click()
        until(page, "location.hash === ''")
        page.get_by_role("link", name="<b>bold</b>").click()
        assert names(page) == ["postgres"], "a tag is a filter"


@pytest.mark.parametrize(
    ("fragment", "place"),
    [(POSTGRES, POSTGRES), (SMALL, SMALL), (CREATE, CREATE), (f"{SMALL}/create/{DAY}", f"{CREATE}/{DAY}")],
)
def test_links_lead_to_a_service_plan_and_parameter(browser: Browser, file: Path, fragment: str, place: str) -> None:
    with opened(browser, file, fragment) as page:
        assert names(page) == ["PostgreSQL"]
        assert page.locator(f"[id='{place[1:]}']").is_visible()
        assert page.locator(f"[id='{place[1:]}']").bounding_box()["y"] < 900  # type: ignore[index]
        assert "PostgreSQL" in page.title()
        back_to_all(page)
        assert len(names(page)) == 8


def test_the_way_back_keeps_the_search(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        page.get_by_role("searchbox").fill("database")
        before = names(page)
        page.get_by_role("link", name="PostgreSQL", exact=True).last.click()
        assert names(page) == ["PostgreSQL"]
        back_to_all(page)
        assert names(page) == before


def back_to_all(page: Page) -> None:
    page.get_by_role("link", name="← All services").click()
    until(page, "document.querySelector('main.one') === null")


def test_plans_are_compared(browser: Browser, file: Path) -> None:
    with opened(browser, file, POSTGRES) as page:
        table = page.locator("article:visible table.compare")
        body = table.locator("tbody tr").all()
        rows = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in body}
        assert rows["USD a month"] == ["free", "19", "89", "349"]
        assert rows["Storage"] == ["1 GB", "10 GB", "100 GB", "1 TB"]
        assert rows["Bindable"] == ["yes"] * 4
        page.get_by_label("Only what differs").check()
        assert not table.get_by_text("Bindable").is_visible()
        for name in ("Trial", "Large"):
            page.get_by_role("checkbox", name=name).uncheck()
        assert table.locator("thead th:visible").all_inner_texts() == ["Small", "Medium"]
        page.get_by_label("Only what differs").uncheck()
        assert table.get_by_text("Bindable").is_visible()
        assert not table.get_by_text("Two replicas").is_visible()


def test_of_many_plans_four_are_shown_until_one_chooses(browser: Browser, tmp_path: Path) -> None:
    plans = [{**plan(f"p{n}"), "metadata": {"displayName": f"Title {n % 9}"}} for n in range(10)]
    with opened(browser, written(tmp_path, of_plans(plans)), "#service/s") as page:
        heads = page.locator("table.compare thead th:visible")
        assert heads.count() == page.locator(".plan:visible").count() == 4
        page.evaluate("location.hash = '#service/s/p8'")
        until(page, "document.getElementById('service/s/p8').checkVisibility()")
        page.get_by_text("Choose plans (5 of 10)").click()
        page.get_by_role("button", name="No plan").click()
        assert heads.count() == 0
        page.get_by_role("checkbox", name="Title 0 (p9)").check()
        page.get_by_role("checkbox", name="Title 1", exact=True).check()
        assert heads.all_inner_texts() == ["Title 1 Free", "Title 0 (p9) Free"]
        page.get_by_role("button", name="All plans").click()
        assert heads.count() == 10


def test_very_many_plans_have_a_filter(browser: Browser, tmp_path: Path) -> None:
    plans = [
        {**plan(f"{kind}-{n:02}"), "free": n == 0, "metadata": {} if n == 0 else {"costs": [{"amount": {"usd": n}, "unit": "MONTHLY"}]}}
        for kind in ("small", "large") for n in range(30)
    ]  # fmt: skip
    with opened(browser, written(tmp_path, of_plans(plans)), "#service/s") as page:
        heads = page.locator("table.compare thead th:visible")
        assert heads.count() == 4
        choice = page.get_by_role("group", name="Show")
        assert choice.get_by_role("checkbox").count() == 2
        choice.get_by_label("Plan name").fill("LARGE-07, small-1")
        assert heads.all_inner_texts() == [*(f"small-{n}" for n in range(10, 20)), "large-07"]
        assert choice.get_by_text("11 of 11 matching plans").is_visible()
        assert page.locator(".plan:visible").count() == 11
        choice.get_by_label("At most USD a month").fill("7")
        assert heads.all_inner_texts() == ["large-07"]
        choice.get_by_label("Plan name").fill("")
        assert heads.count() == 12
        choice.get_by_role("button", name="Show all").click()
        assert heads.count() == 16
        assert not choice.get_by_role("button", name="Show all").is_visible()
        choice.get_by_label("Only free plans").check()
        assert heads.all_inner_texts() == ["small-00 Free", "large-00 Free"]
        page.evaluate("location.hash = '#service/s/large-20'")
        until(page, "document.getElementById('service/s/large-20').checkVisibility()")
        assert heads.count() == 3
        assert violations(page) == []


def test_the_only_service_is_open(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, of_plans([plan("p"), plan("q")]), findings=True)) as page:
        assert page.get_by_text("Plans side by side").is_visible()
        assert page.locator("#findings").is_visible()
        assert not page.get_by_text("All services").is_visible()
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Service marketplace").click()
        assert page.get_by_text("Plans side by side").is_visible()


def test_commands_are_in_a_tab_for_each_platform_and_are_copied(browser: Browser, file: Path) -> None:
    with opened(browser, file, SMALL, permissions=["clipboard-read", "clipboard-write"]) as page:
        commands = page.locator(f"[id='{SMALL[1:]}/order']")
        commands.locator("summary").click()
        for tab, label, at, begins in (
            ("Cloud Foundry", "cf", 0, "cf create-service postgres small my-instance -b northwind"),
            ("Kubernetes Service Catalog", "kubectl", 0, "kubectl apply -f instance.yaml"),
            ("Kubernetes Service Catalog", "kubectl", 1, "apiVersion: servicecatalog.k8s.io/v1beta1\nkind: Servi"),
            ("Cloud Foundry", "terraform", 0, 'data "cloudfoundry_service_plan"'),
        ):
            commands.get_by_role("tab", name=tab).click()
            assert commands.get_by_role("tabpanel").count() == 1
            command = commands.locator(".command:visible", has=page.get_by_text(label, exact=True))
            command.get_by_role("button").nth(at).click()
            until(page, f"navigator.clipboard.readText().then((text) => text.startsWith({json.dumps(begins)}))")
            assert command.get_by_role("button", name="Copied").first.is_visible()
        commands.get_by_role("tab", name="Cloud Foundry").press("ArrowLeft")
        page.reload()
        page.locator(".commands > summary").first.click()
        assert page.get_by_role("tab", selected=True).all_inner_texts() == ["Korifi"]


def test_findings_are_counts_that_unfold(browser: Browser, tmp_path: Path) -> None:
    services = [
        {"id": f"s{n}", "name": f"two words {n}", "description": "", "plans": [plan(f"p{n}")]} for n in range(3)
    ]
    page_file = written(tmp_path, [PageCatalog("a", document({"services": services}))], findings=True)
    with opened(browser, page_file) as page:
        front = page.locator("#findings")
        shown = [one.inner_text() for one in front.locator("summary .badge").all()]
        assert shown == sorted(shown, key=["error", "warning", "info"].index)
        assert front.locator("li:visible").count() == 0
        front.locator("summary").first.click()
        assert front.locator("li:visible").count() > 0
        page.get_by_role("link", name="two words 0", exact=True).last.click()
        page.locator("article .level > summary").first.click()
        assert page.locator("article .level li:visible").count() > 0


def test_everything_is_readable_without_javascript(browser: Browser, file: Path) -> None:
    with opened(browser, file, java_script_enabled=False) as page:
        assert len(names(page)) == 8
        assert not page.get_by_role("searchbox").is_visible()
        service = page.locator("article", has=page.get_by_role("link", name="PostgreSQL", exact=True)).first
        service.locator("summary").first.click()
        assert service.get_by_text("Plans side by side").is_visible()
        service.locator(".commands > summary").first.click()
        assert service.get_by_text("cf create-service").first.is_visible()
        service.locator(".params:not(.commands) > summary").first.click()
        assert service.get_by_text("Major version of the engine.").first.is_visible()
        assert page.get_by_text("What changed").first.is_visible()


def test_the_page_works_with_the_keyboard_alone(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.type("/nothing that is there")
        assert page.get_by_role("searchbox").input_value() == "nothing that is there"
        page.keyboard.press("Escape")
        assert page.get_by_role("searchbox").input_value() == ""
        page.keyboard.type("postgresql")
        tab_to(page, "h2 *")
        page.keyboard.press("Enter")
        until(page, "document.querySelector('main.one') !== null")
        assert names(page) == ["PostgreSQL"]
        tab_to(page, ".params > summary")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.parentElement.open")
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.innerText") == "PostgreSQL"
        assert page.get_by_role("searchbox").input_value() == "postgresql"


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is there, or a hundred times."""
    for _ in range(100):
        page.keyboard.press("Tab")
        if page.evaluate(f"document.activeElement.matches({json.dumps(selector)})"):
            return


def test_the_theme_follows_the_system_until_the_reader_chooses(browser: Browser, file: Path) -> None:
    with opened(browser, file, color_scheme="dark") as page:
        ground = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(ground)
        page.get_by_role("button", name="Change to the light theme").click()
        assert page.evaluate(ground) != dark
        page.reload()
        assert page.evaluate(ground) != dark


@pytest.mark.parametrize("width", [320, 768, 1440])
@pytest.mark.parametrize("fragment", ["", POSTGRES])
def test_nothing_is_wider_than_the_screen(browser: Browser, file: Path, width: int, fragment: str) -> None:
    with opened(browser, file, fragment, width=width) as page:
        if fragment:
            page.locator(".commands > summary").first.click()
            page.locator("[id$='/create'] > summary").click()
            table = page.locator("[id$='/create'] .scroll")
            assert width > 320 or table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
            shadows = "(one) => getComputedStyle(one).backgroundImage.split('gradient').length - 1"
            assert page.locator(".scroll:has(.compare):visible").evaluate(shadows) == 2
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1280])
def test_accessibility(browser: Browser, file: Path, width: int) -> None:
    for theme in ("light", "dark"):
        with opened(browser, file, width=width, color_scheme=theme) as page:
            assert violations(page) == []
        with opened(browser, file, POSTGRES, width=width, color_scheme=theme) as page:
            for details in page.locator(".chosen details").all():
                details.evaluate("(one) => { one.open = true; }")
            assert violations(page) == []


@pytest.mark.parametrize(("accent", "theme"), [("#0f0", "light"), ("#00f", "dark")])
def test_text_in_any_accent_is_readable(browser: Browser, tmp_path: Path, accent: str, theme: str) -> None:
    """Of pure colours, these two have the least contrast to the background."""
    catalogs = [PageCatalog("a", read_source(str(catalogs_folder() / "data-services.yaml")))]
    file = written(tmp_path, catalogs, branding=Branding(accent=accent))
    with opened(browser, file, POSTGRES, color_scheme=theme) as page:
        assert violations(page) == []


def violations(page: Page) -> list[Any]:
    """Violations that axe finds in the page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = axe.Axe().run(page, options={"runOnly": {"type": "tag", "values": tags}}).response["violations"]
    return [(one["id"], [node["target"] for node in one["nodes"]]) for one in found]


@pytest.mark.parametrize("plans", [1, 7, 78, 300])
def test_pages_of_each_size_fit_a_phone_and_a_desktop(browser: Browser, tmp_path: Path, plans: int) -> None:
    file = written(tmp_path, [PageCatalog("a", document(catalog_of(plans)))], findings=True)
    for width, theme in ((390, "dark"), (1280, "light")):
        with opened(browser, file, width=width, color_scheme=theme) as page:
            # Paper gets the list; the only service is open, with its plans.
            assert len(re.findall(rb"/Type /Page\b", page.pdf())) <= (1 + plans // 50 if plans > 7 else 3)
            assert_fits_with_a_card_open(page, width)
            assert page.locator("table.compare thead th:visible").count() == (4 if plans > 6 else 0)


@needs_corpus
@pytest.mark.parametrize("number", range(5))
def test_pages_of_real_catalogs(browser: Browser, tmp_path: Path, number: int) -> None:
    """The five largest, for each kind of reader."""
    source = sorted(catalogs(), key=lambda file: file.stat().st_size)[-1 - number]
    for audience, width, theme in (("customer", 390, "light"), ("operator", 1280, "dark")):
        file = written(tmp_path, [PageCatalog("a", read_source(str(source)))], audience=audience)
        with opened(browser, file, width=width, color_scheme=theme) as page:
            assert_fits_with_a_card_open(page, width)


def assert_fits_with_a_card_open(page: Page, width: int) -> None:
    """Without violations, before and after a click on the first card, all of which is the link."""
    for is_open in (False, True):
        if is_open:
            page.locator("article").first.click()
            until(page, "document.querySelector('main.one') !== null")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def catalog_of(plans: int) -> dict[str, Any]:
    """A catalog with that many plans; the first offering has the most, and one name is refused by some platforms."""
    counts = [min(plans, 7 + plans // 10)]
    while sum(counts) < plans:
        counts.append(min(6, plans - sum(counts)))
    services = []
    for at, count in enumerate(counts):
        offered = []
        for n in range(count):
            size = {"type": "integer", "minimum": 1, "maximum": 10 * n + 10, "description": "Storage in gigabytes."}
            schema = {"type": "object", "properties": {"storage_gb": size, "version": {"enum": ["15", "16"]}}}
            costs = [{"amount": {"usd": 19.0 * n, "eur": 17.5 * n}, "unit": "MONTHLY"}]
            bullets = [f"{10 * n + 10} GB storage", "daily backup" if n else "no backup"]
            about = {"displayName": f"Size {n}", "bullets": bullets, "costs": costs}
            offered.append({**plan(f"p-{at}-{n}", schema), "free": n == 0, "metadata": about})
        name = "two words" if at == 2 else f"database-{at}"
        services.append({"id": f"s-{at}", "name": name, "description": "A database in three zones.", "bindable": True,
                         "tags": ["database", f"t{at % 9}"], "plans": offered})  # fmt: skip
    return {"services": services}


def test_on_a_phone_filters_unfold(browser: Browser, file: Path) -> None:
    with opened(browser, file, "#?tag=messaging", width=390) as page:
        assert not page.get_by_label("Tag", exact=True).is_visible()
        page.get_by_role("button", name="Filters (1)", expanded=False).click()
        assert page.get_by_label("Tag", exact=True).is_visible()


def test_a_hostile_catalog_does_nothing(browser: Browser, tmp_path: Path) -> None:
    schema = {"properties": {HOSTILE: {"type": "string", "default": HOSTILE, "description": HOSTILE}, "toString": {}}}
    metadata = {
        "displayName": HOSTILE, "longDescription": HOSTILE * 10_000, "documentationUrl": "javascript:alert(1)",
        "imageUrl": "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>",
    }  # fmt: skip
    service = {"id": HOSTILE, "name": HOSTILE, "description": HOSTILE, "tags": [HOSTILE, *map(str, range(10_000))],
               "metadata": metadata, "plans": [{**plan(HOSTILE, schema), "metadata": {"bullets": [HOSTILE]}}]}  # fmt: skip
    page_file = written(tmp_path, [PageCatalog(HOSTILE, document({"services": [service] * 2}))], findings=True)
    with opened(browser, page_file) as page:
        page.locator("article h2 a").first.click()
        page.locator(".params > summary").first.click()
        page.locator(".params > summary").nth(1).click()
        assert page.locator("main script, main iframe, main [onerror]").count() == 0
        page.wait_for_timeout(200)


def test_changes_at_the_top_link_to_their_place(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        front = page.locator("#changes")
        assert front.get_by_text("Since main.").is_visible()
        front.get_by_role("link", name="postgres/small").first.click()
        assert names(page) == ["PostgreSQL"]


def test_a_page_can_be_printed(browser: Browser, file: Path) -> None:
    with opened(browser, file, POSTGRES) as page:
        page.emulate_media(media="print")
        assert not page.get_by_role("button", name="Change to").is_visible()
        assert page.get_by_text("Plans side by side").first.is_visible()
        assert len(page.pdf()) > 10_000


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 1,000 service offerings with ten plans each."""
    services = [
        {"id": f"s-{n}", "name": f"service-{n}", "description": f"Number {n}", "tags": [f"t{n % 20}"], "bindable": True,
         "plans": [plan(f"p-{n}-{m}") for m in range(10)]}
        for n in range(1_000)
    ]  # fmt: skip
    return written(tmp_path_factory.mktemp("thousand"), [PageCatalog("a", document({"services": services}))])


def test_the_next_cards_come_as_one_scrolls_and_links_find_what_is_put_away(browser: Browser, thousand: Path) -> None:
    shown = "document.querySelectorAll('article:not([hidden])').length"
    with opened(browser, thousand) as page:
        assert page.evaluate(shown) == 60
        # What is in the document and is shown is what each change of style passes through.
        assert page.evaluate("document.querySelectorAll('*').length") < 40_000
        page.get_by_role("button", name="Show more services").press("Enter")
        until(page, f"{shown} >= 120")
        page.keyboard.press("End")
        until(page, f"{shown} >= 180")
        # Who is at the end again before the browser looks gets the next ones, too.
        page.evaluate("""() => {
          const end = () => scrollTo({ top: document.body.scrollHeight, behavior: "instant" });
          const cards = new MutationObserver(end);
          cards.observe(document.getElementById("services"), { subtree: true, attributeFilter: ["hidden"] });
          end();
          setTimeout(() => cards.disconnect(), 2000);
        }""")
        until(page, f"{shown} >= 420")
        page.get_by_role("searchbox").fill("service-777")
        until(page, f"{shown} === 1")
        page.get_by_role("link", name="service-777").click()
        until(page, "document.getElementById('service/s-777/p-777-3')?.checkVisibility()")
    with opened(browser, thousand, "#service/s-999/p-999-9") as page:
        until(page, "document.getElementById('service/s-999/p-999-9')?.checkVisibility()")
        page.evaluate("location.hash = '#service/s-998/p-998-1'")
        until(page, "document.getElementById('service/s-998/p-998-1')?.checkVisibility()")
        assert names(page) == ["service-998"]
