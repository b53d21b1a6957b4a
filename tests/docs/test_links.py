"""Links of the Markdown files that are read in the repository, each to a file and a heading in it; and the length of pages.

Sphinx looks after docs/ by itself (`make site`); these are the others, and links that leave docs/.
"""

import re
from pathlib import Path

import pytest

from osbctl.platforms import Platform
from tests.git import ROOT, project_files
from tests.platforms.known import KNOWN

PAGES = sorted(file for file in project_files() if file.suffix == ".md")
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")


def prose(text: str) -> str:
    """`text` without fenced blocks and code."""
    return re.sub(r"`[^`\n]*`", "code", re.sub(r"(?ms)^ *```.*?^ *```", "", text))


def slug(heading: str) -> str:
    """The anchor that GitHub and the site give a heading."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-")


def anchors(file: Path) -> set[str]:
    text = re.sub(r"(?ms)^ *```.*?^ *```", "", file.read_text(encoding="utf-8"))
    named = re.findall(r'<a id="([^"]+)">', text)
    return {slug(heading) for heading in re.findall(r"(?m)^#+ (.+)$", text)}.union(named)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_links_lead_somewhere(page: Path) -> None:
    for pair in LINK.findall(prose(page.read_text(encoding="utf-8"))):
        link = pair[0] or pair[1]
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


def test_the_links_are_looked_at() -> None:
    assert ROOT / "README.md" in PAGES
    assert ROOT / "docs" / "tutorial.md" in PAGES
    assert len(PAGES) > 15


def test_each_promise_of_security_names_tests_that_exist() -> None:
    rows = [line for line in (ROOT / "SECURITY.md").read_text().splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`([^`]+)::(\w+)`", row)
        assert named, row
        for file, test in named:
            assert re.search(rf"^def {test}\(", (ROOT / file).read_text(), re.MULTILINE), f"{file}::{test}"


def test_the_pages_that_people_write_stay_short() -> None:
    """Every word of the files counts, also outputs and sources; pages that tools/make_docs.py writes whole do not."""
    pages = [page.read_text(encoding="utf-8") for page in PAGES if page.is_relative_to(ROOT / "docs")]
    written = [text for text in pages if "Written from " not in text[:200]]
    more = 150 * (len(Platform) - len(KNOWN))  # a paragraph of docs/explanation/platforms.md, and its lines in outputs
    assert sum(len(text.split()) for text in written) <= 11_000 + more
    assert sum("not published yet" in text for text in pages) == 1
