"""Find the catalog in a source: at the top, deeper, in a document of a stream, or in a string.

A catalog is an object with `services`, a bare list of service offerings, or a single service offering. All commands
and the editor find catalogs with this module.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

from osbctl.errors import UsageError
from osbctl.findings import DocumentError, Finding, Location
from osbctl.paths import JsonPath, entries, parse_pointer, pointer, resolve_step
from osbctl.sources.document import (
    TEMPLATE,
    ComposedDocument,
    Document,
    ParsedText,
    is_template,
    not_object_finding,
    other_kind_finding,
    parse_stream,
)
from osbctl.sources.places import LINE_END
from osbctl.sources.read_bytes import DEFAULT_LIMITS, Limits
from osbctl.text import closest_word, did_you_mean

_TEXT_OF_CATALOG = re.compile(r"\b(?:plans|bindable)\b")
_KEY_OF_CATALOG = re.compile(r'^[ -]*(?:services|plans) *:|"(?:services|plans)" *:', re.MULTILINE)
_PLAN_FIELDS = frozenset(("free", "schemas", "maintenance_info", "maximum_polling_duration", "binding_rotatable"))
"""Fields of a service plan that a service offering does not have."""
_MAX_NAMED = 10
"""Catalogs of one source that are named, if there are several."""


class _SourceValue(NamedTuple):
    """A value in a source. `pointer` is its JSON pointer, across documents of a stream and texts in strings."""

    document: Document
    value: Any
    path: JsonPath = ()
    pointer: str = ""

    def child(self, key: str | int, value: Any) -> "_SourceValue":
        return _SourceValue(self.document, value, (*self.path, key), self.pointer + pointer((key,)))


def parse_catalog(
    text: str, name: str, limits: Limits = DEFAULT_LIMITS, *, at: str = "", allow_nested: bool = True
) -> Document:
    """Parse the only catalog in `text`, called `name` in reports; the rest, and errors, as in `find_only_catalog`."""
    return find_only_catalog(parse_stream(text, name, limits), at, allow_nested=allow_nested)


def find_only_catalog(documents: Sequence[Document], at: str = "", *, allow_nested: bool = True) -> Document:
    """Return the only catalog in the documents of a source; its `read_as` reports an unusual place or shape.

    `at` is the JSON pointer (RFC 6901) of the catalog, or of what it is in. Of a stream, the first step is the number
    of the document, from 0. `allow_nested`: a catalog deeper than that is taken, too. Raises UsageError: `at` is no
    JSON pointer; DocumentError: it leads nowhere, there is not exactly one catalog, or one that is not to be taken.
    """
    places = _resolve_pointer(_top_places(documents), at)
    found = _find_catalogs(places)
    if not found:
        for place in places:
            place.document.check_faults(place.path)
        raise _no_catalog_error(places[0])
    first = found[0].pointer
    if not found[0].document.texts and not isinstance(found[0].value, str):
        found[0] = _resolve_pointer(_top_places(documents), first)[0]  # with its places in the file
    if len(found) > 1:
        *pointers, last = (one.pointer + " (not readable)" * isinstance(one.value, str) for one in found[:_MAX_NAMED])
        if len(found) > _MAX_NAMED:
            pointers, last = [*pointers, last], f"{len(found) - _MAX_NAMED:,} more places"
        message = f"there are {len(found):,} catalogs here: at {', '.join(pointers)} and {last}"
        raise _document_error(found[0], "catalog-elsewhere", message, f"name the one that is meant: --at {first}")
    if first != at and not allow_nested:
        message = f"there is no `services` here, but there is a catalog at {first}"
        raise _document_error(found[0], "catalog-elsewhere", message, f"add --at {first}")
    if isinstance(found[0].value, str):
        _parse_embedded_text(found[0])  # raises why it cannot be read
    document = _to_catalog_document(found[0], at)
    if not is_in_spring_catalog(first):
        return document
    from osbctl.sources.spring import rename_spring_fields  # most catalogs are not in such a configuration

    return rename_spring_fields(document)


def is_in_spring_catalog(catalog_pointer: str) -> bool:
    """Return whether the JSON pointer is in Spring's property of the catalog, a tree or with dots, in any spelling."""
    keys = f"{catalog_pointer}/".lower().translate({ord("."): "/", ord("-"): None, ord("_"): None})
    return "/spring/cloud/openservicebroker/catalog/" in keys


def has_services(data: Mapping[str, Any]) -> bool:
    """Return whether an object has `services`, in any case as programs in Go read it, and not null."""
    from osbctl.platforms.golang import fold_case  # most catalogs do not need it

    if isinstance(data.get("services"), list):
        return True
    return any(value is not None and fold_case(key) == "services" for key, value in data.items())


