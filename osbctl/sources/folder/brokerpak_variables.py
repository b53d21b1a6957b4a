"""Read the variables of cloud-service-broker, and the plans that an operator has defined in some of them, as JSON.

`GSB_SERVICE_NAME_PLANS` is a list of plans, `NAME_CUSTOM_PLANS`, which a tile sets, an object of plans. Fields of a
plan match in any case; all others are properties of the plan (pkg/broker/service_definition.go, `UserDefinedPlans`).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from osbctl.errors import SourceError
from osbctl.findings import DocumentError, Location
from osbctl.paths import JSON_TYPES, JsonPath, get_at
from osbctl.sources.document import Document, ParsedText
from osbctl.sources.folder.brokerpak_types import PLAN_METADATA_TYPE, PLAN_TYPE
from osbctl.sources.folder.go_yaml import StructType
from osbctl.sources.folder.hil import BOOLEANS
from osbctl.sources.json_reader import parse
from osbctl.sources.places import Lines, fault_error
from osbctl.sources.read_bytes import Limits
from osbctl.sources.variables import ENVIRONMENT, Variable, Variables

_ALWAYS = ("id", "name", "description", "service_properties")
_NO_SCHEMA: dict[str, Any] = {"parameters": None}


class BrokerSettings:
    """The variables of the broker's environment; `used` are those that something depends on, by name."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self.used: dict[str, Variable] = {}

    def get(self, name: str) -> Variable | None:
        """Return a variable that is set, and note that it is used. Raises SourceError: only a shell knows its value."""
        variable = self._variables.get(name)
        if variable is None or not variable.value:
            return None
        if variable.computed:
            advice = f"let the shell do so: export {name}, and leave the file out"
            raise SourceError(f"{variable.source}: a shell computes the value of {name}", advice)
        self.used[name] = variable
        return variable

    def is_set(self, name: str) -> bool:
        """Return whether a variable is set and not empty, whatever its value."""
        variable = self._variables.get(name)
        return variable is not None and bool(variable.value)

    @property
    def is_given(self) -> bool:
        """True if a file of variables was given: the process's own environment need not be that of the broker."""
        return any(variable.source != ENVIRONMENT for variable in self._variables.values())

    def is_on(self, name: str, default: bool = False) -> bool:
        """Return whether a toggle is on."""
        variable = self.get(name)
        return BOOLEANS.get(variable.value, False) if variable else default

    def read_object(self, name: str) -> dict[str, Any] | None:
        """The JSON object in a variable, {} if it is not set or null; None if it holds something else."""
        variable = self.get(name)
        try:
            data: Any = parse_json_variable(variable).data if variable else {}
        except DocumentError:
            return None
        return {} if data is None else data if isinstance(data, dict) else None


def upper_name(name: str) -> str:
    """A name as part of that of a variable (utils.PropertyToEnvReplacer)."""
    return name.upper().replace(".", "_").replace("-", "_")


def plan_variables(name: str) -> tuple[str, str]:
    """The variables with the plans of a service: the list of an operator, and the object of a tile."""
    upper = upper_name(name)
    return f"GSB_SERVICE_{upper}_PLANS", f"{upper.removeprefix('GOOGLE_')}_CUSTOM_PLANS"


class UserPlan(NamedTuple):
    """A plan: the object that the broker answers, its properties, its overrides of requests to create and to bind an
    instance, and its path in a source."""

    answer: dict[str, Any]
    properties: dict[str, Any]
    overrides: tuple[dict[str, Any], dict[str, Any]]
    path: JsonPath
    source: Document


def parse_json_variable(variable: Variable) -> Document:
    """The JSON of a variable, as Go reads it: equal keys are allowed. Raises DocumentError: it is not JSON.

    Any of it may be secret: no report quotes it.
    """
    text, name = variable.text or variable.value, variable.name if variable.source == ENVIRONMENT else variable.source
    value, faults = parse(text, name, Limits(), is_secret=True)
    if not {fault.rule for fault in faults} <= {"duplicate-key", "lone-surrogate"}:
        raise fault_error(faults, Lines(name, text))
    return _SecretText(name, value, "json", text=text)


class _SecretText(ParsedText):
    """A text of which no report shows a line."""

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        return {path: place._replace(excerpt="") for path, place in super().locate(paths).items()}


