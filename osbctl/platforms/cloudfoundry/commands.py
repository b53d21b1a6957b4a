"""The commands for Cloud Foundry.

Sources: cf CLI v8 help of `create-service`; the Terraform provider cloudfoundry/cloudfoundry from 1.17 on
(docs/resources/service_instance.md).
"""

from osbctl.platforms.commands import APP, BINDING, INSTANCE, Order, Purpose, Tool
from osbctl.text import escape_text

_CF = {
    Purpose.CREATE: f"cf create-service {{service}} {{plan}} {INSTANCE}[ -b {{broker}}][ -c {{parameters}}]",
    Purpose.UPDATE: f"cf update-service {INSTANCE} -c {{parameters}}",
    Purpose.BIND: f"cf bind-service {APP} {INSTANCE}[ -c {{parameters}}]",
}


def _render_terraform(order: Order, purpose: Purpose) -> str:
    """The resource of an order in Terraform's language; a named broker needs a data source for the plan, too."""
    file = [("parameters", f"file({_quote_hcl(order.file)})")] if order.parameters is not None else []
    if purpose is Purpose.BIND:
        fields = [
            ("name", _quote_hcl(BINDING)),
            ("type", _quote_hcl("key")),
            ("service_instance", "cloudfoundry_service_instance.my_instance.id"),
        ]
        return _render_block('resource "cloudfoundry_service_credential_binding" "my_binding"', [*fields, *file])
    names = [("service_offering_name", _quote_hcl(order.service)), ("service_plan_name", _quote_hcl(order.plan))]
    data_block = ""
    if order.broker:
        lookups = [
            ("name", _quote_hcl(order.plan)),
            ("service_offering_name", _quote_hcl(order.service)),
            ("service_broker_name", _quote_hcl(order.broker)),
        ]
        data_block = _render_block('data "cloudfoundry_service_plan" "my_plan"', lookups) + "\n"
        names = [("service_plan", "data.cloudfoundry_service_plan.my_plan.id")]
    fields = [("name", _quote_hcl(INSTANCE)), ("type", _quote_hcl("managed")), ("space", "var.space_id"), *names, *file]
    return data_block + _render_block('resource "cloudfoundry_service_instance" "my_instance"', fields)


def _render_block(header: str, fields: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in fields)
    return "\n".join([f"{header} {{", *(f"  {name:<{width}} = {value}" for name, value in fields), "}"]) + "\n"


def _quote_hcl(text: str) -> str:
    """A string of Terraform's language: its escapes, with the beginnings of templates doubled."""
    for plain, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("${", "$${"), ("%{", "%%{")):
        text = text.replace(plain, escape)
    return f'"{escape_text(text)}"'


CF = Tool("cf", _CF)
TOOLS = (CF, Tool("terraform", _render_terraform))
