"""Read YAML 1.2 text as JSON values: a builder over libyaml's events.

Plain scalars have the types of the core schema (10.3.2); where readers of YAML 1.1 differ, there is a warning.

PyYAML's `compose` and `load` are not used: they read YAML 1.1, take the last of two equal keys, refuse an anchor that
is defined twice, overflow the C stack on deep text, and are six times as slow.
"""

import math
import re
from collections.abc import Callable
from itertools import repeat
from typing import Any

import yaml
from yaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent
from yaml.scanner import ScannerError

from osbctl.findings import DocumentError, Finding, Fix, Severity
from osbctl.messages import SECRET
from osbctl.paths import nesting_depth
from osbctl.sources.places import (
    DECIMAL_COMMA,
    MAX_PROBLEMS,
    FaultRecorder,
    Span,
    fault_error,
    fault_findings,
    is_decimal_comma,
)
from osbctl.sources.read_bytes import DEFAULT_LIMITS, MAX_DIGITS, Limits
from osbctl.text import LIST_HINT

_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")
MERGE = object()
"""Stands for the key `<<` while a mapping is built."""


CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

NUMERIC = frozenset("0123456789+-.")
"""First characters of plain scalars that may be numbers."""

BOOLEANS_OF_1_1 = frozenset(
    form for word in ("y", "n", "yes", "no", "on", "off") for form in (word, word.capitalize(), word.upper())
)

