"""Findings as a page for people: what is wrong in front, the catalogs behind it, each with its findings."""

from __future__ import annotations

from osbctl.catalog import Catalog
from osbctl.pages.content import Content, Look, Part
from osbctl.pages.render import render_page
from osbctl.reports import Report


def render(report: Report) -> str:
    """The page, the same for the same report."""
    parts = [Part(one.name, Catalog.of(one.data or {}), one.outcomes, one.findings) for one in report.judgements]
    return render_page(Content(parts, look=Look("Catalog findings"), findings=True))
