"""View models of service offerings: texts redacted and shortened, addresses checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.pages import compare, icons, links
from osbctl.pages.content import Content, Part, PlanRequests
from osbctl.pages.view_models import ParameterBlock, ParameterView, PlanView, ServiceView, VerdictView
from osbctl.parameter_table import Parameter, parameters
from osbctl.platforms import Platform
from osbctl.platforms.outcome import Outcome, VerdictKind
from osbctl.redaction import SECRET, Redactor
from osbctl.views import words
from osbctl.views.words import Prices, amount_text, bullets, prices

MAX_TAGS = 200
"""Most tags of one service offering on a page."""
SHORT = 400
"""Most characters of a name or a short description."""
MAX_WORDS = 20
"""Most lines of one platform."""
MAX_EXAMPLES = 2
"""Most different examples of one place."""

PLACES = {
    "service_instance.create": ("create", "Parameters to create an instance"),
    "service_instance.update": ("update", "Parameters to update an instance"),
    "service_binding.create": ("bind", "Parameters to create a binding"),
}
"""Last word of the anchor, and heading, for each place of a schema."""

_COMPARED = ("type", "required", "default", "limits", "description")
_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*•·+]|\d{1,3}[.)])\s)")
"""Blank lines, and the beginning of a list item."""
_DEPRECATED = re.compile(r"\W{0,3}deprecated\b", re.IGNORECASE)


class Offerings:
    """Maker of the view models of all service offerings of a page."""

    def __init__(self, content: Content, secrets: Redactor) -> None:
        self._secrets = secrets
        pairs = [(part.broker, service) for part in content.parts for service in part.catalog.services]
        self._anchors = links.Anchors(pairs)
        self._monograms: Counter[str] = Counter()

    def view(self, part: Part, service: ServiceOffering) -> ServiceView:
        """Return the view model of a service offering. Call once for each, in the order of the catalog."""
        text, metadata, plans = self._secrets.text, service.metadata, service.plans
        anchor = self._anchors.of_service(part.broker, service)
        costs = [prices(plan) for plan in plans]
        lines = [[text(line, SHORT) for line in bullets(plan)[: compare.MAX_ROWS]] for plan in plans]
        title = text(metadata.get("displayName"), SHORT) or text(service.name, SHORT) or "(no name)"
        views = list(self._plans(part, service, anchor, lines if len(plans) == 1 else [[]] * len(plans)))
        client = service.data.get("dashboard_client")
        self._secrets.left_out += isinstance(client, dict) and "secret" in client
        return ServiceView(
            anchor=anchor,
            broker=part.broker,
            id=text(service.id, SHORT),
            name=text(service.name, SHORT),
            title=title,
            provider=text(metadata.get("providerDisplayName"), SHORT),
            description=text(service.description),
            about=_paragraphs(text(metadata.get("longDescription")), text(service.description)),
            picture=icons.from_data_url(metadata.get("imageUrl")),
            monogram=icons.monogram(title, self._monograms),
            tags=[text(tag, SHORT) for tag in service.tags[:MAX_TAGS]],
            more_tags=max(0, len(service.tags) - MAX_TAGS),
            deprecated=_deprecated(service, service.tags),
            links=self._links(metadata),
            facts=list(self._facts(service)),
            verdicts=[_verdict(platform, outcome, service) for platform, outcome in part.outcomes.items()],
            rows=compare.rows(plans, costs, lines, self._secrets),
            plans=views,
            parameters=list(self._blocks(part, plans, views)),
            free=_free(plans),
            cheapest=_cheapest(plans, costs),
            monthly=_lowest(plans, costs),
        )

    def _plans(
        self, part: Part, service: ServiceOffering, above: str, lines: Sequence[Sequence[str]]
    ) -> Iterator[PlanView]:
        text = self._secrets.text
        titles = [text(plan.metadata.get("displayName"), SHORT) for plan in service.plans]
        for plan, title, bullet_lines in zip(service.plans, titles, lines, strict=True):
            name = text(plan.name, SHORT) or "(no name)"
            requests = part.requests.get(plan.path, PlanRequests())
            yield PlanView(
                anchor=self._anchors.of_plan(above, plan),
                name=name,
                id=text(plan.id, SHORT),
                # Plans with the same title are distinguished by their names.
                title=f"{title} ({name})" if title and titles.count(title) > 1 else title or name,
                price="; ".join(words.costs(plan)) or ("Free" if words.is_free(plan) else "Price not known"),
                description=text(plan.description),
                free=words.is_free(plan),
                deprecated=_deprecated(plan),
                bullets=bullet_lines,
                commands=requests.commands,
            )

    def _blocks(self, part: Part, plans: Sequence[ServicePlan], views: Sequence[PlanView]) -> Iterator[ParameterBlock]:
        """Parameters and examples of all plans by place, equal ones once."""
        for place, (word, heading) in PLACES.items():
            ways: dict[str, list[tuple[str, Parameter]]] = {}
            examples: dict[Sequence[tuple[str, str]], list[str]] = {}
            pairs = zip(views, plans, strict=True)
            described = [(view.title, plan) for view, plan in pairs if place in plan.parameters]
            for title, plan in described:
                for anchor, row in self._rows(plan.parameters[place]):
                    ways.setdefault(anchor, []).append((title, row))
                requests = part.requests.get(plan.path, PlanRequests())
                examples.setdefault(tuple(requests.examples.get(place, ())), []).append(title)
            if owners := [title for title, _ in described]:
                some = "" if len(owners) == len(plans) else ", ".join(owners)
                rows = [_merged(anchor, way, owners) for anchor, way in ways.items()]
                yield ParameterBlock(word, heading, some, rows, list(_distinct_examples(examples)))

    def _rows(self, schema: Mapping[str, Any]) -> Iterator[tuple[str, Parameter]]:
        """Anchors and parameters; two of one name get different anchors."""
        text, seen = self._secrets.text, Counter[str]()
        for row in parameters(schema):
            seen[row.name] += 1
            anchor = links.fragment(row.name) + (f"~{seen[row.name]}" if seen[row.name] > 1 else "")
            default = text(row.default, 1_000)
            default = SECRET if default and self._secrets.secret(row.name) else default
            kind, limits, about = text(row.type, 2_000), text(row.limits, 1_000), text(row.description)
            yield anchor, row._replace(type=kind, limits=limits, default=default, description=about)

    def _links(self, metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
        known = (("documentationUrl", "Documentation"), ("supportUrl", "Support"))
        return [
            (label, self._secrets.text(metadata[key], links.MAX_LENGTH))
            for key, label in known
            if links.web_address(metadata.get(key))
        ]

    def _facts(self, service: ServiceOffering) -> Iterator[tuple[str, str]]:
        yield "Name", self._secrets.text(service.name, SHORT)
        yield "Id", self._secrets.text(service.id, SHORT)
        yield "Bindable", words.flag(service, "bindable")
        yield "Plan can be changed", words.flag(service, "plan_updateable")
        if service.metadata.get("shareable") is True:
            yield "Can be shared", "yes"
        requires = service.data.get("requires")
        if isinstance(requires, list) and requires:
            yield "Requires", ", ".join(self._secrets.text(one, SHORT) for one in requires[:10])


def _merged(anchor: str, ways: Sequence[tuple[str, Parameter]], titles: Sequence[str]) -> ParameterView:
    """One parameter as the plans with these titles describe it; `ways` has the title and parameter of each plan."""
    differs = [field for field in _COMPARED if len({getattr(way, field) for _, way in ways}) > 1]
    groups: dict[str, list[str]] = {}
    for title, way in ways:
        groups.setdefault("; ".join(_difference(way, field) for field in differs), []).append(title)
    groups.pop("", None)  # nothing differs
    owners = dict(ways)
    if without := [title for title in titles if title not in owners]:
        groups["not a parameter"] = without
    return ParameterView(anchor, ways[0][1], differs, [(", ".join(some), text) for text, some in groups.items()])


def _difference(way: Parameter, field: str) -> str:
    value = getattr(way, field)
    return f"{field} {words.yes(value) if isinstance(value, bool) else value or 'none'}"


def _distinct_examples(found: Mapping[Sequence[tuple[str, str]], Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Each example once, with the plans that it is for if there are others."""
    for lines, titles in list(found.items())[:MAX_EXAMPLES]:
        of_plans = f" ({', '.join(titles)})" if len(found) > 1 else ""
        yield from ((label + of_plans, text) for label, text in lines)
    if left := sum(map(len, list(found.values())[MAX_EXAMPLES:])):
        yield f"Examples for {left} more {'plan' if left == 1 else 'plans'}: osbctl params", ""


def _paragraphs(text: str, known: str) -> list[str]:
    """Return the paragraphs and list items of a long description; nothing if it repeats the short one.

    Only a blank line ends a paragraph: authors break lines at the width of their editor.
    """
    found = [] if text.strip() == known.strip() else _BREAK.split("\n".join(text.splitlines()))
    return [" ".join(words.split()) for words in found if words.strip()]


def _deprecated(thing: ServiceOffering | ServicePlan, tags: Sequence[str] = ()) -> str:
    """Deprecation notice, from any convention of brokers; OSB has no field for it."""
    end, said = thing.deprecation, thing.metadata.get("deprecated")
    if end and end.sunset:
        return f"Deprecated, available until {end.sunset}"
    written = isinstance(said, str) and bool(said) and said.casefold() not in ("false", "no")
    tagged = "deprecated" in map(str.casefold, tags)
    return "Deprecated" if end or said is True or written or tagged or _DEPRECATED.match(thing.description) else ""


def _free(plans: Sequence[ServicePlan]) -> str:
    kinds = {words.is_free(plan) for plan in plans}
    return "both" if len(kinds) == 2 else "free" if True in kinds else "paid" if kinds else ""


def _cheapest(plans: Sequence[ServicePlan], costs: Sequence[Prices]) -> str:
    """Lowest monthly price of a paid plan, in the first currency."""
    paid = [cost.monthly for plan, cost in zip(plans, costs, strict=True) if not words.is_free(plan) and cost.monthly]
    if not paid:
        return ""
    currency = next(iter(paid[0]))
    lowest = min(monthly[currency] for monthly in paid if currency in monthly)
    return f"{'from ' if len(plans) > 1 else ''}{amount_text(lowest)} {currency} a month"