def decode_plan(source: Document, path: JsonPath, fail: Callable[[JsonPath, str], None]) -> UserPlan:
    """The plan at `path` of a variable; `fail` takes the path of a value of another type, and Go's words about it."""
    given = get_at(source.data, path)
    raw: dict[str, Any] = given if isinstance(given, dict) else {}
    decode = JsonDecoder(fail).decode
    plan = decode(given, PLAN_TYPE, path) or {}
    answer: dict[str, Any] = {name: plan.get(name) or "" for name in ("id", "name", "description")}
    answer |= {name: value for name, value in plan.items() if name in _OPTIONAL and value is not None}
    if isinstance(answer.get("metadata"), dict):
        known = {name: value for name, value in answer["metadata"].items() if value}
        for cost in known.get("costs", ()):
            cost |= {"amount": cost.get("amount"), "unit": cost.get("unit") or ""}
        others: dict[str, Any] = next((value for key, value in raw.items() if key.lower() == "metadata" and value), {})
        answer["metadata"] = {
            key: value for key, value in others.items() if key not in PLAN_METADATA_TYPE.fields
        } | known
    if "schemas" in answer:
        answer["schemas"] = _whole_schemas(answer["schemas"])
    used = {*_ALWAYS, *(name for name, value in plan.items() if value not in (None, {}) or name in answer)}
    properties = {key: value for key, value in raw.items() if key not in used}
    guid = properties.get("guid")
    if not answer["id"] and isinstance(guid, str):
        answer["id"] = guid
    overrides = plan.get("provision_overrides") or {}, plan.get("bind_overrides") or {}
    return UserPlan(answer, properties, overrides, path, source)


_OPTIONAL = ("free", "bindable", "metadata", "schemas", "plan_updateable", "maximum_polling_duration")


def _whole_schemas(schemas: dict[str, Any]) -> dict[str, Any]:
    """The `schemas` of a plan with all their methods, as Go writes the structs."""
    instance, binding = schemas.get("service_instance") or {}, schemas.get("service_binding") or {}
    return {
        "service_instance": {name: instance.get(name) or _NO_SCHEMA for name in ("create", "update")},
        "service_binding": {"create": binding.get("create") or _NO_SCHEMA},
    }


_EMPTY = {"string": "", "number": 0}


class JsonDecoder:
    """Decodes JSON into the types of fields, as encoding/json of Go does."""

    def __init__(self, fail: Callable[[JsonPath, str], None]) -> None:
        self._fail = fail

    def decode(self, value: Any, kind: Any, path: JsonPath) -> Any:
        """The value as one of type `kind`; None if it is null or another, which is reported."""
        if value is None or kind == "any":
            return value
        if isinstance(kind, StructType) and isinstance(value, dict):
            return dict(self._decode_fields(value, kind, path))
        if isinstance(kind, dict) and isinstance(value, dict):
            return {key: self._decode_item(item, kind["*"], (*path, key)) for key, item in value.items()}
        if isinstance(kind, list) and isinstance(value, list):
            return [self._decode_item(item, kind[0], (*path, index)) for index, item in enumerate(value)]
        found = JSON_TYPES.get(type(value))
        if found == kind or (kind, found) in (("bool", "boolean"), ("int", "integer"), ("number", "integer")):
            return value
        if kind == "int" and isinstance(value, float) and value.is_integer() and isinstance(path[0], int):
            return int(value)  # an operator's list is written anew before, with 5 for 5.0
        self._fail(path, f"json: cannot unmarshal {found} into a field that is {_describe(kind)}")
        return None

    def _decode_item(self, value: Any, kind: Any, path: JsonPath) -> Any:
        """The value as an item of a list or object, where null is the empty value of its type."""
        item = self.decode(value, kind, path)
        if item is not None or kind == "any":
            return item
        return {} if isinstance(kind, StructType) else _EMPTY[kind]

    def _decode_fields(self, value: dict[str, Any], struct: StructType, path: JsonPath) -> Iterator[tuple[str, Any]]:
        folded = {name.casefold(): name for name in struct.fields}
        for key, item in value.items():
            name = folded.get(key.casefold())
            if name and (decoded := self.decode(item, struct.fields[name], (*path, key))) is not None:
                yield name, decoded


def _describe(kind: Any) -> str:
    if isinstance(kind, str):
        return {"bool": "a boolean", "int": "an integer"}.get(kind, f"a {kind}")
    return "an array" if isinstance(kind, list) else "an object"
