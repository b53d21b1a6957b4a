"""Every trap of the two formats, one row each: what is read, or what is said and where."""

from typing import Any

import pytest

from osbctl.findings import DocumentError, Severity
from osbctl.sources.document import parse_document
from osbctl.sources.places import MAX_PROBLEMS
from osbctl.sources.read_bytes import Limits
from tests.case import each


def faults(data: bytes, name: str, **options: Any) -> list[str]:
    """Each fault as "RULE LINE:COLUMN MESSAGE HINT"."""
    with pytest.raises(DocumentError) as caught:
        parse_document(data, name, **options)
    found = caught.value.findings
    assert all(one.severity is Severity.ERROR and one.location and one.location.source == name for one in found)
    places = [(one.location.line, one.location.column) for one in found if one.location]
    return [f"{f.rule} {line}:{at} {f.message} {f.hint}" for f, (line, at) in zip(found, places, strict=True)]


REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    # duplicate keys: both positions
    "duplicate key in JSON": ("a.json", '{"a": 1,\n "a": 2, "b": {"c": 1, "c": 1}}',
        "duplicate-key 2:2 'a' appears twice in one object; first at line 1, column 2 + duplicate-key 2:24 first at line 2, column 16",
    ),
    "duplicate key by an escape in JSON": ("a.json", '{"a": 1, "\\u0061": 2}', "duplicate-key 1:10"),
    "duplicate key in YAML": ("a.yaml", "a: 1\nb: {c: 1, c: 2}\na: 2\n",
        "duplicate-key 2:11 first at line 2, column 5 + duplicate-key 3:1 'a' appears twice in one mapping; first at line 1, column 1",
    ),
    "a key three times": ("a.yaml", "a: 1\n'a': 2\n\"\\x61\": 3\n",
        "duplicate-key 2:1 + duplicate-key 3:1 first at line 1, column 1"),
    "duplicate key and a fault of syntax": ("a.yaml", "a: 1\na: 2\nb: [\n", "duplicate-key 2:1 + syntax 3:4"),
    # keys that are no strings
    "a number as key": ("a.yaml", "1: x\n", "key-not-string 1:1 not the number 1 write it in quotes"),
    "a list with its indexes as keys": ("a.yaml", "b: {0: x, 1: {true: y}, 2: z}\n",
        "key-not-string 1:5 not the number 0 write a list of the values, without 0, 1 and so on + key-not-string 1:15 not the boolean"),
    "lists with their indexes as keys": ("a.yaml", "b:\n  0:\n    0: x\n    1: y\n",
        "key-not-string 2:3 write a list of the values + key-not-string 3:5 write a list of the values"),
    "numbers that are no indexes": ("a.yaml", "b: {0: x, 2: y}\n",
        "key-not-string 1:5 write it in quotes + key-not-string 1:11 write it in quotes"),
    "an index beside another key": ("a.yaml", "b: {a: x, 1: y}\n", "key-not-string 1:11 write it in quotes"),
    "an index in quotes beside another": ("a.yaml", "b: {'0': x, 1: y}\n", "key-not-string 1:13 write it in quotes"),
    "a boolean as key": ("a.yaml", "true: x\n", "key-not-string 1:1 not the boolean true"),
    "null as key": ("a.yaml", "~: x\n", "key-not-string 1:1 not null"),
    "a sequence as key": ("a.yaml", "? [1]\n: x\n", "key-not-string 1:3 a collection"),
    "an alias to a mapping as key": ("a.yaml", "a: &a {b: 1}\n*a : x\n", "key-not-string 2:1"),
    "a template that was not rendered": ("a.yaml", "a: {{ x }}\n", "key-not-string 1:5 a template?"),
    "a template with text after it": ("a.yaml", "a: {{ x }}:1\n", "key-not-string 1:5 a template? + syntax 1:11"),
    # numbers
    "NaN in JSON": ("a.json", '{"a": NaN}', "number-out-of-range 1:7 NaN"),
    "infinities in JSON": ("a.json", '{"a": [-Infinity, 1e400, Infinity]}',
        "number-out-of-range 1:8 -Infinity + number-out-of-range 1:19 1e400 + number-out-of-range 1:26 Infinity"),
    "no finite number in YAML": ("a.yaml", "a: .inf\nb: [.nan, -.INF, 1e400]\n",
        "number-out-of-range 1:4 .inf + number-out-of-range 2:5 .nan + number-out-of-range 2:11 -.INF + number-out-of-range 2:18 1e400",
    ),
    "no finite number as key": ("a.yaml", "1e400: x\n", "number-out-of-range 1:1 + key-not-string 1:1"),
    ".nan as key": ("a.yaml", ".nan: x\n", "number-out-of-range 1:1 + key-not-string 1:1"),
    "5,000 digits in JSON": ("a.json", f'{{"a": {"9" * 5000}}}', "number-out-of-range 1:7 5000 digits"),
    "5,000 digits in YAML": ("a.yaml", f"a: -{'9' * 5000}", "number-out-of-range 1:4 digits"),
    "5,000 hexadecimal digits": ("a.yaml", f"a: 0x{'f' * 5000}", "number-out-of-range 1:4"),
    # documents
    "an empty JSON file": ("a.json", " \n", "empty-document 1:1"),
    "an empty YAML file": ("a.yaml", "", "empty-document 1:1"),
    "only a comment": ("a.yaml", "# nothing\n", "empty-document 1:1"),
    "only a document marker": ("a.yaml", "---\n", "empty-document 1:1"),
    "only a byte order mark": ("a.yaml", b"\xef\xbb\xbf", "empty-document 1:1"),
    "a second YAML document": ("a.yaml", "a: 1\n---\nb: 2\n", "several-documents 2:1 ---"),
    "an empty document and another": ("a.yaml", "---\n---\na: 1\n",
        "empty-document 1:1 + several-documents 2:1 remove the ---"),
    "a second document that is broken": ("a.yaml", "a: 1\n---\nb: ]\n", "several-documents 2:1"),
    "a second JSON document": ("a.json", '{"a": 1}\n{"b": 2}', "several-documents 2:1"),
    "an array": ("a.json", "[1]", "not-an-object 1:1 the document is an array"),
    "a list where an object belongs": ("a.yaml", "- name: x\n  plans: []\n",
        "not-an-object 1:1 the document is an array"),
    "a string": ("a.yaml", "hello", "not-an-object 1:1 a string"),
    "null": ("a.json", "null", "not-an-object 1:1 null"),
    # encodings
    "UTF-16 with a mark": ("a.json", '{"a": 1}'.encode("utf-16"), "encoding 1:1 UTF-16"),
    "UTF-16 without a mark": ("a.yaml", "a: 1".encode("utf-16-le"), "encoding 1:1 UTF-16"),
    "UTF-32": ("a.yaml", "a: 1".encode("utf-32-be"), "encoding 1:1"),
    "Latin-1": ("a.yaml", b"a: 1\nb: caf\xe9\n", "encoding 2:7 0xe9"),
    "Latin-1 after a byte order mark": ("a.yaml", b"\xef\xbb\xbfb: \xc3\xa9\xe9", "encoding 1:5"),
    "an encoded surrogate": ("a.json", b'{"a": "\xed\xa0\x80"}', "encoding 1:8"),
    "half a surrogate pair in JSON": ("a.json", '{"a":\n"x\\ud800"}', "lone-surrogate 2:1"),
    "half a surrogate pair as key": ("a.json", '{"\\uDFFF": 1}', "lone-surrogate 1:2"),
    "half a surrogate pair in YAML": ("a.yaml", 'a: "\\ud800"\n', "lone-surrogate 1:7"),
    "an escape beyond Unicode": ("a.yaml", 'a: "\\U00110000"\n', "syntax 1:7 not a Unicode character"),
    "NUL in YAML": ("a.yaml", b"a: b\0c", "syntax 1:5 U+0000"),
    "NUL in JSON": ("a.json", b'{"a": "b\0c"}', "syntax 1:9 control character"),
    "a bell in YAML": ("a.yaml", b"x: 1\na: b\x07c", "syntax 2:5 U+0007"),
    "a line break in a JSON string": ("a.json", '{"a": "b\nc"}', "syntax 1:9 control character"),
    # aliases, merge keys, tags
    "a recursive alias": ("a.yaml", "a: &a [*a]\n", "recursive-alias 1:8"),
    "a recursive merge": ("a.yaml", "a: &a {<<: *a}\n", "recursive-alias 1:12"),
    "a recursive alias, deeper": ("a.yaml", "a: &x [&y {k: *x}]\n", "recursive-alias 1:15"),
    "a recursive alias below an equal anchor": ("a.yaml", "a: &x {p: &x [*x]}\n", "recursive-alias 1:15"),
    "a recursive merge in a list": ("a.yaml", "a: &x\n  - <<: *x\n", "recursive-alias 2:9"),
    "an alias without an anchor": ("a.yaml", "a: *b\n", "syntax 1:4 &b"),
    "a merge of a number": ("a.yaml", "a:\n  <<: 3\n", "syntax 2:7 <<"),
    "a tag of an application": ("a.yaml", "a: !Ref x\nb: !!binary aGk=\nc: !foo {a: 1}\nd: !!set {x}\n",
        "unknown-tag 1:4 !Ref + unknown-tag 2:4 !!binary + unknown-tag 3:4 !foo + unknown-tag 4:4 !!set"),
    "a tag of the core schema": ("a.yaml", '!!map {a: !!int "3"}\n',
        "unknown-tag 1:1 !!map does not fit + unknown-tag 1:11 !!int does not fit"),
    # syntax, in words that help
    "a trailing comma": ("a.json", '{"a": [1, 2, ],\n}', "syntax 1:12 remove the comma"),
    "a trailing comma in an object": ("a.json", '{"a": 1,\n}', "syntax 1:8 remove the comma"),
    "single quotes": ("a.json", "{'a': 1}", "syntax 1:2 double quotes only"),
    "a comment at a key": ("a.json", '{// x\n"a": 1}', "syntax 1:2 no comments"),
    "a comment after a value": ("a.json", '{"a": 1 /* x */}', "syntax 1:9 no comments"),
    "a comment before it all": ("a.json", '# x\n{"a": 1}', "syntax 1:1 no comments"),
    "a comment of JavaScript in another file": ("a.jsonc", '\n// x\n{"a": 1}', "syntax 2:1 no comments"),
    "a long comment without a name": ("<stdin>", '/* x */{"a": 1}', "syntax 1:1 no comments"),
    "an open array": ("a.json", '{"a": [1, 2', "syntax 1:11 ends before its ']'"),
    "an open string": ("a.json", '{"a": "x', "syntax 1:7 never closed"),
    "the wrong bracket": ("a.json", '{"a": [1}', "syntax 1:9 ']' is expected"),
    "a missing comma": ("a.json", '{"a": 1 "b": 2}', "syntax 1:9 is a comma missing?"),
    "a missing colon": ("a.json", '{"a" 1}', "syntax 1:6 colon"),
    "a word of Python": ("a.json", '{"a": None}', "syntax 1:7 write null"),
    "a word in capitals": ("a.json", '{"a": TRUE}', "syntax 1:7 write true"),
    "curly quotes": ("a.json", '{"a": “x”}', "syntax 1:7 straight double quotes only"),
    "a value that is cut off": ("a.json", '{"a":\n', "syntax 2:1 is it cut short?"),
    "a key that is cut off": ("a.json", '{"a": 1,', "syntax 1:9 is it cut short?"),
    "a colon that is cut off": ("a.json", '{"a"', "syntax 1:5 is it cut short?"),
    "a plus in JSON": ("a.json", '{"a": +1}', "syntax 1:7 begins with a digit"),
    "a point without digits": ("a.json", '{"a": 1.}', "syntax 1:7 a digit after the point"),
    "two commas": ("a.json", '{"a": [1,,2]}', "syntax 1:10 a value is expected"),
    "text after the end": ("a.json", '{"a": 1}]', "syntax 1:9 after the end of the document"),
    "a leading zero in JSON": ("a.json", '{"a": 012}', "syntax 1:7 no leading zeros"),
    "a wrong escape": ("a.json", '{"a": "\\x"}', "syntax 1:8 escape"),
    "an open flow sequence": ("a.yaml", "a: [1, 2\nb: 3\n", "syntax 1:4 next key or item close it with ]"),
    "an open flow mapping": ("a.yaml", "a:\n- b: {\n  c: [1]\n- d: 2\n", "syntax 2:6 not closed before the next"),
    "an open bracket in another": ("a.yaml", "a: {\n b: {x: 1\n c: 2\n}\nd: 1\n", "syntax 2:5 close it with }"),
    "a bracket open at the end": ("a.yaml", "a: {\n  b: [1,\n\n", "syntax 2:6 not closed before the end"),
    "a comma missing in brackets": ("a.yaml", "a: [{b: 1\n  c: 2}]\n", "syntax 2:4 is a comma, or"),
    "a key without a colon": ("a.yaml", "a:\n  b: 1\n  met\n\n  c: 1\n", "syntax 3:3 a colon is missing"),
    "a line of a template": ("a.yaml", "a:\n{{- range .b }}\n- c: 1\n{{- end }}\n", "syntax 2:1 a template?"),
    "a key at the end without a colon": ("a.yaml", "a: 1\nb", "syntax 2:1 a colon is missing"),
    "a wrong indentation": ("a.yaml", "a:\n  b: 1\n c: 2\n", "syntax 3:2 indent it like"),
    "two colons": ("a.yaml", "a: b: c\n", "syntax 1:5 quote text that contains a colon"),
    "a text after the end": ("a.yaml", "a: 1\n...\nb: 2\n", "syntax 3:1 one document"),
    "an item behind a key": ("a.yaml", "a: - b\n", "syntax 1:4 a line of its own"),
    "an open quote": ("a.yaml", "b: 1\na: 'x\nb: 1\n", "syntax 2:4 is not closed in its line close it"),
    "an open quote that the next one closes": ("a.yaml", 'a: "x\nb: "y"\n', "syntax 1:4 not closed"),
    "an apostrophe in single quotes": ("a.yaml", "a: 'it's'\n", "syntax 1:8 write '' for '"),
    "no space behind a colon": ("a.yaml", "a: 1\nb:true\nc: 1\n", "syntax 2:2 a space is missing"),
    "no space behind the last colon": ("a.yaml", "a: 1\nb:true\n", "syntax 2:2 a space is missing"),
    "no space behind the first colon": ("a.yaml", "- b:x\n  c: 1\n", "syntax 1:4 a space is missing"),
    "no-break spaces as indentation": ("a.yaml", "x:\n  a: 1\n\u00a0\u00a0b: 1\n  c: 1", "syntax 3:1 no-break"),
    "no-break spaces in the last line": ("a.yaml", "x:\n  a: 1\n\u00a0\u00a0b: 1\n", "syntax 3:1 no-break"),
    "a decimal comma in YAML": ("a.yaml", "a: {usd: 9,5}\n", "key-not-string 1:12 a point, not a comma"),
    "a decimal comma in JSON": ("a.json", '{"usd": 9,5}', "syntax 1:11 a point, not a comma"),
    "an unknown escape": ("a.yaml", 'a: "\\q"\n', "syntax 1:5 write \\\\ for a backslash"),
    "a lone asterisk": ("a.yaml", "a: * b\n", "syntax 1:5 in quotes"),
    "a tab after spaces": ("a.yaml", "a:\n  b: 1\n\tc: 2\n", "syntax 3:1 indent with spaces"),
    "a tab as indentation": ("a.yaml", "a:\n\tb: 1\n", "syntax 2:1 a tab stands where YAML wants spaces"),
    "a value that begins with @": ("a.yaml", "a: @x\n", "syntax 1:4 put the text in quotes"),
}  # fmt: skip
"""The name and the text of a file, and its faults: the rule, the place, and words of the message or hint."""


