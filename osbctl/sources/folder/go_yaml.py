"""Read YAML as programs in Go do (yaml.v3), into the types of their fields.

A scalar keeps its text until the type of its field is known: `name: 5` is "5" for a string, and `012` is 10 only where
a field takes any value. Keys may be numbers, booleans or null; a second document is not read.
"""

import math
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

from yaml import AliasEvent, ScalarEvent

from osbctl.findings import DocumentError
from osbctl.paths import JsonPath, entries
from osbctl.sources.document import Document, ParsedText, decode_utf8, not_object_finding
from osbctl.sources.places import fault_error
from osbctl.sources.read_bytes import Limits
from osbctl.sources.yaml_reader import MERGE, Builder

Report: TypeAlias = Callable[[Document, JsonPath, str], None]
"""Takes the place of a value that does not fit its field, and yaml.v3's words about it."""

ReportField: TypeAlias = Callable[[Document, JsonPath, str, Iterable[str]], None]
"""Takes the place of a key that is no field, yaml.v3's words about it, and the names of the fields."""


class StructType(NamedTuple):
    """A struct of Go: its name in messages, and the types of its fields.

    A type is `string`, `int`, `bool` or `any`, a list of one type, a mapping with the key `*` for names, or a struct.
    """

    name: str
    fields: Mapping[str, Any]


ENUM = {"*any": "string"}
"""The type of a mapping whose keys may be of any type: it is decoded to the values of its keys, by their texts."""


class Scalar(NamedTuple):
    """A scalar: its text, yaml.v3's tag of it (`str`, `int`, `float`, `bool`, `null` or `timestamp`), and its value.

    With the tag `unknown` the value is yaml.v3's words about its tag.
    """

    text: str
    tag: str
    value: Any


class _Key(str):
    """The text of a key, with its scalar."""

    __slots__ = ("scalar",)
    scalar: Scalar


class AnyMap(dict[str, Any]):
    """A mapping in a field of any type with a key that is no string, which Go cannot write as JSON."""


def has_no_json(value: Any) -> bool:
    """Return whether Go cannot write a value as JSON: an infinite number, or a key that is no string."""
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, AnyMap) or any(has_no_json(item) for _, item in entries(value))


_CONSTANTS: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **dict.fromkeys(("true", "True", "TRUE"), ("bool", True)),
    **dict.fromkeys(("false", "False", "FALSE"), ("bool", False)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), ("float", math.nan)),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), ("float", math.inf)),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), ("float", -math.inf)),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(?:0[oO]|0)([0-7]+)|(0|[1-9][0-9]*))")
_BASES = (16, 2, 8, 10)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(\.[0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})"
    r"| ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(\.[0-9]+)?)?"
)
_WORDS = {word: value for value, words in ((True, ("y", "yes", "on")), (False, ("n", "no", "off"))) for word in words}
_WORDS |= {form: value for word, value in _WORDS.items() for form in (word.capitalize(), word.upper())}
"""The words that a field of type `bool` takes besides the constants, also in quotes."""


def resolve_scalar(text: str) -> Scalar:
    """The scalar that a plain text stands for (yaml.v3, resolve.go)."""
    if text in _CONSTANTS:
        return Scalar(text, *_CONSTANTS[text])
    if text[0] not in "+-.0123456789":
        return Scalar(text, "str", text)
    if (time := _TIME.fullmatch(text)) and (moment := _format_time(time)):
        return Scalar(text, "timestamp", moment)
    plain = text.replace("_", "") if text[0] != "." else text
    if (number := _INTEGER.fullmatch(plain)) and len(plain) < 70:
        value = next(int(digits, base) for digits, base in zip(number.groups()[1:], _BASES, strict=True) if digits)
        value = -value if number[1] == "-" else value
        if -(2**63) <= value < 2**64:
            return Scalar(text, "int", value)
    if _FLOAT.fullmatch(plain) and math.isfinite(float(plain)):
        return Scalar(text, "float", float(plain))
    return Scalar(text, "str", text)


def _format_time(match: re.Match[str]) -> str:
    """The time as Go writes it to JSON. Empty if there is no such day or time."""
    year, month, day, *rest = match.groups()
    *clock, fraction = rest[:4] if rest[4] else rest[5:]
    zone = rest[4] if rest[4] and rest[4][1:] != "00:00" else "Z"
    hour, minute, second = (int(part or 0) for part in clock)
    try:
        moment = datetime(int(year), int(month), int(day), hour, minute, second, tzinfo=UTC)
    except ValueError:
        return ""
    return moment.isoformat()[:19] + (fraction or "")[:10].rstrip("0").rstrip(".") + zone


