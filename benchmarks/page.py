"""Making a page beside reading the catalog, and filtering it in Chromium.

    python benchmarks/page.py [--rounds N]

Reading and making take turns within one process, after one round that is not counted. Reading is measured twice: to the
values alone, and with the place of each plan, as for a report. The key strokes are typed into a page of 1,000 service
offerings with 10,000 plans; each is measured until the browser has laid the page out again.
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from validate import catalog, write

from osbctl.catalog import Catalog
from osbctl.commands.page import PageCatalog, make_page
from osbctl.pages import Content
from osbctl.sources.read import read_source

if TYPE_CHECKING:
    from collections.abc import Callable

STROKES = """async () => {
  const box = document.getElementById("q"), times = [];
  for (const text of ["s", "se", "ser", "serv", "service-1", "service-12", "service-123", "", "plan-77"]) {
    const start = performance.now();
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  return times;
}"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def seconds(work: Callable[[], object]) -> float:
    """Of the processor: what else the machine does has no say."""
    start = time.process_time()
    work()
    return time.process_time() - start


def making(source: str, rounds: int) -> tuple[list[float], int]:
    """Seconds to read, to read with places and to make the page, medians; the size of the page in bytes."""
    catalog = PageCatalog("a", read_source(source))
    plans = [plan.path for plan in Catalog.of(catalog.document.data).plans]
    works = (
        lambda: read_source(source),
        lambda: read_source(source).locate(plans),
        lambda: make_page([catalog], Content()),
    )
    size = len(make_page([catalog], Content()).encode())
    times = [[seconds(work) for work in works] for _ in range(rounds)]
    return [statistics.median(each) for each in zip(*times, strict=True)], size


def filtering(page: Path) -> list[float]:
    """Milliseconds of each key stroke."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        opened = browser.new_page(viewport={"width": 1440, "height": 900})
        opened.goto(page.as_uri())
        opened.wait_for_timeout(1000)
        times: list[float] = opened.evaluate(STROKES)
        browser.close()
        return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    gc.disable()  # as the command does
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("| Input | Page | Making it, by reading | by reading with places |\n|---|---|---:|---:|")
        for source in write(folder, "large", catalog(90, 10)):
            (read, place, make), size = making(source, rounds)
            kind = source.rpartition(".")[2].upper()
            sizes = f"{Path(source).stat().st_size / 1e6:.1f} MB {kind} | {size / 1e6:.1f} MB"
            print(f"| {sizes} | {make / read:.1f} | {make / place:.1f} |")
        many = folder / "many.json"
        many.write_text(json.dumps(catalog(1_000, 10)), encoding="utf-8")
        page = folder / "many.html"
        page.write_text(make_page([PageCatalog("a", read_source(str(many)))], Content()), encoding="utf-8")
        if CHROMIUM is None:
            print("\nThere is no Chromium on PATH: filtering is not measured.")
            return
        times = filtering(page)
        told = f"{statistics.median(times):.0f} ms, at most {max(times):.0f} ms"
        print(f"\n1,000 service offerings with 10,000 plans, {page.stat().st_size / 1e6:.0f} MB; a key stroke: {told}")


if __name__ == "__main__":
    main()
