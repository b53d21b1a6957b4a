"""Read the catalog in a Spring configuration as Spring's broker sends it."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from osbctl.fields import BOOLEAN_WORDS, PARTS, field_type, known_fields
from osbctl.findings import Finding, Severity
from osbctl.messages import Message, Sentence, Value
from osbctl.paths import JsonPath, get_at
from osbctl.sources.document import ComposedDocument, Document
from osbctl.sources.read_bytes import MAX_DEPTH

_DEFAULTS = {"service": {"bindable": False}}
"""Fields that Spring's broker sends by default, by kind of object (autoconfigure, ServiceDefinition.java)."""

_METADATA = {
    "service_metadata": {
        "displayName", "imageUrl", "longDescription", "providerDisplayName", "documentationUrl", "supportUrl",
    },
    "plan_metadata": {"displayName", "bullets", "costs"},
}  # fmt: skip
"""Fields of metadata that Spring's broker sends (ServiceMetadata.java, PlanMetadata.java)."""
_READ_TOO = {"service_metadata": ("properties", "imageUrlResource"), "plan_metadata": ("properties",)}
"""Fields of metadata that it sends under other names: a file whose image is the `imageUrl`, and more fields."""

_BOOLEANS = {**BOOLEAN_WORDS, "1": True, "0": False}
_ELEMENT = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]|[^.\[]+")
"""One element of a key: a literal in brackets, in which there may be others, or text up to a dot or a bracket."""


def spring_key(name: str) -> str:
    """The key of a field in a Spring configuration, `planUpdateable`, or of an entry of a map, `[$schema]`."""
    return f"[{name}]" if _map_key(name) != name else re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def has_name(key: str, name: str) -> bool:
    """Return whether a key of a text may be sent under this name."""
    return _normalize_name(key) == _normalize_name(name)


def rename_spring_fields(document: Document) -> Document:
    """Rename the fields of a catalog to the names that Spring's broker sends, and convert their values.

    Spring binds `planUpdateable`, `plan-updateable` and `PLANUPDATEABLE` to one property, sent as `plan_updateable`. A
    dot in a key is one level, as are brackets: `parameters[$schema]` is the key `$schema` of `parameters`. Without
    brackets, the keys of maps lose other characters than letters, digits, `_` and `-`. What is in `properties` of
    metadata is sent as metadata. A plain `yes` is true, as in YAML 1.1. Texts become booleans, numbers and lists (at
    commas), numbers and booleans texts, as the field wants them. `bindable` is false by default. Locations are in the
    text.

    Source: Spring Boot 3.3 (Binder, ConfigurationPropertyName, ApplicationConversionService) and Spring Cloud Open
    Service Broker 4.3, whose own code answered `tests/sources/spring.jsonl.xz`.
    """
    binder = _Binder(document)
    binder.sent.data = binder.bind(_with_booleans_of_1_1(document), "catalog", ())
    # Quotes, the fix of a note on YAML 1.1, make text of a boolean.
    binder.sent.notes = (*(note._replace(fixes=()) for note in document.notes), *binder.faults)
    return binder.sent if binder.faults or binder.sent.data != document.data else document


def sent_path(path: JsonPath) -> JsonPath:
    """The path in the catalog that is sent, for a path in that of a configuration, without dots in keys."""
    return tuple(name for name, _ in _names_and_kinds(path))


def sent_value(value: Any, path: JsonPath) -> Any:
    """The value that is sent as the field at `path` of a catalog, if it was an unknown field."""
    (*_, (_, kind), (name, part)) = (("", "catalog"), *_names_and_kinds(path))
    if not kind:
        return value
    return _Binder(Document("", None, "yaml")).bind(_convert_value(value, kind, str(name)), part, path)


def _names_and_kinds(path: JsonPath) -> Iterator[tuple[str | int, str]]:
    """The name under which each step of a path is sent, and the kind of the object there; that of maps is empty."""
    kind = "catalog"
    for step in path:
        name = step
        if isinstance(step, str):
            name = _sent_name(kind, step) if kind else _map_key(step) or step
            kind = PARTS.get(kind, {}).get(name, "")
        yield name, kind


class _Binder:
    """Copies the values of a catalog to the document `sent`; `faults` tell what Spring does not send as written."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.sent = ComposedDocument.of_part(document, (), {})
        self.faults: list[Finding] = []

    def bind(self, value: Any, kind: str, path: JsonPath) -> Any:
        """Bind the object of this kind at `path`, or the list of objects; `kind` is empty for maps."""
        if not isinstance(value, dict | list) or len(path) > MAX_DEPTH:
            return value
        if isinstance(value, list):
            return [self.bind(item, kind, (*path, index)) for index, item in enumerate(value)]
        return self._bind_object(value, kind, path) if kind else self._bind_map(value, path)

    def _bind_object(self, value: dict[str, Any], kind: str, path: JsonPath) -> dict[str, Any]:
        sent: dict[str, Any] = {**_DEFAULTS.get(kind, {})}
        if not value and path:
            self._report("Spring's broker does not start with an empty object here", path, "remove it")
        written: dict[str, str] = {}
        properties: list[tuple[Any, JsonPath]] = []
        for key, element, item in _entries(value):
            name, place = _sent_name(kind, element), (*path, key)
            if kind in _METADATA and name not in _METADATA[kind]:
                properties += [(item, place)] if name == "properties" else []
                self._check_sent(name, kind, place)
                continue
            bound = self.bind(_convert_value(item, kind, name), PARTS.get(kind, {}).get(name, ""), place)
            self._put_field(sent, name, bound, place, written)
        for item, place in properties:  # which win
            self._add_properties(item, kind, place, sent)
        for name, bound in sent.items():
            sent[name] = _list_of_indexes(bound) if field_type(kind, name) == "array" else bound
        return sent

    def _put_field(self, sent: dict[str, Any], name: str, bound: Any, path: JsonPath, written: dict[str, str]) -> None:
        """Add the value of a field at `path` to its object; `written` are the keys before it, by name."""
        key = str(path[-1])
        first = written.setdefault(name, key)
        if isinstance(bound, dict) and isinstance(sent.get(name), dict):
            self.sent.merge(sent[name], bound)
            return
        if first != key:
            message = Message(
                "Spring's broker takes {} and {} for one field", Value(first, limit=40), Value(key, limit=40)
            )
            self._report(message, path, "remove one of them", Severity.WARNING)
        if first == key or key == re.sub(r"_|(?=[A-Z])", "-", name).lower():  # `display-name`, which Spring prefers
            self.sent.put(sent, name, bound, (self._document, path))

    def _check_sent(self, name: str, kind: str, path: JsonPath) -> None:
        """Report a field of metadata of this kind that is not sent."""
        if name not in _READ_TOO[kind]:
            message = "Spring's broker does not send {}, which is not below `properties`"
            self._report(
                Message(message, Value(path[-1], limit=40)), path, "write it below `properties`", Severity.WARNING
            )

    def _add_properties(self, value: Any, kind: str, path: JsonPath, sent: dict[str, Any]) -> None:
        """Add what is in the `properties` of metadata to the metadata that is sent."""
        if not isinstance(value, dict):
            self._report("`properties` must be an object", path, "write fields of the metadata in it, or remove it")
            return
        self.sent.merge(sent, self._bind_map(value, path))
        for key, item in value.items():
            if kind == "plan_metadata" and _holds_list(item):
                message = "Spring's broker sends lists in `properties` of a plan as objects with keys 0, 1 and so on"
                hint = "write it as text, or declare the catalog in code"
                self._report(message, (*path, key), hint, Severity.WARNING)

    def _bind_map(self, value: dict[str, Any], path: JsonPath) -> dict[str, Any]:
        sent: dict[str, Any] = {}
        for key, element, item in _entries(value):
            place, name = (*path, key), _map_key(element)
            if not element.startswith("[") and (name != element or not name):
                message = Message(
                    "Spring's broker sends the key {} as {}", Value(element, limit=40), Value(name, limit=40)
                )
                hint = Message("write {}, with the brackets and quotes", Value(f"[{element}]", limit=40))
                self._report(message, place, hint, Severity.WARNING)
            bound = self.bind(item, "", place)
            if isinstance(bound, dict) and isinstance(sent.get(name), dict):
                self.sent.merge(sent[name], bound)
            elif name:
                self.sent.put(sent, name, bound, (self._document, place))
        return sent

    def _report(self, message: Sentence, path: JsonPath, hint: Sentence, severity: Severity = Severity.ERROR) -> None:
        finding = self._document.error("spring-binding", message, path, hint)
        self.faults.append(finding._replace(severity=severity))


def _with_booleans_of_1_1(document: Document) -> Any:
    """The values of a catalog with the booleans of YAML 1.1, as Spring reads them."""
    words = [(note.path, get_at(document.data, note.path)) for note in document.notes if note.fixes]
    meant = [(path, BOOLEAN_WORDS[word.lower()]) for path, word in words if str(word).lower() in BOOLEAN_WORDS]
    data = json.loads(json.dumps(document.data)) if meant else document.data
    for path, value in meant:
        get_at(data, path[:-1])[path[-1]] = value
    return data


def _entries(value: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The key, its first element and the value of each entry; the value of more elements is an object of the rest."""
    for key, item in value.items():
        element = match[0] if (match := _ELEMENT.match(key)) else key
        rest = key[len(element) :].removeprefix(".")
        yield key, element if rest else key, {rest: item} if rest else item


def _sent_name(kind: str, element: str) -> str:
    """The name under which the field of an object is sent, that of an unknown one as it is."""
    names = _sent_names_by_normalized(kind)
    return element if element.startswith("[") else names.get(_normalize_name(element), element)


def _map_key(element: str) -> str:
    """The key of a map that Spring makes of an element; empty if no character is left."""
    if element.startswith("[") and element.endswith("]"):
        return element[1:-1]
    return re.sub(r"^-|[^A-Za-z0-9_-]", "", element)


def _holds_list(value: Any) -> bool:
    """Return whether a value is a list with items, or an object that holds one."""
    return bool(value) if isinstance(value, list) else isinstance(value, dict) and any(map(_holds_list, value.values()))


def _list_of_indexes(value: Any) -> Any:
    """The list that keys such as `tags[0]` make; another value is unchanged."""
    return [*value.values()] if isinstance(value, dict) and value and all(map(str.isdigit, value)) else value


def _convert_value(value: Any, kind: str, field: str) -> Any:
    """The value that Spring binds to the type of a field; one of a wrong type is unchanged."""
    wanted = field_type(kind, field)
    if wanted == "string":
        return _text_of_scalar(value)
    if wanted == "array" and field not in PARTS.get(kind, {}):
        return _list_of_texts(value)
    if wanted == "boolean" and isinstance(value, str):
        return _BOOLEANS.get(value.strip().lower(), value)
    if (kind, field) == ("cost", "amount") and isinstance(value, dict):
        return {key: _number_in_text(amount, float) for key, amount in value.items()}
    return _number_in_text(value, int) if wanted == "integer" else value


def _list_of_texts(value: Any) -> Any:
    """The list of texts that Spring makes of a list or of a text with commas; another value is unchanged."""
    items = re.split(r"\s*,\s*", value.strip()) if isinstance(value, str) and value else value
    if isinstance(items, bool | int | float):
        items = [items]
    return [*map(_text_of_scalar, items)] if isinstance(items, list) else items


def _text_of_scalar(value: Any) -> Any:
    """The text of a number or a boolean as Java writes it; unchanged: other values, a number with an exponent."""
    if isinstance(value, bool):
        return str(value).lower()
    is_plain = isinstance(value, int) or (isinstance(value, float) and (value == 0 or 1e-3 <= abs(value) < 1e7))
    return str(value) if is_plain else value


def _number_in_text(value: Any, kind: type[int | float]) -> Any:
    """The decimal number that a text is; another value is unchanged."""
    number = r"\s*[-+]?\d{1,15}" + (r"(?:\.\d+)?" if kind is float else "") + r"\s*"
    return kind(value) if isinstance(value, str) and re.fullmatch(number, value, re.ASCII) else value


@cache
def _sent_names_by_normalized(kind: str) -> dict[str, str]:
    """The names of the fields as the broker sends them, by normalized name."""
    return {_normalize_name(name): name for name in (*known_fields(kind), *_READ_TOO.get(kind, ()))}


def _normalize_name(key: str) -> str:
    """The letters and digits of a key in lower case, by which Spring finds a property."""
    return re.sub(r"[^a-z0-9]", "", key.lower())
