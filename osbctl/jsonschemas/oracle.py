"""The judge of single values: jsonschema-rs, with nothing fetched, and no word where a pattern takes too long."""

from __future__ import annotations

from functools import partial
from typing import Any, NoReturn, Self
from urllib.parse import quote

import jsonschema_rs

from osbctl.jsonschemas import patterns
from osbctl.jsonschemas.roots import Root, Side, Subschema
from osbctl.jsonschemas.walk import UndecidableError, references
from osbctl.paths import JsonValue, Path, entries, pointer
from osbctl.text import safe

MAX_JUDGEMENTS = 20_000
"""Small values judged by small schemas for one pair of schemas; beyond this differences are left undecided."""

_PARTS = 50
"""So many parts of a schema, values in a value, or errors count as one more judgement."""

_WORK = 5_000
"""Characters times a pattern's weight: so much counts as one more judgement."""

_ROOT = "urn:osbctl:schema"
_NOT_EVERYWHERE = ("contentEncoding", "contentMediaType", "dependencies")
"""What jsonschema-rs asserts under drafts that do not, or only may."""

_MARKS = {"exclusiveMaximum": "maximum", "exclusiveMinimum": "minimum"}
"""In draft-04 these mark the bounds that stand beside them."""


class Oracle:
    """Judges values by the schemas of both sides, at most `MAX_JUDGEMENTS` times."""

    def __init__(self) -> None:
        self.left = MAX_JUDGEMENTS
        self._judges: dict[tuple[int, Path, bool], Any] = {}
        self._registries: dict[int, Any] = {}
        self._weights: dict[tuple[int, Path], int] = {}

    def rested(self) -> Self:
        """This judge with all its judgements left; the validators that it has made are kept."""
        self.left = MAX_JUDGEMENTS
        return self

    def accepts(self, place: Subschema, value: JsonValue, formats: bool = False) -> bool | None:
        """Whether the value is valid there; None where that cannot be decided."""
        found = self._objections(place, value, formats, brief=True)
        return None if found is None else not found

    def objections(self, place: Subschema, value: JsonValue) -> frozenset[str] | None:
        """The keywords directly at this place that refuse the value, whether formats are asserted or not.

        Under a `not`, to assert a format is to refuse less.
        """
        plain = self._objections(place, value, formats=False, brief=False)
        if plain is None or not place.root.has_formats:
            return plain
        asserted = self._objections(place, value, formats=True, brief=False)
        return None if asserted is None else plain | asserted

    def _objections(self, place: Subschema, value: JsonValue, formats: bool, brief: bool) -> frozenset[str] | None:
        """As `objections`; `brief`: any of them will do."""
        if isinstance(place.value, bool):
            return frozenset() if place.value else frozenset({""})
        errors = self.errors(place, value, formats, brief)
        if errors is None:
            return None
        # The first step is our own reference to the place.
        named = (str(error.evaluation_path[1]) for error in errors)
        return frozenset(_MARKS.get(name, name) if place.root.dialect.year < 2014 else name for name in named)

    def errors(
        self, place: Subschema, value: JsonValue, formats: bool = True, brief: bool = False
    ) -> list[jsonschema_rs.ValidationError] | None:
        """The errors of a value; None where it cannot be judged, or not within the bounds."""
        if self.left <= 0:
            return None
        self.left -= 1 + self._weight(place) + _size(value) // _PARTS
        heaviest = place.root.heaviest_pattern
        if heaviest:
            longest = _longest_text(value)
            self.left -= longest * heaviest // _WORK
            if self.left < 0 or not patterns.affordable(longest, heaviest):
                return None
        judge = self._judge(place, formats)
        if judge is None:
            return None
        try:
            if brief and judge.is_valid(value):
                return []
            errors = list(judge.iter_errors(value))
        except Exception:  # Whatever it trips over, the value is not judged.
            return None
        self.left -= len(errors) // _PARTS
        return None if any(patterns.gave_up(error) for error in errors) else errors

    def _judge(self, place: Subschema, formats: bool) -> Any:
        """The validator of this place; None where it cannot be made, which takes its time and is tried once."""
        formats = formats and place.root.has_formats
        key = (id(place.root), place.pointer, formats)
        if key not in self._judges:
            try:
                self._judges[key] = self._made(place, formats)
            except Exception:  # A pattern that no engine takes, or that they take for too large.
                self._judges[key] = None
        return self._judges[key]

    def _made(self, place: Subschema, formats: bool) -> Any:
        dialect = place.root.dialect
        make = partial(
            getattr(jsonschema_rs, dialect.validator),
            {"$ref": f"{_ROOT}#{quote(pointer(place.pointer))}"},
            registry=self._registry(place.root),
            retriever=_fetch_nothing,
            validate_formats=formats,
            keywords={name: _Silent for name in _NOT_EVERYWHERE if name not in dialect.keywords},
        )
        quick, patient = patterns.ENGINES
        try:
            return make(pattern_options=quick)
        except ValueError:
            return make(pattern_options=patient)

    def _weight(self, place: Subschema) -> int:
        """What the schema costs beside a small one; a reference in it may lead to the whole."""
        key = (id(place.root), place.pointer)
        if key not in self._weights:
            refers = any(True for _ in references(place.value))
            self._weights[key] = _tables(place.root.value if refers else place.value) // _PARTS
        return self._weights[key]

    def _registry(self, root: Root) -> Any:
        if id(root) not in self._registries:
            draft = getattr(jsonschema_rs, root.dialect.validator.removesuffix("Validator"))
            self._registries[id(root)] = jsonschema_rs.Registry(
                [(_ROOT, root.unnamed)], draft=draft, retriever=_fetch_nothing
            )
        return self._registries[id(root)]


def checked(side: Side, schema: JsonValue) -> Root:
    """The schema as a tree that was found fit to be reasoned about. Raises `UndecidableError`."""
    root = Root(side, schema)
    check_schema(root)
    return root


def check_schema(root: Root) -> None:
    """Raises `UndecidableError` for what is no schema, with the place, or is beyond what can be judged here."""
    for place in map(_broken_at, (root.top, *root.unread)):
        if place is not None:
            where = f" at {safe(place[:80])}" if place else ""
            raise UndecidableError(f"it is not a valid {root.dialect.name} schema{where}")
    root.check()


def _broken_at(place: Subschema) -> str | None:
    """The JSON pointer to where the schema is not valid under the metaschema of its draft; None where it is valid."""
    if not isinstance(place.value, dict):
        return None if isinstance(place.value, bool) else pointer(place.pointer)
    try:
        jsonschema_rs.meta.validate({**place.value, "$schema": place.root.dialect.uri})
    except jsonschema_rs.ValidationError as error:
        return pointer((*place.pointer, *error.instance_path))
    except (ValueError, jsonschema_rs.ReferencingError):
        return pointer(place.pointer)
    return None


def _size(value: JsonValue) -> int:
    """How many values there are in a value, itself among them."""
    return 1 + sum(_size(inner) for _, inner in entries(value))


def _tables(value: JsonValue) -> int:
    return isinstance(value, dict) + sum(_tables(inner) for _, inner in entries(value))


def _longest_text(value: JsonValue) -> int:
    if isinstance(value, str):
        return len(value)
    return max((max(_longest_text(key), _longest_text(inner)) for key, inner in entries(value)), default=0)


class _Silent:
    """A keyword that refuses nothing."""

    def __init__(self, *_: object) -> None:
        pass

    def validate(self, _: object) -> None:
        pass


def _fetch_nothing(uri: str) -> NoReturn:
    raise ValueError(uri)
