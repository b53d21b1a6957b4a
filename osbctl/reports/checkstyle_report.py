"""For whatever reads Checkstyle's XML, as Jenkins' Warnings and reviewdog do: a file with its errors.

The elements are those of Checkstyle's own XMLLogger; no schema of them is published.
"""

from __future__ import annotations

from itertools import groupby
from xml.sax.saxutils import quoteattr

import osbctl
from osbctl.findings import Finding
from osbctl.reports import Report
from osbctl.reports.places import in_one_line, relative
from osbctl.text import safe


def render(report: Report) -> str:
    """The report as one `checkstyle` element."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<checkstyle version="{osbctl.__version__}">']
    for source, findings in groupby(report.findings(), report.source):
        name = quoteattr(safe(relative(source, report.root)))
        lines += [f"  <file name={name}>", *map(_error, findings), "  </file>"]
    return "\n".join([*lines, "</checkstyle>"]) + "\n"


def _error(finding: Finding) -> str:
    place = finding.location
    where = f'line="{place.line}" column="{place.column}"' if place else 'line="1"'
    what = f"severity={quoteattr(finding.severity.value)} message={quoteattr(in_one_line(finding))}"
    return f'    <error {where} {what} source="osbctl.{finding.rule}"/>'