_NUMBER = re.compile(
    r"(?P<integer>[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)

_OTHERWISE_IN_1_1 = re.compile(
    r"(?=[-+]?(?:0|[0-9.]*[_:eE]|[0-9]{4}-))"  # excludes most scalars at once
    r"(?:(?P<octal>[-+]?0[0-7]+)"
    r"|(?P<text>[-+]?0[0-9]+|0o[0-7]+|[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][0-9]+|[-+]?[0-9]+[eE][-+][0-9]+)"
    r"|(?P<hexadecimal>[-+]?0x(?=[0-9a-fA-F]*_|[-+])[0-9a-fA-F_]+|[-+]0x[0-9a-fA-F_]+)"
    r"|(?P<binary>[-+]?0b[01_]+)"
    r"|(?P<decimal>[-+]?(?=[0-9_]*_)[0-9][0-9_]*(?:\.[0-9_]*)?)"
    r"|(?P<sexagesimal>[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)"
    r"|(?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?))"
)
_MEANINGS = {"text": "text", "date": "a date", "sexagesimal": "a number of base 60"}
_BASES = {"octal": 8, "hexadecimal": 16, "binary": 2, "decimal": 10}


def parse(text: str, name: str, limits: Limits = DEFAULT_LIMITS, *, locates: bool = False) -> "Builder":
    """Build the value of a text, with its span if it `locates`. Raises DocumentError: it is not one document."""
    builder = Builder(text, name, limits, locates=locates)
    try:
        builder.build()
    except DocumentError:
        from osbctl.sources.yaml_syntax import PlaceholderLoader, mask_placeholders

        if mask_placeholders(text) == text:
            raise
        builder = Builder(text, name, limits, PlaceholderLoader, locates=locates)
        builder.build()
    return builder


class Builder(FaultRecorder):
    """A builder of one document, and of its spans if asked. Recursive, as the depth is limited.

    Offsets are libyaml's indexes. Its lines are not used: NEL, LS and PS also end one there, as in YAML 1.1.
    """

    def __init__(
        self, text: str, name: str, limits: Limits, loader: Any = yaml.CSafeLoader, *, locates: bool = False
    ) -> None:
        super().__init__(text, name, limits.depth)
        self.value: Any = None
        self.notes: list[Finding] = []
        self.span = Span(0, 0)  # of the value that was built last
        self._loader, self._locates, self._limits = loader, locates, limits
        self._omitted_notes = 0
        self._path: list[Any] = []  # of the value under construction; `MERGE` below `<<`
        # Values with their sizes (aliases expanded); 0 while what is anchored is not complete.
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._last_alias: Any = None
        self._nodes = 0
        self._strings: dict[str, str] = {}  # keys and values repeat: each is kept once
        self._key_range = (0, 0)  # of the value that is built next

    def build(self) -> None:
        """Build the `value` of the only document. Raises DocumentError: the text is not YAML, or not one document.

        `notes` are warnings about scalars that differ in YAML 1.1, `faults` what JSON does not have. `span` is that of
        the value, with those of the values in it. What an alias or a merge key stands for is located at its anchor.
        """
        try:
            self._build()
        except DocumentError as error:
            if not self._locates and error.findings[-1].rule == "syntax":  # again: spans tell what is secret in a line
                Builder(self._text, self._name, self._limits, self._loader, locates=True).build()
            raise

    def _build(self) -> None:
        try:
            self.value = value = self._build_only_document()
        except yaml.YAMLError as error:
            # libyaml 0.2.6 refuses 1,000 levels itself, before it returns an event of a line that it has to read ahead.
            if isinstance(error, ScannerError) and error.problem == "exceeded maximum nesting depth":
                assert error.problem_mark
                self._fail_too_deep(error.problem_mark.index)
            from osbctl.sources.yaml_syntax import syntax_finding  # its patterns take long to compile

            self._mask_unread()
            faults = fault_findings(self.faults, self._lines)
            raise DocumentError((*faults, syntax_finding(error, self._text, self._lines))) from error
        if self._last_alias and nesting_depth(value) > self._depth:
            self._fail_too_deep(self._last_alias.start_mark.index)
        if isinstance(value, dict) and any(key.startswith("\u00a0") for key in value):
            from osbctl.sources.yaml_syntax import find_no_break_space

            if found := find_no_break_space(self._text, self._lines):
                raise DocumentError((*fault_findings(self.faults, self._lines), found))
        if self._omitted_notes:
            message = f"{self._omitted_notes + 1:,} more scalars, from here on, mean something else in YAML 1.1"
            self.notes[-1] = self.notes[-1]._replace(sentence=message, fixes=())

    def _build_only_document(self) -> Any:
        loader = self._loader(self._text)
        get: Any = loader.get_event
        self._get = get
        try:
            get()  # the start of the stream
            if isinstance(get(), yaml.StreamEndEvent):
                self._fail("empty-document", "the document is empty", 0)
            event = get()
            is_empty = type(event) is ScalarEvent and not event.value and not event.style and event.tag is None
            if is_empty:
                self._report("empty-document", "the document is empty", 0)  # what follows it may say why
            value = self._build_value(event)
            if not self._locates:  # else it has been checked
                self._check_end(get)
            if is_empty:
                raise fault_error(self.faults, self._lines)
            for mark in getattr(loader, "placeholders", ()):
                self._report("syntax", "no value can begin with '@'", mark.index, "put the text in quotes")
        finally:
            loader.dispose()
        return value

    def _check_end(self, get: Callable[[], Any]) -> None:
        """Report a second document."""
        get()  # the end of the document
        event = get()
        if event is not None and not isinstance(event, yaml.StreamEndEvent):
            hint = "a catalog is one document: remove the --- or split the file"
            self._fail("several-documents", "a second document begins here", event.start_mark.index, hint)

    def _build_value(self, event: Any) -> Any:
        """Build the value that begins with `event`."""
        kind = type(event)
        if kind is ScalarEvent:
            value = self._build_scalar(event)
        elif kind is AliasEvent:
            value = self._resolve_alias(event)
        else:
            return self._build_collection(event)
        if self._locates:
            self.span = self._begin_span(event)
        return value

    def _begin_span(self, event: Any) -> Span:
        """The span of the value that begins with `event`, behind the key whose range was noted last."""
        kind, key, self._key_range, self._last = type(event), self._key_range, (0, 0), event.start_mark.index
        span = Span(event.start_mark.index, event.end_mark.index, key)
        if kind is AliasEvent:
            if self._anchors[event.anchor][1]:  # else it stands in its own anchor: that has no end
                span.target = self._anchor_spans[event.anchor]
            return span
        if event.anchor is not None:
            span.anchored = True
            self._anchor_spans[event.anchor] = span
        if kind is ScalarEvent:
            span.style = (event.style or "").strip("\0")
        else:
            span.flow, span.below, span.foreign, span.unread = bool(event.flow_style), {}, {}, []
            self._open_spans.append(span)
        return span

    def _build_collection(self, event: Any) -> Any:
        if event.tag is not None:
            self._report_unknown_tag(event)
        if len(self._path) >= self._depth:
            self._fail_too_deep(event.start_mark.index)
        value: Any = {} if type(event) is MappingStartEvent else []
        anchor, before, opened = event.anchor, self._nodes, (value, 0)
        if anchor is not None:
            self._anchors[anchor] = opened
        span = self._begin_span(event) if self._locates else None
        self._nodes += 1
        self._path.append(0)
        if isinstance(value, dict):
            event = self._fill_mapping(value, span)
        else:
            while type(event := self._get()) is not SequenceEndEvent:
                value.append(self._build_value(event))
                if span is not None:
                    span.below[self._path[-1]] = self.span
                self._path[-1] += 1
        self._path.pop()
        if span is not None:
            self._open_spans.pop()
            span.end = event.end_mark.index
            # It is underlined by its key alone; one without brackets has no end of its own.
            span.shown_end = span.key[1] or (span.end if span.flow else span.start)
            self.span = span
        # An equal anchor inside of it is the later one, and stays (YAML 1.2, 7.1).
        if anchor is not None and self._anchors[anchor] is opened:
            self._anchors[anchor] = (value, self._nodes - before)
        return value

    def _fill_mapping(self, container: dict[str, Any], span: Span | None) -> Any:
        """Read the entries of a mapping, with their spans if it has one; return the event that ends it."""
        offsets: dict[str, int] = {}
        begin = len(self.faults)
        merged: list[list[tuple[dict[str, Any], Span]]] = []
        while type(event := self._get()) is not MappingEndEvent:
            key = self._path[-1] = self._build_key(event, offsets)
            if span is not None:
                spans = self._begin_entry(span, event, key)
            event = self._get()
            is_scalar = type(event) is ScalarEvent and span is None  # most are: one call less
            value = self._build_scalar(event) if is_scalar else self._build_value(event)
            if span is not None and (spans is None or spans.setdefault(key, self.span) is not self.span):
                span.unread.append((key, self.span))
            if span is not None and (key == "field_name" or (key == "name" and "computed_inputs" in self._path)):
                span.name_input(value)
            if key is not MERGE:
                container[key] = value
                continue
            bases = value if isinstance(value, list) else [value]
            if all(isinstance(base, dict) for base in bases):
                below = self.span.meant.below.values() if isinstance(value, list) else ()
                merged.append([*zip(bases, below or repeat(self.span), strict=False)])
            else:
                self._report("syntax", "<< takes a mapping, or a list of mappings", event.start_mark.index)
        for base, base_span in (pair for group in reversed(merged) for pair in group):
            _merge(container, span, base, base_span)
        if len(self.faults) > begin:
            self._report_list_once(begin, offsets)
        return event

    def _begin_entry(self, span: Span, event: Any, key: Any) -> dict[Any, Span] | None:
        """Note the range of a key, which begins with `event`; return the part of `span` that takes its value's span."""
        self._last, self._key_range = event.start_mark.index, (event.start_mark.index, event.end_mark.index)
        # None: no path leads through a merge key, or one that is no text: a collection, or an alias of a number.
        if key is MERGE or type(event) not in (ScalarEvent, AliasEvent) or key[:1] == "\0":
            return None
        return span.below if type(event) is ScalarEvent else span.foreign

    def _report_list_once(self, begin: int, key_offsets: dict[str, int]) -> None:
        """Keep one fault, with its own hint, of a mapping with the keys 0, 1 and so on; `begin` is the first in it."""
        offsets = set(key_offsets.values())
        faults = self.faults[begin:]
        own = [fault for fault in faults if fault.rule == "key-not-string" and fault.offset in offsets]
        if own and [*key_offsets] == [str(number) for number in range(len(own))]:
            kept = [fault for fault in faults if fault.rule != "key-not-string" or fault.offset not in offsets]
            self.faults[begin:] = [own[0]._replace(hint=LIST_HINT), *kept]

    def _build_key(self, event: Any, key_offsets: dict[str, int]) -> Any:
        """The key that begins with `event`: `<<`, or a new string; `key_offsets` are those of the keys before it."""
        kind = type(event)
        if kind is ScalarEvent:
            self._path[-1] = event.value
            key = self._build_scalar(event)
            if self._locates and event.anchor is not None:
                self._begin_span(event)
            if key == "<<" and event.implicit[0] and event.tag is None:
                return MERGE
        elif kind is AliasEvent:
            key = self._resolve_alias(event)
        else:
            key = {}
        if type(key) is not str:
            self._report_key(event, key)  # before what is in it may fail
            if kind not in (ScalarEvent, AliasEvent):
                self._build_collection(event)
                if self._locates:
                    self._open_spans[-1].unread.append((MERGE, self.span))
            key = event.value if kind is ScalarEvent else f"\0{len(key_offsets)}"
        self._check_duplicate(key, event, key_offsets)
        return key

    def _report_key(self, event: Any, key: Any) -> None:
        """Report a key that is not a string."""
        at = event.start_mark.index
        kinds = {bool: "the boolean", int: "the number", float: "the number", str: "the string"}
        described = "null" if key is None else "a collection"
        if kind := kinds.get(type(key)):
            described = f"{kind} {event.value[:60] if type(event) is ScalarEvent else str(key)[:60]}"
        message, hint = "a key must be a string, not {}", "write it in quotes"
        if is_decimal_comma(self._text, at):
            message, hint = DECIMAL_COMMA
        if type(event) is MappingStartEvent and self._text[at - 1 : at + 1] == "{{":
            hint = "a template? render it first, or put it in quotes"
        self._report("key-not-string", message, at, hint, described)

    def _check_duplicate(self, key: str, event: Any, key_offsets: dict[str, int]) -> None:
        """Report a key that the mapping has already."""
        at = event.start_mark.index
        first = key_offsets.setdefault(key, at)
        if first != at:
            shown = repr(key[:60])
            message = "the key {} appears twice in one mapping"
            hint = "readers disagree about which one counts: remove one"
            self._report("duplicate-key", message, at, hint, shown, first)

    def _build_scalar(self, event: Any) -> Any:
        """The value of a scalar: a plain one is null, a boolean, a number, or its text."""
        self._nodes += 1
        text = event.value
        value: Any = self._strings.setdefault(text, text)
        if event.tag is not None:
            if event.tag not in _TEXT_TAGS:
                self._report_unknown_tag(event)
        elif event.implicit[0]:  # plain, not in quotes
            if text in CONSTANTS:
                value = CONSTANTS[text]
            elif text[0] in NUMERIC:
                value = self._convert_numeric_scalar(event)
            elif text in BOOLEANS_OF_1_1:
                self._add_1_1_note(event, _meaning_in_1_1(text), text)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 1)
        return value

    def _resolve_alias(self, event: Any) -> Any:
        """The value of an alias. Raises DocumentError: no such anchor, recursion, or too many values."""
        if event.anchor not in self._anchors:
            message = "there is no anchor {} before this"
            self._fail("syntax", message, event.start_mark.index, quoted=f"&{event.anchor}")
        value, size = self._anchors[event.anchor]
        if not size:
            self._report("recursive-alias", "{} refers to itself", event.start_mark.index, quoted=f"*{event.anchor}")
            return {}
        self._nodes += size
        if self._nodes > self._limits.nodes:
            message = f"more than {self._limits.nodes:,} values once aliases are expanded"
            self._fail("too-many-nodes", message, event.start_mark.index, "use fewer aliases")
        self._last_alias = event
        return value

    def _convert_numeric_scalar(self, event: Any) -> Any:
        """The value of a plain scalar that begins as a number does; its text if it is not a number."""
        text = event.value
        if text[0] != "0" and len(text) < 19 and text.isascii() and text.isdecimal():
            return int(text)  # most numbers, in every YAML version
        value, fault = _parse_number(text)
        if fault:
            hint = "write it in quotes, as a string"
            self._report("number-out-of-range", fault, event.start_mark.index, hint, text[:60])
            return 0
        if type(value) is not str or text[0] != ".":
            meaning = _meaning_in_1_1(text)
            if meaning:
                self._add_1_1_note(event, meaning, value)
        return value

    def _report_unknown_tag(self, event: Any) -> None:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!")[:60]
        message = "the tag {} does not fit here: a catalog is JSON, which has no tags"
        self._report("unknown-tag", message, event.start_mark.index, "remove the tag", tag)

    def _add_1_1_note(self, event: Any, meaning: str, value: Any) -> None:
        """Warn that YAML 1.1 reads a scalar as `meaning`, not as `value`."""
        if len(self.notes) >= MAX_PROBLEMS:
            self._omitted_notes += 1
            return
        here = "text" if isinstance(value, str) else str(value)
        message = f"YAML 1.1 reads {event.value[:60]} as {meaning[:60]}, YAML 1.2 as {here[:60]}"
        if self._is_in_secret():
            message = f"YAML 1.1 reads {SECRET} as another value than YAML 1.2"
        boolean = meaning in ("true", "false")
        hint = "write true or false, or put it in quotes" if boolean else "put it in quotes if it is text"
        place = self._lines.at_entry(event.start_mark.index, event.end_mark.index)
        fixes = (Fix("quote", ()),) if value == event.value else ()  # text here stays text; others saw something else
        note = Finding("yaml-1.1", Severity.WARNING, message, self._json_path(), place, hint=hint, fixes=fixes)
        self.notes.append(note)