def require_services(document: Document, *, as_list: bool = False) -> Document:
    """Return `document` if its data has `services`. Raises DocumentError: it is no catalog, not even an empty one.

    `as_list`: also if they are not a list, so that whatever is compared with them would look new, and safe.
    """
    data = document.data
    if has_services(data) and (not as_list or isinstance(data.get("services", []), list)):
        return document
    null = next((key for key in data if key.lower() == "services"), "")
    near = next((key for key in data if closest_word(key, ("services",))), "")
    message = f"there is no catalog here: {f'`{null}` is not a list' if null else 'it has no `services`'}"
    hint = "a catalog is an object with `services`, a list" if null or not near else did_you_mean(near, ("services",))
    hint = catalog_below_hint(data) or hint
    place = _SourceValue(document, data, (null,) if null else (near,) if near else ())
    raise _document_error(place, "no-catalog", message, hint)


def catalog_below_hint(data: Any) -> str:
    """A hint on the `services` that stand deeper in an object which is meant to be a catalog; empty without any."""
    inner = pointer_to_services(data)
    return f"the catalog is the object at {inner}: let it be the whole document" if inner else ""


def pointer_to_services(data: Any) -> str:
    """The pointer of the first `services`, a list, that stands deeper in objects; empty if there is none."""
    level: list[tuple[JsonPath, Any]] = [((), data)]
    for _ in range(4):
        level = [((*path, key), item) for path, inner in level for key, item in entries(inner)]
        level = [(path, item) for path, item in level[:1000] if isinstance(item, dict)]
        for path, item in level:
            if isinstance(item.get("services"), list):
                return pointer(path)
    return ""


def has_service_offering(document: Document) -> bool:
    """Return whether `document` has a service offering: `plans`, or an id, a name and `bindable`."""
    return any(_catalog_shape(place.value) for place in _find_catalogs(_top_places([document])))


def _top_places(documents: Sequence[Document], pointer_prefix: str = "") -> list[_SourceValue]:
    if len(documents) == 1:
        return [_SourceValue(documents[0], documents[0].data, (), pointer_prefix)]
    return [_SourceValue(document, document.data, (), f"{pointer_prefix}/{n}") for n, document in enumerate(documents)]


# The shapes of a catalog.


def _catalog_shape(value: Any) -> Literal["catalog", "list", "offering", ""]:
    """Shape of a value with service offerings, in a list or, by mistake, in an object; empty if it has none."""
    if isinstance(value, list):
        return "list" if _holds_offering(value) else ""
    if not isinstance(value, dict):
        return ""
    services = value.get("services")
    if _holds_offering(services) or (isinstance(services, dict) and any(map(_is_offering, services.values()))):
        return "catalog"
    return "offering" if _is_offering(value) else ""


def _holds_offering(value: Any) -> bool:
    """Return whether a value is a list with an object that has `plans` or is a service offering, whatever else."""
    items = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return any(isinstance(item.get("plans"), list) or _is_offering(item) for item in items)


def _is_offering(value: Any) -> bool:
    if not isinstance(value, dict) or _is_brokerpak_part(value) or _is_plan(value):
        return False
    named = isinstance(value.get("id"), str) and isinstance(value.get("name"), str)
    return named and (isinstance(value.get("plans"), list) or "bindable" in value)


def _is_plan(value: Any) -> bool:
    """Return whether an object has fields that only a plan has, and no `plans`."""
    if not isinstance(value, dict) or "plans" in value:
        return False
    return isinstance(value.get("name"), str) and not _PLAN_FIELDS.isdisjoint(value)


def _is_brokerpak_part(value: dict[str, Any]) -> bool:
    """Return whether an object is the manifest of a brokerpak, or a definition."""
    return "service_definitions" in value or {"plans", "provision", "bind"} <= value.keys()


def _is_meant_as_catalog(value: Any) -> bool:
    """Return whether an object has the key `services`, perhaps misspelt, so that it is meant to be a catalog."""
    if not isinstance(value, dict):
        return False
    if "services" in value:
        services = value["services"]
        return not isinstance(services, dict) or any(map(_is_offering, services.values()))
    return any(isinstance(item, list) and closest_word(key, ("services",)) for key, item in value.items())


# The search.


def _find_catalogs(places: Sequence[_SourceValue]) -> list[_SourceValue]:
    """The catalogs at these places, or below them, in the order of the text."""
    if len(places) == 1 and _is_meant_as_catalog(places[0].value):
        return [*places]
    visited: dict[int, Any] = {}
    found = [one for place in places for one in _find_catalogs_in(place, visited)]
    # `services` that are no list: a catalog that is wrong, unless there is a right one.
    return found or [one for one in places if isinstance(one.value, dict) and "services" in one.value][:1]


