"""A catalog as GitHub-flavoured Markdown."""

import re
from collections.abc import Iterator

from osbctl.catalog import Catalog, ServicePlan
from osbctl.parameter_table import parameters
from osbctl.text import escape_line
from osbctl.views import words

_DOTS = re.compile(r"(\bwww|^\s*\d+)\.", re.IGNORECASE)
"""Dots that would create a link or a list item."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|<>~&$@:-])")


def markdown_lines(catalog: Catalog) -> Iterator[str]:
    """The lines of the page. Text of the catalog is escaped, including links."""
    for service in catalog.services:
        yield f"## {_escape(service.name) or '(no name)'}"
        yield ""
        yield _escape(service.description)
        yield ""
        yield f"{_code_span(service.id)} — {_escape(', '.join(words.feature_phrases(service)))}"
        yield ""
        yield "| Plan | Description | Price | Bindable | Includes | Id |"
        yield "|---|---|---|---|---|---|"
        for plan in service.plans:
            price = "<br>".join(map(_escape, (words.plan_status(plan), *words.price_phrases(plan))))
            includes = "<br>".join(map(_escape, words.bullets(plan)))
            cells = (_escape(plan.name), _escape(plan.description), price, words.flag_text(plan, "bindable"), includes)
            yield f"| {' | '.join(cells)} | {_code_span(plan.id)} |"
        yield ""
        for plan in service.plans:
            yield from _parameter_tables(plan)


def _parameter_tables(plan: ServicePlan) -> Iterator[str]:
    for place, schema in plan.parameters.items():
        rows = list(parameters(schema))
        if rows:
            yield f"Parameters of plan {_escape(plan.name)}, {_escape(place)}:"
            yield ""
            yield "| Name | Type | Required | Default | Description |"
            yield "|---|---|---|---|---|"
            for row in rows:
                cells = (row.name, row.full_type, words.yes_or_no(row.required), row.default, row.description)
                yield f"| {' | '.join(map(_escape, cells))} |"
            yield ""


def _escape(text: str) -> str:
    text = _DOTS.sub(r"\1\\.", _MARKUP.sub(r"\\\1", escape_line(text)))
    return text.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\&", "&amp;")


def _code_span(text: str) -> str:
    shown = escape_line(text).replace("`", "'").replace("|", "\\|")
    return f"`{shown}`" if shown.strip() else "(no id)"