def _lowest(plans: Sequence[ServicePlan], costs: Sequence[Prices]) -> dict[str, Any]:
    """Lowest monthly price by currency, for the filter; `*` stands for a free plan."""
    lowest: dict[str, Any] = {}
    for plan, cost in zip(plans, costs, strict=True):
        for currency, total in ({"*": 0} if words.is_free(plan) and not cost.monthly else cost.monthly).items():
            lowest[currency] = min(lowest.get(currency, total), total)
    return lowest


def _verdict(platform: Platform, outcome: Outcome, service: ServiceOffering) -> VerdictView:
    """Verdict of a platform on a service offering, with the refusals that concern it."""
    ours = dict.fromkeys(one.message for one in outcome.refusals if one.path[: len(service.path)] == service.path)
    if outcome.kind is VerdictKind.ACCEPTS:
        kind, does = "accepts", "accepted"
    elif outcome.kind is VerdictKind.UNCLEAR:
        kind, does = "other", "unclear: a value is not known yet"
    elif not ours:
        kind, does = "other", "refuses the catalog, but not because of this service"
    else:
        does = {"crashes": "crashes", "unreadable": "cannot read it"}.get(outcome.kind.value, "refused")
        return VerdictView(platform.value, platform.label, "refuses", does, tuple(ours)[:MAX_WORDS])
    return VerdictView(platform.value, platform.label, kind, does, ())