def _find_catalogs_in(place: _SourceValue, visited: dict[int, Any]) -> Iterator[_SourceValue]:
    """The catalogs at a place or below it; `visited` has the collections met so far, as aliases may repeat them."""
    value = place.value
    if isinstance(value, str):
        if _TEXT_OF_CATALOG.search(value) and place.document.texts:
            try:
                # Without places in the file, whose cost grows with the file: there may be thousands of such texts.
                inside = [Document("", document.data, document.syntax) for document in parse_stream(value, "")]
                for inner in _top_places(inside, place.pointer):
                    yield from _find_catalogs_in(inner, visited)
            except DocumentError:
                if _KEY_OF_CATALOG.search(value) and not value.startswith("#!"):
                    yield place  # meant as a catalog, so it counts as one: the user is to decide, or to correct it
    elif isinstance(value, dict | list) and id(value) not in visited:
        visited[id(value)] = value
        if _catalog_shape(value):
            yield place
            return
        for key, item in entries(value):
            if key != "plans":
                yield from _find_catalogs_in(place.child(key, item), visited)


def _resolve_pointer(places: list[_SourceValue], at: str) -> list[_SourceValue]:
    """Resolve the JSON pointer `at` to a place, or to several if that is a stream."""
    if at and not at.startswith("/"):
        raise UsageError(f"{at!r} is not a JSON pointer", f"it begins with a slash: --at /{at.replace('.', '/')}")
    if re.search(r"~(?![01])", at):
        raise UsageError(f"{at!r} is not a JSON pointer", "a tilde in a key is written ~0, a slash ~1")
    for step in parse_pointer(at):
        container: Any = places[0].value if len(places) == 1 else places
        key = resolve_step(container, step)
        if key is None:
            raise _pointer_error(places[0], container, step)
        value: Any = container[key]
        places = [value if len(places) > 1 else places[0].child(key, value)]
        if isinstance(places[0].value, str) and isinstance(places[0].document, ParsedText):
            places = _parse_embedded_text(places[0])
    return places


# Texts in strings.


def _parse_embedded_text(place: _SourceValue) -> list[_SourceValue]:
    """Parse the text in a string to documents with locations in the file. Raises DocumentError: it cannot be read."""
    warnings = place.document.check_faults(place.path)
    string = _StringInFile(place)
    try:
        documents = [_EmbeddedDocument(document, string, warnings) for document in parse_stream(place.value, "")]
    except DocumentError as error:
        raise DocumentError(string.move_findings(error.findings)) from None
    return _top_places(documents, place.pointer)


class _EmbeddedDocument(Document):
    """A document in a string, with locations in the file."""

    embedded = True

    def __init__(self, inner: ParsedText, string: "_StringInFile", notes: tuple[Finding, ...]) -> None:
        notes = (*notes, *string.move_findings(inner.notes))
        super().__init__(string.place.document.name, inner.data, inner.syntax, notes)
        self._inner, self._string = inner, string
        self.texts, self.text_in_string = string.place.document.texts, (inner, string.move)

    def locate(self, paths: Iterable[JsonPath]) -> dict[JsonPath, Location]:
        return {path: self._string.move(there) for path, there in self._inner.locate(paths).items()}

    def check_faults(self, path: JsonPath) -> tuple[Finding, ...]:
        try:
            return self._string.move_findings(self._inner.check_faults(path))
        except DocumentError as error:
            raise DocumentError(self._string.move_findings(error.findings)) from None


