"""Texts made to hurt: they are read in a process of their own, bounded in time and memory, that must come to its end."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from osbctl.sources.read_bytes import MAX_DEPTH
from osbctl.sources.yaml_text import dump
from tests.cli.program import osbctl
from tests.corpus import EVERY_CASE

ROOT = Path(__file__).parents[2]
DEEP = 30_000
MANY = 100_000 if EVERY_CASE else 25_000
READ = MAX_DEPTH - 1

BOUNDED = """
import json, resource, signal, sys
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
from osbctl.sources.document import parse_document
"""


def lines_of(program: str, data: Any) -> list[str]:
    """Lines that a program prints for `data`, in a process of its own whose memory is bounded."""
    command, text = [sys.executable, "-c", BOUNDED + program], json.dumps(data).encode()
    done = subprocess.run(command, input=text, capture_output=True, cwd=ROOT, timeout=120, check=False)
    assert (done.stderr.decode()[-500:], done.returncode) == ("", 0), done.stdout.decode()
    return done.stdout.decode().splitlines()


def laughs(opening: str, closing: str, keyed: bool) -> str:
    """Ten collections, each of nine aliases to the one before."""
    lines = []
    for level in range(10):
        item = f"*a{level - 1}" if level else "x"
        items = ", ".join(f"k{index}: {item}" if keyed else item for index in range(9))
        lines.append(f"a{level}: &a{level} {opening}{items}{closing}\n")
    return "".join(lines)


def merges(count: int) -> str:
    """Mappings that each take in the one before."""
    return "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: 1}}\n" for n in range(1, count))


BOMBS = {
    "arrays that open": ("a.json", "[" * DEEP, "nesting-too-deep"),
    "arrays that close": ("a.json", "[" * DEEP + "]" * DEEP, "nesting-too-deep"),
    "objects": ("a.json", '{"a":' * DEEP + "1" + "}" * DEEP, "nesting-too-deep"),
    "flow sequences that open": ("a.yaml", "a: " + "[" * DEEP, "nesting-too-deep"),
    "flow sequences that close": ("a.yaml", "a: " + "[" * DEEP + "]" * DEEP, "nesting-too-deep"),
    "flow sequences on lines": ("a.yaml", "a: " + "[\n" * DEEP, "nesting-too-deep"),
    "flow mappings": ("a.yaml", "{a: " * DEEP, "nesting-too-deep"),
    "JSON named YAML": ("a.yaml", '{"a":' * DEEP + "1" + "}" * DEEP, "nesting-too-deep"),
    "sequences in a line": ("a.yaml", "- " * DEEP, "nesting-too-deep"),
    "blocks": ("a.yaml", "".join(" " * i + "a:\n" for i in range(2000)), "nesting-too-deep"),
    "keys of keys": ("a.yaml", "? " * DEEP, "key-not-string"),
    "laughs in sequences": ("a.yaml", laughs("[", "]", False), "too-many-nodes"),
    "laughs in mappings": ("a.yaml", laughs("{", "}", True), "too-many-nodes"),
    "merges of merges": ("a.yaml", merges(5_000), "too-many-nodes"),
    "one mapping merged many times": ("a.yaml", "a: &a {x: 1}\nb:\n" + "  <<: *a\n" * 20_000, "read"),
    "equal keys in one line": ("a.json", "{" + ",".join(['"a":1'] * MANY) + "}\n", "duplicate-key"),
    "keys that are numbers": ("a.yaml", "".join(f"{n}: x\n" for n in range(MANY)), "key-not-string"),
    "faults beside a catalog": ("a.json", '{"a": [' + '{"b":1,"b":1},' * (MANY // 2) + "1]}", "duplicate-key"),
    "comments": ("a.yaml", "#\n" * 100_000 + "a: 1\n", "read"),
    "comments in JSON": ("a.json", "# x\n" * 100_000 + "{}", "syntax"),
    "lines that end with CR": ("a.yaml", "a: no\r" + "".join(f"k{n}: 1\r" for n in range(30_000)), "read"),
    "backslashes": ("a.json", '{"a": "' + "\\\\" * 300_000, "syntax"),
    "escaped quotes, deep": ("a.json", "[" * READ + '"' + '\\"' * 200_000, "syntax"),
    "a long string, deep": ("a.json", '{"a":' * READ + '"' + "x" * 1_000_000 + '"' + "}" * READ, "read"),
    "quotes": ("a.json", '{"a": ' + '"' * 200_000, "syntax"),
    "a digit a million times": ("a.yaml", "a: " + "1" * 300_000, "number-out-of-range"),
    "a date that does not end": ("a.yaml", "a: 2001-01-01 " + "x" * 300_000, "read"),
    "an almost-number": ("a.yaml", "a: " + "1_" * 200_000 + "x", "read"),
    "an almost-time": ("a.yaml", "a: 1" + ":1" * 200_000 + "x", "read"),
    "anchors": ("a.yaml", "a: [" + ", ".join(f"&a{n} x" for n in range(30_000)) + "]", "read"),
}  # fmt: skip


READING = """
from osbctl.findings import DocumentError
for case, (name, text) in json.load(sys.stdin).items():
    signal.alarm(20)
    try:
        parse_document(text.encode(), name)
    except DocumentError as error:
        print(case, error.findings[0].rule, sep=": ", flush=True)
    else:
        print(case, "read", sep=": ", flush=True)
