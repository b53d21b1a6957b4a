"""Ids and names that the Cloud Controller wants to be unique in a catalog, in its order and with its words.

Source: cloud_controller_ng, lib/services/service_brokers/v2/catalog.rb and catalog_service.rb.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from osbctl.paths import JsonPath
from osbctl.platforms.cloudfoundry.fields import Errors
from osbctl.platforms.cloudfoundry.ruby import equality_key, get_item, to_s


def check_unique_identities(errors: Errors, services: list[dict[str, Any]]) -> None:
    """Report ids and names that service offerings share, ids of plans, and ids of dashboard clients."""
    ids = [
        (("services", n, "id"), service["id"]) for n, service in enumerate(services) if service.get("id") is not None
    ]
    names = [(("services", n, "name"), service.get("name")) for n, service in enumerate(services)]
    _check_unique_values("cloudfoundry-service-ids", ids, "Service ids must be unique", errors)
    _check_unique_values("cloudfoundry-service-names", names, "Service names must be unique within a broker", errors)
    _check_unique_plan_ids(errors, services)
    clients = ((n, service.get("dashboard_client")) for n, service in enumerate(services))
    client_ids = [
        (("services", n, "dashboard_client", "id"), client["id"])
        for n, client in clients
        if isinstance(client, dict) and client.get("id") is not None
    ]
    text = "Service dashboard_client id must be unique"
    _check_unique_values("cloudfoundry-dashboard-client-ids", client_ids, text, errors)


def _check_unique_values(rule: str, values: Iterable[tuple[JsonPath, Any]], text: str, errors: Errors) -> None:
    """Report the first value that an earlier one repeats."""
    seen = set()
    for path, value in values:
        key = equality_key(value)
        if key in seen:
            errors.add(rule, path, text)
            return
        seen.add(key)


def _check_unique_plan_ids(errors: Errors, services: list[dict[str, Any]]) -> None:
    """Report each plan whose id an earlier plan has; its message names the last of these."""
    seen: dict[str, str] = {}
    for service_index, service in enumerate(services):
        for plan_index, plan in enumerate(service.get("plans") or []):
            identity = get_item(plan, "id")
            plan_label = f"(plan name '{to_s(get_item(plan, 'name'))}', service name '{to_s(service.get('name'))}')"
            key = equality_key(identity)
            if key in seen:
                path = ("services", service_index, "plans", plan_index, "id")
                text = (
                    f"Plan ids must be unique. Unable to register plan with id '{to_s(identity)}' {plan_label} because "
                    f"it uses the same id as another plan in the catalog {seen[key]}"
                )
                errors.add("cloudfoundry-plan-ids", path, text)
            seen[key] = plan_label


def check_unique_in_service(
    service: dict[str, Any], plans: list[dict[str, Any]], path: JsonPath, errors: Errors
) -> None:
    """Report ids and names that `plans`, those of `service` at `path`, share."""
    start = f"Service {to_s(service.get('name'))} already has a plan"
    for index, value in _find_repeated([plan.get("id") for plan in plans]):
        text = f"Plan ids must be unique. {start} with id '{to_s(value)}'"
        errors.add("cloudfoundry-plan-ids", (*path, index, "id"), text)
    for index, value in _find_repeated([plan.get("name") for plan in plans]):
        text = f"Plan names must be unique within a service. {start} named {to_s(value)}"
        errors.add("cloudfoundry-plan-names", (*path, index, "name"), text)


def _find_repeated(values: list[Any]) -> Iterator[tuple[int, Any]]:
    """The index of a repeated value's second occurrence, and the value. 1 and 1.0 are equal, but both are named."""
    indexes: dict[Any, list[int]] = {}
    for index, value in enumerate(values):
        indexes.setdefault(value if type(value) in (int, float) else equality_key(value), []).append(index)
    for equal in indexes.values():
        if len(equal) > 1:
            for value in {equality_key(values[index]): values[index] for index in equal}.values():
                yield equal[1], value
