"""Texts made to hurt: they are read in a process of their own, bounded in time and memory, that must come to its end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from osbctl.sources.limits import MAX_DEPTH

ROOT = Path(__file__).parents[2]
DEEP = 30_000
READ = MAX_DEPTH - 1

PROGRAM = """
import json, resource, signal, sys
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
from osbctl.findings import DocumentError
from osbctl.sources.parse import parse_document
for case, (name, text) in json.load(sys.stdin).items():
    signal.alarm(20)
    try:
        parse_document(text.encode(), name)
    except DocumentError as error:
        print(case, error.findings[0].rule, sep=": ", flush=True)
    else:
        print(case, "read", sep=": ", flush=True)
"""


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
    "blocks": ("a.yaml", "".join(" " * i + "a:\n" for i in range(4000)), "nesting-too-deep"),
    "keys of keys": ("a.yaml", "? " * DEEP, "key-not-string"),
    "laughs in sequences": ("a.yaml", laughs("[", "]", False), "too-many-nodes"),
    "laughs in mappings": ("a.yaml", laughs("{", "}", True), "too-many-nodes"),
    "merges of merges": ("a.yaml", merges(10_000), "too-many-nodes"),
    "one mapping merged many times": ("a.yaml", "a: &a {x: 1}\nb:\n" + "  <<: *a\n" * 20_000, "read"),
    "equal keys in one line": ("a.json", "{" + ",".join(['"a":1'] * 100_000) + "}\n", "duplicate-key"),
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


WALK = """
import sys
from osbctl.sources.parse import parse_document
levels, name = int(sys.argv[1]), sys.argv[2]
text = '{"a": ' * levels + "1" + "}" * levels
def height(value):
    return 1 + height(value["a"]) if isinstance(value, dict) else 0
document = parse_document(text.encode(), name)
print(height(document.data), document.locate([("a",) * levels])[("a",) * levels].column)
"""


@pytest.mark.parametrize("levels", [50, MAX_DEPTH - 1, MAX_DEPTH])
def test_a_depth_that_is_read_can_be_walked_over_and_located(levels: int) -> None:
    command = [sys.executable, "-c", WALK, str(levels), "a.json"]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=20, check=False)
    assert done.stderr.decode()[-500:] == ""
    assert done.stdout.decode().split() == [str(levels), str(6 * (levels - 1) + 2)]


def test_no_bomb_goes_off() -> None:
    texts = json.dumps({case: (name, text) for case, (name, text, _) in BOMBS.items()})
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, input=texts.encode(), capture_output=True, cwd=ROOT, timeout=120, check=False)
    assert done.stdout.decode().splitlines() == [f"{case}: {outcome}" for case, (_, _, outcome) in BOMBS.items()]
    assert (done.stderr.decode()[-500:], done.returncode) == ("", 0)
