"""YAML 1.2 text to plain JSON values: a small builder over libyaml's events.

PyYAML's own composer and constructors are not used: they read YAML 1.1, take the last of two equal keys, refuse
an anchor that is defined twice, recurse in C until the process dies, and are six times as slow.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import yaml
from yaml import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from osbctl.errors import DocumentError
from osbctl.findings import Finding, Severity
from osbctl.sources.json_reader import MAX_DIGITS, MAX_PROBLEMS
from osbctl.sources.limits import allow_depth
from osbctl.sources.text_lines import Lines
from osbctl.sources.yaml_scalars import BOOLEANS_OF_1_1, CONSTANTS, NUMERIC, OutOfRange, numeric, seen_by_1_1
from osbctl.sources.yaml_syntax import syntax_finding

if TYPE_CHECKING:
    from typing import NoReturn

    from osbctl.findings import Path
    from osbctl.sources.limits import Limits

_TAG = "tag:yaml.org,2002:"
_MERGE = object()
"""Stands for the key `<<` while a mapping is built."""


def parse(text: str, name: str, limits: Limits) -> tuple[Any, tuple[Finding, ...]]:
    """The value that `text` holds, and warnings about scalars that YAML 1.1 readers see otherwise.

    Raises:
        DocumentError: the text is no YAML, or YAML that is no JSON value.
    """
    builder = _Builder(text, name, limits)
    enabled = gc.isenabled()
    gc.disable()  # nothing that is built here is garbage, and looking for it takes a third of the time
    try:
        value = builder.build()
    except yaml.YAMLError as error:
        raise DocumentError((*builder.problems, syntax_finding(error, text, Lines(name, text)))) from error
    finally:
        if enabled:
            gc.enable()
    if builder.problems:
        raise DocumentError(tuple(builder.problems[:MAX_PROBLEMS]))
    return value, tuple(builder.notes)


class _Frame:
    """A collection under construction. `keys` holds the mark of each key of a mapping, None for a sequence."""

    __slots__ = ("anchor", "before", "container", "height", "key", "keys", "merged")

    def __init__(self, container: Any, anchor: str | None, before: int) -> None:
        self.container = container
        self.keys: dict[str, Any] | None = {} if type(container) is dict else None
        self.key: Any = None
        self.anchor = anchor
        self.before = before
        self.height = 1
        self.merged: list[dict[str, Any]] | None = None


class _Anchored:
    """What an anchor stands for, with its size (aliases expanded) and height."""

    __slots__ = ("height", "size", "value")

    def __init__(self, value: Any, size: int, height: int) -> None:
        self.value = value
        self.size = size
        self.height = height


class _Builder:
    def __init__(self, text: str, name: str, limits: Limits) -> None:
        self.problems: list[Finding] = []
        self.notes: list[Finding] = []
        self._text = text
        self._name = name
        self._limits = limits
        self._lines: Lines | None = None
        self._stack: list[_Frame] = []
        self._anchors: dict[str, _Anchored | None] = {}
        self._nodes = 0
        self._strings: dict[str, str] = {}

    def build(self) -> Any:
        """The value of the one document."""
        loader = yaml.CSafeLoader(self._text)
        try:
            get = loader.get_event
            get()  # the start of the stream
            if isinstance(get(), yaml.StreamEndEvent):
                self._stop("empty-document", "the document is empty", None)
            value = self._document(get)
            get()  # the end of the document
            event = get()
            if event is not None and not isinstance(event, yaml.StreamEndEvent):
                hint = "a catalog is one document: remove the --- or split the file"
                self._problem("several-documents", "a second document begins here", event.start_mark, hint)
        finally:
            loader.dispose()
        return value

    def _document(self, get: Any) -> Any:  # noqa: C901  # the one hot loop: a call a scalar would double its time
        event = get()
        if type(event) is ScalarEvent and not event.value and event.style is None and event.tag is None:
            self._stop("empty-document", "the document is empty", None)
        stack = self._stack
        while True:
            kind = type(event)
            if kind is ScalarEvent:
                self._nodes += 1
                # The three ways of a scalar, by frequency: quoted, plain, tagged.
                if event.tag is not None:
                    value = self._tagged(event)
                elif event.implicit[0]:
                    value = event.value
                    if value in CONSTANTS:
                        value = CONSTANTS[value]
                    elif value[0] in NUMERIC:
                        value = self._numeric(event)
                    elif value in BOOLEANS_OF_1_1:
                        self._note(event, "a boolean")
                    elif value == "<<" and stack and stack[-1].keys is not None and stack[-1].key is None:
                        value = _MERGE
                else:
                    value = event.value
                if event.anchor is not None:
                    self._anchors[event.anchor] = _Anchored(value, 1, 0)
                done = self._put(value, event)
            elif kind is MappingStartEvent:
                done = self._open({}, event)
            elif kind is SequenceStartEvent:
                done = self._open([], event)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                done = self._close(event)
            else:
                done = self._alias(event)
            if done:
                return self._top
            event = get()

    def _put(self, value: Any, event: Any) -> bool:
        """Give a value to the collection under construction; True where it is the whole document."""
        if not self._stack:
            self._top = value
            return True
        frame = self._stack[-1]
        if frame.keys is None:
            frame.container.append(value)
        elif frame.key is None:
            self._put_key(frame, value, event)
        else:
            key = frame.key
            frame.key = None
            if key is _MERGE:
                self._merge(frame, value, event)
            elif key in frame.container and key in frame.keys and frame.keys[key][1]:
                pass  # the second of two equal keys: told already, the first one stays
            else:
                frame.container[key] = value
                frame.keys[key] = (frame.keys[key][0], True)
        return False

    def _put_key(self, frame: _Frame, key: Any, event: Any) -> None:
        assert frame.keys is not None
        if key is _MERGE:
            frame.key = _MERGE
            return
        if type(key) is not str:
            hint = "write it in quotes"
            self._problem("key-not-string", f"a key must be a string, not {self._shown(event)}", event.start_mark, hint)
            key = f"\0{event.start_mark.index}"
        key = self._strings.setdefault(key, key)
        if key in frame.keys:
            first = frame.keys[key][0]
            message = (
                f"the key {key[:60]!r} stands twice in one mapping; first at line {first.line + 1}, "
                f"column {first.column + 1}"
            )
            hint = "readers disagree about which one counts: remove one"
            self._problem("duplicate-key", message, event.start_mark, hint)
        else:
            frame.keys[key] = (event.start_mark, False)
        frame.key = key

    def _open(self, container: Any, event: Any) -> bool:
        if event.tag is not None and event.tag not in (
            "!",
            _TAG + ("map" if type(container) is dict else "seq"),
        ):
            self._unknown_tag(event)
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.keys is not None and frame.key is None:
            self._stop("key-not-string", "a key must be a string, not a collection", event.start_mark)
        if len(self._stack) >= self._limits.depth:
            self._too_deep(event)
        allow_depth(len(self._stack))
        self._nodes += 1
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._stack.append(_Frame(container, event.anchor, self._nodes - 1))
        return False

    def _close(self, event: Any) -> bool:
        frame = self._stack.pop()
        value = frame.container
        if frame.merged:
            for base in frame.merged:
                for key, item in base.items():
                    value.setdefault(key, item)
        if frame.anchor is not None:
            self._anchors[frame.anchor] = _Anchored(value, self._nodes - frame.before, frame.height)
        if self._stack:
            above = self._stack[-1]
            above.height = max(above.height, frame.height + 1)
        return self._put(value, event)

    def _alias(self, event: Any) -> bool:
        assert type(event) is AliasEvent
        if event.anchor not in self._anchors:
            self._stop("syntax", f"there is no anchor &{event.anchor} before this", event.start_mark)
        anchored = self._anchors[event.anchor]
        if anchored is None:
            self._stop("recursive-alias", f"*{event.anchor} stands inside of what it means", event.start_mark)
        self._nodes += anchored.size
        if self._nodes > self._limits.nodes:
            message = f"more than {self._limits.nodes:,} values once aliases are expanded"
            self._stop("too-many-nodes", message, event.start_mark, "raise the limit with --max-nodes")
        if len(self._stack) + anchored.height > self._limits.depth:
            self._too_deep(event)
        if self._stack:
            self._stack[-1].height = max(self._stack[-1].height, anchored.height + 1)
        allow_depth(len(self._stack) + anchored.height)
        return self._put(anchored.value, event)

    def _merge(self, frame: _Frame, value: Any, event: Any) -> None:
        bases = value if isinstance(value, list) else [value]
        if not all(isinstance(base, dict) for base in bases):
            self._problem("syntax", "<< takes a mapping, or a list of mappings", event.start_mark)
            return
        frame.merged = [*(frame.merged or []), *bases]

    def _numeric(self, event: Any) -> Any:
        try:
            value = numeric(event.value, MAX_DIGITS)
        except OutOfRange as error:
            self._problem("number-out-of-range", str(error), event.start_mark, "write it in quotes, as a string")
            return 0
        if type(value) is not str or event.value[0] != ".":
            meaning = seen_by_1_1(event.value)
            if meaning:
                self._note(event, meaning)
        return value

    def _tagged(self, event: Any) -> Any:
        tag, text = event.tag, event.value
        if tag in ("!", _TAG + "str"):
            return text
        if tag == _TAG + "null" and CONSTANTS.get(text, text) is None:
            return None
        if tag == _TAG + "bool" and isinstance(CONSTANTS.get(text), bool):
            return CONSTANTS[text]
        if tag in (_TAG + "int", _TAG + "float") and text and text[0] in NUMERIC:
            value = self._numeric(event)
            if isinstance(value, int) and tag.endswith("int"):
                return value
            if isinstance(value, int | float) and tag.endswith("float"):
                return float(value)
        self._unknown_tag(event)
        return text

    def _unknown_tag(self, event: Any) -> None:
        tag = event.tag.replace(_TAG, "!!")
        message = f"the tag {tag[:60]} does not fit here: a catalog is JSON, and JSON knows no such type"
        self._problem("unknown-tag", message, event.start_mark, "remove the tag")

    def _too_deep(self, event: Any) -> NoReturn:
        message = f"nested deeper than {self._limits.depth} levels"
        self._stop("nesting-too-deep", message, event.start_mark, "raise the limit with --max-depth")

    def _note(self, event: Any, meaning: str) -> None:
        if len(self.notes) >= MAX_PROBLEMS:
            return
        word = event.value[:60]
        message = f"YAML 1.1 readers take {word} for {meaning}; here it is {self._shown(event)}"
        hint = (
            "write true or false, or put it in quotes" if meaning == "a boolean" else "put it in quotes if it is text"
        )
        place = self._at(event.start_mark)
        self.notes.append(Finding("yaml-1.1", Severity.WARNING, message, self._path(), place, hint=hint))

    def _shown(self, event: Any) -> str:
        if type(event) is not ScalarEvent:
            return "a collection"
        value = CONSTANTS.get(event.value, event.value) if event.implicit[0] else event.value
        if isinstance(value, str) and event.implicit[0] and value[:1] in NUMERIC:
            value = numeric(value, MAX_DIGITS)
        kinds = {bool: "the boolean", int: "the number", float: "the number", str: "the string"}
        return f"{kinds[type(value)]} {event.value[:60]}" if value is not None else "null"

    def _path(self) -> Path:
        """The path of the value that is read now."""
        steps: list[str | int] = []
        for frame in self._stack:
            step = frame.key if frame.keys is not None else len(frame.container)
            if isinstance(step, str | int):
                steps.append(step)
        return tuple(steps)

    def _at(self, mark: Any) -> Any:
        self._lines = self._lines or Lines(self._name, self._text)
        return self._lines.at_line(mark.line + 1, mark.column + 1) if mark else self._lines.at(0)

    def _problem(self, rule: str, message: str, mark: Any, hint: str = "") -> None:
        self.problems.append(Finding(rule, Severity.ERROR, message, (), self._at(mark), hint=hint))

    def _stop(self, rule: str, message: str, mark: Any, hint: str = "") -> NoReturn:
        self._problem(rule, message, mark, hint)
        raise DocumentError(tuple(self.problems[-MAX_PROBLEMS:]))
