"""Format `html`: a page of findings with their catalogs."""

from osbctl.catalog import Catalog
from osbctl.pages.content import Branding, Content, Part
from osbctl.pages.render import render_page
from osbctl.reports import Report


def render(report: Report) -> str:
    """Render a page of findings; deterministic."""
    parts = [Part(one.name, Catalog.of(one.data or {}), one.outcomes, one.findings) for one in report.results]
    return render_page(Content(parts, branding=Branding("Catalog findings"), findings=True))
