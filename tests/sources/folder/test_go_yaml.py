"""YAML as yaml.v3 of Go reads it: the types of scalars, keys, nulls and tags."""

from typing import Any

import pytest

from osbctl.findings import DocumentError
from osbctl.paths import JsonPath
from osbctl.sources.document import Document
from osbctl.sources.folder.brokerpak_templates import find_blocks
from osbctl.sources.folder.go_yaml import ENUM, AnyMap, StructType, has_no_json, parse_go_yaml
from osbctl.sources.folder.hil import NotTemplateError, Unknown, is_template, parse_template
from osbctl.sources.read_bytes import DEFAULT_LIMITS
from tests.case import each

PART = StructType("Part", {"name": "string"})
KIND = StructType("Whole", {
    "text": "string", "flag": "bool", "count": "int", "any": "any", "names": ["string"], "parts": [PART],
    "map": {"*": "any"}, "texts": {"*": "string"}, "enum": ENUM,
})  # fmt: skip


def decode(text: str) -> tuple[dict[str, Any], list[str]]:
    words: list[str] = []

    def report(document: Document, path: JsonPath, said: str, *_: object) -> None:
        assert document.locate([path])
        words.append(f"{'.'.join(map(str, path))}: {said}")

    document = parse_go_yaml(text.encode(), "a.yml", limits=DEFAULT_LIMITS, kind=KIND, report=report, unknown=report)
    return document.data, words


@each("text, value", [
    ("any: 012", 10), ("any: 0o14", 12), ("any: 089", 89.0), ("any: 1_000", 1000), ("any: 0x1F", 31), ("any: 0b11", 3),
    ("any: -5", -5), ("any: +5", 5), ("any: .5", 0.5), ("any: 1e3", 1000.0), ("any: yes", "yes"), ("any: True", True),
    ("any: ~", None), ("any: '5'", "5"), ("any: !!str 5", "5"), ("any: !!float 5", 5), ("any: 1:30", "1:30"),
    ("any: 2024-01-01", "2024-01-01T00:00:00Z"), ("any: 2024-13-01", "2024-13-01"),
    ("any: 2024-01-01T10:00:00.50+02:00", "2024-01-01T10:00:00.5+02:00"), ("any: 2024-1-2 3:04:05", "2024-01-02T03:04:05Z"),
    ("any: 18446744073709551615", 2**64 - 1), ("any: 18446744073709551616", 18446744073709551616.0),
    ("any: {a: [1, null]}", {"a": [1, None]}), ("text: 012", "012"), ("text: 2024-01-01", "2024-01-01"), ("text: yes", "yes"),
    ("text: ''", ""), ("flag: yes", True), ("flag: 'Off'", False), ("flag: true", True), ("count: 1.9", 1), ("count: 0x10", 16),
    ("names: [a, 3, true]", ["a", "3", "true"]), ("names: [a, null]", ["a", None]), ("map: {5: x, true: y}", {"5": "x", "true": "y"}),
    ("enum: {5: five, null: no, a: A}", {"5": 5, "null": None, "a": "a"}), ("texts: {a: 5}", {"a": "5"}),
    ("text: a\n--- \ntext: b", "a"), ("text: a\n...\n}", "a"), ("any: &a 5\ntext: *a", 5), ("parts: [{<<: {name: a}}]", [{"name": "a"}]),
    ("text: null", None), ("any: !mine 5", "5"), ("any: ! 5", 5), ("any: ! '5'", "5"), ("text: !!binary YcOk", "aä"),
    ("enum: {16: a, 0x10: b, 1: c, 1.0: d}", {"0x10": 16, "1": 1, "1.0": 1.0}), ('any: "a\\\\/b"', "a\\/b"),
    ("%YAML 1.1\n---\nany: 5", 5), ("any: |\n %YAML 1.2", "%YAML 1.2"),
])  # fmt: skip
def test_values(text: str, value: Any) -> None:
    data, words = decode(text)
    found = next(iter(data.values()))
    assert (found, type(found)) == (value, type(value))
    assert words == []


@each("text, words", [
    ("text: [a]", "text: cannot unmarshal !!seq into string"),
    ("names: x", "names: cannot unmarshal !!str `x` into []string"),
    ("flag: tRue", "flag: cannot unmarshal !!str `tRue` into bool"),
    ("flag: 1", "flag: cannot unmarshal !!int `1` into bool"),
    ("count: a long text", "count: cannot unmarshal !!str `a long ...` into int"),
    ("parts: [5]", "parts.0: cannot unmarshal !!int `5` into Part"),
    ("enum: [a]", "enum: cannot unmarshal !!seq into map[interface {}]string"),
    ("texts: {a: {}}", "texts.a: cannot unmarshal !!map into string"),
    ("other: 1", "other: field other not found in type Whole"),
    ("map: {null: 1}", "map.null: the key null is left out"),
    ("any: [!!int x]", "any.0: yaml: cannot decode !!str `x` as a tag:yaml.org,2002:int"),
    ("any: !!binary x", "any: yaml: !!binary value contains invalid base64 data"),
    ("null: 1", "null: field null not found in type Whole"),
])  # fmt: skip
def test_what_does_not_fit(text: str, words: str) -> None:
    assert decode(text)[1] == [words]


