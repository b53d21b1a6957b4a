"""The commands by which a developer orders a plan, updates an instance and binds it, ready to copy.

Names go in the way each shell needs; parameters go by a file beside the command, since no quoting of JSON
is right in all shells. Sources: cf CLI v8 help of `create-service`; svcat `provision` and `bind`
(kubernetes-retired/service-catalog, docs/cli.md); smctl `provision` (Peripli/service-manager-cli,
internal/cmd/instance/provision.go); SAP's help of `btp create services/instance`; the Terraform provider
cloudfoundry/cloudfoundry from 1.17 on (docs/resources/service_instance.md).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from textwrap import indent
from typing import TYPE_CHECKING, Any

from osbctl.requests.shells import Shell, UnquotableError, quoted
from osbctl.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

INSTANCE, APP, BINDING = "my-instance", "my-app", "my-binding"
"""The names that the developer replaces by names of their own."""

PARAMETERS_FILE = "params.json"


class Purpose(StrEnum):
    """What a request is for; each has a parameter schema of its own (OSB, Schemas Object)."""

    CREATE = "create"
    UPDATE = "update"
    BIND = "bind"

    @property
    def place(self) -> str:
        """Where a plan holds the schema, as `ServicePlan.parameters` names it."""
        places = {"create": "service_instance.create", "update": "service_instance.update"}
        return places.get(self.value, "service_binding.create")


@dataclass(frozen=True, slots=True)
class Order:
    """What is ordered: a plan of a service offering, both by name, and the parameters of the request.

    `broker` is named where two service brokers offer the name. `parameters` is None where none are sent; they are
    shown as they are, so that secrets are taken out before. `file` is the file that holds them, and `content` the
    text to write into it, empty where it stands there already.
    """

    service: str
    plan: str
    broker: str = ""
    parameters: dict[str, Any] | None = None
    file: str = PARAMETERS_FILE
    content: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """One way to send a request: `tool`, the shell that it is written for, and what to type.

    `content` is the text of the file `file` that has to stand beside it, where the command reads one. Where there
    is no safe way, `text` is empty and `why` says so.
    """

    tool: str
    shell: str
    text: str = ""
    file: str = ""
    content: str = ""
    why: str = ""


def commands(order: Order, purpose: Purpose) -> list[Command]:
    """Every way to send the request, in the order of the platforms."""
    return [
        *_typed("cf", _cf(order, purpose), order),
        *_typed("svcat", _svcat(order, purpose), order, reads_files=False),
        _manifest(order, purpose),
        *_typed("btp", _btp(order, purpose), order),
        *_typed("smctl", _smctl(order, purpose), order, reads_files=False),
        _terraform(order, purpose),
    ]


class _Raw:
    """A piece of a command that is typed as it stands: the tool's own words."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


_PARAMETERS = _Raw("")
"""Stands in a command for the parameters."""


def _typed(tool: str, words: list[_Raw | str], order: Order, reads_files: bool = True) -> Iterator[Command]:
    """The command in each shell; none where the tool has none for this purpose."""
    bash_alone, file = _PARAMETERS in words and not reads_files, _file(order)
    for shell in Shell if words else ():
        if bash_alone and shell is not Shell.BASH:
            why = f"{tool} takes no file, and only bash passes JSON on safely: use that, or the manifest"
            yield Command(tool, shell, why=why)
            continue
        try:
            text = " ".join([_word(word, shell, order, reads_files) for word in words])
        except UnquotableError as error:
            yield Command(tool, shell, why=f"a name in it cannot be typed here: {error}")
        else:
            yield Command(tool, shell, text, *file)


def _word(word: _Raw | str, shell: Shell, order: Order, reads_files: bool) -> str:
    if word is _PARAMETERS:
        file = quoted(order.file, shell)
        return file if reads_files else f'"$(cat {file})"'
    return word.text if isinstance(word, _Raw) else quoted(word, shell)


def _file(order: Order) -> tuple[str, str]:
    return (order.file, order.content) if order.parameters is not None else ("", "")


def _given(order: Order, option: str) -> list[_Raw | str]:
    return [_Raw(option), _PARAMETERS] if order.parameters is not None else []


def _broker(order: Order) -> list[_Raw | str]:
    return [_Raw("-b"), order.broker] if order.broker else []


