"""Sphinx: how the site is made from the Markdown files here. `make site` runs it; every warning is an error."""

import os
import re
from pathlib import Path

import osbctl

DOCS = Path(__file__).parent
ELSEWHERE = {
    "changelog": DOCS.parent / "CHANGELOG.md",
    "deploy": DOCS.parent / "deploy" / "README.md",
    "security": DOCS.parent / "SECURITY.md",
}
"""Pages of the site that are files of the repository; the file under docs/ only says so."""

project = "osbctl"
author = copyright = "the osbctl authors"  # noqa: A001  # Sphinx reads this name
version = release = osbctl.__version__
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4
nitpicky = True
pygments_style = "a11y-high-contrast-light"  # every colour of theirs can be read (WCAG 2, 1.4.3)
pygments_dark_style = "a11y-high-contrast-dark"
html_theme = "furo"
html_title = f"osbctl {release}"
html_static_path = ["search"]
html_js_files = ["sections.js"]
html_show_sphinx = False
html_copy_source = False
html_show_search_summary = False  # it would read the pages found, which a browser refuses to do without a server
suppress_warnings = ["misc.highlighting_failure"]

_ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def _keep_links_in_the_site(_app: object, name: str, source: list[str]) -> None:
    """Let links to files of the repository work where there is only the site.

    They lead to the page that shows the file, or become its name.
    """
    page = DOCS / f"{name}.md"
    origin = ELSEWHERE.get(name, page)
    text = source[0] if origin is page else origin.read_text(encoding="utf-8")

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        file = (origin.parent / target).resolve()
        if not file.exists():
            return match[0]  # Sphinx says what is wrong with it
        shown = next((DOCS / f"{one}.md" for one, other in ELSEWHERE.items() if other == file), file)
        if shown.is_relative_to(DOCS):
            return f"[{words}]({os.path.relpath(shown, page.parent)}{anchor})"
        path = str(file.relative_to(DOCS.parent))
        return words if path in words else f"{words} (`{path}`)"

    # An anchor that GitHub shows becomes a target that Sphinx can check.
    source[0] = _ANCHOR.sub(r"(\1)=", _LINK.sub(link, text))


def _finish_for_all_readers(app, _error: object) -> None:  # type: ignore[no-untyped-def]
    """What the theme leaves out (WCAG 2.2): a caption's level as a heading, and the Tab key for text that scrolls."""
    for file in Path(app.outdir).rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        text = text.replace('role="heading">', 'role="heading" aria-level="2">')
        text = text.replace("<pre>", '<pre tabindex="0">')
        text = text.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
        file.write_text(text, encoding="utf-8")


def setup(app) -> None:  # type: ignore[no-untyped-def]
    app.connect("source-read", _keep_links_in_the_site)
    app.connect("build-finished", _finish_for_all_readers)
