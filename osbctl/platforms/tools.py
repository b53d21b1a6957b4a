"""Formats of platform tools: exports of a broker's catalog, and commands that send requests.

The module `tools` of each platform has its own. `osbctl.sources.exports` makes a catalog of the rows of an export, and
`osbctl.requests` formats the commands.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from osbctl.errors import SourceError
from osbctl.paths import PARAMETER_PLACES, JsonPath, get_at, pointer
from osbctl.platforms import Platform

Fields: TypeAlias = "Mapping[JsonPath, tuple[JsonPath, ...]]"
"""The possible places in a row of each field of a catalog object; the first that exists counts.

The platform does not store (or does not show) a field without places.
"""


def same_named_fields(*names: str, below: JsonPath = ()) -> dict[JsonPath, tuple[JsonPath, ...]]:
    """Fields that a row has under their own names; `below` is the path of the object that holds them."""
    return {(name,): ((*below, name),) for name in names}


SCHEMAS: tuple[JsonPath, ...] = tuple(("schemas", outer, inner, "parameters") for outer, inner in PARAMETER_PLACES)
"""The fields of a plan that hold parameter schemas."""


class Exported(Protocol):
    """A document of an export. `osbctl.sources.document.Document` is one, and cannot be imported here."""

    @property
    def name(self) -> str: ...
    @property
    def data(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class RowFields:
    """Location of catalog fields in the rows of one platform.

    `key` is what a row is called on the platform, unique also if a catalog repeats ids; `parent` is what a plan calls
    its service offering; their parts are joined. `instance` is what a service instance calls its plan: alternatives,
    each like a key. `brokers` are the places of the broker's name and id in a service offering's row. `gone` is the
    place and value that mark a row kept for its instances alone. `whole` says how the whole is exported.
    `always_plans`: the platform takes no service offering without a plan; else an export without plans needs a document
    with an empty list of them. `as_absent` are values that it shows for fields that a catalog left out. `own_plans` and
    `own_metadata` are names of plans and fields of metadata that it adds by itself.
    """

    service: Fields
    plan: Fields
    key: tuple[JsonPath, ...]
    parent: tuple[JsonPath, ...]
    instance: tuple[tuple[JsonPath, ...], ...]
    brokers: tuple[JsonPath, ...]
    whole: str
    gone: tuple[JsonPath, bool] | None = None
    always_plans: bool = True
    as_absent: Mapping[JsonPath, Any] = field(default_factory=dict)
    own_plans: frozenset[str] = frozenset()
    own_metadata: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ExportRow:
    """One service offering or plan of an export: its object, and its path in the document."""

    document: Exported
    path: JsonPath
    data: Mapping[str, Any]
    is_plan: bool

    def texts_at(self, paths: tuple[JsonPath, ...]) -> tuple[str, ...]:
        """The texts at the `paths`, without missing ones."""
        return tuple(_texts_at(self.data, paths))

    def required_text(self, path: JsonPath) -> str:
        """The text at `path`. Raises SourceError: there is none."""
        value = get_at(self.data, path)
        if not isinstance(value, str) or not value:
            raise shape_error(self.document, self.path, f"has no {'.'.join(map(str, path))}")
        return value


@dataclass(slots=True)
class Page:
    """Content of one document of an export.

    `total` is how many rows of its kind the platform says that there are on all pages, 0 where it does not, `more` that
    others follow. Pages with the same `query` belong together. `filters` are those of the query that leave out part of
    a broker's catalog.
    """

    rows: list[ExportRow] = field(default_factory=list)
    total: int = 0
    more: bool = False
    query: str = ""
    filters: tuple[str, ...] = ()

    @property
    def lists_plans(self) -> bool:
        """True for a page of plans, which may include service offerings."""
        return bool(self.rows) and self.rows[0].is_plan


@dataclass(frozen=True, slots=True)
class Export:
    """Export format of a platform.

    `recognises` tells whether a document is one of its export, `read` reads its rows, or raises SourceError. `wrote`
    tells whether only this platform would write these rows, where several share the shape of their documents.
    """

    shape: RowFields
    recognises: Callable[[Exported], bool]
    read: Callable[[Exported], Page]
    wrote: Callable[[Sequence[ExportRow]], bool] | None = None


def export_format(platform: Platform) -> Export:
    """The export format of a platform, from its module `tools`."""
    found: Export = platform.load_module("tools").EXPORT
    return found


def row_name(data: Any, paths: tuple[JsonPath, ...]) -> str:
    """The name of a row on its platform: the texts at the `paths` joined. Empty if the last is missing."""
    return "/".join(_texts_at(data, paths)) if isinstance(get_at(data, paths[-1]), str) else ""


def _texts_at(data: Any, paths: tuple[JsonPath, ...]) -> Iterator[str]:
    return (value for path in paths if isinstance(value := get_at(data, path), str) and value)


def checked_rows(document: Exported, path: JsonPath) -> Iterator[tuple[JsonPath, dict[str, Any]]]:
    """The objects of the list at `path`, each with its own path. Empty without a list.

    Raises SourceError: something else stands there, or in the list.
    """
    values = get_at(document.data, path)
    if values is None:
        return
    if not isinstance(values, list):
        raise shape_error(document, path, "is not a list")
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            raise shape_error(document, (*path, index), "is not an object")
        yield (*path, index), value


def parse_row_count(value: Any) -> int:
    """The number of rows that a platform reports; 0 if it is not a number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def shape_error(document: Exported, path: JsonPath, problem: str) -> SourceError:
    """The error of an export of another shape than its platform writes; `problem` says what stands at `path`."""
    message = f"{document.name}: not the shape of an export: {pointer(path) or 'the top'} {problem}"
    return SourceError(message, "take it as the platform gives it, or say what it is with --stored-as")


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
        return "service_binding.create" if self is Purpose.BIND else f"service_instance.{self}"


@dataclass(frozen=True, slots=True)
class ProvisionRequest:
    """A request for a plan of a service offering, both by name, with parameters.

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

    `content` has the placeholders `{service}`, `{plan}` and, alone on its line, `{parameters}`, indented by two blanks.
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
    sends: Mapping[Purpose, str] | Callable[[ProvisionRequest, Purpose], Manifest | str]
    reads_files: bool = True


def tools_of(platforms: Iterable[Platform]) -> list[Tool]:
    """The command-line tools of platforms, from their modules `tools`, each name once."""
    tools: dict[str, Tool] = {}
    for tool in (tool for platform in platforms for tool in platform.load_module("tools").TOOLS):
        tools.setdefault(tool.name, tool)
    return list(tools.values())
