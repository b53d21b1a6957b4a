"""Catalogs as deep as osbctl takes them pass through judging and every report, in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from osbctl.sources.limits import MAX_DEPTH

ROOT = Path(__file__).parents[1]
LEVELS = MAX_DEPTH - 20
PLAN = '{"id": "p", "name": "p", "description": "d", %s}'
CATALOG = '{"services": [{"id": "s", "name": "s", "description": "d", "bindable": true, "plans": [' + PLAN + "]}]}"
SCHEMAS = '"schemas": {"service_instance": {"create": {"parameters": %s}}}'

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
from osbctl.reports import Format, Report, render
from osbctl.sources.parse import parse_document
from osbctl.validation.judge import judge
from osbctl.validation.options import ValidationOptions
from osbctl.validation.rules import load_all
document = parse_document(sys.stdin.buffer.read(), sys.argv[1])
judgement = judge(document, ValidationOptions())
assert all(finding.location for finding in judgement.findings)
for format in Format:
    render(Report([judgement], load_all()), format)
print(document.syntax)
"""

INSIDE = {
    "metadata": '"metadata": {"x": %s}',
    "a parameter schema": SCHEMAS % '{"$schema": "http://json-schema.org/draft-07/schema#", "items": %s}',
}
DEEP = {
    "objects": '{"items": ' * LEVELS + "{}" + "}" * LEVELS,
    "arrays": "[" * LEVELS + "]" * LEVELS,
    "references": '{"allOf": [' * (LEVELS // 2) + '{"$ref": "#"}' + "]}" * (LEVELS // 2),
}


@pytest.mark.parametrize("shape", DEEP)
@pytest.mark.parametrize("place", INSIDE)
@pytest.mark.parametrize("syntax", ["json", "yaml"])
def test_the_deepest_levels_that_are_taken(shape: str, place: str, syntax: str) -> None:
    text = CATALOG % (INSIDE[place] % DEEP[shape])
    if syntax == "yaml":
        text = f"%YAML 1.2\n---\n{text}"
    command = [sys.executable, "-c", PROGRAM, f"a.{syntax}"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, cwd=ROOT, timeout=30, check=False)
    assert (done.stdout.decode().strip(), done.stderr.decode()[-500:], done.returncode) == (syntax, "", 0)
