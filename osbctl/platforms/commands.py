"""Orders of developers, and the tools that send them; `osbctl.requests.commands` prints the commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

INSTANCE, APP, BINDING = "my-instance", "my-app", "my-binding"
"""The names that the developer replaces by names of their own."""

PARAMETERS_FILE = "params.json"


class Purpose(StrEnum):
    """Purpose of a request; each has its own parameter schema (OSB, Schemas Object)."""

    CREATE = "create"
    UPDATE = "update"
    BIND = "bind"

    @property
    def place(self) -> str:
        """Location of the schema in a plan, as `ServicePlan.parameters` names it."""
        places = {"create": "service_instance.create", "update": "service_instance.update"}
        return places.get(self.value, "service_binding.create")


@dataclass(frozen=True, slots=True)
class Order:
    """Order of a plan of a service offering, both by name, with parameters.

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


class Raw:
    """A piece of a command that is typed as it stands: the tool's own words."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


PARAMETERS = Raw("")
"""Stands in a command for the parameters."""

ComparisonNames: TypeAlias = "Sequence[Raw | str]"
"""A command that is typed into a shell; a plain text is quoted. Empty: there is none."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A file of YAML and the command that takes it.

    In `content`, `{service}` and `{plan}` stand for the names, and `{parameters}`, on a line of its own, for the
    parameters, indented by two blanks.
    """

    file: str
    command: str
    content: str


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a file for a tool that keeps a landscape as code. It stands for itself and reads the parameters."""

    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool by which a developer speaks to a platform, and what sends a request with it.

    `reads_files`: it takes the parameters from a file; else they are typed.
    """

    name: str
    sends: Callable[[Order, Purpose], ComparisonNames | Manifest | Snippet]
    reads_files: bool = True


def given(order: Order, option: str) -> list[Raw | str]:
    """The parameters behind `option`, where some are sent."""
    return [Raw(option), PARAMETERS] if order.parameters is not None else []


def broker(order: Order) -> list[Raw | str]:
    """The broker behind `-b`, where it must be named."""
    return [Raw("-b"), order.broker] if order.broker else []
