"""Service offerings as the templates print them: every text redacted and cut, every address judged."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from osbctl.pages import compare, links, pictures, prices
from osbctl.pages.content import OrderedPlan, Requests
from osbctl.pages.parameters import Parameters
from osbctl.pages.shown import PlanView, ServiceView, VerdictView
from osbctl.platforms.outcome import VerdictKind
from osbctl.views.words import bullets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from osbctl.catalog import ServiceOffering, ServicePlan
    from osbctl.pages.content import Content, Part
    from osbctl.pages.prices import Costs
    from osbctl.pages.redact import Redactor
    from osbctl.platforms import Platform
    from osbctl.platforms.outcome import Outcome

MAX_TAGS = 200
"""Tags of one service offering that are shown."""
SHORT = 400
"""Characters of a name or a short description that are shown."""
MAX_WITH_COMMANDS = 2_000
"""A page of more plans has no commands and examples: they would be most of it."""
MAX_WORDS = 20
"""Lines of one platform that are shown."""


class Offerings:
    """Makes the views of all service offerings of a page."""

    def __init__(self, content: Content, secrets: Redactor) -> None:
        self._content = content
        self._secrets = secrets
        pairs = [(part.broker, service) for part in content.parts for service in part.catalog.services]
        self._anchors = links.Anchors(pairs)
        brokers: dict[str, set[str]] = {}
        for broker, service in pairs:
            brokers.setdefault(service.name, set()).add(broker)
        self._ambiguous = {name for name, found in brokers.items() if len(found) > 1}
        self.too_many = sum(len(service.plans) for _, service in pairs) > MAX_WITH_COMMANDS
        """Whether commands and examples are left out."""
        self._requests = Requests() if self.too_many else content.requests
        self.parameters = Parameters(self._requests, secrets)

    def views(self, part: Part) -> Iterator[ServiceView]:
        """The service offerings of a part, in the order of its catalog."""
        return (self._service(part, service) for service in part.catalog.services)

    def _service(self, part: Part, service: ServiceOffering) -> ServiceView:
        text, metadata = self._secrets.text, service.metadata
        anchor = self._anchors.of_service(part.broker, service)
        plans = [self._plan(part, service, plan, anchor) for plan in service.plans]
        _tell_apart(plans)
        title = text(metadata.get("displayName"), SHORT) or text(service.name, SHORT) or "(no name)"
        costs = [plan.costs for plan in plans]
        several = len(plans) > 1
        if "dashboard_client" in service.data and isinstance(service.data["dashboard_client"], dict):
            self._secrets.left_out += "secret" in service.data["dashboard_client"]
        return ServiceView(
            anchor=anchor,
            broker=part.broker,
            id=text(service.id, SHORT),
            name=text(service.name, SHORT),
            title=title,
            provider=text(metadata.get("providerDisplayName"), SHORT),
            description=text(service.description),
            about=_paragraphs(text(metadata.get("longDescription")), text(service.description)),
            picture=self._picture(metadata.get("imageUrl")),
            monogram=pictures.monogram(title),
            tags=[text(tag, SHORT) for tag in service.tags[:MAX_TAGS]],
            more_tags=max(0, len(service.tags) - MAX_TAGS),
            deprecated=_deprecated(service, service.tags),
            links=self._links(metadata),
            facts=list(self._facts(service)),
            verdicts=[_verdict(platform, outcome, service) for platform, outcome in part.outcomes.items()],
            plans=plans,
            rows=compare.rows(service.plans, costs, [plan.bullets for plan in plans], self._secrets) if several else [],
            free=_free(service.plans),
            cheapest=_cheapest(service.plans, costs),
            monthly=_lowest(service.plans, costs),
        )

    def _plan(self, part: Part, service: ServiceOffering, plan: ServicePlan, above: str) -> PlanView:
        text = self._secrets.text
        anchor = self._anchors.of_plan(above, plan)
        costs = prices.costs(plan)
        order = OrderedPlan(part.broker, service, plan, service.name in self._ambiguous)
        return PlanView(
            anchor=anchor,
            id=text(plan.id, SHORT),
            name=text(plan.name, SHORT) or "(no name)",
            title=text(plan.metadata.get("displayName"), SHORT),
            description=text(plan.description),
            free=plan.free,
            deprecated=_deprecated(plan),
            price=_price(plan, costs),
            costs=costs,
            bullets=[text(line, SHORT) for line in bullets(plan)[: compare.MAX_ROWS]],
            parameters=self.parameters.of(plan, anchor),
            commands=self._requests.commands(order),
        )

    def _picture(self, url: object) -> str:
        fetched = self._content.pictures.get(url, "") if isinstance(url, str) else ""
        return fetched or pictures.from_data_url(url)

    def _links(self, metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
        known = (("documentationUrl", "Documentation"), ("supportUrl", "Support"))
        return [
            (label, self._secrets.text(metadata[key], links.MAX_LENGTH))
            for key, label in known
            if links.followable(metadata.get(key))
        ]

    def _facts(self, service: ServiceOffering) -> Iterator[tuple[str, str]]:
        yield "Name", self._secrets.text(service.name, SHORT)
        yield "Id", self._secrets.text(service.id, SHORT)
        yield "Credentials by binding", "yes" if service.bindable else "no"
        yield "Plan can be changed", "yes" if service.plan_updateable else "no"
        if service.metadata.get("shareable") is True:
            yield "Can be shared", "yes"
        requires = service.data.get("requires")
        if isinstance(requires, list) and requires:
            yield "Asks the platform for", ", ".join(self._secrets.text(one, SHORT) for one in requires[:10])


def _paragraphs(text: str, known: str) -> list[str]:
    """The lines of a long description; nothing where it only says the short one again."""
    lines = [line.strip() for line in re.split(r"[\r\n]+", text)]
    return [] if text.strip() == known.strip() else [line for line in lines if line]


def _deprecated(thing: ServiceOffering | ServicePlan, tags: Sequence[str] = ()) -> str:
    """That something shall not be ordered any more, said in any of the ways of brokers; OSB has no field for it."""
    if thing.deprecation and thing.deprecation.sunset:
        return f"Deprecated, there until {thing.deprecation.sunset}"
    said = thing.metadata.get("deprecated")
    written = isinstance(said, str) and bool(said) and said.casefold() not in ("false", "no")
    begins = re.match(r"\W{0,3}deprecated\b", thing.description, re.IGNORECASE)
    tagged = any(tag.casefold() == "deprecated" for tag in tags)
    return "Deprecated" if thing.deprecation or said is True or written or tagged or begins else ""


def _tell_apart(plans: Sequence[PlanView]) -> None:
    """Put the names to titles that several plans of a service offering have."""
    titles = Counter(plan.title for plan in plans)
    for plan in plans:
        if plan.title and titles[plan.title] > 1:
            plan.title = f"{plan.title} ({plan.name})"


def _free(plans: Sequence[ServicePlan]) -> str:
    kinds = {plan.free for plan in plans}
    return "both" if len(kinds) == 2 else "free" if True in kinds else "paid" if kinds else ""


def _price(plan: ServicePlan, costs: Costs) -> str:
    monthly = " or ".join(
        f"{prices.amount_text(total)} {currency}".strip() for currency, total in costs.monthly.items()
    )
    parts = [f"{monthly} a month" if monthly else "", *costs.others]
    return "; ".join(filter(None, parts)) or ("Free" if plan.free else "Price not known")


def _cheapest(plans: Sequence[ServicePlan], costs: Sequence[Costs]) -> str:
    """The lowest monthly price of a paid plan, in the first currency that the catalog has."""
    paid = [cost.monthly for plan, cost in zip(plans, costs, strict=True) if not plan.free and cost.monthly]
    if not paid:
        return ""
    currency = next(iter(paid[0]))
    lowest = min(monthly[currency] for monthly in paid if currency in monthly)
    return f"{'from ' if len(plans) > 1 else ''}{prices.amount_text(lowest)} {currency} a month"


def _lowest(plans: Sequence[ServicePlan], costs: Sequence[Costs]) -> dict[str, Any]:
    """The lowest monthly price in each currency, for the filter; a free plan costs nothing in any, which is `*`."""
    lowest: dict[str, Any] = {}
    for plan, cost in zip(plans, costs, strict=True):
        for currency, total in ({"*": 0} if plan.free and not cost.monthly else cost.monthly).items():
            lowest[currency] = min(lowest.get(currency, total), total)
    return lowest


def _verdict(platform: Platform, outcome: Outcome, service: ServiceOffering) -> VerdictView:
    """What a platform does with the catalog, as this service offering meets it: for reasons of its own, or others'."""
    if outcome.kind is VerdictKind.ACCEPTS:
        return VerdictView(platform.value, platform.label, "accepts", "takes it", ())
    ours = dict.fromkeys(one.message for one in outcome.refusals if one.path[: len(service.path)] == service.path)
    if not ours:
        does = "refuses the catalog, not because of this service"
        return VerdictView(platform.value, platform.label, "other", does, ())
    does = {"crashes": "crashes", "unreadable": "cannot read it"}.get(outcome.kind.value, "refuses it")
    return VerdictView(platform.value, platform.label, "refuses", does, tuple(ours)[:MAX_WORDS])
