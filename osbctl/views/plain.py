"""Plain text: a catalog as tab-separated lines, and one service offering in detail."""

from collections.abc import Iterator, Sequence

from osbctl.catalog import Catalog, ServiceOffering, ServicePlan
from osbctl.parameter_table import Parameter, parameters
from osbctl.paths import PARAMETER_PLACES
from osbctl.text import AnsiStyle, display_width, escape_line, wrap_line
from osbctl.views import words

COLUMNS = ("SERVICE", "PLAN", "PRICE", "BINDABLE", "COSTS", "BULLETS", "SERVICE ID", "PLAN ID", "DESCRIPTION")
_LINKS = {
    "displayName": "Display name",
    "providerDisplayName": "Provider",
    "longDescription": "About",
    "documentationUrl": "Documentation",
    "supportUrl": "Support",
}


def catalog_lines(catalog: Catalog) -> Iterator[str]:
    """Tab-separated lines: a header, then one per plan. An offering without plans has a line with empty columns."""
    yield "\t".join(COLUMNS)
    for service in catalog.services:
        name, id_ = escape_line(service.name), escape_line(service.id)
        for plan in service.plans:
            costs, bullets = "; ".join(words.price_phrases(plan)), "; ".join(words.bullets(plan))
            status, bindable = words.plan_status(plan), words.flag_text(plan, "bindable")
            middle = (status, bindable, costs, bullets, id_, escape_line(plan.id))
            yield "\t".join((name, escape_line(plan.name), *middle, escape_line(plan.description)))
        if not service.plans:
            yield "\t".join((name, "", "", "", "", "", id_, "", escape_line(service.description)))


def offering_lines(service: ServiceOffering, paint: AnsiStyle, width: int = 0) -> Iterator[str]:
    """The offering, its display information, its plans and their parameters, wrapped to `width` columns (0: not)."""
    yield wrap_line(paint(escape_line(service.name), "bold"), width, "  ")
    links = {label: escape_line(str(value)) for key, label in _LINKS.items() if (value := service.metadata.get(key))}
    facts = {
        "Id": escape_line(service.id),
        "Description": escape_line(service.description),
        "Features": ", ".join(words.feature_phrases(service)),
        **links,
    }
    for label, text in facts.items():
        yield _wrap_hanging(f"  {paint(f'{label:<13}', 'dim')}  ", text, 17, width)
    for plan in service.plans:
        yield ""
        yield wrap_line(f"  Plan {paint(escape_line(plan.name), 'bold')}", width, " " * 7)
        facts = {
            "Id": escape_line(plan.id),
            "Description": escape_line(plan.description),
            "Price": "; ".join([words.plan_status(plan), *words.price_phrases(plan)]),
            "Bindable": words.flag_text(plan, "bindable"),
        }
        for label, text in facts.items():
            yield _wrap_hanging(f"    {paint(f'{label:<11}', 'dim')}  ", text, 17, width)
        yield from (_wrap_hanging("    • ", line, 6, width) for line in words.bullets(plan))
    for place in PARAMETER_PLACES:
        yield from _parameter_lines(".".join(place), service.plans, paint, width)


def _wrap_hanging(head: str, text: str, indent: int, width: int) -> str:
    return wrap_line(head + text, width, " " * indent)


def _parameter_lines(place: str, plans: Sequence[ServicePlan], paint: AnsiStyle, width: int) -> Iterator[str]:
    """The parameters of all plans at one place, each once; if plans differ, each variant lists its plans."""
    described = [plan for plan in plans if place in plan.parameters]
    if not described:
        return
    only_for = _format_plan_names(described) if len(described) < len(plans) else ""
    yield ""
    yield wrap_line(f"  Parameters of {paint(place, 'bold')}{only_for}:", width, " " * 6)
    rows: dict[str, list[tuple[Parameter, ServicePlan]]] = {}
    for plan in described:
        for row in parameters(plan.parameters[place]):
            rows.setdefault(row.name, []).append((row, plan))
    if not rows:
        yield "    none described"
    column = min(max(map(display_width, rows), default=0), width // 3 or 1_000)
    for name, variants in rows.items():
        head = f"{paint(name, 'info')}{' ' * (column - display_width(name))}"
        for text, owners in _variants_by_plans(variants):
            suffix = paint(_format_plan_names(owners), "dim") if 0 < len(owners) < len(described) else ""
            yield _wrap_hanging(f"    {head}  ", text + suffix, column + 6, width)
            head = " " * column


def _variants_by_plans(rows: Sequence[tuple[Parameter, ServicePlan]]) -> Iterator[tuple[str, Sequence[ServicePlan]]]:
    """Facts of one parameter with their plans, then its description without plans."""
    for description in dict.fromkeys(row.description for row, _ in rows):
        same = [(row.summary, plan) for row, plan in rows if row.description == description]
        for facts in dict.fromkeys(facts for facts, _ in same):
            yield facts, [plan for other, plan in same if other == facts]
        if description:
            yield description, ()


def _format_plan_names(plans: Sequence[ServicePlan]) -> str:
    names = ", ".join(escape_line(plan.name) or "(no name)" for plan in plans)
    return f" (plan{'s' if len(plans) > 1 else ''} {names})" if plans else ""