"""


@pytest.mark.fuzz
def test_no_bomb_goes_off() -> None:
    """Those of many entries are a quarter as large as in `make test-every-case`."""
    texts = {case: (name, text) for case, (name, text, _) in BOMBS.items()}
    assert lines_of(READING, texts) == [f"{case}: {outcome}" for case, (_, _, outcome) in BOMBS.items()]


WALKING = """
def height(value):
    return 1 + height(value["a"]) if isinstance(value, dict) else 0
for levels in json.load(sys.stdin):
    document = parse_document(('{"a": ' * levels + "1" + "}" * levels).encode(), "a.json")
    print(height(document.data), document.locate([("a",) * levels])[("a",) * levels].column)
"""


def test_a_depth_that_is_read_can_be_walked_over_and_located() -> None:
    depths = [50, MAX_DEPTH - 1, MAX_DEPTH]
    assert lines_of(WALKING, depths) == [f"{levels} {6 * (levels - 1) + 2}" for levels in depths]


LEVELS = MAX_DEPTH - 20
PLAN = '{"id": "p", "name": "p", "description": "d", %s}'
CATALOG = '{"services": [{"id": "s", "name": "s", "description": "d", "bindable": true, "plans": [' + PLAN + "]}]}"
SCHEMAS = '"schemas": {"service_instance": {"create": {"parameters": %s}}}'

JUDGING = """
from osbctl.reports import Format, Report, render
from osbctl.validation.pipeline import validate_document
from osbctl.validation.options import ValidationOptions
from osbctl.validation.checks import load_all
for name, text in json.load(sys.stdin).items():
    document = parse_document(text.encode(), name)
    judgement = validate_document(document, ValidationOptions())
    assert all(finding.location for finding in judgement.findings)
    for format in Format:
        render(Report([judgement], load_all), format)
    print(name, flush=True)
"""

INSIDE = {
    "metadata": '"metadata": {"x": %s}',
    "a parameter schema": SCHEMAS % '{"$schema": "http://json-schema.org/draft-07/schema#", "items": %s}',
}
DEEPEST = {
    "objects": '{"items": ' * LEVELS + "{}" + "}" * LEVELS,
    "arrays": "[" * LEVELS + "]" * LEVELS,
    "references": '{"allOf": [' * (LEVELS // 2) + '{"$ref": "#"}' + "]}" * (LEVELS // 2),
}


def test_the_deepest_levels_that_are_taken() -> None:
    """Such catalogs pass through validation and every report."""
    texts = {
        f"{shape} in {place}.{syntax}": start + CATALOG % (INSIDE[place] % DEEPEST[shape])
        for syntax, start in (("json", ""), ("yaml", "%YAML 1.2\n---\n"))
        for shape in DEEPEST
        for place in INSIDE
    }
    assert lines_of(JUDGING, texts) == [*texts]


ORDINARY = dump({"services": [{"id": "a", "name": "db", "description": "d", "bindable": True, "plans": []}]})
COSTS = {
    "comments above one entry": lambda n: ORDINARY + "# osbctl: ignore[id-not-guid]\n" * n + "x:\n" + entries(n),
    "comments, each above its entry": lambda n: ORDINARY + "x:\n" + "".join(
        f"  # osbctl: ignore[id-not-guid]\n  k{i}: 1\n" for i in range(n)
    ),
    "texts that cannot be read": lambda n: texts(n, "#!/bin/sh\n    echo plans: [1"),
    "broken catalogs in texts": lambda n: texts(n, "plans: [1"),
    "texts with notes": lambda n: texts(n, "plans: yes"),
}  # fmt: skip
"""Files whose cost must grow with their size."""


def entries(number: int) -> str:
    return "".join(f"  k{i}: 1\n" for i in range(number))


def texts(number: int, text: str) -> str:
    return "d:\n" + "".join(f"  k{i}: |\n    {text}\n" for i in range(number))


@pytest.mark.parametrize("name", COSTS)
def test_the_cost_grows_with_the_size(name: str, tmp_path: Path) -> None:
    seconds = []
    for number in (500, 2_000):
        (tmp_path / "c.yaml").write_text(COSTS[name](number))
        began = time.process_time()
        done = osbctl("validate", "--concise", "c.yaml", cwd=tmp_path)
        seconds.append(time.process_time() - began)
        assert len(done.stdout) < 2_000
    assert seconds[1] < 7 * seconds[0] + 0.1  # four times as much; with the square sixteen times
