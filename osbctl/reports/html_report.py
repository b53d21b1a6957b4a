"""Findings as a page for people: what is wrong in front, the catalogs behind it, each with its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from osbctl.catalog import Catalog
from osbctl.pages.content import Content, Look, Part
from osbctl.pages.render import render_page

if TYPE_CHECKING:
    from osbctl.findings import Judgement
    from osbctl.reports import Report


def render(report: Report) -> str:
    """The page, the same for the same report."""
    parts = [_part(judgement) for judgement in report.judgements]
    return render_page(Content(parts, look=Look("Catalog findings"), findings=True))


def _part(judgement: Judgement) -> Part:
    if judgement.data is None:
        return Part(judgement.name, Catalog(()), findings=judgement.findings)
    return Part(judgement.name, Catalog.of(judgement.data), judgement.outcomes, judgement.findings)
