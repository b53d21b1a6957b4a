"""View models of service offerings, changes and findings: texts redacted and shortened, addresses checked."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.changes import Change
from osbctl.findings import Finding
from osbctl.pages import compare, icons
from osbctl.pages.content import Part, PlanRequests
from osbctl.pages.links import MAX_LENGTH, Anchors, fragment, web_address
from osbctl.parameter_table import Parameter, parameters
from osbctl.paths import pointer
from osbctl.platforms import Platform, format_platforms
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


class ChangeNote(NamedTuple):
    """One change; `anchor` leads to its object, empty if it was removed; `accepted` is the reason for accepting it."""

    change: Change
    anchor: str
    accepted: str

    @property
    def level(self) -> str:
        """The level of the change, or `accepted`."""
        return "accepted" if self.accepted else self.change.level.value


class FindingNote(NamedTuple):
    """One finding; `anchor` as in `ChangeNote`."""

    finding: Finding
    anchor: str

    @property
    def place(self) -> str:
        """Source, line and column, else the JSON pointer."""
        return str(self.finding.location or pointer(self.finding.path))

    @property
    def platforms(self) -> str:
        """Platforms that refuse the catalog because of the finding."""
        return format_platforms(self.finding.refused_by)


class VerdictView(NamedTuple):
    """Verdict on a service offering: CSS class, label, and the platform's message."""

    platform: str
    label: str
    kind: str
    does: str
    words: tuple[str, ...] = ()


class ParameterView(NamedTuple):
    """One parameter, as the first plan describes it; `anchor` is the last part of its address.

    `differs` names the fields that other plans have with other values: `differences` has these with the plans' titles.
    """

    anchor: str
    row: Parameter
    differs: Sequence[str]
    differences: Sequence[tuple[str, str]]


class ParameterBlock(NamedTuple):
    """The parameters of one place of all plans, with examples; `plans` are the titles if only some have a schema."""

    place: str
    heading: str
    plans: str
    rows: Sequence[ParameterView]
    examples: Sequence[tuple[str, str]]


class PlanView:
    """A service plan as a page shows it; `title` is its heading, `free` as in `ServicePlan`."""

    def __init__(self, plan: ServicePlan, anchor: str, requests: PlanRequests, text: Callable[..., str]) -> None:
        self.schemas = plan.parameters
        self.requests = requests
        self.anchor = anchor
        self.name = text(plan.name, SHORT) or "(no name)"
        self.id = text(plan.id, SHORT)
        self.title = text(plan.metadata.get("displayName"), SHORT) or self.name
        self.free = words.is_free(plan)
        self.price = "; ".join(words.costs(plan)) or ("Free" if self.free else "Price not known")
        self.description = text(plan.description)
        self.deprecated = _deprecated(plan)
        self.bullets: Sequence[str] = ()
        self.changes: list[ChangeNote] = []


class ServiceView:
    """A service offering as a page shows it: texts redacted and shortened, addresses checked.

    Attributes with names of `ServiceOffering` have their meaning. `number` counts the offerings of the page from 0.
    """

    def __init__(self, part: Part, service: ServiceOffering, secrets: Redactor, anchors: Anchors, number: int) -> None:
        text, metadata, plans = secrets.text, service.metadata, service.plans
        self.anchor = anchors.of_service(part.broker, service)
        self.broker = part.broker
        self.id = text(service.id, SHORT)
        self.name = text(service.name, SHORT)
        self.title = text(metadata.get("displayName"), SHORT) or self.name or "(no name)"
        self.provider = text(metadata.get("providerDisplayName"), SHORT)
        self.description = text(service.description)
        self.about = _paragraphs(text(metadata.get("longDescription")), self.description)
        self.picture = icons.from_data_url(metadata.get("imageUrl"))
        self.monogram = icons.monogram(self.title, number)
        self.tags = [text(tag, SHORT) for tag in service.tags[:MAX_TAGS]]
        self.more_tags = max(0, len(service.tags) - MAX_TAGS)
        self.deprecated = _deprecated(service)
        self.links = list(_links(metadata, secrets))
        self.facts = list(_facts(service, secrets))
        self.verdicts = [_verdict(platform, outcome, service) for platform, outcome in part.outcomes.items()]
        costs = list(map(prices, plans))
        lines = [[text(line, SHORT) for line in bullets(plan)[: compare.MAX_ROWS]] for plan in plans]
        self.rows = compare.rows(plans, costs, lines, secrets)
        self.plans: list[PlanView] = []
        for plan in plans:
            anchor = anchors.of_plan(self.anchor, plan)
            self.plans.append(PlanView(plan, anchor, part.requests.get(plan.path, PlanRequests()), text))
        if len(plans) == 1:
            self.plans[0].bullets = lines[0]
        _distinguish(self.plans)
        self.parameters = list(_blocks(self.plans, secrets))
        self.free = _free(plans)
        self.cheapest = _cheapest(plans, costs)
        self.findings: list[FindingNote] = []
        self.changes: list[ChangeNote] = []
        client = service.data.get("dashboard_client")
        secrets.left_out += isinstance(client, dict) and "secret" in client

    @property
    def change_count(self) -> int:
        """Number of changes of the service offering and its plans."""
        return len(self.changes) + sum(len(plan.changes) for plan in self.plans)


def _distinguish(plans: Sequence[PlanView]) -> None:
    titles = Counter(plan.title for plan in plans)
    for plan in plans:
        if titles[plan.title] > 1 and plan.title != plan.name:
            plan.title = f"{plan.title} ({plan.name})"


def _links(metadata: Mapping[str, Any], secrets: Redactor) -> Iterator[tuple[str, str]]:
    for key, label in (("documentationUrl", "Documentation"), ("supportUrl", "Support")):
        if web_address(metadata.get(key)):
            yield label, secrets.text(metadata[key], MAX_LENGTH)


def _facts(service: ServiceOffering, secrets: Redactor) -> Iterator[tuple[str, str]]:
    yield "Name", secrets.text(service.name, SHORT)
    yield "Id", secrets.text(service.id, SHORT)
    yield "Bindable", words.flag(service, "bindable")
    yield "Plan can be changed", words.flag(service, "plan_updateable")
    if service.metadata.get("shareable") is True:
        yield "Can be shared", "yes"
    requires = service.data.get("requires")
    if isinstance(requires, list) and requires:
        yield "Requires", ", ".join(secrets.text(one, SHORT) for one in requires[:10])


def _blocks(plans: Sequence[PlanView], secrets: Redactor) -> Iterator[ParameterBlock]:
    """Parameters and examples of all plans by place, equal ones once."""
    for place, (word, heading) in PLACES.items():
        ways: dict[str, list[tuple[str, Parameter]]] = {}
        described = [plan for plan in plans if place in plan.schemas]
        for plan in described:
            for anchor, row in _rows(plan.schemas[place], secrets):
                ways.setdefault(anchor, []).append((plan.title, row))
        if owners := [plan.title for plan in described]:
            some = "" if len(owners) == len(plans) else ", ".join(owners)
            rows = [_merged(anchor, way, owners) for anchor, way in ways.items()]
            yield ParameterBlock(word, heading, some, rows, _common_examples(described, place))


def _rows(schema: Mapping[str, Any], secrets: Redactor) -> Iterator[tuple[str, Parameter]]:
    """Anchors and parameters; two of one name get different anchors."""
    text, seen = secrets.text, Counter[str]()
    for row in parameters(schema):
        seen[row.name] += 1
        anchor = fragment(row.name) + (f"~{seen[row.name]}" if seen[row.name] > 1 else "")
        default = text(row.default, 1_000)
        default = SECRET if default and secrets.secret(row.name) else default
        kind, limits, about = text(row.type, 2_000), text(row.limits, 1_000), text(row.description)
        yield anchor, row._replace(type=kind, limits=limits, default=default, description=about)


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


def _common_examples(plans: Sequence[PlanView], place: str) -> Sequence[tuple[str, str]]:
    """The examples of the first plan, with its title if those of others differ."""
    first, *others = plans
    found = first.requests.examples.get(place, ())
    if all(plan.requests.examples.get(place, ()) == found for plan in others):
        return found
    return [(f"{label} ({first.title})", text) for label, text in found]


def _paragraphs(text: str, known: str) -> list[str]:
    """Return the paragraphs and list items of a long description; nothing if it repeats the short one.

    Only a blank line ends a paragraph: authors break lines at the width of their editor.
    """
    found = [] if text.strip() == known.strip() else _BREAK.split("\n".join(text.splitlines()))
    return [" ".join(words.split()) for words in found if words.strip()]


def _deprecated(thing: ServiceOffering | ServicePlan) -> str:
    """Deprecation notice: of the metadata, or a description that begins with the word; OSB has no field for it."""
    if thing.deprecation and thing.deprecation.sunset:
        return f"Deprecated, available until {thing.deprecation.sunset}"
    return "Deprecated" if thing.deprecation or _DEPRECATED.match(thing.description) else ""


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


def _verdict(platform: Platform, outcome: Outcome, service: ServiceOffering) -> VerdictView:
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
    return VerdictView(platform.value, platform.label, kind, does)
