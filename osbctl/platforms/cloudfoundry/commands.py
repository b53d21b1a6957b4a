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


def _terraform(order: Order, purpose: Purpose) -> str:
    file = [("parameters", f"file({_hcl(order.file)})")] if order.parameters is not None else []
    if purpose is Purpose.BIND:
        fields = [
            ("name", _hcl(BINDING)),
            ("type", _hcl("key")),
            ("service_instance", "cloudfoundry_service_instance.my_instance.id"),
        ]
        return _block('resource "cloudfoundry_service_credential_binding" "my_binding"', [*fields, *file])
    names = [("service_offering_name", _hcl(order.service)), ("service_plan_name", _hcl(order.plan))]
    before = ""
    if order.broker:
        found = [
            ("name", _hcl(order.plan)),
            ("service_offering_name", _hcl(order.service)),
            ("service_broker_name", _hcl(order.broker)),
        ]
        before = _block('data "cloudfoundry_service_plan" "my_plan"', found) + "\n"
        names = [("service_plan", "data.cloudfoundry_service_plan.my_plan.id")]
    fields = [("name", _hcl(INSTANCE)), ("type", _hcl("managed")), ("space", "var.space_id"), *names, *file]
    return before + _block('resource "cloudfoundry_service_instance" "my_instance"', fields)


def _block(head: str, fields: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in fields)
    return "\n".join([f"{head} {{", *(f"  {name:<{width}} = {value}" for name, value in fields), "}"]) + "\n"


def _hcl(text: str) -> str:
    """A string of Terraform's language: its escapes, with the beginnings of templates doubled."""
    for plain, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("${", "$${"), ("%{", "%%{")):
        text = text.replace(plain, escape)
    return f'"{escape_text(text)}"'


CF = Tool("cf", _CF)
TOOLS = (CF, Tool("terraform", _terraform))
