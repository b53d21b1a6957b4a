"""What `osbctl page` does: catalogs, what the platforms make of them and what changed, as one HTML file.

A plan comes with examples of requests that its schemas accept, and the commands that send the smallest of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from osbctl.changes import Change
from osbctl.errors import SourceError
from osbctl.findings import Finding
from osbctl.pages.content import (
    MARKS,
    Content,
    Look,
    OrderedPlan,
    Part,
    Requests,
    Sample,
    ShownCommand,
    ShownCommands,
)
from osbctl.pages.render import render_page
from osbctl.platforms import Platform
from osbctl.platforms.commands import Order, Purpose
from osbctl.platforms.outcome import Outcome
from osbctl.requests.commands import Shell, commands
from osbctl.requests.examples import Examples, examples
from osbctl.sources.document import Document
from osbctl.sources.yaml_text import dump_text
from osbctl.validation.verdicts import judge_template

_PLAIN = re.compile("[A-Za-z][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class Shelf:
    """One catalog of a page: the broker's name, the catalog, and the earlier one that it is compared with, if any."""

    broker: str
    document: Document
    before: Document | None = None


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What the page tells beside the catalogs; fields as in `osbctl.pages.content.Content`.

    `platforms` are those whose verdicts are shown.
    """

    look: Look = field(default_factory=Look)
    platforms: frozenset[Platform] = frozenset(Platform)
    date: str = ""
    since: str | None = None
    findings: bool = False


def make_page(shelves: Sequence[Shelf], options: PageOptions) -> str:
    """Render the page as HTML, the same for the same sources and options.

    Raises:
        UsageError: the accent is no colour.
    """
    parts = [_part(shelf, options) for shelf in shelves]
    content = Content(
        parts,
        look=options.look,
        date=options.date,
        since=None if options.since is None else f"Since {options.since}.",
        findings=options.findings,
        requests=requests_for(options.platforms),
    )
    return render_page(content)


def house_look(asked: Mapping[str, str | None], configured: Mapping[str, str]) -> Look:
    """The name and the looks of the house: `title`, `logo` (a file), `accent`; what is asked for wins.

    Raises:
        SourceError: the logo cannot be read, or is no picture that browsers show.
    """
    chosen = {**configured, **{key: value for key, value in asked.items() if value is not None}}
    logo = _logo(chosen["logo"]) if chosen.get("logo") else ""
    return Look(chosen.get("title") or Look().title, logo, chosen.get("accent", ""))


def _logo(file: str) -> str:
    from osbctl.files import read_bounded
    from osbctl.pages.pictures import MAX_BYTES, as_data_url

    try:
        picture = as_data_url(read_bounded(file, MAX_BYTES))
    except OSError as error:
        raise SourceError(f"{file}: cannot be opened: {error.strerror}") from error
    if not picture:
        kinds = f"PNG, JPEG, GIF, WebP or SVG of at most {MAX_BYTES // 1000} kB"
        raise SourceError(f"{file}: not an image that a page can show", f"take a {kinds}")
    return picture


def _part(shelf: Shelf, options: PageOptions) -> Part:
    document, old, view = shelf.document, shelf.before, options.platforms
    outcomes, findings = _judged(document, options.findings)
    shown = {platform: outcome for platform, outcome in outcomes.items() if platform in view}
    changes: Sequence[Change] = ()
    if old:
        from osbctl.comparison.catalogs import compare_catalogs
        from osbctl.tasks.compare import now_refused

        found = compare_catalogs(old.data, document.data, platforms=view)
        changes = found + now_refused(old.data, document.data, found, view)
    return Part(shelf.broker, document.catalog, shown, findings, changes)


def _judged(document: Document, with_findings: bool) -> tuple[Mapping[Platform, Outcome], Sequence[Finding]]:
    """What platforms do with the catalog, and where they are asked for the findings."""
    if with_findings:
        from osbctl.validation.options import ValidationOptions
        from osbctl.validation.pipeline import validate_document

        judgement = validate_document(document, ValidationOptions())
        return judgement.outcomes, [_without_folder(finding, document.name) for finding in judgement.findings]
    return judge_template(document.data), ()


def _without_folder(finding: Finding, name: str) -> Finding:
    """The finding without the folder in which the source of that name lies: a page is for others to read."""
    place, folder = finding.location, name.rpartition("/")[0] + "/"
    if place is None or folder == "/" or "://" in name:
        return finding
    place = place._replace(source=place.source.removeprefix(folder))
    return finding._replace(location=place, message=finding.message.replace(folder, ""))


def requests_for(platforms: frozenset[Platform]) -> Requests:
    """Examples, and commands for the tools of `platforms`."""
    tools = {tool.name for platform in platforms for tool in platform.record.tools}
    written: dict[tuple[str, ...], tuple[ShownCommand, ...]] = {}

    def ordered(order: OrderedPlan) -> ShownCommands:
        content = order.sample.content
        broker = order.broker if order.ambiguous else ""
        names = (order.service.name, order.plan.name)
        alike = _is_plain(names[0]) and _is_plain(names[1]) and not _is_marked(broker, content)
        service, plan = MARKS.values() if alike else names
        key = (service, plan, broker, content)
        if key not in written:
            sent = json.loads(content) if content else None
            written[key] = tuple(_commands(Order(service, plan, broker, sent, content=content), tools))
        return ShownCommands(written[key], alike)

    return Requests(ordered, lambda schema: _sample(examples(schema)))


@lru_cache(1_000)
def _is_marked(*texts: str) -> bool:
    return any(mark in text for text in texts for mark in MARKS.values())


@lru_cache(1_000)
def _is_plain(name: str) -> bool:
    """Whether a name is written as it stands in every shell and language, as `MARKS` are, and shown in full."""
    return bool(_PLAIN.fullmatch(name)) and dump_text(name) == name


def _sample(made: Examples) -> Sample:
    if made.why:
        return Sample(((f"No example: {made.why}", ""),))
    same = made.smallest == made.fullest
    both = [("Example" if same else "Smallest request", made.smallest), ("Fullest request", made.fullest)]
    shown = both[:1] if same else both
    headed = tuple((label, json.dumps(value, indent=2, ensure_ascii=False)) for label, value in shown)
    return Sample(headed, headed[0][1] + "\n" if made.smallest else "")


def _commands(order: Order, tools: set[str]) -> Iterator[ShownCommand]:
    """The commands, those of several shells that read alike together, each file with the first that needs it."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    files: dict[tuple[str, str, str], tuple[str, str]] = {}
    for command in commands(order, Purpose.CREATE):
        if command.tool in tools:
            key = (command.tool, command.text, command.why)
            groups.setdefault(key, []).append(command.shell and Shell(command.shell).label)
            files[key] = (command.file, command.content)
    seen: set[tuple[str, str]] = set()
    for (tool, text, why), shells in groups.items():
        file = files[tool, text, why]
        shown = (file,) if file[1] and file not in seen else ()
        seen.update(shown)
        label = f"{tool} ({', '.join(shells)})" if any(shells) else tool
        yield ShownCommand(label, text, shown, why)
