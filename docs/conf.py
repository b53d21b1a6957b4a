"""Sphinx: how the site is made from the Markdown files here. `make site` runs it; every warning is an error."""

import re
from pathlib import Path

import osbctl

REPOSITORY = "https://git.example.com/your-org/osbctl/blob/main"
DOCS = Path(__file__).parent

project = "osbctl"
author = copyright = "the osbctl authors"  # noqa: A001  # Sphinx reads this name
version = release = osbctl.__version__
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4
nitpicky = True
pygments_style = "friendly"
html_theme = "furo"
html_title = f"osbctl {release}"
html_static_path: list[str] = []
html_show_sphinx = False
html_copy_source = False
suppress_warnings = ["misc.highlighting_failure"]

_LINK = re.compile(r"(?<=\]\()(\.\./[^)#\s]+)")


def _leave_the_site(_app: object, name: str, source: list[str]) -> None:
    """Let links to files outside docs/ work on the site too: they lead to the repository."""
    page = DOCS / f"{name}.md"

    def target(match: re.Match[str]) -> str:
        file = (page.parent / match[1]).resolve()
        if file.is_relative_to(DOCS) or not file.exists():
            return match[1]  # Sphinx says what is wrong with it
        return f"{REPOSITORY}/{file.relative_to(DOCS.parent)}"

    source[0] = _LINK.sub(target, source[0])


def setup(app) -> None:  # type: ignore[no-untyped-def]
    app.connect("source-read", _leave_the_site)
