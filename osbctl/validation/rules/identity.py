"""Rules on unique ids and names."""

from collections.abc import Iterable, Iterator

from osbctl.catalog import service_and_plan_names
from osbctl.findings import Finding, Severity
from osbctl.placeholders import holds_placeholder
from osbctl.rule import Category, rule
from osbctl.validation.node import CatalogNode, Node


@rule("id-duplicate", Severity.ERROR, Category.SPEC)
def id_duplicate(catalog: CatalogNode) -> Iterator[Finding]:
    """An id is used twice in the catalog.

    Platforms identify a service offering and a plan by its id. With two of the same id, one of them cannot be ordered,
    or hides the other.

    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: large, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    Source: OSB 2.14, Service Offering Object and Service Plan Object: id MUST be globally unique
    """
    for nodes in (catalog.services, catalog.plans):
        for node, first in _find_duplicates(nodes, "id"):
            message = f"{_kind_and_label(node)} reuses the id of {_kind_and_label(first)}"
            if nodes is catalog.plans and node.label == first.label and node.path[:2] != first.path[:2]:
                names = [service_and_plan_names(each.path, catalog.value) for each in (node, first)]
                message = "plan '{}/{}' reuses the id of plan '{}/{}'".format(*names[0], *names[1])
            yield node.finding(message, "id", "give it an id of its own", related_path=(*first.path, "id"))


@rule("id-shared", Severity.WARNING, Category.SPEC)
def id_shared(catalog: CatalogNode) -> Iterator[Finding]:
    """A plan has the id of a service offering.

    No known platform confuses the two. Do not change the id of a published object.

    Bad:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres,
             plans: [{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, free: true}]}
    Good:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres,
             plans: [{id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: small, free: true}]}
    Source: OSB 2.14, Service Offering Object and Service Plan Object: id MUST be globally unique
    """
    taken = {service.text("id"): service for service in catalog.services}
    for plan in catalog.plans:
        value = plan.text("id")
        if value and value in taken and not holds_placeholder(value):
            message = f"{_kind_and_label(plan)} has the id of {_kind_and_label(taken[value])}"
            related_path = (*taken[value].path, "id")
            yield plan.finding(message, "id", "keep it if it is published already", related_path=related_path)


@rule("service-name-duplicate", Severity.ERROR, Category.SPEC)
def service_name_duplicate(catalog: CatalogNode) -> Iterator[Finding]:
    """Two service offerings share a name.

    Users order a service offering by its name. With two of the same name, the platform cannot know which to use.

    Bad:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: postgres, description: A cache.}
    Good:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: redis, description: A cache.}
    Source: OSB 2.14, Service Offering Object: name MUST be unique across all service offerings of the broker
    """
    for service, first in _find_duplicates(catalog.services, "name"):
        message = f"another service offering has the name {service.label}"
        yield service.finding(message, "name", "rename one of them", related_path=(*first.path, "name"))


@rule("plan-name-duplicate", Severity.ERROR, Category.SPEC)
def plan_name_duplicate(catalog: CatalogNode) -> Iterator[Finding]:
    """Two plans of one service offering share a name.

    Users order a plan by the names of service offering and plan. With two of the same name, the platform cannot know
    which to use.

    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: small, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    Source: OSB 2.14, Service Plan Object: name MUST be unique within the service offering
    """
    for service, plans in catalog.plans_by_service:
        for plan, first in _find_duplicates(plans, "name"):
            message = f"another plan of {service.label} has the name {plan.label}"
            yield plan.finding(message, "name", "rename one of them", related_path=(*first.path, "name"))


def _find_duplicates(nodes: Iterable[Node], key: str) -> Iterator[tuple[Node, Node]]:
    """Each object with the `key` of an earlier one, and the first of these; unresolved placeholders do not count."""
    seen: dict[str, Node] = {}
    for node in nodes:
        value = node.text(key)
        if value and (first := seen.setdefault(value, node)) is not node and not holds_placeholder(value):
            yield node, first


def _kind_and_label(node: Node) -> str:
    return f"{'plan' if node.path[-2] == 'plans' else 'service offering'} {node.label}"
