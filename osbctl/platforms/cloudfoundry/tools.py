"""Exports of Cloud Foundry, `/v3/service_offerings` and `/v3/service_plans`, and its commands.

In an export the booleans of a plan are resolved already, and the top-level `metadata` of a row holds labels.
Sources: cf CLI v8 help of `create-service`; the Terraform provider cloudfoundry/cloudfoundry from 1.17 on
(docs/resources/service_instance.md).
"""

from urllib.parse import parse_qsl, urlsplit

from osbctl.paths import JsonPath, get_at
from osbctl.platforms.tools import (
    APP,
    BINDING,
    INSTANCE,
    SCHEMAS,
    Export,
    Exported,
    ExportRow,
    Page,
    ProvisionRequest,
    Purpose,
    RowFields,
    Tool,
    checked_rows,
    parse_row_count,
    same_named_fields,
    shape_error,
)
from osbctl.text import escape_line, escape_text

_CATALOG = "broker_catalog"
_FEATURES: JsonPath = (_CATALOG, "features")
_SERVICE_FLAGS = ("bindable", "plan_updateable", "instances_retrievable", "bindings_retrievable")

_SHAPE = RowFields(
    service={
        **same_named_fields("id", "metadata", below=(_CATALOG,)),
        **same_named_fields("name", "description", "tags"),
        ("requires",): (("requires",), ("required",)),  # so misspelt in some answers
        **same_named_fields(*_SERVICE_FLAGS, "allow_context_updates", below=_FEATURES),
    },
    plan={
        **same_named_fields("id", "metadata", "maximum_polling_duration", below=(_CATALOG,)),
        **same_named_fields("name", "description", "free", "maintenance_info"),
        **same_named_fields("bindable", "plan_updateable", below=_FEATURES),
        **{place: (place,) for place in SCHEMAS},
    },
    key=(("guid",),),
    parent=(("relationships", "service_offering", "data", "guid"),),
    instance=((("relationships", "service_plan", "data", "guid"),),),
    brokers=tuple(("relationships", "service_broker", "data", key) for key in ("name", "guid")),
    whole="an administrator sees all of it: cf curl '/v3/service_plans?service_broker_names=NAME"
    "&include=service_offering&per_page=5000', and the same of /v3/service_offerings",
    gone=(("available",), False),
)
"""Columns of a broker's catalog in exports of the Cloud Controller."""


def is_export(document: Exported) -> bool:
    """Return whether this is a page of the API, version 3."""
    return "resources" in document.data and "kind" not in document.data


def read_page(document: Exported) -> Page:
    """Read the rows of a page, also the included ones, and how many there are on all pages.

    Raises SourceError: it is no page of service offerings or plans.
    """
    pagination = document.data.get("pagination")
    query = str(get_at(pagination, ("first", "href")))
    total, more = parse_row_count(get_at(pagination, ("total_results",))), get_at(pagination, ("next",)) is not None
    page = Page(total=total, more=more, query=query, filters=_find_filters(query))
    for place in (("resources",), ("included", "service_offerings")):
        page.rows += [_parse_row(document, path, data) for path, data in checked_rows(document, place)]
    return page


_HARMLESS = ("page", "per_page", "order_by", "include", "fields", "service_broker_names", "service_broker_guids")
"""Parameters of a request that leave out nothing of a broker's catalog."""


def _find_filters(url: str) -> tuple[str, ...]:
    """Names of the parameters of a request that hide part of a catalog."""
    try:
        names = sorted(name for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True))
    except ValueError:  # no URL
        return ()
    return tuple(escape_line(name) for name in names if name.partition("[")[0] not in _HARMLESS)


def _parse_row(document: Exported, path: JsonPath, data: dict[str, object]) -> ExportRow:
    if not isinstance(data.get(_CATALOG), dict):
        raise shape_error(document, path, "has no broker_catalog, as service offerings and plans have")
    return ExportRow(document, path, data, is_plan=get_at(data, ("relationships", "service_offering")) is not None)


EXPORT = Export(_SHAPE, is_export, read_page)


_CF = {
    Purpose.CREATE: f"cf create-service {{service}} {{plan}} {INSTANCE}[ -b {{broker}}][ -c {{parameters}}]",
    Purpose.UPDATE: f"cf update-service {INSTANCE} -c {{parameters}}",
    Purpose.BIND: f"cf bind-service {APP} {INSTANCE}[ -c {{parameters}}]",
}


def _render_terraform(request: ProvisionRequest, purpose: Purpose) -> str:
    """The resource of a request in Terraform's language; a named broker needs a data source for the plan, too."""
    file = [("parameters", f"file({_quote_hcl(request.file)})")] if request.parameters is not None else []
    if purpose is Purpose.BIND:
        instance = "cloudfoundry_service_instance.my_instance.id"
        fields = [("name", _quote_hcl(BINDING)), ("type", _quote_hcl("key")), ("service_instance", instance)]
        return _render_block('resource "cloudfoundry_service_credential_binding" "my_binding"', [*fields, *file])
    names = [("service_offering_name", _quote_hcl(request.service)), ("service_plan_name", _quote_hcl(request.plan))]
    data_block = ""
    if request.broker:
        lookups = [("name", _quote_hcl(request.plan)), names[0], ("service_broker_name", _quote_hcl(request.broker))]
        data_block = _render_block('data "cloudfoundry_service_plan" "my_plan"', lookups) + "\n"
        names = [("service_plan", "data.cloudfoundry_service_plan.my_plan.id")]
    fields = [("name", _quote_hcl(INSTANCE)), ("type", _quote_hcl("managed")), ("space", "var.space_id"), *names, *file]
    return data_block + _render_block('resource "cloudfoundry_service_instance" "my_instance"', fields)


def _render_block(header: str, fields: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in fields)
    return "\n".join([f"{header} {{", *(f"  {name:<{width}} = {value}" for name, value in fields), "}"]) + "\n"


def _quote_hcl(text: str) -> str:
    """A string of Terraform's language: its escapes, with the beginnings of templates doubled."""
    escapes = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("${", "$${"), ("%{", "%%{"))
    for plain, escape in escapes:
        text = text.replace(plain, escape)
    return f'"{escape_text(text)}"'


CF = Tool("cf", _CF)
TOOLS = (CF, Tool("terraform", _render_terraform))