def _merge(container: dict[str, Any], span: Span | None, base: dict[str, Any], base_span: Span) -> None:
    """Merge a mapping: own keys win, then those of a later `<<`, then those of the earlier mapping of its list."""
    for key, item in base.items():
        if key not in container:
            container[key] = item
            if span is not None and (inherited := base_span.child(key)):
                span.foreign[key] = inherited


def _parse_number(text: str) -> tuple[int | float | str, str]:
    """The number of a plain scalar, or the text itself; and why JSON cannot hold it, with `{}` for the number."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text, ""
    if match["integer"]:
        if len(text) > MAX_DIGITS:
            return text, f"an integer of {len(text)} digits; at most {MAX_DIGITS} are read"
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10)), ""
    if match["float"] is None:
        return text, "{} is not a number that JSON can hold"
    value = float(text)
    return value, "" if math.isfinite(value) else "{} is larger than any number that readers keep"


def _meaning_in_1_1(text: str) -> str:
    """YAML 1.1 meaning of a plain scalar, in words; empty if it does not differ."""
    if text in BOOLEANS_OF_1_1:
        return "true" if text.lower() in ("y", "yes", "on") else "false"
    match = _OTHERWISE_IN_1_1.fullmatch(text)
    if match is None or match.lastgroup in _MEANINGS:
        return _MEANINGS[match.lastgroup or ""] if match else ""
    try:
        return str(int(text.replace("_", ""), _BASES[match.lastgroup or ""]))
    except ValueError:  # a fraction, no digit at all, or thousands of them
        return "a number"
