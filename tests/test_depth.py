"""Catalogs as deep as osbctl takes them pass through judging and every report, in a process of their own."""

from __future__ import annotations

import json
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
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
from osbctl.reports import Format, Report, render
from osbctl.sources.parse import parse_document
from osbctl.validation.pipeline import validate_document
from osbctl.validation.options import ValidationOptions
from osbctl.validation.rules import load_all
for name, text in json.load(sys.stdin).items():
    document = parse_document(text.encode(), name)
    judgement = validate_document(document, ValidationOptions())
    assert all(finding.location for finding in judgement.findings)
    for format in Format:
        render(Report([judgement], load_all()), format)
    print(name, flush=True)
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


@pytest.mark.parametrize("syntax", ["json", "yaml"])
def test_the_deepest_levels_that_are_taken(syntax: str) -> None:
    start = "%YAML 1.2\n---\n" if syntax == "yaml" else ""
    texts = {
        f"{shape} in {place}.{syntax}": start + CATALOG % (INSIDE[place] % DEEP[shape])
        for shape in DEEP
        for place in INSIDE
    }
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        command, input=json.dumps(texts).encode(), capture_output=True, cwd=ROOT, timeout=60, check=False
    )
    passed = done.stdout.decode().splitlines()
    assert (passed, done.stderr.decode()[-500:], done.returncode) == ([*texts], "", 0)
