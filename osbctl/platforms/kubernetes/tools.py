"""Exports of Service Catalog, classes and plans (`kubectl get … -o json|yaml`), and its commands.

Source: svcat `provision` and `bind` (kubernetes-retired/service-catalog, docs/cli.md).
"""

from osbctl.paths import JsonPath, get_at
from osbctl.platforms.tools import (
    BINDING,
    INSTANCE,
    SCHEMAS,
    Export,
    Exported,
    ExportRow,
    Manifest,
    Page,
    Purpose,
    RowFields,
    Tool,
    checked_rows,
    parse_row_count,
    same_named_fields,
    shape_error,
)

_CLASSES = ("ClusterServiceClass", "ServiceClass")
_PLANS = ("ClusterServicePlan", "ServicePlan")
_INSTANCE_CREATE, _INSTANCE_UPDATE, _BINDING_CREATE = SCHEMAS


def _spec_paths(*names: str) -> tuple[JsonPath, ...]:
    return tuple(("spec", name) for name in names)


_SHAPE = RowFields(
    service={
        ("id",): _spec_paths("externalID"),
        ("name",): _spec_paths("externalName"),
        **same_named_fields("description", "bindable", "tags", "requires", below=("spec",)),
        ("plan_updateable",): _spec_paths("planUpdatable"),
        ("metadata",): _spec_paths("externalMetadata"),
    },
    plan={
        ("id",): _spec_paths("externalID"),
        ("name",): _spec_paths("externalName"),
        **same_named_fields("description", "bindable", "free", below=("spec",)),
        ("metadata",): _spec_paths("externalMetadata"),
        _INSTANCE_CREATE: _spec_paths("instanceCreateParameterSchema"),
        _INSTANCE_UPDATE: _spec_paths("instanceUpdateParameterSchema"),
        _BINDING_CREATE: _spec_paths("serviceBindingCreateParameterSchema"),
    },
    key=(("metadata", "namespace"), ("metadata", "name")),
    parent=(("metadata", "namespace"), ("spec", "clusterServiceClassRef", "name"), ("spec", "serviceClassRef", "name")),
    instance=(
        (("spec", "clusterServicePlanRef", "name"),),
        (("metadata", "namespace"), ("spec", "servicePlanRef", "name")),
    ),
    brokers=(*_spec_paths("clusterServiceBrokerName", "serviceBrokerName"), ("metadata", "namespace")),
    whole="kubectl get clusterserviceclasses,clusterserviceplans --chunk-size=0 -o json",
    gone=(("status", "removedFromBrokerCatalog"), True),
)
"""Columns of a broker's catalog in exports of Service Catalog.

It stores `bindings_retrievable` only where its feature AsyncBindingOperations is on, which is off by default.
"""


def is_export(document: Exported) -> bool:
    """Return whether this is a list of classes or plans, or a single one."""
    kind = document.data.get("kind")
    return kind == "List" or (isinstance(kind, str) and kind.removesuffix("List") in (*_CLASSES, *_PLANS))


def read_page(document: Exported) -> Page:
    """Read the classes and plans of a list; skip other items. Raises SourceError: it is no such list."""
    list_kind = str(document.data["kind"])
    if "items" not in document.data:
        return Page([ExportRow(document, (), document.data, list_kind in _PLANS)])
    metadata = document.data.get("metadata")
    page = Page(more=bool(get_at(metadata, ("continue",))))
    for path, data in checked_rows(document, ("items",)):
        kind = data.get("kind") or list_kind.removesuffix("List")  # a list of one kind leaves it out in its items
        if kind in ("CFServiceOffering", "CFServicePlan"):
            raise shape_error(document, path, f"is one of Korifi's {kind}s: export what its API shows, with cf curl")
        if kind in (*_CLASSES, *_PLANS):
            page.rows.append(ExportRow(document, path, data, kind in _PLANS))
    if remaining := parse_row_count(get_at(metadata, ("remainingItemCount",))):
        page.total = len(page.rows) + remaining
    return page


EXPORT = Export(_SHAPE, is_export, read_page)


# svcat has no command for updates; the manifest is applied again.
_SVCAT = {
    Purpose.CREATE: f"svcat provision {INSTANCE} --class {{service}} --plan {{plan}}[ --params-json {{parameters}}]",
    Purpose.BIND: f"svcat bind {INSTANCE} --name {BINDING}[ --params-json {{parameters}}]",
}
_HEAD = "apiVersion: servicecatalog.k8s.io/v1beta1\nkind: {}\nmetadata:\n  name: {}\nspec:\n"
_INSTANCE = Manifest(
    "instance.yaml",
    "kubectl apply -f instance.yaml",
    _HEAD.format("ServiceInstance", INSTANCE)
    + "  clusterServiceClassExternalName: {service}\n  clusterServicePlanExternalName: {plan}\n{parameters}",
)
_BINDING = Manifest(
    "binding.yaml",
    "kubectl apply -f binding.yaml",
    _HEAD.format("ServiceBinding", BINDING) + f"  instanceRef:\n    name: {INSTANCE}\n{{parameters}}",
)

TOOLS = (
    Tool("svcat", _SVCAT, reads_files=False),
    Tool("kubectl", lambda _order, purpose: _BINDING if purpose is Purpose.BIND else _INSTANCE),
)
