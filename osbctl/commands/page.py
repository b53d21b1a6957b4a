"""`osbctl page`: catalogs as one HTML file for people."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.changes import Change
from osbctl.commands import options as common
from osbctl.commands.connection import BrokerConnection, check_in_clone, is_address, read_source_or_broker, source_name
from osbctl.commands.options import Argument, Option, find_named_catalogs
from osbctl.commands.output import check_output, print_error, print_failure_count, print_note, write_output
from osbctl.commands.settings import ValidationSettings, first_config, resolve_config, validation_options
from osbctl.config import Config, load_config
from osbctl.errors import ConfigError, OsbctlError, SourceError, UsageError, run_on_each, run_without_faulty
from osbctl.files import read_bounded
from osbctl.findings import Finding
from osbctl.pages import MAX_WITH_REQUESTS, Branding, Content, Part, PlanRequests, ShownCommand
from osbctl.pages.render import COLOR, render_page
from osbctl.pages.safe_content import MAX_IMAGE_BYTES, image_to_data_url, safe_web_address
from osbctl.paths import JsonPath
from osbctl.placeholders import judge_template
from osbctl.platforms import Platform
from osbctl.platforms.tools import ProvisionRequest, Purpose, tools_of
from osbctl.platforms.verdict import Outcome
from osbctl.requests import Command, build_commands, generate_examples
from osbctl.sources.catalogs import require_services
from osbctl.sources.document import Document
from osbctl.sources.read_bytes import is_revision, path_in_revision
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document

if TYPE_CHECKING:
    from osbctl.client.connection_options import ConnectionOptions


def page(
    sources: Annotated[
        tuple[str, ...], Argument("SOURCE...", f"{common.ADDRESSED}{common.CATALOGS_IN_FOLDER}", complete="sources")
    ] = (),
    output: Annotated[str | None, Option("Write the page to FILE.", "--output", "-o", metavar="FILE")] = None,
    since: Annotated[
        tuple[str, ...],
        Option("Show changes since a git revision, or an earlier catalog for each SOURCE; repeatable.", metavar="OLD"),
    ] = (),
    findings: Annotated[bool, Option("Show what osbctl validate finds.")] = False,
    platforms: common.JudgedPlatforms = (),
    title: Annotated[str | None, Option("What the page is called.", metavar="TITLE")] = None,
    logo: Annotated[str | None, Option("A picture for its head.", metavar="FILE")] = None,
    accent: Annotated[str | None, Option("A colour as #rgb or #rrggbb.", metavar="COLOR")] = None,
    audience: Annotated[
        Literal["customer", "operator"],
        Option("Who reads the page: customers see the offer, an operator also verdicts and all commands."),
    ] = "customer",
    images: Annotated[
        str | None, Option("Images of services, named like them: postgres.svg.", metavar="FOLDER")
    ] = None,
    embed_images: Annotated[bool, Option("Fetch images from their public addresses in the catalog.")] = False,
    internal_images: Annotated[bool, Option("With --embed-images: also ask loopback and private addresses.")] = False,
    exclude: common.Exclude = (),
    date: common.Date = "",
    *,
    where: common.LocationOptions,
    connection: BrokerConnection,
) -> int:
    """Make a page of what is on offer: one HTML file that needs no server, no network, and no script to be read.

    The page is the same, byte for byte, for the same sources and options. Secrets are left out. A source that cannot be
    read is named at the top of the page, which shows the others; the exit code says that it failed.

    \b
    osbctl page catalog.yaml -o marketplace.html
    osbctl page catalog.yaml https://broker.example.com --user platform -o a.html
    osbctl page catalog.yaml --since main --findings -o review.html
    osbctl page services/*.yaml --title Shop --accent "#0a7" -o a.html
    """
    if internal_images and not embed_images:
        raise UsageError("--internal-images is for fetching images", "add --embed-images")
    named = find_named_catalogs(sources, exclude=exclude)
    files = list_images(images) if images else {}
    check_output(output, [*named, *since, logo, where.config, where.env, *connection.files, *files.values()])
    given = load_config(where.config) if where.config else None
    settings = ValidationSettings(tuple(named), platforms=platforms, where=where)
    connection.check_stdin(*named, *since)
    earlier = _resolve_earlier_catalogs(named, since)
    connection.check_used(where, *named, *filter(None, earlier), fetches_more=embed_images)
    closest = first_config((), where.config)
    connection = connection.with_configured_version(closest)

    def read(named: tuple[str, str, str]) -> PageCatalog:
        name, source, old = named
        document = read_source_or_broker(connection, source, where)
        before = require_services(read_source_or_broker(connection, old, where), as_list=True) if old else None
        options = validation_options(settings, resolve_config(source, config=given))
        return PageCatalog(name, document, before, options, pictures.find(document.catalog))

    images_from = None
    if embed_images:
        asked = connection.network.connection_options()
        images_from = replace(asked, max_bytes=MAX_IMAGE_BYTES, public_only=not internal_images)
    pictures = PageImages(files, images_from)
    names = _broker_names(named)
    found = run_on_each(read, zip(names, named, earlier, strict=True))
    config = closest if closest.page else first_config(named, where.config)
    if accent is None:
        _check_accent(config)
    branding = read_branding({"title": title, "logo": logo, "accent": accent}, config.page)
    since_text = f"Since {', '.join(map(_earlier_catalog_name, since))}." if since else None
    content = Content(branding=branding, date=date, since=since_text, findings=findings, audience=audience)
    catalogs = [catalog for catalog in found if not isinstance(catalog, OsbctlError)]
    print_note(*pictures.notes)
    if pictures.skipped:
        print_note(f"{pictures.skipped:,} more images are not fetched: --timeout is for all, at most {MAX_ADDRESSES}")
    failed = {name: error for name, error in zip(names, found, strict=True) if isinstance(error, OsbctlError)}
    if catalogs:
        text, errors = make_page_of_readable(catalogs, failed, content)
        write_output(text, output)
        failed |= errors
    codes = [print_error(error, name) for name, error in failed.items()]
    print_failure_count(len(failed), len(named), "catalogs could not be shown")
    return max(codes, default=0)


def _resolve_earlier_catalogs(sources: Sequence[str], since: Sequence[str]) -> Sequence[str]:
    """An earlier catalog for each of `sources`. `since` has one for each, or a revision for all."""
    if not since:
        return [""] * len(sources)
    if len(since) == 1 and _may_be_revision(since[0]):
        check_in_clone(since[0], sources)
        if not is_revision(since[0]):  # reading it says why
            return [path_in_revision(since[0], source) for source in sources]
        from osbctl.commands.diff import pair_with_revision

        pairs = pair_with_revision(since[0], sources, "")
        print_note(*(f"{new} is new: {since[0]} has nothing to compare it with" for old, new in pairs if not old))
        return [pair.old for pair in pairs]
    if len(since) != len(sources):
        raise UsageError("--since needs one revision, or an earlier catalog for each source", "repeat --since")
    return since


def _may_be_revision(text: str) -> bool:
    return not (text == "-" or ":" in text or os.path.exists(text))  # noqa: PTH110


def _broker_names(sources: Sequence[str]) -> list[str]:
    """Names of brokers on the page: short ones, or the last parts of the paths if two would be equal."""
    names = short = [_short_broker_name(source) for source in sources]
    for length in range(1, 20):
        if len(set(names)) == len(names):
            return names
        ends = ["/".join(PurePath(source).parts[-length:]) for source in sources]
        longer = [source_name(source) if is_address(source) else end for source, end in zip(sources, ends, strict=True)]
        names = [other if short.count(name) > 1 else name for name, other in zip(short, longer, strict=True)]
    return short


def _earlier_catalog_name(source: str) -> str:
    """Name of an earlier catalog: no password and no absolute path, since others read the page."""
    return PurePath(source).name if PurePath(source).is_absolute() else source_name(source)


def _short_broker_name(source: str) -> str:
    if is_address(source):
        try:
            return urlsplit(source).hostname or source_name(source)
        except ValueError:  # half of an IPv6 address, which is refused later
            return source_name(source)
    return PurePath(source.rpartition(":")[2]).stem or source


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


def _check_accent(config: Config) -> None:
    """Raise ConfigError if the accent of a configuration is not a colour."""
    accent = config.page.get("accent", "")
    if accent and not COLOR.fullmatch(accent):
        message = f"{config.origin_of('page', accent)}: page: accent: {accent!r} is not a colour"
        raise ConfigError(message, 'for example: accent = "#2f5fd0"')


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
        from osbctl.commands.diff import compare_documents

        changes = compare_documents(old, document, frozenset(platforms)).changes
    shown = platforms if is_for_operator or catalog.options.platforms else ()
    return Part(catalog.broker, document.catalog, outcomes, findings, changes, platforms=shown, images=catalog.images)


def _strip_folder(finding: Finding, name: str) -> Finding:
    """The finding without the folder of its source, since others read the page."""
    folder = name[: name.rfind("/") + 1]
    if "://" in name:
        return finding
    return finding.moved(lambda place: place._replace(source=place.source.removeprefix(folder)))


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
    sending = build_commands(ProvisionRequest(service.name, plan.name, broker, sent, content=content), Purpose.CREATE)
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


SECONDS = 10.0
"""Time for one image; a host that does not answer leaves time for the others."""
MAX_ADDRESSES = 500
"""Most images that are fetched for one page."""


def list_images(folder: str) -> dict[str, str]:
    """Files of a folder by their names without suffix. Raises SourceError: it cannot be read, or has a name twice."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))  # noqa: PTH208
    except OSError as error:
        raise SourceError(f"{folder}: cannot be opened: {error.strerror}") from error
    files: dict[str, str] = {}
    for name in names:
        path = os.path.join(folder, name)  # noqa: PTH118
        stem = os.path.splitext(name)[0]  # noqa: PTH122
        if stem in files:
            raise SourceError(f"{path}: {files[stem]} has the same name", "keep one image for each service")
        files[stem] = path
    return files


class PageImages:
    """Images for service offerings: of `files`, by name, else fetched from their `imageUrl`, if there are `options`.

    Each address is asked once, without credentials; `options` limits the size of each image, and the time of all.
    `notes` has a sentence for each that the page cannot show.
    """

    def __init__(self, files: Mapping[str, str], options: ConnectionOptions | None) -> None:
        self.notes: list[str] = []
        self.skipped = 0
        self._files, self._options = files, options
        self._fetched: dict[str, str] = {}
        self._seconds = options.total_seconds if options else 0.0

    def find(self, catalog: Catalog) -> dict[JsonPath, str]:
        """The images of a catalog as `data:` URLs, by the path of the service offering. Raises SourceError."""
        images = {}
        for service in catalog.services:
            if file := self._files.get(service.name):
                images[service.path] = read_image(file)
            elif self._options and (address := safe_web_address(service.metadata.get("imageUrl"))):
                images[service.path] = self._fetch(address, self._options)
        return images

    def _fetch(self, address: str, options: ConnectionOptions) -> str:
        if address in self._fetched:
            return self._fetched[address]
        if self._seconds <= 0 or len(self._fetched) >= MAX_ADDRESSES:
            self.skipped += 1
            return ""
        from osbctl.client.catalog_client import fetch_image

        started = time.monotonic()
        image = ""
        try:
            limited = replace(options, total_seconds=min(SECONDS, self._seconds))
            image = image_to_data_url(fetch_image(address, limited))
            if not image:
                self.notes.append(f"{options.redact_address(address)}: not an image that a page can show")
        except SourceError as error:
            self.notes.append(error.message)
        self._seconds -= time.monotonic() - started
        self._fetched[address] = image
        return image
