"""Values of a catalog with their paths: the input of rules."""

from functools import cached_property
from typing import Any, TypeAlias

from osbctl.catalog import objects_in_list
from osbctl.fields import PARTS
from osbctl.findings import Finding, Fix, Severity
from osbctl.paths import JsonPath
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion


def is_numbered(value: dict[str, Any]) -> bool:
    """Return whether an object is a list that was written with its indexes as keys."""
    return bool(value) and [*value] in ([str(n + start) for n in range(len(value))] for start in (0, 1))


class Node:
    """An object of the catalog: the catalog, a service offering, plan or parameter schema. `value` is always a dict."""

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
    def label(self) -> str:
        """Name of the object in messages, else its location."""
        name = self.text("name")
        return repr(name) if name else "/" + "/".join(map(str, self.path))

    def finding(
        self,
        message: str,
        field: str | int | JsonPath = (),
        hint: str = "",
        fixes: tuple[Fix, ...] = (),
        group_summary: str = "",
        related_path: JsonPath | None = None,
    ) -> Finding:
        """A finding at this object, or at its `field`, a key or a path; the engine sets its rule and severity."""
        path = (*self.path, *(field if isinstance(field, tuple) else (field,)))
        return Finding("", Severity.INFO, message, path, None, hint, fixes, group_summary, related_path)


KnownObject: TypeAlias = tuple[dict[str, Any], JsonPath, str]
"""An object of the catalog whose fields are known, its path, and its kind (as in `osbctl.fields.PARTS`)."""


class CatalogNode(Node):
    """The catalog, with the API version to check against, and its objects by kind, cached for all rules.

    `spoken_version` is the oldest one that the chosen platforms speak.
    """

    def __init__(
        self,
        value: dict[str, Any],
        api_version: ApiVersion = DEFAULT_API_VERSION,
        spoken_version: ApiVersion | None = None,
    ) -> None:
        super().__init__(value)
        self.api_version = api_version
        self.spoken_version = spoken_version or api_version

    @cached_property
    def plans_by_service(self) -> list[tuple[Node, list[Node]]]:
        """The service offerings, each with its plans."""
        return [(service, service.children("plans")) for service in self.children("services")]

    @cached_property
    def services(self) -> list[Node]:
        """The service offerings."""
        return [service for service, _ in self.plans_by_service]

    @cached_property
    def plans(self) -> list[Node]:
        """The plans of all service offerings."""
        return [plan for _, plans in self.plans_by_service for plan in plans]

    @cached_property
    def services_and_plans(self) -> list[Node]:
        """The service offerings and the plans, each service offering before its plans."""
        return [node for service, plans in self.plans_by_service for node in (service, *plans)]

    @cached_property
    def objects_with_metadata(self) -> list[tuple[Node, dict[str, Any]]]:
        """The service offerings and plans that have metadata, each with it."""
        return [(node, metadata) for node in self.services_and_plans if (metadata := node.child("metadata").value)]

    def nonempty_texts(self, key: str) -> list[tuple[Node, str]]:
        """The service offerings and plans with a string at `key` that is not empty, each with it."""
        return [(node, value) for node in self.services_and_plans if (value := node.text(key))]

    @cached_property
    def known_objects(self) -> list[KnownObject]:
        """All objects of a known kind, in the order of the document."""
        found: list[KnownObject] = []
        _add_known_objects(found, self.value, "catalog", ())
        return found


def _add_known_objects(found: list[KnownObject], value: Any, kind: str, path: JsonPath) -> None:
    """Add an object of that kind, or those in a list, and the objects below, to `found`."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            _add_known_objects(found, item, kind, (*path, index))
    elif isinstance(value, dict):
        found.append((value, path, kind))
        for key, inner in PARTS.get(kind, {}).items():
            if key in value:
                _add_known_objects(found, value[key], inner, (*path, key))
