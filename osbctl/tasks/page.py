"""Task of `osbctl page`: catalogs, verdicts and changes in one HTML file.

Each plan has example requests that its schemas accept, and commands that send the smallest one.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.changes import Change
from osbctl.containment import run_without_faulty
from osbctl.errors import OsbctlError, SourceError
from osbctl.files import read_bounded
from osbctl.findings import Finding
from osbctl.pages import MAX_WITH_REQUESTS, Branding, Content, Part, PlanRequests, ShownCommand
from osbctl.pages.render import render_page
from osbctl.pages.safe_content import MAX_IMAGE_BYTES, image_to_data_url
from osbctl.paths import JsonPath
from osbctl.platforms import Platform
from osbctl.platforms.tools import Order, Purpose, tools_of
from osbctl.platforms.verdict import Outcome
from osbctl.requests.commands import Command, build_commands
from osbctl.requests.parameters import generate_examples
from osbctl.sources.document import Document
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import judge_template, validate_document


@dataclass(frozen=True, slots=True)
class PageCatalog:
    """One catalog of a page: name of the broker, catalog, the earlier catalog for a comparison, and the options.

    The page has the findings that the options select. It shows the platforms that they name: without any, for an
    operator all, for a customer none. `images` are `data:` URLs by the path of a service offering, in place of its
    `imageUrl`.
    """

    broker: str
    document: Document
    before: Document | None = None
    options: ValidationOptions = field(default_factory=ValidationOptions)
    images: Mapping[JsonPath, str] = field(default_factory=dict)


def make_page(catalogs: Sequence[PageCatalog], content: Content) -> str:
    """Render the catalogs as HTML, with the rest of the `content`.

    The page is the same for the same sources and options. Raises UsageError: the accent is not a colour.
    """
    parts = [_build_part(catalog, content) for catalog in catalogs]
    too_many = sum(len(list(part.catalog.plans)) for part in parts) > MAX_WITH_REQUESTS
    parts = parts if too_many else add_requests(parts)
    return render_page(replace(content, parts=parts, without_requests=too_many))


def make_page_of_readable(
    catalogs: Sequence[PageCatalog], unread: Iterable[str], content: Content
) -> tuple[str, dict[str, OsbctlError]]:
    """The page of the catalogs that can be shown, and the error of each other by the name of its broker.

    The page names these at its top, and the brokers of `unread`. Raises as `make_page`.
    """

    def make(shown: Sequence[PageCatalog]) -> str:
        names = {catalog.broker for catalog in shown}
        missing = [*unread, *(catalog.broker for catalog in catalogs if catalog.broker not in names)]
        notes = [f"The catalog of {name} cannot be read, and is not shown." for name in missing]
        return make_page(shown, replace(content, notes=notes))

    page, faulty = run_without_faulty(make, catalogs)
    return page, {catalog.broker: error for catalog, error in faulty}


def read_branding(options: Mapping[str, str | None], configured: Mapping[str, str]) -> Branding:
    """Title, logo (a file) and accent; options override the configuration. Raises SourceError: the logo is no image."""
    chosen = {**configured, **{key: value for key, value in options.items() if value is not None}}
    logo = ""
    if file := chosen.get("logo"):
        logo = read_image(file)
    return Branding(chosen.get("title") or Branding().title, logo, chosen.get("accent", ""))


def read_image(file: str) -> str:
    """The image in a file as a `data:` URL. Raises SourceError: it cannot be read, or is no image for a page."""
    try:
        image = image_to_data_url(read_bounded(file, MAX_IMAGE_BYTES))
    except OSError as error:
        raise SourceError(f"{file}: cannot be opened: {error.strerror}") from error
    if not image:
        advice = f"take a PNG, JPEG, GIF, WebP, or an SVG without scripts, of at most {MAX_IMAGE_BYTES // 1000} kB"
        raise SourceError(f"{file}: not an image that a page can show", advice)
    return image


def _build_part(catalog: PageCatalog, content: Content) -> Part:
    document, old, platforms = catalog.document, catalog.before, catalog.options.judged
    is_for_operator = content.audience == "operator"
    findings: Sequence[Finding] = ()
    outcomes: Mapping[Platform, Outcome] = {}
    if content.findings:
        judgement = validate_document(document, catalog.options)
        outcomes = judgement.outcomes if is_for_operator else {}
        findings = [_strip_folder(finding, document.name) for finding in judgement.findings]
    elif is_for_operator:
        outcomes = judge_template(document.data, platforms)
    changes: Sequence[Change] = ()
    if old:
        from osbctl.comparison.catalogs import compare_catalogs
        from osbctl.tasks.compare import add_refusals

        catalog_changes = compare_catalogs(old.data, document.data, platforms=frozenset(platforms))
        changes = add_refusals(old.data, document.data, catalog_changes, frozenset(platforms))
    shown = platforms if is_for_operator or catalog.options.platforms else ()
    return Part(catalog.broker, document.catalog, outcomes, findings, changes, platforms=shown, images=catalog.images)


def _strip_folder(finding: Finding, name: str) -> Finding:
    """The finding without the folder of its source, since others read the page.

    In its sentences, only the path of the source is shortened: a value that is quoted may have the folder's name.
    """
    location, (folder, _, file) = finding.location, name.rpartition("/")
    if location is None or not folder or "://" in name:
        return finding
    location = location._replace(source=location.source.removeprefix(f"{folder}/"))
    path = re.compile(rf"(?<![^\s(]){re.escape(name)}(?![\w-]|\.\w)")
    message, hint = (path.sub(lambda _: file, text) for text in (finding.message, finding.advice))
    return finding._replace(location=location, sentence=message, hint=hint)


def add_requests(parts: Sequence[Part]) -> list[Part]:
    """Add examples of the plans, and commands for the tools of the platforms of each part."""
    brokers: dict[str, set[str]] = {}
    for part in parts:
        for service in part.catalog.services:
            brokers.setdefault(service.name, set()).add(part.broker)
    return [
        replace(
            part,
            requests={
                plan.path: _plan_requests(
                    service, plan, part.broker if len(brokers[service.name]) > 1 else "", [*part.platforms]
                )
                for service in part.catalog.services
                for plan in service.plans
            },
        )
        for part in parts
    ]


def _plan_requests(service: ServiceOffering, plan: ServicePlan, broker: str, platforms: list[Platform]) -> PlanRequests:
    """Requests of a plan; `broker` is its name if several brokers use the name of the service offering."""
    found = {place: generate_examples(schema) for place, schema in plan.parameters.items()}
    headed: dict[str, Sequence[tuple[str, str]]] = {}
    for place, made in found.items():
        if made.why:
            headed[place] = [(f"No example: {made.why}", "")]
        elif made.smallest == made.fullest:
            headed[place] = [("Example", _to_json(made.smallest))]
        else:
            headed[place] = [("Smallest request", _to_json(made.smallest)), ("Fullest request", _to_json(made.fullest))]
    first = found.get(Purpose.CREATE.schema_location)
    sent = (first and first.smallest) or None
    content = f"{_to_json(sent)}\n" if sent else ""
    sending = build_commands(Order(service.name, plan.name, broker, sent, content=content), Purpose.CREATE)
    by_platform = [(platform.label, tuple(_platform_commands(sending, platform))) for platform in platforms]
    return PlanRequests(by_platform, headed)


def _to_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _platform_commands(available: Sequence[Command], platform: Platform) -> Iterator[ShownCommand]:
    """Commands of the platform's tools; a file stands with the first command that reads it."""
    seen: set[tuple[str, str]] = set()
    tools = {tool.name for tool in tools_of([platform])}
    for command in available:
        if command.tool not in tools:
            continue
        file = (command.file, command.content)
        shown = (file,) if command.content and file not in seen else ()
        seen.update(shown)
        label = f"{command.tool} (bash)" if command.shell else command.tool
        yield ShownCommand(label, command.text, shown, command.why)
