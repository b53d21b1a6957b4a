"""Objects that checks of rules read, the registration of checks, and the loading of all rules.

A check is a generator: it gets the catalog, or one of its parameter schemas, and yields findings at its objects.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

from osbctl.catalog import objects_in_list
from osbctl.fields import PARTS
from osbctl.findings import Finding, Fix, Group, Severity
from osbctl.messages import Sentence, Value
from osbctl.paths import JsonPath
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform
from osbctl.rule import RULES, Category, Rule
from osbctl.validation import rules


def is_numbered(value: dict[str, Any]) -> bool:
    """Return whether an object is a list that was written with its indexes as keys."""
    return bool(value) and [*value] in ([str(n + start) for n in range(len(value))] for start in (0, 1))


class Node:
    """The catalog, a service offering, a plan, a parameter schema or an object in them: `value` is always a dict."""

    __slots__ = ("path", "value")

    def __init__(self, value: dict[str, Any], path: JsonPath = ()) -> None:
        self.value = value
        self.path = path

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def get(self, key: str) -> Any:
        """The value at `key`, None where it is missing."""
        return self.value.get(key)

    def text(self, key: str) -> str | None:
        """The value at `key` if it is a string, else None: a wrong type is the schema's finding."""
        value = self.value.get(key)
        return value if isinstance(value, str) else None

    def child(self, key: str) -> "Node":
        """The object at `key`, an empty one where there is none or it is not an object."""
        value = self.value.get(key)
        return Node(value if isinstance(value, dict) else {}, (*self.path, key))

    def children(self, key: str) -> "list[Node]":
        """The objects in the array at `key`; other values are skipped."""
        return [Node(value, path) for value, path in objects_in_list(self.value, key, self.path)]

    @property
    def label(self) -> Value | str:
        """Name of the object in messages, else its location."""
        name = self.text("name")
        return Value(name, (*self.path, "name")) if name else "/" + "/".join(map(str, self.path))

    def finding(
        self,
        message: Sentence,
        field: str | int | JsonPath = (),
        hint: Sentence = "",
        fixes: tuple[Fix, ...] = (),
        group: Group | None = None,
        related_path: JsonPath | None = None,
    ) -> Finding:
        """A finding at this object, or at its `field`, a key or a path; the engine sets its rule and severity."""
        path = (*self.path, *(field if isinstance(field, tuple) else (field,)))
        return Finding("", Severity.INFO, message, path, None, hint, fixes, group, related_path)


KnownObject: TypeAlias = tuple[dict[str, Any], JsonPath, str]
"""An object of the catalog whose fields are known, its path, and its kind (as in `osbctl.fields.PARTS`)."""


class CatalogNode(Node):
    """The catalog, with the API version to check against, and its objects by kind, for all rules.

    `services_and_plans` has each service offering before its plans, `plans_by_service` each with them. `spoken_version`
    is the oldest one that the chosen platforms speak, `syntax` that of the source, as in `Document`.
    """

    def __init__(
        self,
        value: dict[str, Any],
        api_version: ApiVersion = DEFAULT_API_VERSION,
        spoken_version: ApiVersion | None = None,
        syntax: str = "",
    ) -> None:
        super().__init__(value)
        self.api_version = api_version
        self.spoken_version = spoken_version or api_version
        self.syntax = syntax
        self.plans_by_service = [(service, service.children("plans")) for service in self.children("services")]
        self.services = [service for service, _ in self.plans_by_service]
        self.plans = [plan for _, plans in self.plans_by_service for plan in plans]
        self.services_and_plans = [node for service, plans in self.plans_by_service for node in (service, *plans)]
        self.known_objects: list[KnownObject] = []
        self._add_known_objects(value, "catalog", ())

    def _add_known_objects(self, value: Any, kind: str, path: JsonPath) -> None:
        """Add an object of that kind, or those in a list, and the objects below, in the order of the document."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                self._add_known_objects(item, kind, (*path, index))
        elif isinstance(value, dict):
            self.known_objects.append((value, path, kind))
            for key, inner in PARTS.get(kind, {}).items():
                if key in value:
                    self._add_known_objects(value[key], inner, (*path, key))

    def with_metadata(self) -> Iterator[tuple[Node, dict[str, Any]]]:
        """The service offerings and plans that have metadata, each with it."""
        for node in self.services_and_plans:
            if metadata := node.child("metadata").value:
                yield node, metadata

    def nonempty_texts(self, key: str) -> Iterator[tuple[Node, str]]:
        """The service offerings and plans with a string at `key` that is not empty, each with it."""
        for node in self.services_and_plans:
            if value := node.text(key):
                yield node, value


CatalogCheck: TypeAlias = Callable[[CatalogNode], Iterator[Finding]]
SchemaCheck: TypeAlias = Callable[[Node], Iterator[Finding]]

CATALOG_CHECKS: dict[str, CatalogCheck] = {}
"""The checks that read the catalog, by the id of the rule."""
SCHEMA_CHECKS: dict[str, SchemaCheck] = {}
"""The checks that read each parameter schema, by the id of the rule.

They must not read titles and descriptions: schemas that differ in these alone are checked once.
"""


_Check = TypeVar("_Check", CatalogCheck, SchemaCheck)


def check_catalog(rule: Rule) -> Callable[[CatalogCheck], CatalogCheck]:
    """Register `rule` with the decorated check of the catalog; its docstring is the rule's text."""
    return partial(_register, rule, CATALOG_CHECKS)


def check_schemas(rule: Rule) -> Callable[[SchemaCheck], SchemaCheck]:
    """Register `rule` with the decorated check of a parameter schema; its docstring is the rule's text."""
    return partial(_register, rule, SCHEMA_CHECKS)


def _register(rule: Rule, checks: dict[str, _Check], check: _Check) -> _Check:
    rule.register(check.__doc__ or "")
    checks[rule.id] = check
    return check


@cache
def load_rules() -> None:
    """Register the rules of the modules in `rules`; those of platforms are loaded by `load_all` alone."""
    for file in sorted(os.listdir(rules.__path__[0])):  # noqa: PTH208 - pathlib and pkgutil cost a tenth of the start
        if file.endswith(".py"):
            import_module(f"{rules.__name__}.{file.removesuffix('.py')}".removesuffix(".__init__"))


@cache
def load_all() -> Mapping[str, Rule]:
    """Every rule of validation by id."""
    load_rules()
    for platform in Platform:
        for name, text in platform.record.rule_texts.items():
            Rule(f"{platform}-{name}", Severity.WARNING, Category.PLATFORM, refusing=(platform,)).register(text)
    # A copy, because another thread may be importing rules of other packages at this moment.
    elsewhere = (Category.CHANGE, Category.WIRE)
    return {rule.id: rule for rule in list(RULES.values()) if rule.category not in elsewhere}
