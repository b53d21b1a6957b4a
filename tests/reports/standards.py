"""Reports against the schemas and standards of their formats."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema

from tests.folders import schemas_folder

SARIF = json.loads((Path(__file__).parent / "sarif-2.1.0.json").read_text(encoding="utf-8"))


def checked_sarif(text: str) -> Any:
    """The data of a SARIF log that meets the standard."""
    told = json.loads(text)
    jsonschema.Draft7Validator(SARIF, format_checker=jsonschema.FormatChecker()).validate(told)
    return told


def checked_json(text: str, schema: str) -> Any:
    """The data of a report that meets our schema of that name."""
    told = json.loads(text)
    jsonschema.validate(told, json.loads((schemas_folder() / f"{schema}.json").read_text(encoding="utf-8")))
    return told


def assert_only_escapes(colored: str, plain: str) -> None:
    """Check that `colored` is `plain` with escape sequences for colors."""
    assert colored != plain
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain
