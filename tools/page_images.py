"""Screenshots of the page for the README, taken in Chromium (`pip install --group browser`).

    python tools/page_images.py

They are not part of `make docs`, because fonts, and so the pictures, differ between machines.
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from osbctl.commands.page import PageCatalog, make_page
from osbctl.pages import Content
from osbctl.sources.read import read_source

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "catalogs" / "data-services.yaml"
PLANS = "#service/281FA6F5-54A5-454C-AA2E-C0035E0E14CA"
PICTURES = {"page-services.png": ("", "light"), "page-plans.png": (PLANS, "dark")}
"""Each picture with the place in the page, and the theme."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page = Path(folder) / "page.html"
        page.write_text(make_page([PageCatalog("northwind", read_source(str(SOURCE)))], Content()), encoding="utf-8")
        arguments = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        for name, (place, theme) in PICTURES.items():
            opened = browser.new_page(viewport={"width": 1120, "height": 760}, color_scheme=theme)
            opened.goto(page.as_uri() + place)
            opened.wait_for_timeout(300)
            opened.screenshot(path=ROOT / "docs" / "images" / name)
        browser.close()


if __name__ == "__main__":
    main()
