"""Small catalogs, and those of the examples in the texts of rules: `Bad:` breaks the rule, `Good:` is mended."""

import copy
import json
from typing import Any

import yaml

from osbctl.fields import known_fields
from osbctl.findings import ValidationResult
from osbctl.paths import JsonPath, entries
from osbctl.rule import Category, Rule
from osbctl.sources.document import parse_document
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document

DRAFT_04 = "http://json-schema.org/draft-04/schema#"

SERVICE: dict[str, Any] = {
    "id": "0F4C2B7A-51DE-4B39-A6C8-7E1D93F05B26",
    "name": "postgres",
    "description": "A database.",
    "bindable": True,
    "tags": ["sql"],
    "metadata": {"displayName": "Postgres", "imageUrl": "https://example.com/image.png"},
}
PLAN: dict[str, Any] = {
    "id": "D95A6E30-27B4-4F1C-8E0B-C46A1F7D82E9",
    "name": "small",
    "description": "One core.",
    "free": False,
    "bindable": True,
    "metadata": {"bullets": ["small"], "costs": [{"amount": {"usd": 1}, "unit": "MONTHLY"}]},
    "schemas": {"service_instance": {"create": {"parameters": {"$schema": DRAFT_04}}}},
}

PLAN_FIELDS = (known_fields("plan") - known_fields("service")) | (
    known_fields("plan_metadata") - known_fields("service_metadata")
)
"""Fields of plans, or of their metadata, by which a fragment is known to be of one."""


def catalog(service: dict[str, Any] | None = None, plan: dict[str, Any] | None = None) -> dict[str, Any]:
    """A catalog of one plan that no rule has anything to say of, with the given fields."""
    plans = [{**copy.deepcopy(PLAN), **(plan or {})}]
    return {"services": [{**copy.deepcopy(SERVICE), "plans": plans, **(service or {})}]}


def with_parameters(parameters: Any) -> dict[str, Any]:
    """A catalog with one parameter schema."""
    return catalog(plan={"schemas": {"service_instance": {"create": {"parameters": parameters}}}})


def with_schema(**keywords: Any) -> dict[str, Any]:
    """A catalog with one parameter schema of draft-04, of these keywords."""
    return with_parameters({"$schema": DRAFT_04, **keywords})


def places(value: Any, path: JsonPath = ()) -> list[JsonPath]:
    """The paths of a value and of all that it holds."""
    return [path, *(place for key, inner in entries(value) for place in places(inner, (*path, key)))]


def changed(data: Any, path: JsonPath, value: Any) -> Any:
    """`data` with `value` at `path`, or without what stands there if it is `...`. It shares the rest with the original."""
    step, *below = path
    data = copy.copy(data)
    if below:
        data[step] = changed(data[step], tuple(below), value)
    elif value is ...:
        del data[step]
    else:
        data[step] = value
    return data


def validated(data: Any, **options: Any) -> ValidationResult:
    """The result of validating `data` as a JSON file, one value a line."""
    document = parse_document(json.dumps(data, indent=1).encode(), "catalog.json")
    return validate_document(document, ValidationOptions(**options))


def grafted(fragment: Any) -> Any:
    """A catalog with the fragment of a rule's text in it.

    A fragment is what stands inside of one service offering or, for a field of plans, inside of one plan. A list is
    the list of plans; what starts with `services` is a catalog.
    """
    if isinstance(fragment, list):
        return catalog({"plans": fragment})
    if not isinstance(fragment, dict) or "services" in fragment:
        return fragment
    if "plans" in fragment:
        explicit = {"free": True, "bindable": True}
        plans = [explicit | plan if isinstance(plan, dict) else plan for plan in fragment["plans"]]
        return catalog({"plans": plans})
    if "parameters" in fragment:
        return with_parameters(fragment["parameters"])
    of_plan = not PLAN_FIELDS.isdisjoint((*fragment, *fragment.get("metadata", ())))
    return catalog(plan=fragment) if of_plan else catalog(fragment)


def source_text(rule: Rule, fragment: str) -> str:
    """The text of a document that shows `fragment`, one of the examples of `rule`."""
    if rule.id in ("yaml-1.1", "ignore-unknown"):  # what they are about is gone once the text is read
        key = fragment.partition(":")[0]
        plan = catalog()["services"][0]["plans"][0]
        marked = catalog({"plans": [{**plan, key: "MARK"}]})
        return yaml.safe_dump(marked, sort_keys=False, width=100).replace(f"{key}: MARK", fragment)
    if rule.category is Category.READING:
        return fragment + "\n"
    return yaml.safe_dump(grafted(yaml.safe_load(fragment)), sort_keys=False, width=100)