@each("text, rule", [
    ("a: 1\na: 2", "duplicate-key"), ("5: 1\n'5': 2", "duplicate-key"), ("? [a]\n: 1", "key-not-string"), ("5", "not-an-object"),
    ("a: *b", "syntax"), ("# x\n\n%YAML 1.2\n---\na: 1", "syntax"), ('a: "b\\/c"', "syntax"), ("map: {!!int 5.0: a}", "syntax"),
])  # fmt: skip
def test_what_cannot_be_read(text: str, rule: str) -> None:
    with pytest.raises(DocumentError) as error:
        decode(text)
    assert [finding.rule for finding in error.value.findings] == [rule]


def test_what_go_cannot_write_as_json() -> None:
    for text in ("any: .inf", "any: [-.inf]", "any: {a: {5: x}}", "any: {null: x}"):
        assert has_no_json(decode(text)[0]["any"]), text
    assert isinstance(decode("any: {true: x}")[0]["any"], AnyMap)
    assert not has_no_json(decode("any: {'5': [1.5, null]}")[0]["any"])


@each("text, is_one", [
    ("${request.instance_id}", True), ("$${x}", True), ("${1}", True), ('${"x"}', True), ("a${1 + 2}b", True),
    ('${f("a", b[0])}', True), ("${a ? b : c}", True), ("${}", False), ("${a", False), ('${" }', False), ("$a {b}", False), ("", False),
    ("${a b}", False),
])  # fmt: skip
def test_templates_of_hil(text: str, is_one: bool) -> None:
    assert is_template(text) == is_one


VARIABLES = {
    "a": "A",
    "u": Unknown(),
    "text": Unknown("string"),
    "map": Unknown("map"),
    "list": Unknown("list"),
    "parts": {"a": "1", "u": Unknown()},
}


@each("template, value", [
    ("${u}", ""), ("${u[0]}${1}", "string"), ("${text}", "string"), ("${text}x", "string"), ("${map}", "map"), ('${map["k"]}', ""),
    ("${text + 1}", "string"), ("${u == 1 ? 2 : 3}", "string"), ("${!u}${u < 1}${u + 1}", "string"), ("${1.0 / 0}", "string"),
    ("${counter.next()}${time.nano()}", "string"), ("${rand.base64(5)}", "string"), ("${json.marshal(map)}", "string"),
    ('${config("a.b")}${env("A")}', "string"), ("${str.truncate(1, u)}", "string"), ('${map.flatten("=", ";", parts)}', "string"),
    ("${map}x", None), ("${!map}", None), ("${text[0]}", None), ("${u ? map : map}", None), ("${map == map}", None), ("${text % 1.5}", None),
    ("${a + 1}", None), ('${assert(false, a)}', None), ('${regexp.matches("(?=a)", a)}', None), ("${upper(a)}", None), ("${none}", None),
])  # fmt: skip
def test_templates_with_values_that_are_not_known(template: str, value: str | None) -> None:
    node = parse_template(template)
    if value is None:
        with pytest.raises(ValueError, match=r"^[^A]+$"):  # no value, which may be secret
            node(VARIABLES)
    else:
        assert (found := node(VARIABLES), type(found)) == (Unknown(value), Unknown)


@each(
    "broken",
    [
        "${a",
        "${" + "(" * 100_000,
        "${a:b}",
        '${"\\q"}',
        "${99999999999999999999}",
        "${" + "9" * 5_000 + "}",
        "${a = b}",
        "${.5}",
    ],
)
def test_what_is_no_template(broken: str) -> None:
    with pytest.raises(NotTemplateError):
        parse_template(broken)


TEMPLATE = """\
# variable "no" {}
variable "a" { type = string }
variable b { default = "}${"{"}" } /* variable "c" {} */
resource "x" "y" {
  text = <<-EOT
    output "d" { ${"
  EOT
  output = { variable = "e" }
  dynamic "variable" { for_each = [] }
}
output "f" { value = "$${" }
output g { value = (1) } // }
"""


def test_the_blocks_of_a_template() -> None:
    found = find_blocks(TEMPLATE)
    assert found
    assert (found.variables, found.outputs) == ({"a", "b"}, {"f", "g"})
    for endless in ("/*" * 200_000, "x = [" + "<<A\n" * 200_000, "a {" + "/*" * 200_000, '"' * 99_999):
        find_blocks(endless)
    for broken in ("variable a {", 'x = "a', "}", "x = (]", 'x = "${a"'):
        assert find_blocks(broken) is None, broken
