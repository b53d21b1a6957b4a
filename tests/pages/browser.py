"""A real Chromium, where it is installed, that watches what a page asks for and says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("OSBCTL_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; the test is skipped by name where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (make test-browser)")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on PATH")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@contextmanager
def watched(browser: Browser, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """A new page, which must say nothing on the console or in a dialog, and at the end the addresses that it asked for."""
    context = browser.new_context(viewport={"width": options.pop("width", 1440), "height": 900}, **options)
    page = context.new_page()
    page.set_default_timeout(10_000)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    try:
        yield page, asked
        assert said == []
        asked[:] = [url for url in asked if not url.startswith(("data:", "blob:"))]
    finally:
        context.close()


@contextmanager
def opened(browser: Browser, file: Path, fragment: str = "", **options: Any) -> Iterator[Page]:
    """The page in `file`; at the end, it must have asked for nothing else, and have said nothing on the console."""
    address = file.as_uri()
    with watched(browser, **options) as (page, asked):
        page.goto(address + fragment)
        yield page
    assert set(asked) == {address}
