"""The commands for Service Manager.

Sources: smctl `provision` (Peripli/service-manager-cli, internal/cmd/instance/provision.go). SAP's reference of both
(SAP-docs/btp-service-manager, docs/Service-Consumption/SAP-Service-Manager): `--parameters` of `btp create
services/instance`, `update services/instance` and `create services/binding` is a JSON object, "provided as a file or
in-line"; `-c` of `smctl provision` and `bind` takes the object alone.
"""

from osbctl.platforms.commands import BINDING, INSTANCE, Purpose, Tool

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
