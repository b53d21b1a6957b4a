"""View models of service offerings, changes and findings: texts redacted and shortened, addresses checked."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.changes import Change
from osbctl.findings import Finding
from osbctl.masking import mask_secrets
from osbctl.messages import SECRET, Redactor
from osbctl.pages import Part, PlanRequests, compare
from osbctl.pages.safe_content import (
    MAX_ADDRESS_LENGTH,
    Anchors,
    Block,
    clean_data_url,
    fragment,
    monogram,
    safe_web_address,
    split_blocks,
)
from osbctl.parameter_table import Parameter, parameters
from osbctl.paths import JsonPath
from osbctl.platforms import Platform
from osbctl.platforms.verdict import Outcome, VerdictKind
from osbctl.views import Prices, bullets, flag_text, format_amount, is_free, parse_prices, price_phrases, yes_or_no

MAX_TAGS = 200
"""Most tags of one service offering on a page."""
SHORT = 400
"""Most characters of a name or a short description."""
MAX_REASONS = 20
"""Most lines of one platform."""
COLORS = 8
"""Number of monogram colours in page.css."""

PLACES = {
    "service_instance.create": ("create", "Parameters to create an instance"),
    "service_instance.update": ("update", "Parameters to update an instance"),
    "service_binding.create": ("bind", "Parameters to create a binding"),
}
"""Last word of the anchor, and heading, for each place of a schema."""

_COMPARED = ("type", "required", "default", "limits", "description")
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
    """One finding, its places (source, line and column, else the JSON pointer) with their anchors, as in `ChangeNote`.

    `more` is the number of further places.
    """

    finding: Finding
    places: Sequence[tuple[str, str]]
    more: int


class VerdictView(NamedTuple):
    """The verdict of a platform on a service offering or a catalog: CSS class, text, and the platform's messages.

    `culprits` are titles and anchors of service offerings that cause a catalog's verdict; `reasons` have another cause.
    """

    broker: str
    platform: Platform
    kind: str
    reaction: str
    reasons: Sequence[str] = ()
    culprits: Sequence[tuple[str, str]] = ()


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

    def __init__(
        self, plan: ServicePlan, anchor: str, requests: PlanRequests, bullets: Sequence[str], redact: Callable[..., str]
    ) -> None:
        self.schemas = plan.parameters
        self.requests = requests
        self.anchor = anchor
        self.name = redact(plan.name, SHORT) or "(no name)"
        self.id = redact(plan.id, SHORT)
        self.title = redact(plan.metadata.get("displayName"), SHORT) or self.name
        self.free = is_free(plan)
        self.monthly = parse_prices(plan).monthly
        self.price = "; ".join(price_phrases(plan)) or ("Free" if self.free else "Price not stated")
        self.about = split_blocks(redact(plan.description))
        self.deprecated = _deprecation_notice(plan)
        self.bullets = bullets
        self.changes: list[ChangeNote] = []


class ServiceView:
    """A service offering as a page shows it: texts redacted and shortened, addresses checked.

    Attributes with names of `ServiceOffering` have their meaning. `number` counts the offerings of the page from 0.
    """

    def __init__(self, part: Part, service: ServiceOffering, redactor: Redactor, anchors: Anchors, number: int) -> None:
        redact, metadata, plans = redactor.redact, service.metadata, service.plans
        self.anchor = anchors.new_service_anchor(part.broker, service)
        self.broker = part.broker
        self.id = redact(service.id, SHORT)
        self.name = redact(service.name, SHORT)
        self.title = redact(metadata.get("displayName"), SHORT) or self.name or "(no name)"
        self.provider = redact(metadata.get("providerDisplayName"), SHORT)
        self.summary, self.about = _split_descriptions(
            redact(service.description), redact(metadata.get("longDescription"))
        )
        self.picture = part.images.get(service.path) or clean_data_url(metadata.get("imageUrl"))
        self.monogram, self.color = monogram(self.title), number % COLORS
        self.tags = [redact(tag, SHORT) for tag in service.tags[:MAX_TAGS]]
        self.more_tags = max(0, len(service.tags) - MAX_TAGS)
        self.deprecated = _deprecation_notice(service)
        self.links = list(_labelled_links(metadata, redactor))
        self.facts = list(_labelled_facts(service, redactor))
        verdicts = (_make_verdict_view(part, platform, service) for platform in part.outcomes)
        self.verdicts = [verdict for verdict in verdicts if verdict]
        costs = list(map(parse_prices, plans))
        lines = [[redact(line, SHORT) for line in _limit_lines(bullets(plan), compare.MAX_ROWS)] for plan in plans]
        rows = compare.rows(plans, [is_free(plan) for plan in plans], costs, lines, redactor)
        self.rows, self.more_rows = rows[: compare.MAX_ROWS], max(0, len(rows) - compare.MAX_ROWS)
        self.has_empty_cells = any(compare.NOT_STATED in row.cells for row in self.rows)
        self.plans: list[PlanView] = []
        for plan, shown in zip(plans, lines, strict=True):
            anchor = anchors.new_plan_anchor(self.anchor, plan)
            self.plans.append(PlanView(plan, anchor, part.requests.get(plan.path, PlanRequests()), shown, redact))
        _make_titles_unique(self.plans)
        self.parameters = list(_parameter_blocks(self.plans, redactor))
        self.free = _free_or_paid(plans)
        self.currency = next((currency for cost in costs for currency in cost.monthly), "")
        self.cheapest = _format_lowest_price(plans, costs)
        self.findings: list[FindingNote] = []
        self.changes: list[ChangeNote] = []
        client = service.data.get("dashboard_client")
        redactor.left_out += isinstance(client, dict) and "secret" in client

    @property
    def change_count(self) -> int:
        """Number of changes of the service offering and its plans."""
        return len(self.changes) + sum(len(plan.changes) for plan in self.plans)


def _make_titles_unique(plans: Sequence[PlanView]) -> None:
    """Append the plan's name to titles that several plans have."""
    titles = Counter(plan.title for plan in plans)
    for plan in plans:
        if titles[plan.title] > 1 and plan.title != plan.name:
            plan.title = f"{plan.title} ({plan.name})"


