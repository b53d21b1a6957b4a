"""Records the interface (docs/reference/versioning.md) in tests/release/surface.json, one fact per line.

    python tools/surface.py            record new facts; fail if one was removed or changed
    python tools/surface.py --check    write nothing; exit 1 with the differences
    python tools/surface.py --major    record it from scratch, allowed only for a major version (X.0.0)

A changed fact counts as one removed and one added, such as `validate --fail-on: default error`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reference import SCHEMAS, VARIABLES, commands, type_of

import osbctl
from osbctl.broker.logs import Entry, format_json_line
from osbctl.commands.settings import all_rules
from osbctl.config import KEYS
from osbctl.registry.database import METADATA

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "tests/release/surface.json"
Surface = dict[str, list[str]]


def surface() -> Surface:
    """Every fact of the interface by its subject, sorted."""
    facts = {
        "command line": command_line(),
        "exit codes": re.findall(r"(?m)^\| (\d+ \| [^.:,]+)", text("docs/reference/exit-codes.md")),
        "rules": all_rules(),
        "reports and files": (fact for file in sorted(SCHEMAS.glob("*.json")) for fact in fields(file)),
        "configuration": KEYS,
        "environment": [*VARIABLES, *variables()],
        "log": json.loads(format_json_line(Entry(0, 0, "", "", "", "200", 0, None, ""))).keys() - {"event"},
        "metrics": metrics(),
        "database": columns(),
        "source folder": re.findall(r"# (osbctl catalog\.lock, version \d+)", text("catalogs/source/catalog.lock")),
    }
    return {subject: sorted(set(found)) for subject, found in facts.items()}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def command_line() -> Iterator[str]:
    for name, command in commands():
        yield name
        for parameter in command.params:
            names = [*parameter.opts, *parameter.secondary_opts]
            of_parser = "--help" in names or parameter.name.endswith("_completion")
            yield from () if of_parser else option(name, parameter)


def option(command: str, parameter: Any) -> Iterator[str]:
    """Facts of an option, or of an argument, which is identified by its position."""
    spelled = parameter.opts if parameter.opts[0].startswith("-") else [parameter.name.upper()]
    for word in [*spelled, *parameter.secondary_opts]:
        yield f"{command} {word}"
    called = f"{command} {spelled[0]}"
    yield from (f"{called} {choice}" for choice in getattr(parameter.type, "choices", ()))
    # Optional and repeatable are facts, required and single are not: these may become the former in a minor version.
    yield from [f"{called}: may be left out"] if not parameter.required else []
    yield from [f"{called}: repeatable"] if getattr(parameter, "multiple", False) or parameter.nargs == -1 else []
    yield from [f"{called}: a flag"] if getattr(parameter, "is_flag", False) else []
    if parameter.default not in (None, "", False):
        yield f"{called}: default {getattr(parameter.default, 'value', parameter.default)}"


def variables() -> Iterator[str]:
    for _, command in commands():
        for parameter in command.params:
            yield from [parameter.envvar] if isinstance(parameter.envvar, str) else parameter.envvar or ()


def fields(file: Path) -> Iterator[str]:
    """Each field of a schema, with its type and whether it is required."""
    yield file.name
    pending = [(file.stem, json.loads(file.read_text(encoding="utf-8")))]
    while pending:
        where, schema = pending.pop()
        required = schema.get("required", ())
        for name, field in schema.get("properties", {}).items():
            if isinstance(field, dict):
                kind, choice, _ = (said := type_of(field)).partition("`")
                choices = re.findall("`[^`]*`", said)
                # Each value of a choice is a fact of its own, so that one more is new and no other type.
                yield from (f"{where} {name}: {one}" for one in choices)
                said = f"{kind}a choice" if choice else said
                yield f"{where} {name}: {said}, {'always' if name in required else 'optional'}"
        for word in ("properties", "definitions"):
            pending += [(f"{where} {name}", part) for name, part in schema.get(word, {}).items() if part is not False]
        inside = [
            schema.get("items"),
            schema.get("additionalProperties"),
            *schema.get("anyOf", ()),
            *schema.get("oneOf", ()),
        ]
        pending += [(where, part) for part in inside if isinstance(part, dict)]


def metrics() -> Iterator[str]:
    """Each metric with its labels, from the calls that create them, or from a table of names without labels."""
    program = text("osbctl/broker/admin.py")
    labels = dict(re.findall(r'MetricFamily\(\s*"(osbctl_\w+)"[^()]*labels=\[(.*?)\]', program))
    for name in dict.fromkeys(re.findall(r'"(osbctl_\w+)"', program)):
        yield f"{name} {{{labels.get(name, '')}}}".replace('"', "")


def columns() -> Iterator[str]:
    for table in METADATA.sorted_tables:
        yield from (f"{table.name} {column.name}: {column.type}" for column in table.columns)


def differences(recorded: Surface, now: Surface) -> tuple[list[str], list[str]]:
    """Removed and added facts, each with its subject."""
    before = {f"{subject}: {fact}" for subject, facts in recorded.items() for fact in facts}
    after = {f"{subject}: {fact}" for subject, facts in now.items() for fact in facts}
    return sorted(before - after), sorted(after - before)


def refusal(gone: list[str], new: list[str], words: list[str]) -> str:
    """Reason why the interface cannot be recorded, or is out of date. Empty if there is none."""
    major = re.fullmatch(r"\d+\.0\.0", osbctl.__version__)
    if "--major" in words and not major:
        return f"{osbctl.__version__} is not the first of a major version"
    if gone and "--major" not in words:
        return "\n".join([*(f"- {fact}" for fact in gone), "gone from the interface: that needs a new major version"])
    if new and "--check" in words:
        return "\n".join([*(f"+ {fact}" for fact in new), "new in the interface: record it with tools/surface.py"])
    return ""


def main(words: list[str]) -> int:
    recorded, now = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}, surface()
    gone, new = differences(recorded, now)
    if refused := refusal(gone, new, words):
        print(refused)
        return 1
    if "--check" not in words and (gone or new):
        RECORD.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"wrote {RECORD.name}: {len(gone)} gone, {len(new)} new")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