class _StringInFile:
    """A string of a document, and the locations in the file of what stands in it.

    They are exact in a block of lines (`|`). In other strings, with escapes and folded lines, they are where the string
    begins, without its line, where a secret may be written in any way.
    """

    def __init__(self, place: _SourceValue) -> None:
        self.place = place

    def move_findings(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings about the string's text, with locations in the file."""
        return tuple(finding.moved(self.move) for finding in findings)

    def move(self, inner: Location) -> Location:
        """The location in the file of a location in the string's text."""
        start, lines, first, own_lines = self._start
        line, own = first + inner.line, own_lines[inner.line - 1]
        if lines and not own:  # the end of the text: the line after it is of something else
            return Location(start.source, line - 1, len(lines[line - 2]) + 1)
        outer = lines[line - 1] if line <= len(lines) else ""
        if not outer or not outer.endswith(own):
            return start
        indent = len(outer) - len(own)
        secrets = tuple((begin + indent, end + indent) for begin, end in inner.secrets)
        excerpt, end = outer if inner.excerpt else "", inner.end and inner.end + indent
        return Location(start.source, line, inner.column + indent, excerpt, end, secrets)

    @cached_property
    def _start(self) -> tuple[Location, list[str], int, list[str]]:
        """The location of the string; of a block, the lines of the file, and the number of the first; its own lines."""
        (file,), path = self.place.document.texts, self.place.path
        span = file.spans().get(path)
        is_block = span is not None and span.style == "|"
        lines = LINE_END.split(file.text) if is_block else []
        first = len(LINE_END.findall(file.text, 0, span.start)) + 1 if span else 0
        return file.locate([path])[path]._replace(excerpt=""), lines, first, LINE_END.split(self.place.value)


# The document of a catalog.


def _to_catalog_document(place: _SourceValue, at: str) -> Document:
    """The document of the catalog at `place`; `read_as` reports an unusual place or shape."""
    document, value, path, where = place
    warnings = document.check_faults(path)
    shape = "" if _is_meant_as_catalog(value) else _catalog_shape(value)
    if not where and shape not in ("list", "offering"):
        return document
    inserted: JsonPath
    data, what, inserted = value, "the catalog{}", ()
    if shape == "list":
        data, inserted, what = {"services": value}, ("services",), "a list of service offerings{} as a catalog"
    elif shape == "offering":
        data, inserted, what = {"services": [value]}, ("services", 0), "a single service offering{} as a catalog"
    part = ComposedDocument.of_part(document, path, data)
    if inserted:
        part.set_key_origin(data, "services", (document, path))
        part.set_object_origin(value, (document, path))
    about_part = [note for note in document.notes if not note.path or note.path[: len(path)] == path]
    moved = (one._replace(path=(*inserted, *one.path[len(path) :])) if one.path else one for one in about_part)
    part.notes = (*moved, *warnings)
    if where != at or (inserted and not at):
        part.read_as = f"{document.name}: read {what.format(f' at {where}' if where else '')}"
    return part


# Errors where there is no catalog.


def _pointer_error(place: _SourceValue, container: Any, step: str) -> DocumentError:
    keys = list(container) if isinstance(container, dict) else []
    if isinstance(container, list):
        what = "a stream of" if container and isinstance(container[0], _SourceValue) else "an array of"
        hint = f"it is {what} {len(container)}: write an index from 0" if container else "it is an empty array"
    else:
        hint = did_you_mean(step, keys) or (f"there are: {', '.join(keys[:10])}" if keys else "")
    message = f"there is no {step[:60]!r} in {place.pointer or 'the top'}"
    return _document_error(place, "pointer-not-found", message, hint)


def _no_catalog_error(place: _SourceValue) -> DocumentError:
    message, hint = "there is no catalog here", TEMPLATE
    if isinstance(place.value, dict) and _is_brokerpak_part(place.value):
        message = "this is a part of a brokerpak: the source is the folder with its manifest.yml"
        hint = "name the folder, for example osbctl validate ."
    elif not any(is_template(one.text) for one in place.document.texts):
        plans = place.value.get("plans") if isinstance(place.value, dict) else place.value
        is_list = isinstance(plans, list) and bool(plans) and all(isinstance(plan, dict) for plan in plans)
        if _is_plan(place.value) or (is_list and (plans is not place.value or all(map(_is_plan, plans)))):
            what = "are service plans" if is_list else "is a service plan"
            message = f"there is no catalog here: {'these' if is_list else 'this'} {what} without a service offering"
            hint = "name the file or folder of the service offering; plans stand in its `plans`"
            return _document_error(place, "no-catalog", message, hint)
        if other := other_kind_finding(place.document.name):
            return DocumentError((other,))
        if inner := pointer_to_services(place.value):
            message = f"there is no catalog here, and `services` at {inner} has no service offering"
            return _document_error(place, "no-catalog", message, f"name it with --at {inner}, if it is meant")
        if not isinstance(place.value, dict):
            return DocumentError((not_object_finding(place.document, place.value, place.path),))
        message = "there is no catalog here: no object at any depth has `plans`, or an id, a name and `bindable`"
        hint = "a catalog is an object with `services`: name its place with --at, or get it with osbctl fetch URL"
    return _document_error(place, "no-catalog", message, hint)


def _document_error(place: _SourceValue, rule: str, message: str, hint: str) -> DocumentError:
    finding = place.document.error(rule, message, place.path, hint)._replace(path=())
    if finding.location and isinstance(place.value, str):  # whose line may show a secret, written in any way
        finding = finding._replace(location=finding.location._replace(excerpt=""))
    return DocumentError((finding,))
