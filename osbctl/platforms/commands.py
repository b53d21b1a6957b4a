"""Orders of developers, and the tools that send them; `osbctl.requests.commands` formats the commands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

INSTANCE, APP, BINDING = "my-instance", "my-app", "my-binding"
"""Placeholders that the developer replaces."""

PARAMETERS_FILE = "params.json"


class Purpose(StrEnum):
    """Purpose of a request; each has its own parameter schema (OSB, Schemas Object)."""

    CREATE = "create"
    UPDATE = "update"
    BIND = "bind"

    @property
    def schema_location(self) -> str:
        """Location of the schema in a plan, as `ServicePlan.parameters` names it."""
        locations = {"create": "service_instance.create", "update": "service_instance.update"}
        return locations.get(self.value, "service_binding.create")


@dataclass(frozen=True, slots=True)
class Order:
    """Order of a plan of a service offering, both by name, with parameters.

    `broker` is set if two service brokers offer the name. `parameters` is None if none are sent; they are printed as
    they are, so redact secrets before. `file` is the file that holds them, and `content` the text to write into it,
    empty if the file exists.
    """

    service: str
    plan: str
    broker: str = ""
    parameters: dict[str, Any] | None = None
    file: str = PARAMETERS_FILE
    content: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A YAML file and the command that applies it.

    `content` has the placeholders `{service}`, `{plan}`, and on a line of its own `{parameters}`, which is indented by
    two blanks.
    """

    file: str
    command: str
    content: str


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A command-line tool of a platform; `sends` makes the command for a request, or has it by purpose.

    What it makes may be a piece of a file for an infrastructure-as-code tool, which reads the file with the parameters.
    A command has the placeholders `{service}`, `{plan}`, `{broker}` and `{parameters}`, which are quoted. What is in
    brackets is left out without a broker or parameters, and so is a command that needs them. `reads_files`: the tool
    reads the parameters from a file; otherwise they are typed.
    """

    name: str
    sends: Mapping[Purpose, str] | Callable[[Order, Purpose], Manifest | str]
    reads_files: bool = True
