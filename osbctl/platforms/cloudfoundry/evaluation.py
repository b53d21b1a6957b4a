"""What the Cloud Controller's JSON Schema library does to find out whether `{}` is valid under a schema.

It goes through the keywords in the order they stand in. Source: the gem json-schema 6.2.0,
lib/json-schema/attributes/ and validators/.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from osbctl.paths import Path
from osbctl.platforms.cloudfoundry.library import Library, LibraryRefusal, Schema, Trail, as_uri
from osbctl.platforms.cloudfoundry.patterns import BrokenPattern, check_pattern
from osbctl.platforms.cloudfoundry.ruby import RubyCrash, RubyError, index, no_method
from osbctl.platforms.cloudfoundry.uris import URI, InvalidURI, decoded, join
from osbctl.platforms.outcome import Refusal

Apply: TypeAlias = "Callable[[Evaluation, Schema, Any], bool]"
"""Whether `{}` is valid under a keyword of the schema, given with the keyword's value."""

_LONGEST_RUN = 20_000
"""More schemas than fit into 65,536 characters."""

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null", "any"})


def refusal(library: Library, schema: dict[str, Any]) -> Refusal | None:
    """What the library refuses in a schema that conforms to draft-04, and where in it. Raises RubyCrash for a loop."""
    trail = Trail()
    try:
        Evaluation(library, trail).holds(library.load(schema, trail))  # whether it does is of no interest
    except LibraryRefusal as refused:
        return Refusal(refused.rule, trail.path, refused.message)
    except BrokenPattern as error:
        return Refusal("cloudfoundry-schema-pattern", (*trail.path, error.pattern), str(error))
    except (RubyError, InvalidURI) as error:
        return Refusal("cloudfoundry-schema-reference", trail.path, str(error))
    finally:
        library.forget()
    return None


class Evaluation:
    """One validation of `{}`; what it finds for a schema is kept, as references lead to it many times."""

    def __init__(self, library: Library, trail: Trail) -> None:
        self._library = library
        self._trail = trail
        self._running: set[tuple[int, str, int]] = set()
        self._done: dict[tuple[int, str, int], tuple[bool, Any]] = {}
        self._steps = 0

    def holds(self, schema: Schema) -> bool:
        """Whether `{}` is valid. Raises Refusal, RubyError or InvalidURI as the library would, RubyCrash for a loop."""
        key = (id(schema.value), str(schema.uri), schema.draft)
        if key in self._running:
            raise RubyCrash(schema.path)
        if key not in self._done:
            self._running.add(key)
            holds = self._holds(schema)
            self._running.discard(key)
            self._done[key] = holds, schema.value  # the value is kept, so that its id is not used again
        return self._done[key][0]

    def _holds(self, schema: Schema) -> bool:
        self._step(schema)
        if not isinstance(schema.value, dict):
            raise no_method("each", schema.value)
        keywords = _KEYWORDS[schema.draft]
        for keyword in schema.value:
            apply = keywords.get(keyword)
            if apply is not None:
                self._trail.path = (*schema.path, keyword)
                if not apply(self, schema, schema.value[keyword]):
                    return False
        return True

    def _step(self, schema: Schema) -> None:
        """Some schemas keep the library busy for ages; that is as bad as a loop."""
        self._steps += 1
        if self._steps > _LONGEST_RUN:
            raise RubyCrash(schema.path)

    def _below(self, schema: Schema, value: Any, place: Path) -> bool:
        """Whether `{}` is valid under a schema that stands in this one."""
        return self.holds(self._library.new(value, schema.uri, schema.draft, (*schema.path, *place), self._trail))

    def all_of(self, schema: Schema, value: Any) -> bool:
        """`allOf`: each is looked at, even after one that failed."""
        held = [self._below(schema, item, ("allOf", place)) for place, item in _numbered(value)]
        return all(held)

    def any_of(self, schema: Schema, value: Any) -> bool:
        """`anyOf`: up to the first that holds."""
        return any(self._below(schema, item, ("anyOf", place)) for place, item in _numbered(value))

    def one_of(self, schema: Schema, value: Any) -> bool:
        """`oneOf`: each is looked at."""
        return sum([self._below(schema, item, ("oneOf", place)) for place, item in _numbered(value)]) == 1

    def not_(self, schema: Schema, value: Any) -> bool:
        """`not`."""
        return not self._below(schema, value, ("not",))

    def type_v3(self, schema: Schema, value: Any) -> bool:
        """`type` up to draft-03, where a list may hold schemas."""
        return self._any_type(schema, "type", value)

    def disallow(self, schema: Schema, value: Any) -> bool:
        """`disallow` up to draft-03."""
        return not self._any_type(schema, "disallow", value)

    def _any_type(self, schema: Schema, keyword: str, value: Any) -> bool:
        if not isinstance(value, list):
            return isinstance(value, str) and _takes_object(value)
        return any(
            self._below(schema, item, (keyword, place))
            if isinstance(item, dict)
            else isinstance(item, str) and _takes_object(item)
            for place, item in enumerate(value)
        )

    def additional_properties(self, schema: Schema, _value: Any) -> bool:
        """`additionalProperties`: looks at the patterns, and into what the schema extends."""
        if schema.value.get("type") in (None, "object"):
            self._neighbours(schema)
        return True

    def _neighbours(self, schema: Schema) -> None:
        self._step(schema)
        _pattern_properties(schema.value.get("patternProperties"))
        extended = schema.value.get("extends")
        if extended is None or extended is False:
            return
        for place, item in enumerate(extended if isinstance(extended, list) else [extended]):
            found = self._extended(schema, item, place)
            if found:
                self._neighbours(found)

    def extends(self, schema: Schema, value: Any) -> bool:
        """`extends`: any draft of the library applies it."""
        items = enumerate(value if isinstance(value, list) else [value])
        found = (self._extended(schema, item, place) for place, item in items)
        return all(one is not None and self.holds(one) for one in found)

    def _extended(self, schema: Schema, item: Any, place: int) -> Schema | None:
        if not isinstance(item, dict):
            return None
        value = item
        if item.get("$ref") is not None and item["$ref"] is not False:
            target = self._referenced(schema._replace(value=item))
            if target and len(item) == 1:
                return target
            if target:
                rest = {key: inner for key, inner in item.items() if key != "$ref"}
                value = {**target.value, **rest}
        path = (*schema.path, "extends", place)
        return self._library.new(value, schema.uri, schema.draft, path, self._trail)

    def ref(self, schema: Schema, _value: Any) -> bool:
        """`$ref`, beside the other keywords of its schema."""
        target = self._referenced(schema)
        return target is not None and self.holds(target)

    def _referenced(self, schema: Schema) -> Schema | None:
        """The schema that `$ref` names, None where its document is not loaded."""
        uri = _resolved(schema.value.get("$ref"), schema.uri)
        document = self._library.find(str(uri).split("#")[0] + "#")
        if document is None:
            return None
        target, path = document.value, document.path
        for step in filter(None, (decoded(uri).fragment or "").split("/")):
            name = step.replace("~0", "~").replace("~1", "/")
            target, path = _step(target, name), (*path, name)
            if target is None:
                raise LibraryRefusal("cloudfoundry-schema-reference", "Custom meta schemas are not supported.")
        here = self._trail.path
        found = self._library.new(target, uri, schema.draft, path, self._trail)
        self._trail.path = here
        return found