_OTHER_VERSION = re.compile(r"\ufeff?(?:[ \t]*(?:#[^\n]*)?\r?\n)*%YAML[ \t]+(?!1\.1\b)")
_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")
_MERGE_TAG = "tag:yaml.org,2002:merge"
_TAGS = ("!", "null", "bool", "int", "float", "timestamp", "seq", "map", "merge")
"""The tags that yaml.v3 resolves, besides `str`, which is a text as any other, and `binary`."""


def _decode_binary(text: str) -> Scalar:
    try:
        decoded = b64decode(re.sub(r"[\r\n]", "", text), validate=True).decode("utf-8", "replace")
    except ValueError:
        return Scalar(text, "unknown", "yaml: !!binary value contains invalid base64 data")
    return Scalar(decoded, "str", decoded)


def _resolve_tag(tag: str, text: str) -> Scalar:
    """The scalar of a text with this tag; one that yaml.v3 does not know makes a text."""
    kind = tag.removeprefix("tag:yaml.org,2002:")
    if kind == "binary":
        return _decode_binary(text)
    if kind not in _TAGS:
        return Scalar(text, "str", text)
    scalar = resolve_scalar(text)
    if kind in ("!", scalar.tag) or (kind, scalar.tag) == ("float", "int"):
        return scalar
    return Scalar(text, "unknown", f"yaml: cannot decode !!{scalar.tag} `{text[:40]}` as a {tag[:40]}")


def _is_merge(event: Any) -> bool:
    return type(event) is ScalarEvent and (event.implicit[0] or event.tag == _MERGE_TAG)


class _GoBuilder(Builder):
    """A builder of scalars with their texts; keys are strings with theirs."""

    def _build(self) -> None:
        if found := _OTHER_VERSION.match(self._text):
            self._fail("syntax", "found incompatible YAML document", found.end(), "yaml.v3 reads %YAML 1.1")
        super()._build()

    def _build_scalar(self, event: Any) -> Any:
        self._nodes += 1
        style = (event.style or "").strip("\0")
        if style == '"' and _SLASH.search(self._text, event.start_mark.index, event.end_mark.index):
            self._report("syntax", "found unknown escape character", event.start_mark.index, "write / for \\/")
        scalar = _resolve_tag("!!str" if style and event.tag in (None, "!") else event.tag or "!", event.value)
        if event.anchor is not None:
            self._anchors[event.anchor] = (scalar, 1)
        return scalar

    def _build_key(self, event: Any, key_offsets: dict[str, int]) -> Any:
        if type(event) is AliasEvent:
            scalar = self._resolve_alias(event)
        elif type(event) is ScalarEvent:
            scalar = self._build_scalar(event)
        if type(event) not in (AliasEvent, ScalarEvent) or not isinstance(scalar, Scalar):
            self._report_key(event, {})
            self._mask_unread()
            raise fault_error(self.faults, self._lines)
        if scalar.tag == "unknown" and getattr(event, "tag", None) != _MERGE_TAG:
            self._report("syntax", "{}", event.start_mark.index, quoted=scalar.value)
        key = self._path[-1] = _Key(scalar.text)
        key.scalar = scalar
        self._check_duplicate(key, event, key_offsets)
        return MERGE if key == "<<" and _is_merge(event) else key

    def _report_unknown_tag(self, event: Any) -> None:
        """Tags of collections are not looked at."""

    def _check_end(self, get: Callable[[], Any]) -> None:
        """Ignore what follows the first document."""


def parse_go_yaml(
    data: bytes, name: str, *, limits: Limits, kind: StructType, report: Report, unknown: ReportField
) -> ParsedText:
    """Parse YAML to a document whose data fits the struct `kind`: fields and values that do not are left out.

    `report` takes those whose type is another, `unknown` keys that the struct does not have. Values of null stay, so
    that indexes in lists do. Raises DocumentError: it cannot be parsed, or is no mapping.
    """
    text = decode_utf8(data, name)
    builder = _GoBuilder(text, name, limits)
    builder.build()
    document = ParsedText(name, {}, "yaml", text=text)
    if builder.faults:
        raise fault_error(builder.faults, document.lines)
    decoder = _Decoder()
    decoded = decoder.decode(builder.value, kind, ())
    if decoded is None:
        raise DocumentError((not_object_finding(document, decoder.decode(builder.value, "any", ()), ()),))
    document.data.update(decoded)
    for path, message in decoder.mismatches:
        report(document, path, message)
    for path, message, names in decoder.unknown:
        unknown(document, path, message, names)
    return document


