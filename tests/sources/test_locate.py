"""Places by hand, in both formats, and the lines and columns they count."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.findings import DocumentError
from osbctl.paths import JsonPath, parse_pointer
from osbctl.sources.document import Document, parse_document
from osbctl.sources.places import Lines
from osbctl.sources.read_bytes import MAX_DEPTH
from tests.case import each

DEEP = MAX_DEPTH - 10

JSON = """{
  "services": [
    {"name": "db", "plans": [
      {"name": "small"},
      {"name": "large", "free": false}
    ]},
    3
  ]
}
"""

YAML = """# a comment
services:
- name: db
  plans:
    - name: small
    - {name: large, "free": false}
- 3
"""


def places(document: Document, *paths: tuple[str | int, ...]) -> list[tuple[int, int]]:
    found = document.locate(paths)
    return [(found[path].line, found[path].column) for path in paths]


PATHS: dict[JsonPath, tuple[tuple[int, int], tuple[int, int]]] = {
    (): ((1, 1), (2, 1)),
    ("services",): ((2, 3), (2, 1)),
    ("services", 0): ((3, 5), (3, 3)),
    ("services", 0, "name"): ((3, 6), (3, 3)),
    ("services", 0, "plans"): ((3, 20), (4, 3)),
    ("services", 0, "plans", 0): ((4, 7), (5, 7)),
    ("services", 0, "plans", 1, "name"): ((5, 8), (6, 8)),
    ("services", 0, "plans", 1, "free"): ((5, 25), (6, 21)),
    ("services", 1): ((7, 5), (7, 3)),
    ("services", 0, "plans", 1, "missing", "deeper"): ((5, 7), (6, 7)),
    ("services", 7, "name"): ((2, 3), (2, 1)),
    ("services", 1, "name"): ((7, 5), (7, 3)),
    ("nowhere",): ((1, 1), (2, 1)),
    (0,): ((1, 1), (2, 1)),
}
"""Line and column in `JSON` and in `YAML`."""


@each("name, text", [("a.json", JSON), ("a.yaml", YAML)])
def test_places_by_hand(name: str, text: str) -> None:
    document = parse_document(text.encode(), name)
    assert places(document, *PATHS) == [at[name == "a.yaml"] for at in PATHS.values()]
    assert document.locate([]) == {}


@each("end", ["\n", "\r\n", "\r"])
@each("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks(end: str, mark: str) -> None:
    for text, name, at in (
        ('{"😀":\n\t1,\n  "b": "日本", "c": 1}', "a.json", [(1, 2), (3, 3), (3, 14)]),
        ('"😀": 1\nx: y\n"b": "日本"\n"c": 1\n', "a.yaml", [(1, 1), (3, 1), (4, 1)]),
        ('{"😀": 1,\n  x: y, b: "日本", "c": 1}', "a.yaml", [(1, 2), (2, 9), (2, 18)]),
    ):
        document = parse_document((mark + text.replace("\n", end)).encode(), name)
        assert places(document, ("😀",), ("b",), ("c",)) == at
        assert document.locate([("c",)])[("c",)].excerpt == text.split("\n")[at[2][0] - 1]


@each("mark", ["\u0085", "\u2028", "\u2029"])
def test_breaks_of_yaml_1_1_are_no_line_ends(mark: str) -> None:
    """libyaml counts them; editors and YAML 1.2 (5.4) do not."""
    document = parse_document(f"a: 'x{mark}y'\nb: 1\n".encode(), "a.yaml")
    assert places(document, ("a",), ("b",)) == [(1, 1), (2, 1)]
    assert document.locate([("b",)])[("b",)].excerpt == "b: 1"


def test_faults_behind_wide_characters_and_crlf() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_document("# 😀\r\n😀: {x: 1, é: 2, é: 3}\r\n".encode(), "a.yaml")
    location = caught.value.findings[0].location
    assert location is not None
    assert (location.line, location.column, location.excerpt) == (2, 17, "😀: {x: 1, é: 2, é: 3}")


@each(
    "name, text", [("a.json", '{"a":' * DEEP + "1" + "}" * DEEP), ("a.yaml", "a: " + "{a: " * DEEP + "1" + "}" * DEEP)]
)
def test_deep_paths(name: str, text: str) -> None:
    document = parse_document(text.encode(), name)
    path = ("a",) * DEEP
    column = 2 + 5 * (DEEP - 1) if name == "a.json" else 5 + 4 * (DEEP - 2)
    assert places(document, path) == [(1, column)]


def test_many_places_on_one_long_line_share_its_text() -> None:
    text = '{"a": [' + ",".join(["1"] * 20_000) + "]}\n"
    found = parse_document(text.encode(), "a.json").locate([("a", i) for i in range(1000)])
    assert len({id(place.excerpt) for place in found.values()}) == 1
    assert found[("a", 999)].column == 8 + 2 * 999


@each("name, text, path, under", [
    ("a.yaml", "free: yes  # why\n", ("free",), "free: yes"),
    ("a.yaml", "a: {free: no, b: 1}\n", ("a", "free"), "free: no"),
    ("a.yaml", "a: {free: no, b: 1}\n", ("a",), "a"),
    ("a.yaml", "a: [x, 'y z']\n", ("a", 1), "'y z'"),
    ("a.yaml", "a:\n  - {b: 1} # c\n", ("a", 0), "{b: 1}"),
    ("a.yaml", "a:\n  - b: 1\n    c: 2\n", ("a", 0), ""),
    ("a.yaml", "a: |\n  text\n", ("a",), "a: |"),
    ("a.yaml", "a: &x 1\nb: *x\n", ("b",), "b: *x"),
    ("a.json", '{"free": "no" , "b": 1}', ("free",), '"free": "no"'),
    ("a.json", '{"a": [1, {"b": 2}]}', ("a", 1), '{"b": 2}'),
    ("a.json", '{"a": [1, {"b": 2}]}', ("a",), '"a"'),
    ("a.json", '{"a": [{\n"b": 2}]}', ("a", 0), "{"),
])  # fmt: skip
def test_a_place_ends_where_its_value_ends(name: str, text: str, path: JsonPath, under: str) -> None:
    place = parse_document(text.encode(), name).locate([path])[path]
    assert place.excerpt[place.column - 1 : max(place.end - 1, 0)] == under


def test_lines_are_the_same_in_whatever_order_they_are_asked_for() -> None:
    text = "a\n\n\tbc: ünd\n  😀 d\n" * 50
    offsets = [*range(len(text) + 1)]
    Random(1).shuffle(offsets)
    lines = Lines("x", text)
    for offset in offsets:
        before = text[:offset].split("\n")
        assert lines.at(offset)[1:4] == (len(before), len(before[-1]) + 1, text.split("\n")[len(before) - 1])


def test_ten_thousand_places_take_time_in_proportion() -> None:
    data = json.dumps({"services": [{"plans": [{"": "{"}] * 10_000, "metadata": {"\\": [1]}}]}).encode()
    document = parse_document(data, "x.json")
    start = time.process_time()
    found = document.locate([("services", 0, "plans", n, "") for n in range(10_000)])
    assert time.process_time() - start < 1
    assert found["services", 0, "plans", 9_999, ""].column == data.rindex(b'"": "{"') + 1


# Anchors, aliases and merge keys in any tangle: values and places as a writer that knows both has set them.


@dataclass
class Node:
    """A value that was written, and for each step into it where that stands and what is there."""

    value: Any
    below: dict[Any, tuple[int, "Node"]] = field(default_factory=dict)

    def put(self, key: str, at: int, item: "Node") -> None:
        self.value[key] = item.value
        self.below[key] = (at, item)


class Writer:
    """Writes a random YAML mapping in flow style, with few anchor names so that they are defined again and again."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.text = ""
        self.anchors: dict[str, Node] = {}
        self.top = Node({})
        for number in range(random.randrange(1, 6)):
            at = len(self.text)
            self.text += f"top{number}: "
            self.top.put(f"top{number}", at, self.node(3)[1])
            self.text += "\n"

    def items(self, most: int, breaks: tuple[str, ...]) -> Iterator[int]:
        """The numbers of fewer than `most` items, each once the comma before it is written."""
        for index in range(self.random.randrange(most)):
            self.text += ("," if index else "") + self.random.choice(breaks)
            yield index

    def node(self, depth: int) -> tuple[int, Node]:
        """The offset of a node, and the node."""
        at = len(self.text)
        if self.anchors and self.random.random() < 0.25:
            return at, self.alias(list(self.anchors))
        anchor = f"a{self.random.randrange(4)}" if self.random.random() < 0.4 else ""
        if anchor:
            self.text += f"&{anchor} "
            self.anchors.pop(anchor, None)  # from here on it means this node, which is not complete
        kinds = [self.mapping, self.mapping, self.sequence, self.scalar] if depth else [self.scalar]
        node = self.random.choice(kinds)(depth)
        if anchor:
            self.anchors.setdefault(anchor, node)  # an equal anchor inside of it is the later one
        return at, node

    def alias(self, names: list[str]) -> Node:
        name = self.random.choice(names)
        self.text += f"*{name} "
        return self.anchors[name]

    def scalar(self, depth: int) -> Node:
        text = f"s{len(self.text)}"
        self.text += text
        return Node(text)

    def sequence(self, depth: int) -> Node:
        node = Node([])
        self.text += "["
        for index in self.items(4, ("", " ", "\n  ")):
            at, item = self.node(depth - 1)
            node.value.append(item.value)
            node.below[index] = (at, item)
        self.text += "]"
        return node

    def mapping(self, depth: int) -> Node:
        node = Node({})
        merges: list[list[Node]] = []
        self.text += "{"
        for _ in self.items(5, (" ", "\n  ")):
            bases = [name for name, known in self.anchors.items() if isinstance(known.value, dict)]
            if bases and self.random.random() < 0.4:
                self.text += "<<: "
                merges.append(self.bases(bases))
                continue
            at = len(self.text)
            key = self.random.choice([key for key in "klmnopq" if key not in node.value])
            self.text += f"{key}: "
            node.put(key, at, self.node(max(depth - 1, 0))[1])
        self.text += "}"
        for base in [base for group in reversed(merges) for base in group]:
            for key, (at, item) in base.below.items():
                if key not in node.value:
                    node.put(key, at, item)
        return node

    def bases(self, names: list[str]) -> list[Node]:
        if self.random.random() < 0.5:
            return [self.alias(names)]
        self.text += "["
        found = [self.alias(names) for _ in self.items(3, (" ",))]
        self.text += "]"
        return found