def _cf(order: Order, purpose: Purpose) -> list[_Raw | str]:
    parameters = _given(order, "-c")
    if purpose is Purpose.BIND:
        return [_Raw("cf bind-service"), APP, INSTANCE, *parameters]
    if purpose is Purpose.UPDATE:
        return [_Raw("cf update-service"), INSTANCE, *parameters] if parameters else []
    broker = _broker(order)
    return [_Raw("cf create-service"), order.service, order.plan, INSTANCE, *broker, *parameters]


def _svcat(order: Order, purpose: Purpose) -> list[_Raw | str]:
    parameters = _given(order, "--params-json")
    if purpose is Purpose.BIND:
        return [_Raw("svcat bind"), INSTANCE, _Raw("--name"), BINDING, *parameters]
    if purpose is Purpose.UPDATE:
        return []  # svcat has no such command; the manifest is applied again
    return [_Raw("svcat provision"), INSTANCE, _Raw("--class"), order.service, _Raw("--plan"), order.plan,
            *parameters]  # fmt: skip


def _btp(order: Order, purpose: Purpose) -> list[_Raw | str]:
    parameters = _given(order, "--parameters")
    account = [_Raw("--subaccount SUBACCOUNT_ID")]
    if purpose is Purpose.BIND:
        return [_Raw("btp create services/binding"), *account, _Raw("--name"), BINDING,
                _Raw("--instance-name"), INSTANCE, *parameters]  # fmt: skip
    if purpose is Purpose.UPDATE:
        return [_Raw("btp update services/instance"), *account, _Raw("--name"), INSTANCE, *parameters]
    return [_Raw("btp create services/instance"), *account, _Raw("--name"), INSTANCE,
            _Raw("--offering-name"), order.service, _Raw("--plan-name"), order.plan, *parameters]  # fmt: skip


def _smctl(order: Order, purpose: Purpose) -> list[_Raw | str]:
    parameters = _given(order, "-c")
    if purpose is Purpose.BIND:
        return [_Raw("smctl bind"), INSTANCE, BINDING, *parameters]
    if purpose is Purpose.UPDATE:
        return [_Raw("smctl update-instance"), INSTANCE, *parameters] if parameters else []
    broker = _broker(order)
    return [_Raw("smctl provision"), INSTANCE, order.service, order.plan, *broker, *parameters]


def _manifest(order: Order, purpose: Purpose) -> Command:
    from osbctl.sources.yaml_text import dump_text

    if purpose is Purpose.BIND:
        kind, name, file = "ServiceBinding", BINDING, "binding.yaml"
        spec = f"  instanceRef:\n    name: {INSTANCE}\n"
    else:
        kind, name, file = "ServiceInstance", INSTANCE, "instance.yaml"
        spec = (
            f"  clusterServiceClassExternalName: {dump_text(order.service)}\n"
            f"  clusterServicePlanExternalName: {dump_text(order.plan)}\n"
        )
    given = "" if order.parameters is None else _yaml_parameters(json.dumps(order.parameters))
    head = f"apiVersion: servicecatalog.k8s.io/v1beta1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n"
    return Command("kubectl", "", f"kubectl apply -f {file}", file, head + spec + given)


@lru_cache(1_000)
def _yaml_parameters(text: str) -> str:
    """The parameters within `spec`; the plans of a catalog often take the same."""
    from osbctl.sources.yaml_text import dump

    return indent(dump({"parameters": json.loads(text)}), "  ")


def _terraform(order: Order, purpose: Purpose) -> Command:
    file = [("parameters", f"file({_hcl(order.file)})")] if order.parameters is not None else []
    if purpose is Purpose.BIND:
        fields = [
            ("name", _hcl(BINDING)),
            ("type", _hcl("key")),
            ("service_instance", "cloudfoundry_service_instance.my_instance.id"),
        ]
        text = _block('resource "cloudfoundry_service_credential_binding" "my_binding"', [*fields, *file])
        return Command("terraform", "", text, *_file(order))
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
    text = before + _block('resource "cloudfoundry_service_instance" "my_instance"', fields)
    return Command("terraform", "", text, *_file(order))


def _block(head: str, fields: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in fields)
    return "\n".join([f"{head} {{", *(f"  {name:<{width}} = {value}" for name, value in fields), "}"]) + "\n"


def _hcl(text: str) -> str:
    """A string of Terraform's language: its escapes, with the beginnings of templates doubled."""
    for plain, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("${", "$${"), ("%{", "%%{")):
        text = text.replace(plain, escape)
    return f'"{escaped(text)}"'