class _Decoder:
    """Decodes what `_GoBuilder` has built into the types of fields (yaml.v3, decode.go).

    `mismatches` and `unknown` have the paths of values of another type and of unknown keys, with words about them.
    """

    def __init__(self) -> None:
        self.mismatches: list[tuple[JsonPath, str]] = []
        self.unknown: list[tuple[JsonPath, str, Iterable[str]]] = []

    def decode(self, value: Any, kind: Any, path: JsonPath) -> Any:
        """The value as one of type `kind`. None if it is another, which is reported, or null."""
        if isinstance(value, Scalar):
            return self._decode_scalar(value, kind, path)
        if isinstance(value, list) and (kind == "any" or isinstance(kind, list)):
            inner = "any" if kind == "any" else kind[0]
            return [self.decode(item, inner, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, dict) and kind == "any":
            has_other_keys = any(key.scalar.tag != "str" for key in value)
            items = {str(key): self.decode(item, "any", (*path, str(key))) for key, item in value.items()}
            return AnyMap(items) if has_other_keys else items
        if isinstance(value, dict) and isinstance(kind, StructType):
            return self._decode_struct(value, kind, path)
        if isinstance(value, dict) and isinstance(kind, dict):
            return self._decode_map(value, kind, path)
        tag = "map" if isinstance(value, dict) else "seq"
        self.mismatches.append((path, f"cannot unmarshal !!{tag} into {_go_name(kind)}"))
        return None

    def _decode_struct(self, value: dict[_Key, Any], struct: StructType, path: JsonPath) -> dict[str, Any]:
        found = {}
        for key, item in value.items():
            if key in struct.fields and key.scalar.tag != "null":
                found[str(key)] = self.decode(item, struct.fields[key], (*path, str(key)))
            else:
                known = struct.fields if key.scalar.tag != "null" else ()
                self.unknown.append(((*path, str(key)), f"field {key} not found in type {struct.name}", known))
        return found

    def _decode_map(self, value: dict[_Key, Any], kind: dict[str, Any], path: JsonPath) -> dict[str, Any]:
        (inner,) = kind.values()
        found = {}
        for key, item in value.items():
            if key.scalar.tag == "null" and kind is not ENUM:
                self.unknown.append(((*path, str(key)), "the key null is left out", ()))
                continue
            decoded = self.decode(item, inner, (*path, str(key)))
            found[str(key)] = key.scalar.value if kind is ENUM else decoded
        if kind is ENUM:  # 16 and 0x10 are one key
            return dict({(type(one), one): (key, one) for key, one in found.items()}.values())
        return found

    def _decode_scalar(self, scalar: Scalar, kind: Any, path: JsonPath) -> Any:
        value = scalar.value
        if scalar.tag == "unknown":
            self.mismatches.append((path, value))
            return None
        if value is None or kind == "any":
            return value
        if kind == "string":
            return scalar.text
        if kind == "bool" and (isinstance(value, bool) or (scalar.tag == "str" and value in _WORDS)):
            return _WORDS.get(value, value) if isinstance(value, str) else value
        if kind == "int" and scalar.tag in ("int", "float") and math.isfinite(value) and -(2**63) <= value < 2**63:
            return int(value)
        shown = scalar.text if len(scalar.text) <= 10 else f"{scalar.text[:7]}..."
        self.mismatches.append((path, f"cannot unmarshal !!{scalar.tag} `{shown}` into {_go_name(kind)}"))
        return None


def _go_name(kind: Any) -> str:
    """The name of a type in yaml.v3's messages."""
    if isinstance(kind, StructType):
        return kind.name
    if isinstance(kind, list):
        return f"[]{_go_name(kind[0])}"
    if isinstance(kind, dict):
        ((name, inner),) = kind.items()
        return f"map[{'interface {}' if name == '*any' else 'string'}]{_go_name(inner)}"
    return "interface {}" if kind == "any" else str(kind)
