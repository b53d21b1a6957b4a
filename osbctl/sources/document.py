"""From bytes to a document: UTF-8, then JSON or YAML, whose values have lazily computed locations.

A document is a parsed text, or a catalog that is composed of parts of texts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from osbctl.catalog import Catalog
from osbctl.findings import DocumentError, Finding, Location, Severity
from osbctl.messages import Sentence
from osbctl.paths import JsonPath, entries, get_at, pointer
from osbctl.sources.places import Lines, Span, TextFault, check_faults, disjoint, find_unread_secrets
from osbctl.sources.read_bytes import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from osbctl.sources.folder.brokerpak_requests import RequestRules

Syntax: TypeAlias = Literal["json", "yaml", "folder", "brokerpak"]

_NAMED: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
_NOTHING_SAID = re.compile(r"(?>(?:[ \t\r\n\ufeff]++|#[^\n]*+)*)")
"""Blank lines and comments at the beginning; comments are YAML, or a mistake in JSON."""
_FLOW_MAPPING = re.compile(r"""(?>(?:[\[{\s]++|(?<!\S)#[^\n]*+)*)(?:\w[\w.-]*+|'[^'"\n]*+')\s*+:""")
"""The beginning of a text in brackets that is meant as YAML: its first key is without double quotes."""
TEMPLATE = "a template? render it first"
_OTHER_KINDS = {
    **dict.fromkeys((".properties", ".ini", ".env"), "a file of properties"),
    **dict.fromkeys((".md", ".markdown", ".rst", ".adoc", ".html"), "a text for readers"),
    **dict.fromkeys(
        (".go", ".java", ".kt", ".groovy", ".py", ".rb", ".js", ".ts", ".cs", ".php", ".rs"), "source code"
    ),
    **dict.fromkeys((".sh", ".tf", ".hcl", ".toml", ".xml", ".gradle", ".sql"), "neither JSON nor YAML"),
}
"""Other kinds of file by their ending, in lower case; one that can be read as a catalog is one, whatever its name."""
_YTT = re.compile(r"^(?:[^#\n]*[ \t])?#@", re.MULTILINE)
_YTT_VALUE = re.compile(r"^[ \t]*(?:-[ \t]+)*(?:-|[\w.-]+:)[ \t]+#@", re.MULTILINE)
_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_YAML_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_CONTENT = re.compile(r"^(?!(?:---|\.\.\.)?[ \t\r]*(?:#.*)?$|%)", re.MULTILINE)
"""The beginning of a line that is more than a comment, a directive or a mark between documents."""


class Document:
    """A source that was read. One that is neither a `ParsedText` nor a `ComposedDocument` has no text to locate it in.

    `name` is its name in reports. `data` is the catalog as plain JSON values; always a dict, except from `parse_text`.
    `notes` are findings of the reader (for example a scalar that other YAML readers take for a boolean), with
    locations. `texts` are the texts of the files that it was read from, `text_in_string` the one of a catalog in a
    string, with the function that moves its locations to the file. `top` is the path of the catalog in its text;
    `embedded`: the file is more than that text, which is in a string or a stream of documents. `read_as` is a sentence
    for the user, where a catalog was not at the top or not in the usual shape. `requests` are the rules by which the
    broker of a brokerpak judges requests, by the path of a plan and `create` or `bind`. Documents are equal by
    identity.
    """

    texts: "tuple[ParsedText, ...]" = ()
    text_in_string: "tuple[ParsedText, Callable[[Location], Location]] | None" = None
    top: JsonPath = ()
    embedded = False
    read_as = ""
    requests: "Mapping[tuple[JsonPath, str], RequestRules]" = MappingProxyType({})

    def __init__(self, name: str, data: Any, syntax: Syntax, notes: tuple[Finding, ...] = ()) -> None:
        self.name, self.data, self.syntax, self.notes = name, data, syntax, notes

    @cached_property
    def catalog(self) -> Catalog:
        """The typed catalog of the data."""
        catalog = Catalog.of(self.data)
        if not self.requests and not any(plan.prohibited_updates for plan in catalog.plans):
            return catalog
        from osbctl.sources.folder.brokerpak_requests import add_judged_schemas

        return add_judged_schemas(catalog, self.requests)

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        """The places of all `paths`, each one, in one pass over the text: gather all paths and call it once.

        An entry stands at its key, an item and the top at its value, a path that is not there at its closest ancestor.
        """
        return dict.fromkeys(paths, Location(self.name, 1, 1))

    def check_faults(self, path: JsonPath) -> tuple[Finding, ...]:  # noqa: ARG002  # a text has some
        """Check the value at `path` of the text, which is used; return warnings about faults in the rest of the text.

        Raises DocumentError: there are faults in the value.
        """
        return ()

    def error(self, rule: str, message: Sentence, path: JsonPath = (), hint: Sentence = "") -> Finding:
        """The finding about an error in the value at `path`."""
        return Finding(rule, Severity.ERROR, message, path, self.locate([path])[path], hint=hint)


class ParsedText(Document):
    """A text in JSON or YAML, and the value that was read from it. `faults` left it readable."""

    def __init__(self, name: str, data: Any, syntax: Syntax, *, text: str, faults: Sequence[TextFault] = ()) -> None:
        super().__init__(name, data, syntax)
        self.text, self.faults, self.texts = text, faults, (self,)

    @cached_property
    def _span(self) -> Span:
        if self.syntax == "json":
            from osbctl.sources import json_reader

            return json_reader.locate(self.text, self.name)
        from osbctl.sources import yaml_reader

        return yaml_reader.parse(self.text, self.name, locates=True).span

    def spans(self, *, aliases: bool = False) -> dict[JsonPath, Span]:
        """The spans of all values, as `Span.spans`."""
        return self._span.spans(aliases=aliases and self.syntax == "yaml")  # to count copies takes long

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text, with the ranges of values that may be secret."""
        text, ranges = self.text, self._span.secret_ranges(self.text)
        if "$ref" in text:
            from osbctl.jsonschemas.secrets import secret_ref_targets

            found = ((path, secret_ref_targets(schema)) for path, schema in _parameter_schemas(self.data))
            spans = (self._span.find((*path, *target))[-1] for path, targets in found for target in targets)
            # The literals there are those of a property with a secret name.
            literals = (span.meant.secret_ranges(text, ("properties", "password")) for span in spans)
            ranges = disjoint(chain(ranges, *literals))
        # A block collection of YAML ends where the next key begins.
        return Lines(self.name, text, [(start, start + len(text[start:end].rstrip())) for start, end in ranges])

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        lines = self.lines
        spans = {path: self._span.find(path)[-1] for path in paths}
        return {path: lines.at(span.entry_start, span.shown_end) for path, span in spans.items()}

    def check_faults(self, path: JsonPath) -> tuple[Finding, ...]:
        if not self.faults:
            return ()
        return check_faults(self.faults, self.lines, self._span.find(path) if path else ())


def _parameter_schemas(value: Any, path: JsonPath = ()) -> Iterator[tuple[JsonPath, dict[str, Any]]]:
    """The parameter schemas of a catalog or of a part of one, with their paths."""
    for key, inner in entries(value):
        if key == "parameters" and isinstance(inner, dict):
            yield (*path, key), inner
        else:
            yield from _parameter_schemas(inner, (*path, key))


Origin: TypeAlias = tuple[Document, JsonPath]
"""One of the documents that a catalog is composed from, and the path of a value in it."""


class ComposedDocument(Document):
    """A catalog that is composed of parts of other documents, or is a part of one; it is composed in place.

    The origins of its values are remembered at the seams only: below a seam, paths run in parallel. A seam is a whole
    object (a plan taken from a file of its own), or a key of an object (one that an overlay or a default has set).
    Objects are distinguished by identity, so that moving one in a list keeps its origin; they live as long as this.
    """

    def __init__(self, name: str, data: dict[str, Any], syntax: Syntax, origin: Origin) -> None:
        super().__init__(name, data, syntax)
        self._top = origin
        self._objects: dict[int, Origin] = {}
        self._keys: dict[tuple[int, str], Origin] = {}
        self._hidden: dict[tuple[int, str], dict[str, Any]] = {}

    @classmethod
    def of_part(cls, document: Document, path: JsonPath, data: dict[str, Any]) -> "ComposedDocument":
        """The document of the catalog `data`, which is made of the value at `path` of `document`."""
        made = cls(document.name, data, document.syntax, (document, path))
        made.notes, made.texts, made.read_as = document.notes, document.texts, document.read_as
        made.text_in_string = document.text_in_string
        made.top, made.embedded = (*document.top, *path), document.embedded
        return made

    def set_object_origin(self, value: dict[str, Any], origin: Origin) -> None:
        """Note that the object `value` came from `origin`."""
        self._objects[id(value)] = origin

    def set_key_origin(self, container: dict[str, Any], key: str, origin: Origin) -> None:
        """Note that the value at `key` of `container` came from `origin`."""
        self._keys[id(container), key] = origin

    def put(self, container: dict[str, Any], key: str, value: Any, origin: Origin) -> None:
        """Set `key` of `container` to a value that came from `origin`."""
        container[key] = value
        self.set_key_origin(container, key, origin)

    def merge(self, container: dict[str, Any], other: dict[str, Any]) -> None:
        """Move the values of `other` to `container`, with their origins, and those of objects to objects there."""
        for key, value in other.items():
            origin, present = self._keys.pop((id(other), key), None), container.get(key)
            if isinstance(present, dict) and isinstance(value, dict):
                self.merge(present, value)
                continue
            container[key] = value
            if origin:
                self.set_key_origin(container, key, origin)

    def hide(self, container: dict[str, Any], key: str, value: dict[str, Any]) -> None:
        """Locate paths below `key` of a container, which is not in the data, or null, as if there was the value."""
        self._hidden[id(container), key] = value

    def find_origin(self, path: JsonPath) -> Origin:
        """The origin of the value at `path`; of a missing value, what its place would have been."""
        value: Any = self.data
        part, inside = self._top
        for step in path:
            below = get_at(value, (step,))
            if below is None and isinstance(step, str):
                below = self._hidden.get((id(value), step))
            known = self._keys.get((id(value), step)) if isinstance(step, str) else None
            known = known or (self._objects.get(id(below)) if isinstance(below, dict) else None)
            part, inside = known or (part, (*inside, step))
            value = below
        return part, inside

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        asked: dict[Document, dict[JsonPath, JsonPath]] = {}
        for path in paths:
            part, inside = self.find_origin(path)
            asked.setdefault(part, {})[path] = inside
        found: dict[JsonPath, Location] = {}
        for part, inside_of in asked.items():  # each text is gone through once
            places = part.locate(inside_of.values())
            found |= {path: places[inside] for path, inside in inside_of.items()}
        return found


# From bytes to a parsed text.


def parse_document(data: bytes, name: str, *, limits: Limits = DEFAULT_LIMITS) -> ParsedText:
    """Parse JSON or YAML, whichever it looks like; `name` is for reports. Raises DocumentError: it is no object."""
    document = parse_text(decode_utf8(data, name), name, limits)
    document.check_faults(())
    if not isinstance(document.data, dict):
        raise DocumentError((not_object_finding(document, document.data, ()),))
    return document


def not_object_finding(document: Document, value: Any, path: JsonPath) -> Finding:
    """The finding about a value at `path` that must be an object."""
    if other := other_kind_finding(document.name):
        return other
    kinds = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    what = f"the value at {pointer(path)}" if path else "the document"
    message = f"{what} is {kinds.get(type(value), 'null')}, not an object"
    return document.error("not-an-object", message, path, "a catalog is an object with `services`")


def other_kind_finding(name: str) -> Finding | None:
    """The finding about a source that holds no catalog and whose ending names another kind of file. None for others."""
    kind = _OTHER_KINDS.get(name[name.rfind(".") :].lower())
    if kind is None:
        return None
    hint = "name the JSON or YAML file of the catalog, or get it from the running broker with osbctl fetch URL"
    if kind == "a file of properties":
        hint = "write the catalog as YAML, or get it from the running broker with osbctl fetch URL"
    place = Location(name, 1, 1)
    return Finding("no-catalog", Severity.ERROR, f"there is no catalog here: this is {kind}", (), place, hint)


def parse_text(text: str, name: str, limits: Limits = DEFAULT_LIMITS, *, allow_flow: bool = False) -> ParsedText:
    """Parse `text` to a document whose data may be any value, and may have faults: call its `check_faults`.

    `allow_flow`: brackets may also begin YAML if `name` has no known ending; else only if it is called YAML. Raises
    DocumentError: it is neither JSON nor YAML.
    """
    try:
        document = _parse_json_or_yaml(text, name, limits, allow_flow=allow_flow)
    except DocumentError as error:
        if marker := _CONFLICT.search(text):  # it explains other errors
            hint = "keep what is right of both sides, and delete the lines that begin with <<<<<<<, ======= and >>>>>>>"
            raise _syntax_error(text, name, marker.start(), "there is a merge conflict here", hint) from None
        other = other_kind_finding(name)
        if other and not text.lstrip().startswith("{"):
            raise DocumentError((other,)) from None
        if not is_template(text):
            raise
        found = (one._replace(hint=TEMPLATE) if one.rule == "syntax" else one for one in error.findings)
        raise DocumentError(tuple(found)) from None
    if document.syntax == "yaml" and "#@" in text and (gap := _YTT_VALUE.search(text)):
        # YAML would read null, of which platforms say something else than of the value.
        raise _syntax_error(text, name, gap.end() - 2, "a template puts a value here, which is missing", TEMPLATE)
    return document


def is_template(text: str) -> bool:
    """Return whether a text is a template of ERB (`<%`) or ytt (`#@`)."""
    return "<%" in text or bool(_YTT.search(text))


def _syntax_error(text: str, name: str, offset: int, message: str, hint: str) -> DocumentError:
    return DocumentError((Lines(name, text, find_unread_secrets(text)).error("syntax", message, offset, hint),))


def decode_utf8(data: bytes, name: str) -> str:
    """Decode UTF-8, without a byte order mark. Raises DocumentError: it is not UTF-8."""
    try:
        if data[:2] not in (b"\xff\xfe", b"\xfe\xff") and b"\0" not in data[:2]:
            return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        place, message = Location(name, 1, 1), "the text is UTF-16 or UTF-32, not UTF-8"
    except UnicodeDecodeError as error:
        data = error.object
        text = data.decode("utf-8", "replace")
        place = Lines(name, text, find_unread_secrets(text)).at(len(data[: error.start].decode("utf-8")))
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
    raise DocumentError((Finding("encoding", Severity.ERROR, message, (), place, hint="save the text as UTF-8"),))


def _parse_json_or_yaml(text: str, name: str, limits: Limits, *, allow_flow: bool) -> ParsedText:
    named, looks = _NAMED.get(name[name.rfind(".") :].lower()), _guess_syntax(text)
    if allow_flow and not named and _FLOW_MAPPING.match(text):
        looks = "yaml"
    if looks == "json" or (named == "json" and looks != "yaml"):
        from osbctl.sources import json_reader

        try:
            value, faults = json_reader.parse(text, name, limits)
            if not faults or named != "yaml":
                document = ParsedText(name, value, "json", text=text, faults=faults)
                document.notes = (_mismatch_finding(name, "YAML", "JSON"),) if named == "yaml" else ()
                return document
        except DocumentError:
            if named != "yaml":  # else a YAML flow mapping, or worse: YAML has the say over its own file
                raise
    from osbctl.sources import yaml_reader

    read = yaml_reader.parse(text, name, limits)
    mismatch = [_mismatch_finding(name, "JSON", "YAML")] if named == "json" else []
    document = ParsedText(name, read.value, "yaml", text=text, faults=read.faults)
    document.notes = (*read.notes, *mismatch)
    return document


def _guess_syntax(text: str) -> Syntax | None:
    """Guess the syntax from the beginning of a text.

    JSON by a bracket, or by a comment of JavaScript (which it has not, and its reader says so); YAML by a key, comment,
    item or `---`.
    """
    start = match.end() if (match := _NOTHING_SAID.match(text)) else 0
    if text.startswith(("{", "[", "//", "/*"), start):
        return "json"
    line = text[start : start + 200].split("\n", 1)[0]
    key_like = ":" in line and line[:1].isalpha()
    return "yaml" if key_like or line.startswith(("---", "- ", "%YAML")) else None


def _mismatch_finding(name: str, named_syntax: str, actual_syntax: str) -> Finding:
    message = f"named as {named_syntax}, but holds {actual_syntax}; read as {actual_syntax}"
    return Finding("format-mismatch", Severity.INFO, message, (), Location(name, 1, 1), hint="rename the file")


def parse_stream(text: str, name: str, limits: Limits = DEFAULT_LIMITS) -> list[ParsedText]:
    """Parse `text` to documents, at least one; empty documents of a YAML stream are skipped.

    Raises DocumentError: one of them cannot be read.
    """
    try:
        return [parse_text(text, name, limits, allow_flow=True)]
    except DocumentError:
        # Only now, as a line `---` may also stand in a text of several lines. A text in brackets is one document, whose
        # own error says more; and each part is padded with the lines before it, so a bound keeps that from growing
        # with the square of their number.
        starts = [] if text.lstrip()[:1] in ("{", "[") else [found.start() for found in _YAML_START.finditer(text)]
        ends = pairwise([0, *starts, len(text)])
        spans = [(start, end) for start, end in ends if starts and _CONTENT.search(text, start, end)]
        if not spans or len(spans) * text.count("\n") > limits.nodes:
            raise
    documents, lines, done = [], 0, 0
    for start, end in spans:
        lines += text.count("\n", done, start)
        done = start
        # With empty lines before it, so that its locations are those of the text.
        document = parse_text("\n" * lines + text[start:end], name, limits)
        document.embedded = True
        documents.append(document)
    return documents
