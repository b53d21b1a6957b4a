"""Each page of the site in a real Chromium: readable in both themes, nothing asked of another host, and found by a search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pages.browser import browser as browser
from tests.pages.browser import watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

AXE = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "preload": False}
"""Without `preload`, by which axe would load the style sheets once more, and a browser forbids that for files."""


@contextmanager
def visitor(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page that must ask for files of the site alone."""
    with watched(browser, width=1280, **options) as (page, asked):
        yield page
    assert [url for url in asked if not url.startswith("file:")] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_can_be_read(browser: Browser, site: Path, theme: str) -> None:
    """WCAG 2.2 AA by axe-core, in which contrast is the part that a theme and a highlighter most often miss."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    files = sorted(site.rglob("*.html"))
    assert len(files) > 20
    found = {}
    with visitor(browser, color_scheme=theme) as page:
        for file in files:
            page.goto(file.as_uri())
            violations = axe.run(page, options=AXE).response["violations"]
            told = [(one["id"], len(one["nodes"]), one["nodes"][0]["html"][:200]) for one in violations]
            if told:
                found[str(file.relative_to(site))] = told
    assert found == {}, json.dumps(found, indent=1)


@pytest.mark.parametrize(("words", "page_found"), [
    ("install", "install.html"),
    ("rotate a password", "rotate-credentials"),
    ("github action", "check-in-ci"),
    ("pre-commit", "check-in-ci.html#pre-commit"),
    ("ignore a finding", "accept-findings"),
    ("breaking change", "accept-findings"),
    ("compare two versions", "commands/diff"),
    ("exit codes", "exit-codes"),
    ("nginx", "publish-a-page.html#nginx"),
    ("brokerpak", "check-a-brokerpak"),
    ("vs code", "in-your-editor"),
    ("reload certificate", "commands/serve"),
])  # fmt: skip
def test_a_search_needs_no_server(browser: Browser, site: Path, words: str, page_found: str) -> None:
    with visitor(browser) as page:
        page.goto((site / "index.html").as_uri())
        page.locator("input[name=q]").fill(words)
        page.locator("input[name=q]").press("Enter")
        page.get_by_text("Search finished").wait_for()
        links = [link.get_attribute("href") or "" for link in page.locator("#search-results li a").all()]
        assert any(page_found in link for link in links[:3]), links


@pytest.mark.parametrize(("words", "rule"), [
    ("duplicate plan name", "plan-name-duplicate"),
    ("change plan id", "change-plan-id"),
    ("catalog not json", "wire-not-json"),
    ("two plans share a name", "cloudfoundry-plan-names"),
])  # fmt: skip
def test_a_search_finds_the_rule_first(browser: Browser, site: Path, words: str, rule: str) -> None:
    with visitor(browser) as page:
        page.goto((site / "search.html").as_uri() + f"?q={words}")
        page.get_by_text("Search finished").wait_for()
        first = page.locator("#search-results li a").first
        assert f"#{rule}" in (first.get_attribute("href") or "")
        first.click()
        assert (
            page.locator(":target").inner_text().startswith(f"{rule}: ") or page.evaluate("location.hash") == f"#{rule}"
        )


def test_it_can_be_read_on_a_phone(browser: Browser, site: Path) -> None:
    with visitor(browser) as page:
        page.set_viewport_size({"width": 320, "height": 640})
        wide = []
        for file in sorted(site.rglob("*.html")):
            page.goto(file.as_uri())
            if page.evaluate("document.documentElement.scrollWidth > 321"):
                wide.append(file.name)
        assert wide == []
