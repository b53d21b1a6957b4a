"""Exports of SAP Service Manager, `/v1/service_offerings` and `/v1/service_plans`, and its commands.

Sources: smctl `provision` (Peripli/service-manager-cli, internal/cmd/instance/provision.go). SAP's reference of both
(SAP-docs/btp-service-manager, docs/Service-Consumption/SAP-Service-Manager): `--parameters` of `btp create
services/instance`, `update services/instance` and `create services/binding` is a JSON object, "provided as a file or
in-line"; `-c` of `smctl provision` and `bind` takes the object alone.
"""

from osbctl.paths import JsonPath
from osbctl.platforms.tools import (
    BINDING,
    INSTANCE,
    SCHEMAS,
    Export,
    Exported,
    ExportRow,
    Page,
    Purpose,
    RowFields,
    Tool,
    checked_rows,
    parse_row_count,
    same_named_fields,
    shape_error,
)

_LISTS = ("items", "service_offerings", "service_plans")
"""The lists; the latter two in old versions, and in what its command line tool prints."""

_AS_NAMED = ("description", "bindable", "plan_updateable", "metadata")
_IDENTITY: dict[JsonPath, tuple[JsonPath, ...]] = {
    ("id",): (("catalog_id",),),
    ("name",): (("catalog_name",), ("name",)),
}

_SHAPE = RowFields(
    service=_IDENTITY
    | same_named_fields(
        *_AS_NAMED, "tags", "requires", "instances_retrievable", "bindings_retrievable", "allow_context_updates"
    ),
    plan=_IDENTITY
    | same_named_fields(*_AS_NAMED, "free", "maximum_polling_duration", "maintenance_info")
    | {place: (place,) for place in SCHEMAS},
    key=(("id",),),
    parent=(("service_offering_id",),),
    instance=((("service_plan_id",),),),
    brokers=(("broker_name",), ("broker_id",)),
    whole="export /v1/service_offerings and /v1/service_plans, all pages of both",
    always_plans=False,
    as_absent={("maximum_polling_duration",): 0},
    own_plans=frozenset({"reference-instance"}),  # beside plans whose instances can be shared
    own_metadata=frozenset({"sm_offering_id", "sm_plan_id"}),
)
"""Columns of a broker's catalog in exports of Service Manager."""


def is_export(document: Exported) -> bool:
    """Return whether this is a list of service offerings or plans."""
    data = document.data
    return "kind" not in data and "services" not in data and any(isinstance(data.get(key), list) for key in _LISTS)


def read_page(document: Exported) -> Page:
    """Read the rows of a list. Raises SourceError: it is no list of service offerings or plans."""
    page = Page(total=parse_row_count(document.data.get("num_items")), more=bool(document.data.get("token")))
    for key in _LISTS:
        for path, data in checked_rows(document, (key,)):
            if "catalog_id" not in data:
                raise shape_error(document, path, "has no catalog_id, as service offerings and plans have")
            page.rows.append(ExportRow(document, path, data, is_plan="service_offering_id" in data))
    return page


EXPORT = Export(_SHAPE, is_export, read_page)


_ACCOUNT = "--subaccount SUBACCOUNT_ID"
_BTP = {
    Purpose.CREATE: f"btp create services/instance {_ACCOUNT} --name {INSTANCE} --offering-name {{service}} "
    "--plan-name {plan}[ --parameters {parameters}]",
    Purpose.UPDATE: f"btp update services/instance {_ACCOUNT} --name {INSTANCE}[ --parameters {{parameters}}]",
    Purpose.BIND: f"btp create services/binding {_ACCOUNT} --name {BINDING} --instance-name {INSTANCE}"
    "[ --parameters {parameters}]",
}
_SMCTL = {
    Purpose.CREATE: f"smctl provision {INSTANCE} {{service}} {{plan}}[ -b {{broker}}][ -c {{parameters}}]",
    Purpose.UPDATE: f"smctl update-instance {INSTANCE} -c {{parameters}}",
    Purpose.BIND: f"smctl bind {INSTANCE} {BINDING}[ -c {{parameters}}]",
}

TOOLS = (Tool("btp", _BTP), Tool("smctl", _SMCTL, reads_files=False))
