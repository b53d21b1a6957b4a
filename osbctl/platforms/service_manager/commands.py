"""The commands for Service Manager.

Sources: smctl `provision` (Peripli/service-manager-cli, internal/cmd/instance/provision.go). SAP's reference of both
(SAP-docs/btp-service-manager, docs/Service-Consumption/SAP-Service-Manager): `--parameters` of `btp create
services/instance`, `update services/instance` and `create services/binding` is a JSON object, "provided as a file or
in-line"; `-c` of `smctl provision` and `bind` takes the object alone.
"""

from __future__ import annotations

from osbctl.platforms.commands import BINDING, INSTANCE, Order, Purpose, Raw, ShellWords, Tool, broker, given


def _btp(order: Order, purpose: Purpose) -> ShellWords:
    parameters = given(order, "--parameters")
    account = [Raw("--subaccount SUBACCOUNT_ID")]
    if purpose is Purpose.BIND:
        return [Raw("btp create services/binding"), *account, Raw("--name"), BINDING,
                Raw("--instance-name"), INSTANCE, *parameters]  # fmt: skip
    if purpose is Purpose.UPDATE:
        return [Raw("btp update services/instance"), *account, Raw("--name"), INSTANCE, *parameters]
    return [Raw("btp create services/instance"), *account, Raw("--name"), INSTANCE,
            Raw("--offering-name"), order.service, Raw("--plan-name"), order.plan, *parameters]  # fmt: skip


def _smctl(order: Order, purpose: Purpose) -> ShellWords:
    parameters = given(order, "-c")
    if purpose is Purpose.BIND:
        return [Raw("smctl bind"), INSTANCE, BINDING, *parameters]
    if purpose is Purpose.UPDATE:
        return [Raw("smctl update-instance"), INSTANCE, *parameters] if parameters else []
    return [Raw("smctl provision"), INSTANCE, order.service, order.plan, *broker(order), *parameters]


TOOLS = (Tool("btp", _btp), Tool("smctl", _smctl, reads_files=False))