def _labelled_links(metadata: Mapping[str, Any], redactor: Redactor) -> Iterator[tuple[str, str]]:
    for key, label in (("documentationUrl", "Documentation"), ("supportUrl", "Support")):
        if safe_web_address(metadata.get(key)):
            yield label, redactor.redact(metadata[key], MAX_ADDRESS_LENGTH)


def _labelled_facts(service: ServiceOffering, redactor: Redactor) -> Iterator[tuple[str, str]]:
    yield "Name", redactor.redact(service.name, SHORT)
    yield "Id", redactor.redact(service.id, SHORT)
    yield "Bindable", flag_text(service, "bindable")
    yield "Plan can be changed", flag_text(service, "plan_updateable")
    if service.metadata.get("shareable") is True:
        yield "Can be shared", "yes"
    requires = service.data.get("requires")
    if isinstance(requires, list) and requires:
        yield "Requires", ", ".join(redactor.redact(permission, SHORT) for permission in requires[:10])


def _parameter_blocks(plans: Sequence[PlanView], redactor: Redactor) -> Iterator[ParameterBlock]:
    """Parameters and examples of all plans by place, equal ones once."""
    for place, (short_name, heading) in PLACES.items():
        by_anchor: dict[str, list[tuple[str, Parameter]]] = {}
        described = [plan for plan in plans if place in plan.schemas]
        for plan in described:
            for anchor, row in _redacted_parameters(plan.schemas[place], redactor):
                by_anchor.setdefault(anchor, []).append((plan.title, row))
        if all_titles := [plan.title for plan in described]:
            titles = "" if len(all_titles) == len(plans) else ", ".join(all_titles)
            rows = [_merge_parameter(anchor, variants, all_titles) for anchor, variants in by_anchor.items()]
            yield ParameterBlock(short_name, heading, titles, rows, _examples_of_first_plan(described, place))


def _redacted_parameters(schema: Mapping[str, Any], redactor: Redactor) -> Iterator[tuple[str, Parameter]]:
    """Anchors and parameters; two of one name get different anchors."""
    redact, seen = redactor.redact, Counter[str]()
    for row in parameters(schema):
        seen[row.name] += 1
        anchor = fragment(row.name) + (f"~{seen[row.name]}" if seen[row.name] > 1 else "")
        default = redact(mask_secrets(row.default), 1_000)  # an object may hold one
        default = SECRET if default and redactor.must_redact(row.name) else default
        kind, limits, description = redact(row.type, 2_000), redact(row.limits, 1_000), redact(row.description)
        yield anchor, row._replace(type=kind, limits=limits, default=default, description=description)


def _merge_parameter(anchor: str, variants: Sequence[tuple[str, Parameter]], titles: Sequence[str]) -> ParameterView:
    """One parameter as the plans with these titles describe it; `variants` has the title and parameter of each plan."""
    differs = [field for field in _COMPARED if len({getattr(parameter, field) for _, parameter in variants}) > 1]
    groups: dict[str, list[str]] = {}
    for title, parameter in variants:
        groups.setdefault("; ".join(_format_difference(parameter, field) for field in differs), []).append(title)
    groups.pop("", None)  # nothing differs
    by_title = dict(variants)
    if absent := [title for title in titles if title not in by_title]:
        groups["not a parameter"] = absent
    return ParameterView(anchor, variants[0][1], differs, [(", ".join(plans), text) for text, plans in groups.items()])


def _format_difference(parameter: Parameter, field: str) -> str:
    value = getattr(parameter, field)
    return f"{field} {yes_or_no(value) if isinstance(value, bool) else value or 'none'}"


def _examples_of_first_plan(plans: Sequence[PlanView], place: str) -> Sequence[tuple[str, str]]:
    """The examples of the first plan, with its title if those of others differ."""
    first, *others = plans
    found = first.requests.examples.get(place, ())
    if all(plan.requests.examples.get(place, ()) == found for plan in others):
        return found
    return [(f"{label} ({first.title})", text) for label, text in found]


def _split_descriptions(short: str, long: str) -> tuple[str, list[Block]]:
    """The first paragraph of a short description, for the card; its other blocks, and those of a long one."""
    blocks = split_blocks(short)
    summary = blocks.pop(0).lines[0] if blocks and blocks[0].tag == "p" else " ".join(blocks[0].lines) if blocks else ""
    return summary, blocks + (split_blocks(long) if long.split() != short.split() else [])


def _deprecation_notice(item: ServiceOffering | ServicePlan) -> str:
    """Deprecation notice: of the metadata, or a description that begins with the word; OSB has no field for it."""
    if item.sunset:
        return f"Deprecated, available until {item.sunset}"
    return "Deprecated" if item.is_deprecated or _DEPRECATED.match(item.description) else ""


def _free_or_paid(plans: Sequence[ServicePlan]) -> str:
    """`free`, `paid` or `both`. Empty without plans."""
    kinds = {is_free(plan) for plan in plans}
    return "both" if len(kinds) == 2 else "free" if True in kinds else "paid" if kinds else ""


def _format_lowest_price(plans: Sequence[ServicePlan], costs: Sequence[Prices]) -> str:
    """Lowest monthly price of the paid plans, in the first currency. Empty if one states no such price."""
    paid = [cost for plan, cost in zip(plans, costs, strict=True) if not is_free(plan)]
    currency = next((currency for cost in paid for currency in cost.monthly), None)
    if currency is None or any(currency not in cost.monthly for cost in paid):
        return ""
    lowest = min(cost.monthly[currency] for cost in paid if currency in cost.monthly)
    price = f"{format_amount(lowest)} {currency}".strip() + " a month"
    if len(paid) == len(plans):
        return f"From {price}" if len(paid) > 1 else price
    return f"Paid plans from {price}" if len(paid) > 1 else f"Paid plan: {price}"


def _limit_lines(lines: Sequence[str], maximum: int) -> list[str]:
    """At most so many of the lines, and then one that says how many more there are."""
    more = len(lines) - maximum
    return [*lines[:maximum], *([f"and {more:,} more"] if more > 0 else [])]


def _make_verdict_view(part: Part, platform: Platform, service: ServiceOffering) -> VerdictView | None:
    """The verdict on a service offering. None if only others are the reason why its catalog is not accepted."""
    outcome = part.outcomes[platform]
    if outcome.kind is VerdictKind.ACCEPTS:
        return VerdictView(part.broker, platform, "accepts", "accepted")
    messages = _messages(outcome, lambda path: path[: len(service.path)] == service.path)
    return VerdictView(part.broker, platform, *_REACTIONS[outcome.kind], messages) if messages else None


_REACTIONS = {
    VerdictKind.REFUSES: ("refuses", "refused"),
    VerdictKind.CRASHES: ("refuses", "crashes"),
    VerdictKind.UNREADABLE: ("refuses", "cannot read it"),
    VerdictKind.UNCLEAR: ("other", "unclear: a value is not known yet"),
}
"""CSS class and text for each verdict but acceptance."""


def catalog_verdicts(part: Part, views: Sequence[ServiceView]) -> Iterator[VerdictView]:
    """The verdicts on the catalog of a part other than acceptance; `views` are those of its service offerings."""
    services = [service.path for service in part.catalog.services]
    for platform, outcome in part.outcomes.items():
        if outcome.kind is not VerdictKind.ACCEPTS:
            culprits = [
                (view.title, view.anchor)
                for view in views
                if any(verdict.platform is platform for verdict in view.verdicts)
            ]
            messages = _messages(outcome, lambda path: path[:2] not in services)
            yield VerdictView(part.broker, platform, *_REACTIONS[outcome.kind], messages, culprits)


def _messages(outcome: Outcome, is_wanted: Callable[[JsonPath], bool]) -> list[str]:
    """The messages of the reasons whose paths are wanted, each once."""
    reasons = outcome.refusals or outcome.doubts
    return _limit_lines([*dict.fromkeys(reason.message for reason in reasons if is_wanted(reason.path))], MAX_REASONS)
