"""From the content of a page to its HTML: the same bytes for the same content, whenever and wherever it is made."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from functools import cache, reduce
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from osbctl import __version__
from osbctl.pages.links import broker_anchor
from osbctl.pages.look import accent_rules
from osbctl.pages.news import by_severity, grouped, place_changes, place_findings
from osbctl.pages.offerings import MAX_WITH_COMMANDS, Offerings
from osbctl.pages.redact import Redactor
from osbctl.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from jinja2 import Environment
    from markupsafe import Markup

    from osbctl.pages.content import Content, ShownCommands
    from osbctl.pages.shown import ChangeNote, ServiceView

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("schema.js", "form.js", "page.js")
"""The scripts of the page, in the order in which they are joined."""
_ANCHOR = "\0"
"""Stands for an anchor: what is printed of a catalog has this sign as an escape."""
MAX_CHOICES = 300
"""Tags that the filter offers, the most frequent first; the search finds all."""


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
    service, several = environment.get_template("service.html"), len(content.parts) > 1
    shared = _shared(environment)
    style = _asset("page.css") + accent_rules(content.look.accent)
    script = f'"use strict";\n(() => {{\n{"".join(map(_asset, SCRIPTS))}}})();\n'
    return environment.get_template("page.html").render(
        content=content,
        policy=_policy(style, script),
        style=style,
        script=script,
        schemas=f"[{','.join(offerings.parameters.schemas)}]",
        articles=[service.render(s=view, several=several, **shared) for view in views],
        services=len(views),
        shop=bool(views) or not (content.findings or content.overview or content.since is not None),
        plans=sum(len(view.plans) for view in views),
        news=[(broker, broker_anchor(broker), grouped(notes)) for broker, notes in news.items() if notes],
        broker_anchor=broker_anchor,
        findings=by_severity(findings),
        left_out=secrets.left_out,
        without_commands=f"{MAX_WITH_COMMANDS:,}" if offerings.too_many else "",
        several=several,
        version=__version__,
        tags=_tags(views),
        platforms=_platforms(content),
        brokers=[part.broker for part in content.parts],
        currencies=_currencies(views),
    )


def _shared(environment: Environment) -> Mapping[str, Callable[..., Markup]]:
    """What plans have in common but for an anchor or their names: tables, examples and commands, each printed once."""
    macros: Any = environment.get_template("shared.html").module
    table, examples, commands = cache(macros.table), cache(macros.examples), cache(macros.commands)

    def named(ours: ShownCommands) -> Markup:
        shown: Markup = commands(ours.shown)
        return reduce(lambda text, name: text.replace(*name), ours.names, shown)

    return {
        "table": lambda rows, anchor: table(rows, _ANCHOR).replace(_ANCHOR, anchor),
        "examples": examples,
        "commands": named,
    }


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup, escape

    def fit(value: Any) -> Any:
        """What is printed: on one line, with whatever could fool a reader as an escape."""
        # What most texts are is asked here, too: a call for each would take as long as the rest.
        plain = type(value) is not str or (value.isascii() and value.isprintable())
        return value if plain else safe(value)

    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        finalize=fit,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    environment.filters["raw"] = Markup
    environment.filters["block"] = lambda text: escape("\n".join(map(safe, text.split("\n"))))
    return environment


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


def _platforms(content: Content) -> list[tuple[str, str]]:
    platforms = dict.fromkeys(platform for part in content.parts for platform in part.outcomes)
    return [(platform.value, platform.label) for platform in platforms]


def _currencies(views: Sequence[ServiceView]) -> list[str]:
    found = dict.fromkeys(currency for view in views for currency in view.monthly if currency != "*")
    return list(found)[:50]
