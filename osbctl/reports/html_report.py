"""Format `html`: a page of findings, or of changes."""

from typing import TYPE_CHECKING

from osbctl.catalog import Catalog
from osbctl.pages import Branding, Content, Part
from osbctl.pages.render import render_page
from osbctl.reports import Report

if TYPE_CHECKING:
    from osbctl.reports.changes import DiffReport


def render_html(report: Report) -> str:
    """A page of findings with their catalogs; deterministic."""
    parts = [Part(one.name, Catalog.of(one.data or {}), one.outcomes, one.findings) for one in report.results]
    return render_page(Content(parts, branding=Branding("Catalog findings"), findings=True))


def render_changes(report: "DiffReport") -> str:
    """A page of changes with the new catalog; deterministic."""
    catalog = Catalog.of(report.catalog or {})
    part = Part(report.new, catalog, findings=report.errors, changes=report.changes, accepted=report.accepted)
    sides = f"{report.old} → {report.new}"
    return render_page(
        Content(
            [part],
            branding=Branding(report.names.heading),
            date=report.date,
            since=None if report.errors else f"{sides}: {report.summary()}.",
            findings=bool(report.errors),
            notes=[f"{sides}: {report.summary()}.", *report.notes] if report.errors else report.notes,
        )
    )