def written_places(node: Node, path: JsonPath = ()) -> Iterator[tuple[JsonPath, int]]:
    for step, (at, item) in node.below.items():
        yield (*path, step), at
        yield from written_places(item, (*path, step))


@pytest.mark.fuzz
@given(st.integers(min_value=0))
def test_values_and_places(seed: int) -> None:
    writer = Writer(Random(seed))
    document = parse_document(writer.text.encode(), "a.yaml")
    assert document.data == writer.top.value
    offsets = dict(list(written_places(writer.top))[:2_000])
    for path, place in document.locate(offsets).items():
        before = writer.text[: offsets[path]]
        assert (place.line, place.column) == (before.count("\n") + 1, len(before) - before.rfind("\n")), path


MERGED = "a: &a\n  p: 1\n  q: {r: 1}\nb: &b\n  p: 2\n  s: 2\nz:\n  <<: [*a, *b]\n  own: 1\ny:\n  <<: *a\n  <<: *b\n"


@each("text, value, at", [
    # The most recent anchor before the alias, in the order of the text (YAML 1.2, 7.1).
    ("a: &x [{k: 0}, &x {k: 1}]\nz: *x\n", {"k": 1}, {"/z/k": (1, 20)}),
    ("a: &x {p: &x {k: 1}}\nz: *x\n", {"k": 1}, {"/z/k": (1, 15)}),
    ("a: &x {p: &y {k: 1}, q: &x {k: 2}, r: *x}\nz: *x\n", {"k": 2}, {"/z/k": (1, 29)}),
    ("a: &x {p: &x {k: 1}}\nb: &x {k: 3}\nz: *x\n", {"k": 3}, {"/z/k": (2, 8)}),
    # The alias itself is where the path enters; what is below was written down at the anchor.
    ("b: &b {x: 1, y: [2, 3]}\nz:\n  - *b\n", [{"x": 1, "y": [2, 3]}], {"/z/0": (3, 5), "/z/0/y/1": (1, 21)}),
    # Merged keys stand where they were written, an overriding one at its own text.
    ("a: &x {k: 1}\nz: {<<: *x}\n", {"k": 1}, {"/z/k": (1, 8)}),
    ("z: {&m <<: {k: 1}}\n", {"k": 1}, {"/z/k": (1, 13)}),
    ("z:\n  !!str <<: 2\n  k: 1\n", {"<<": 2, "k": 1}, {"/z/k": (3, 3)}),
    ("a: &a {p: 1}\nz:\n  <<: *a\n  p: 2\n", {"p": 2}, {"/z/p": (4, 3)}),
    (MERGED, {"p": 1, "q": {"r": 1}, "s": 2, "own": 1}, {"/z/p": (2, 3), "/z/q/r": (3, 7), "/z/s": (6, 3)}),
    (MERGED, {"p": 1, "q": {"r": 1}, "s": 2, "own": 1}, {"/z/own": (9, 3), "/z/gone": (7, 1)}),
    (MERGED.replace("z:", "x:").replace("y:", "z:"), {"p": 2, "q": {"r": 1}, "s": 2}, {"/z/p": (5, 3), "/z/q": (3, 3)}),
    # An anchor of a key, and an alias as one.
    ("a: &x name\nz:\n  *x : 1\n", {"name": 1}, {"/z/name": (3, 3)}),
    ("&x a: 1\nz: *x\n", "a", {"/a": (1, 1), "/z": (2, 1)}),
    ("a: {&m <<: {k: 1}}\nb: *m\nz: {*m : 2}\n", {"<<": 2}, {"/z/<<": (3, 5)}),
    ("a: {&m <<: {k: 1}}\nz: *m\n", "<<", {"/a/k": (1, 13), "/z": (2, 1)}),
])  # fmt: skip
def test_by_hand(text: str, value: Any, at: dict[str, tuple[int, int]]) -> None:
    document = parse_document(text.encode(), "a.yaml")
    assert json.dumps(document.data["z"], sort_keys=True) == json.dumps(value, sort_keys=True)
    paths = {pointer: tuple(int(s) if s.isdigit() else s for s in parse_pointer(pointer)) for pointer in at}
    found = document.locate(paths.values())
    assert {pointer: (found[path].line, found[path].column) for pointer, path in paths.items()} == at
