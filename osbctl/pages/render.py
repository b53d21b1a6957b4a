"""Rendering of a page: the same HTML for the same content, at any time and on any machine."""

import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from osbctl import __version__
from osbctl.changes import READING_ORDER, join_by, platforms_and_effects
from osbctl.errors import UsageError
from osbctl.findings import Severity
from osbctl.messages import Redactor
from osbctl.pages import MAX_WITH_REQUESTS, Content, Part
from osbctl.pages.offerings import ChangeNote, FindingNote, PlanView, ServiceView, VerdictView, catalog_verdicts
from osbctl.pages.safe_content import Anchors, format_inline, fragment
from osbctl.paths import pointer
from osbctl.text import escape_line

N = TypeVar("N")

ASSETS = Path(__file__).parent / "assets"
MAX_CHOICES = 300
"""Tags in the filter: the most frequent ones. The search finds all tags."""
COLOR = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}")
_POLICY = "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'"
"""Content Security Policy that allows one style, one script and `data:` images only."""


def render_page(content: Content) -> str:
    """Return the HTML of a page. Raises UsageError: the accent is not a colour."""
    redactor = Redactor()
    anchors = Anchors((part.broker, service) for part in content.parts for service in part.catalog.services)
    views: list[ServiceView] = []
    changes: list[ChangeNote] = []
    findings: list[FindingNote] = []
    verdicts: list[VerdictView] = []
    for part in content.parts:
        part_views = [
            ServiceView(part, service, redactor, anchors, number)
            for number, service in enumerate(part.catalog.services, len(views))
        ]
        changes += _attach_changes(part, part_views)
        findings += _attach_findings(part, part_views)
        verdicts += catalog_verdicts(part, part_views)
        views += part_views
    style = _read_asset("page.css") + _accent_css(content.branding.accent)
    script = f'"use strict";\n(() => {{\n{_read_asset("page.js")}}})();\n'
    template = _jinja_environment().get_template("page.html")
    return template.render(
        content=content,
        policy=_POLICY.format(_csp_hash(style), _csp_hash(script)),
        style=style,
        script=script,
        views=views,
        changes=_group_by_kind(changes, attrgetter("level"), (*READING_ORDER, "accepted")),
        join_equal=lambda notes: join_by(notes, lambda note: (note.change.fact, note.accepted)),
        fragment=fragment,
        platforms_and_effects=platforms_and_effects,
        findings=_group_by_kind(findings, attrgetter("finding.severity"), Severity),
        verdicts=verdicts,
        left_out=redactor.left_out,
        most_plans=f"{MAX_WITH_REQUESTS:,}",
        version=__version__,
        **_search_form_choices(content, views),
    )


def _accent_css(accent: str) -> str:
    """The rule for the brand's colour. Raises UsageError: it is not `#rgb` or `#rrggbb`."""
    if not accent:
        return ""
    if not COLOR.fullmatch(accent):
        raise UsageError(f"{accent!r} is not a colour", "write it as --accent '#2f5fd0'")
    return f":root{{--brand:{accent}}}"


def _attach_changes(part: Part, views: Sequence[ServiceView]) -> list[ChangeNote]:
    """Return the changes of a part in the order of reading, and attach each to its view."""
    by_ids: dict[tuple[str, ...], ServiceView | PlanView] = {}
    for view in views:
        by_ids[view.id,] = view
        by_ids.update({(view.id, plan.id): plan for plan in view.plans})
    reasons = [*((change, "") for change in part.changes), *part.accepted]
    notes = []
    for change, reason in sorted(reasons, key=lambda pair: (bool(pair[1]), READING_ORDER.index(pair[0].level))):
        ids = tuple(ref.id for ref in (change.service, change.plan) if ref)
        holder = by_ids.get(ids) or by_ids.get(ids[:1])
        notes.append(ChangeNote(change, holder.anchor if holder else "", reason))
        if holder:
            holder.changes.append(notes[-1])
    return notes


def _attach_findings(part: Part, views: Sequence[ServiceView]) -> list[FindingNote]:
    """Return the findings of a part in their order, and attach each to the views of its places."""
    by_path = {service.path: view for service, view in zip(part.catalog.services, views, strict=True)}
    notes = []
    for finding in part.findings:
        named, more = finding.places_to_name()
        places = []
        for one in named:
            view = by_path.get(one.path[:2])
            places.append((str(one.location or pointer(one.path)), view.anchor if view else ""))
        notes.append(FindingNote(finding, places, more))
        for path in dict.fromkeys(member.path[:2] for member in finding.members or (finding,)):
            if path in by_path:
                by_path[path].findings.append(notes[-1])
    return notes


def _group_by_kind(notes: Iterable[N], kind: Callable[[N], str], kinds: Iterable[str]) -> list[tuple[str, list[N]]]:
    """Group notes by kind in the order of `kinds`; empty kinds are left out."""
    found: dict[str, list[N]] = defaultdict(list)
    for note in notes:
        found[kind(note)].append(note)
    return [(name, found[name]) for name in kinds if name in found]


def _search_form_choices(content: Content, views: Sequence[ServiceView]) -> dict[str, Any]:
    counts = Counter(tag for view in views for tag in dict.fromkeys(view.tags))
    most_frequent = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_CHOICES]
    return {
        "tags": sorted(most_frequent, key=lambda pair: pair[0].casefold()),
        "platforms": list(dict.fromkeys(platform for part in content.parts for platform in part.outcomes)),
        "brokers": [part.broker for part in content.parts],
    }


@cache
def _jinja_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        # One line, with misleading characters escaped.
        finalize=lambda value: escape_line(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    environment.filters["raw"] = Markup
    environment.filters["inline"] = format_inline
    environment.filters["block"] = lambda text: escape("\n".join(map(escape_line, text.split("\n"))))
    return environment


def _read_asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
