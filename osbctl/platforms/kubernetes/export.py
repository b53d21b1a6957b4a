"""Exports of Service Catalog: classes and plans of a cluster or a namespace (`kubectl get … -o json|yaml`)."""

from typing import Any

from osbctl.paths import Path, get_at
from osbctl.platforms.export import (
    SCHEMAS,
    Export,
    Exported,
    ExportRow,
    Page,
    RowFields,
    count,
    rows_at,
    same_named_fields,
    wrong,
)

_CLASSES = ("ClusterServiceClass", "ServiceClass")
_PLANS = ("ClusterServicePlan", "ServicePlan")
_INSTANCE_CREATE, _INSTANCE_UPDATE, _BINDING_CREATE = SCHEMAS


def _spec(*names: str) -> tuple[Path, ...]:
    return tuple(("spec", name) for name in names)


_SHAPE = RowFields(
    service={
        ("id",): _spec("externalID"),
        ("name",): _spec("externalName"),
        **same_named_fields("description", "bindable", "tags", "requires", below=("spec",)),
        ("bindings_retrievable",): _spec("bindingRetrievable", "binding_retrievable"),  # the latter in old versions
        ("plan_updateable",): _spec("planUpdatable"),
        ("metadata",): _spec("externalMetadata"),
    },
    plan={
        ("id",): _spec("externalID"),
        ("name",): _spec("externalName"),
        **same_named_fields("description", "bindable", "free", below=("spec",)),
        ("metadata",): _spec("externalMetadata"),
        _INSTANCE_CREATE: _spec("instanceCreateParameterSchema"),
        _INSTANCE_UPDATE: _spec("instanceUpdateParameterSchema"),
        _BINDING_CREATE: _spec("serviceBindingCreateParameterSchema"),
    },
    key=(("metadata", "namespace"), ("metadata", "name")),
    parent=(
        ("metadata", "namespace"),
        ("spec", "clusterServiceClassRef", "name"),
        ("spec", "serviceClassRef", "name"),
    ),
    instance=(
        (("spec", "clusterServicePlanRef", "name"),),
        (("metadata", "namespace"), ("spec", "servicePlanRef", "name")),
    ),
    brokers=(*_spec("clusterServiceBrokerName", "serviceBrokerName"), ("metadata", "namespace")),
    whole="kubectl get clusterserviceclasses,clusterserviceplans --chunk-size=0 -o json",
    gone=(("status", "removedFromBrokerCatalog"), True),
    unsure={
        "bindings_retrievable": "Service Catalog stores bindings_retrievable only where its feature "
        "AsyncBindingOperations is on; where it is off, as by default, that field is no drift"
    },
)
"""Columns of a broker's catalog in exports of Service Catalog."""


def recognised(document: Exported) -> bool:
    """Return whether this is a list of classes or plans, or a single one; svcat omits their kinds."""
    kind = document.data.get("kind")
    if kind is None:
        items = document.data.get("items")
        first = items[0] if isinstance(items, list) and items else document.data
        return isinstance(get_at(first, ("spec", "externalID")), str)
    return kind == "List" or (isinstance(kind, str) and kind.removesuffix("List") in (*_CLASSES, *_PLANS))


def read(document: Exported) -> Page:
    """Read the classes and plans of a list; skip other items. Raises WrongShapeError: it is no such list."""
    top: Any = document.data.get("kind")
    if "items" not in document.data:
        return Page([ExportRow(document, (), document.data, _is_plan(document.data, top))])
    metadata = document.data.get("metadata")
    page = Page(more=bool(get_at(metadata, ("continue",))))
    for path, data in rows_at(document, ("items",)):
        # A list of one kind leaves it out in its items.
        kind = data.get("kind") or (str(top).removesuffix("List") if top else None)
        if kind in ("CFServiceOffering", "CFServicePlan"):
            raise wrong(document, path, f"is one of Korifi's {kind}s: export what its API shows, with cf curl")
        if kind in (*_CLASSES, *_PLANS) or not kind:
            page.rows.append(ExportRow(document, path, data, _is_plan(data, kind)))
    if left := count(get_at(metadata, ("remainingItemCount",))):
        page.total = len(page.rows) + left
    page.of_plans = bool(page.rows) and page.rows[0].is_plan
    return page


def _is_plan(data: dict[str, Any], kind: object) -> bool:
    if kind:
        return kind in _PLANS
    return any(get_at(data, ("spec", name)) for name in ("clusterServiceClassRef", "serviceClassRef"))


EXPORT = Export(_SHAPE, recognised, read)
