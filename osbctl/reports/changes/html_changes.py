"""Format `html`: a page of changes with the new catalog."""

from osbctl.catalog import Catalog
from osbctl.pages.content import Branding, Content, Part
from osbctl.pages.render import render_page
from osbctl.reports.changes import DiffReport


def render(report: DiffReport) -> str:
    """Render a page of changes; deterministic."""
    catalog = Catalog.of(report.catalog or {})
    part = Part(report.new, catalog, findings=report.errors, changes=report.changes, accepted=report.accepted)
    sides = f"{report.old} → {report.new}"
    return render_page(
        Content(
            [part],
            branding=Branding(report.words.heading),
            date=report.date,
            since=None if report.errors else f"{sides}: {report.summary()}.",
            findings=bool(report.errors),
            notes=[f"{sides}: {report.summary()}.", *report.notes] if report.errors else report.notes,
        )
    )
