"""From the content of a page to its HTML: the same bytes for the same content, whenever and wherever it is made."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from osbctl import __version__
from osbctl.changes import Level
from osbctl.findings import Severity
from osbctl.pages.content import MARKS, Content
from osbctl.pages.links import broker_anchor
from osbctl.pages.offerings import MAX_WITH_COMMANDS, Offerings
from osbctl.pages.pictures import accent_rules
from osbctl.pages.shown import ChangeNote, PlanTexts, PlanView, ServiceView, by_kind, place_changes, place_findings
from osbctl.secrecy import Redactor
from osbctl.text import safe

ASSETS = Path(__file__).parent / "assets"
_SIGN = "\0"
"""Is nowhere in what is printed of a catalog, which has it as an escape."""
_SLOT = f"{_SIGN}{{}}{_SIGN}"
"""Stands for a text of a plan, by its number in `PlanTexts`, in what is printed once for many."""
_HOLE = f"{_SIGN}{_SIGN}"
"""Stands in a template for HTML that is put in afterwards."""
MAX_CHOICES = 300
"""Tags that the filter offers, the most frequent first; the search finds all."""
MAX_CURRENCIES = 50


def render_page(content: Content) -> str:
    """The whole page.

    Raises:
        UsageError: the accent is no colour.
    """
    secrets, environment = Redactor(), _environment()
    offerings = Offerings(content, secrets)
    views, findings = [], []
    news: dict[str, list[ChangeNote]] = {}
    for part in content.parts:
        ours = list(offerings.views(part))
        news.setdefault(part.broker if part.alone else "", []).extend(place_changes(part, ours))
        findings += place_findings(part, ours)
        views += ours
    several = len(content.parts) > 1
    style = _asset("page.css") + accent_rules(content.look.accent)
    script = f'"use strict";\n(() => {{\n{_asset("page.js")}}})();\n'
    page = environment.get_template("page.html").render(
        content=content,
        policy=_policy(style, script),
        style=style,
        script=script,
        articles=_HOLE,
        services=len(views),
        shop=bool(views) or not (content.findings or content.overview or content.since is not None),
        plans=sum(len(view.plans) for view in views),
        news=[
            (broker, broker_anchor(broker), by_kind(notes, attrgetter("level"), (*Level, "accepted")))
            for broker, notes in news.items()
            if notes
        ],
        broker_anchor=broker_anchor,
        findings=by_kind(findings, attrgetter("finding.severity"), Severity),
        left_out=secrets.left_out,
        commands_only_for=f"{MAX_WITH_COMMANDS:,}" if offerings.too_many else "",
        several=several,
        version=__version__,
        tags=_tags(views),
        platforms=list(dict.fromkeys(platform for part in content.parts for platform in part.outcomes)),
        brokers=[part.broker for part in content.parts],
        currencies=list(dict.fromkeys(each for view in views for each in view.monthly if each != "*"))[:MAX_CURRENCIES],
    )
    before, after = page.split(_HOLE)
    return "".join([before, *_articles(environment, views, several), after])


def _articles(environment: Environment, views: Sequence[ServiceView], several: bool) -> Iterator[str]:
    """The HTML of the service offerings, in pieces: a template would copy each several times."""
    template, printed = environment.get_template("service.html"), _plan_printer(environment)
    macros: Any = environment.get_template("verdicts.html").module
    brief, verdicts = cache(macros.brief), cache(macros.verdicts)  # mostly the same for all services
    for view in views:
        plans = [printed(plan) for plan in view.plans]
        heads = Markup("".join([head for head, _ in plans]))  # noqa: S704
        before, after = template.render(
            s=view,
            several=several,
            brief=brief(view.verdicts),
            verdicts=verdicts(view.verdicts),
            heads=heads,
            plans=_HOLE,
        ).split(_HOLE)
        yield before
        yield from (section for _, section in plans)
        yield after


def _plan_printer(environment: Environment) -> Callable[[PlanView], tuple[str, str]]:
    """What prints a plan: its head in the comparison, and its section.

    Plans of one shape differ in a few texts. The template prints each shape once, with slots in their place; to fill
    these takes a tenth of the time.
    """
    macros: Any = environment.get_template("plan.html").module
    slots = PlanTexts(*map(Markup, map(_SLOT.format, range(len(PlanTexts._fields)))))
    head = cache(lambda free: _filler(macros.head(free, slots)))
    section = cache(lambda shape: _filler(macros.plan(shape, slots)))

    def printed(plan: PlanView) -> tuple[str, str]:
        shape = plan.shape._replace(changes=tuple(plan.changes)) if plan.changes else plan.shape
        # At once: a call for each takes longer.
        texts = str(escape(_SIGN.join(map(_fit, plan.texts)))).split(_SIGN)
        return head(plan.free)(texts), section(shape)(texts)

    return printed


def _filler(printed: str) -> Callable[[list[str]], str]:
    """What fills the slots of `printed` with the texts of a plan."""
    # What is printed of a catalog has the sign of a slot as an escape: no slot comes from there. So what the template
    # has fixed and the numbers of slots take turns.
    pieces = str(printed).split(_SIGN)
    fixed, first = pieces[::2], len(PlanTexts._fields)
    pick = itemgetter(*[int(piece) if at % 2 else first + at // 2 for at, piece in enumerate(pieces)])
    return lambda texts: "".join(pick([*texts, *fixed]))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        finalize=_fit,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    # Views have what templates name; Jinja's own way looks for items, too, and takes thrice as long.
    environment.getattr = getattr  # type: ignore[assignment]
    shown = lru_cache(1_000)(lambda text: escape(_fit(text)))  # cells of a comparison are mostly the same few words
    environment.filters["raw"] = Markup
    environment.filters["block"] = lambda text: escape("\n".join(map(safe, text.split("\n"))))
    environment.filters["cells"] = lambda texts: Markup("</td><td>".join(map(shown, texts)))  # noqa: S704
    environment.filters["named"] = _named
    return environment


def _fit(value: Any) -> Any:
    """What is printed: on one line, with whatever could fool a reader as an escape."""
    return safe(value) if type(value) is str else value


def _named(commands: str, marked: bool) -> Markup:
    """Commands with slots in the place of the marks that stand for names."""
    for field, mark in MARKS.items() if marked else ():
        commands = str(commands).replace(mark, _SLOT.format(PlanTexts._fields.index(field)))
    return Markup(commands)  # noqa: S704


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """A Content Security Policy that lets nothing in but this style, this script and pictures that are here already."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _tags(views: Iterable[ServiceView]) -> list[tuple[str, int]]:
    """The tags that most service offerings have, by name, with how many."""
    counts = Counter(tag for view in views for tag in dict.fromkeys(view.tags))
    often = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MAX_CHOICES]
    return sorted(often, key=lambda one: one[0].casefold())