@each("case", REFUSED)
def test_refused(case: str) -> None:
    name, text, expected = REFUSED[case]
    found = faults(text if isinstance(text, bytes) else text.encode(), name)
    for told, wanted in zip(found, expected.split(" + "), strict=True):
        rule, at, *words = wanted.split(" ", 2)
        assert told.startswith(f"{rule} {at} ")
        assert all(one in told for one in words)


READ: dict[str, tuple[str, str | bytes, Any]] = {
    "a byte order mark in JSON": ("a.json", b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
    "a byte order mark in YAML": ("a.yaml", b"\xef\xbb\xbfa: 1\n", {"a": 1}),
    "tabs in JSON": ("a.json", '{\n\t"a":\t1\n}', {"a": 1}),
    "a tab between tokens in YAML": ("a.yaml", "a:\t1\n", {"a": 1}),
    "tab-indented JSON named YAML": ("a.yaml", '{\n\t"a": 1\n}', {"a": 1}),
    "an escaped pair in JSON": ("a.json", '{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
    "a backslash before ud800 in JSON": ("a.json", '{"a": "\\\\ud800"}', {"a": "\\ud800"}),
    "4,300 digits": ("a.json", f'{{"a": {"9" * 4300}}}', {"a": int("9" * 4300)}),
    "an end of the document": ("a.yaml", "---\na: 1\n...\n", {"a": 1}),
    "one << in a mapping": ("a.yaml", "a: &a {p: 1, q: 1}\nz: {q: 2, <<: *a}\n", {"p": 1, "q": 2}),
    "<< of what was merged": ("a.yaml", "a: &a {p: 1}\nb: &b {<<: *a, q: 2}\nz: {<<: *b, p: 3}\n", {"p": 3, "q": 2}),
    "<< of a mapping in place": ("a.yaml", "z: {<<: {p: 1}}\n", {"p": 1}),
    "<< in quotes": ("a.yaml", 'z: {"<<": 3}\n', {"<<": 3}),
    "<< as a value": ("a.yaml", "z: [<<]\n", ["<<"]),
    "tags of text": ("a.yaml", "z: [!!str 1, ! 12]\n", ["1", "12"]),
    "the words of the core schema": ("a.yaml",
        "z: [null, Null, NULL, ~, , true, True, TRUE, false, False, FALSE]\n".replace(", ,", ",").replace("~,", "~, "),
        [None, None, None, None, True, True, True, False, False, False]),
    "the numbers of the core schema": ("a.yaml",
        "z: [0, -0, +12, 1.5, .5, -1., 6.02e+23, 0x1F, 12345678901234567890]\n",
        [0, 0, 12, 1.5, 0.5, -1.0, 6.02e23, 31, 12345678901234567890]),
    "what only looks like a number": ("a.yaml", "z: [1.2.3, 12a, -, +a, ., 0x, 1e, '1', \"2\", 10.0.0.1]\n",
        ["1.2.3", "12a", "-", "+a", ".", "0x", "1e", "1", "2", "10.0.0.1"]),
    "texts over lines": ("a.yaml", "z:\n  a: |\n    x\n    y\n  b: >-\n    x\n    y\n", {"a": "x\ny\n", "b": "x y"}),
    "text of any script": ("a.yaml", "z: {näme: 日本 😀}\n", {"näme": "日本 😀"}),
}  # fmt: skip


@each("case", READ)
def test_read(case: str) -> None:
    name, text, expected = READ[case]
    data = parse_document(text if isinstance(text, bytes) else text.encode(), name).data
    value = data.get("z", data)
    assert value == expected
    assert [type(item) for item in value] == [type(item) for item in expected]


OTHERWISE_IN_1_1: list[tuple[str, Any, str]] = [
    *[(word, word, "false") for word in ("no", "No", "NO", "off", "n", "N")],
    *[(word, word, "true") for word in ("on", "ON", "yes", "Yes", "y", "Y")],
    ("2001-01-01", "2001-01-01", "a date"),
    ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00", "a date"),
    ("012", 12, "10"),
    ("-0755", -755, "-493"),
    ("089", 89, "text"),
    ("0o14", 12, "text"),
    ("1:30", "1:30", "a number of base 60"),
    ("190:20:30.15", "190:20:30.15", "a number of base 60"),
    ("1_000", "1_000", "1000"),
    ("0b101", "0b101", "5"),
    ("0x_1F", "0x_1F", "31"),
    ("1e3", 1000.0, "text"),
    ("1.5e3", 1500.0, "text"),
]


@each("text, value, meaning", OTHERWISE_IN_1_1)
@each("where", ["{}z: {}\n", "{}z:\n  - {}\n"])
def test_scalars_that_yaml_1_1_sees_otherwise(text: str, value: Any, meaning: str, where: str) -> None:
    document = parse_document(where.format("x: 1\n", text).encode(), "a.yaml")
    got = document.data["z"]
    assert (got if not isinstance(got, list) else got[0]) == value
    (note,) = document.notes
    assert (note.rule, note.severity) == ("yaml-1.1", Severity.WARNING)
    mine = "text" if isinstance(value, str) else value
    assert note.message == f"YAML 1.1 reads {text} as {meaning}, YAML 1.2 as {mine}"
    assert note.location == document.locate([note.path])[note.path] or note.path == ("z",)
    assert note.location is not None
    assert note.location.excerpt[note.location.column - 1 :] == text


@each("text", [
    '"no"', "'012'", "northern", "2001", "1.5", "1.0e+3", "0x1F", "!!str no", "-5", "true", "12:ab", "0", "0.5",
])  # fmt: skip
def test_scalars_that_all_readers_see_alike(text: str) -> None:
    assert parse_document(f"z: {text}\n".encode(), "a.yaml").notes == ()


def test_a_key_that_yaml_1_1_sees_otherwise_is_noted_at_the_key() -> None:
    (note,) = parse_document(b"a:\n  on: push\n", "a.yaml").notes
    assert note.location is not None
    assert (note.location.line, note.location.column, note.path) == (2, 3, ("a", "on"))


@each("name, text, syntax, is_lie", [
    ("a.yaml", '{"a": 1}', "json", True),
    ("a.yml", '\n  {"a": 1}', "json", True),
    ("a.json", "a: 1\n", "yaml", True),
    ("a.json", "---\na: 1\n", "yaml", True),
    ("A.JSON", "# note\na: 1\n", "yaml", True),
    ("a.yaml", "{a: 1}", "yaml", False),
    *((name, text, syntax, False)
        for name in ("<stdin>", "catalog", "catalog.txt")
        for text, syntax in (('{"a": 1}', "json"), ("a: 1\n", "yaml"), ("'a': 1\n", "yaml"))),
])  # fmt: skip
def test_the_content_decides_and_a_name_that_lies_is_noted(name: str, text: str, syntax: str, is_lie: bool) -> None:
    document = parse_document(text.encode(), name)
    assert (document.data, document.syntax) == ({"a": 1}, syntax)
    assert [(one.rule, one.severity) for one in document.notes] == [("format-mismatch", Severity.INFO)] * is_lie


DEEP = {
    "arrays": ("a.json", '{"a":' + "[" * 100 + "]" * 100 + "}"),
    "objects": ("a.json", '{"a":' * 101 + "1" + "}" * 101),
    "flow": ("a.yaml", "a: " + "[" * 100 + "]" * 100),
    "blocks": ("a.yaml", "".join(" " * i + "a:\n" for i in range(100)) + " " * 100 + "a: 1"),
    "alias": ("a.yaml", "x: &x " + "[" * 60 + "]" * 60 + "\na: " + "[" * 40 + "*x" + "]" * 40),
}


@each("case", DEEP)
def test_depth_is_counted_alike(case: str) -> None:
    name, text = DEEP[case]
    assert parse_document(text.encode(), name, limits=Limits(depth=101)).data
    (fault,) = faults(text.encode(), name, limits=Limits(depth=100))
    assert fault.startswith("nesting-too-deep ")
    assert "100 levels" in fault


def test_what_is_merged_in_is_no_deeper() -> None:
    text = "a: &a {x: {y: 1}}\nb: &b {<<: *a}\nc: {<<: [*b, *a]}\n"
    assert parse_document(text.encode(), "a.yaml", limits=Limits(depth=3)).data["c"] == {"x": {"y": 1}}


def test_nodes_count_with_aliases_expanded() -> None:
    text = b"a: &a [1, 2, 3]\nb: [*a, *a]\n"  # key a, 4; key b, 1 + 4 + 4; the top
    count = 1 + 1 + 4 + 1 + 1 + 8
    assert parse_document(text, "a.yaml", limits=Limits(nodes=count)).data["b"] == [[1, 2, 3]] * 2
    (fault,) = faults(text, "a.yaml", limits=Limits(nodes=count - 1))
    assert fault.startswith("too-many-nodes 2:9 ")
    data = parse_document(text, "a.yaml").data
    assert data["b"][0] is data["b"][1] is data["a"], "values are shared, not copied"


@each("name, text", [
    ("a.json", "{" + ",".join(['"a":1'] * 5_000) + "}\n"),
    ("a.yaml", "{" + ", ".join(["a: 1"] * 5_000) + "}\n"),
    ("a.yaml", "a: [" + ", ".join(["!x 1"] * 5_000) + "]\n"),
])  # fmt: skip
def test_faults_are_bounded_and_share_their_long_line(name: str, text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_document(text.encode(), name)
    findings = caught.value.findings
    assert len(findings) == MAX_PROBLEMS
    omitted = "the faults from here on are omitted; repair those above first"
    assert [number for number, finding in enumerate(findings, 1) if finding.message == omitted] == [MAX_PROBLEMS]
    assert len({id(finding.location.excerpt) for finding in findings if finding.location}) == 1


def test_notes_are_bounded() -> None:
    for number in (MAX_PROBLEMS - 1, MAX_PROBLEMS, MAX_PROBLEMS + 1, 1001):
        notes = parse_document(b"a: [" + b"no, " * (number - 1) + b"no]", "a.yaml").notes
        more = number - MAX_PROBLEMS + 1
        assert len(notes) == min(number, MAX_PROBLEMS)
        omission = f"{more:,} more scalars, from here on, mean something else in YAML 1.1"
        assert (notes[-1].message == omission) is (number > MAX_PROBLEMS)
        assert all(note.message != omission for note in notes[:-1])