def _takes_object(kind: Any) -> bool:
    return not isinstance(kind, str) or kind in ("object", "any") or kind not in _TYPES


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value.values() if isinstance(item, dict)] if isinstance(value, dict) else []


def _numbered(value: Any) -> Iterator[tuple[int, Any]]:
    """The items of a list, which `extends` may lead to without a look at what it is; a Hash has pairs."""
    if not isinstance(value, list | dict):
        raise no_method("each_with_index", value)
    return enumerate(value if isinstance(value, list) else map(list, value.items()))


def _required(value: Any) -> bool:
    """`required` of draft-04 and later."""
    if not isinstance(value, list | dict):
        raise no_method("each", value)
    return not value


def _properties_v3(value: Any) -> bool:
    """`properties` of draft-03: a property may say that it is required."""
    return not any(item.get("required") not in (None, False) for item in _dicts(value))


def _properties_v2(value: Any) -> bool:
    """`properties` of draft-01 and draft-02: a property is required unless it is optional."""
    return all(item.get("optional") not in (None, False) for item in _dicts(value))


def _pattern_properties(value: Any) -> bool:
    """`patternProperties`: every pattern is compiled, though there is nothing to match."""
    for pattern in value if isinstance(value, dict) else ():
        check_pattern(pattern)
    return True


def _resolved(reference: Any, base: URI) -> URI:
    if reference is None or reference is False:
        raise no_method("defer_validation", None)
    uri = as_uri(reference)
    if uri.is_relative:
        path, _, rest = str(uri).partition("#")
        uri = _moved(base, path)._replace(fragment=rest.split("#")[0])
    return uri._replace(fragment=uri.fragment or "")


def _moved(base: URI, path: str) -> URI:
    if not path:
        return base
    if path.startswith("/"):
        return base._replace(path=re.sub("//+", "/", path))
    return join(base, path)


def _step(target: Any, name: str) -> Any:
    if isinstance(target, list):
        number = re.match(r"\s*([+-]?[0-9]+)", name)
        at = int(number[1]) if number else 0
        return target[at] if -len(target) <= at < len(target) else None
    return index(target, name)


def _alone(holds: Callable[[Any], bool]) -> Apply:
    """The keyword whose value decides by itself."""
    return lambda _evaluation, _schema, value: holds(value)


def _type_v4(_evaluation: Evaluation, schema: Schema, _value: Any) -> bool:
    """`type` of draft-04 and later: an unknown type takes anything. `disallow` is read as `type`."""
    types = schema.value.get("type")
    return any(map(_takes_object, types if isinstance(types, list) else [types]))


_ENUM = _alone(lambda value: not isinstance(value, list) or {} in value)
_OLDEST: dict[str, Apply] = {
    "type": Evaluation.type_v3,
    "disallow": Evaluation.disallow,
    "enum": _ENUM,
    "properties": _alone(_properties_v2),
    "additionalProperties": Evaluation.additional_properties,
    "extends": Evaluation.extends,
}
_DRAFT_3 = {
    **_OLDEST,
    "properties": _alone(_properties_v3),
    "patternProperties": _alone(_pattern_properties),
    "$ref": Evaluation.ref,
}
_DRAFT_4: dict[str, Apply] = {
    "type": _type_v4,
    "disallow": _type_v4,
    "allOf": Evaluation.all_of,
    "anyOf": Evaluation.any_of,
    "oneOf": Evaluation.one_of,
    "not": Evaluation.not_,
    "enum": _ENUM,
    "required": _alone(_required),
    "minProperties": _alone(lambda value: not isinstance(value, int | float) or value <= 0),
    "patternProperties": _alone(_pattern_properties),
    "additionalProperties": Evaluation.additional_properties,
    "extends": Evaluation.extends,
    "$ref": Evaluation.ref,
}
_KEYWORDS = {1: _OLDEST, 2: _OLDEST, 3: _DRAFT_3, 4: _DRAFT_4, 6: _DRAFT_4}
"""The keywords of each draft that have something to do with `{}`."""
