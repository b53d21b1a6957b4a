"""The reference pages on environment variables and JSON reports, from the program and from schemas/."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from osbctl.commands.app import COMMANDS, make_command_group

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMAS = Path(__file__).parent.parent / "schemas"
REPORTS = {
    "report-1.json": "osbctl validate",
    "params-1.json": "osbctl params",
    "diff-1.json": "osbctl diff` and `osbctl drift",
    "drift-all-1.json": "osbctl drift --all",
    "brokers-1.json": "osbctl brokers list",
    "rules-1.json": "osbctl rules",
    "credentials.json": "osbctl hash-password",
}
VARIABLES = {
    "OSBCTL_PASSWORD": "`fetch`, `check`, `diff`, `drift`, `page`: the password of the broker that is asked.",
    "OSBCTL_BROKER_<NAME>_PASSWORD": (
        "The password of the registered broker NAME, in all commands that take one; the name in capitals, other signs "
        "as `_`."
    ),
    "OSBCTL_BROKER_<NAME>_URL": ("The address that NAME's password is for; if the database has another, none is sent."),
    "OSBCTL_DEBUG": "Any value: an internal error ends with its traceback instead of a sentence.",
    "NO_COLOR": "Any value: no colours, unless `--color always` is given.",
    "FORCE_COLOR": "Any value but `0`: colours even where the output is no terminal.",
    "TERM": "`dumb`: no colours.",
    "HTTPS_PROXY": (
        "`fetch`, `check`, `diff`, `drift`, `page`, `brokers`: the proxy through whose tunnel brokers are reached, an "
        "http:// or https:// URL. What is in the tunnel, credentials too, the proxy cannot read. `https_proxy`, too."
    ),
    "ALL_PROXY": "As HTTPS_PROXY, where that is not set.",
    "HTTP_PROXY": "A broker with plain HTTP is not asked through a proxy, which could read the password: exit code 3.",
    "NO_PROXY": (
        "Hosts that are reached without a proxy, separated by commas: names and domains with all below them, "
        "addresses, networks (`10.0.0.0/8`), each with or without `:port`, or `*`. This machine always is."
    ),
    "GITHUB_WORKSPACE": "The folder of the repository: paths in reports for CI are relative to it.",
    "CI_PROJECT_DIR": "The same on GitLab.",
    "GITHUB_ACTIONS": "`true`: `validate`, `diff` and `drift` report as GitHub annotations unless `--format` is given.",
    "LISTEN_FDS": "`serve`: with LISTEN_PID, the sockets that systemd hands over.",
    "LISTEN_PID": "`serve`: the process that the sockets of LISTEN_FDS are meant for.",
}
"""Environment variables other than those of options; a test finds missing ones."""


_JUDGING = "validate build serve check page lsp"
_READING = "validate fix build serve show params split diff drift page lsp"
READERS = {
    "extends": f"{_READING} check fetch rules",
    "api-version": f"{_JUDGING} fix diff drift fetch",
    "platform": f"{_JUDGING} fix diff drift params",
    "fail-on": "validate check",
    "select": f"{_JUDGING} fix",
    "ignore": f"{_JUDGING} fix",
    "schema": f"{_JUDGING} fix rules",
    "ignore-at": f"{_JUDGING} fix",
    "severity": _JUDGING,
    "env": _READING,
    "per-path": _READING,
    "page": "page",
}
"""The commands that read each key of the configuration; a test finds those that read another, or one of these not."""


def commands(group: Any = None, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command and subcommand with its full name."""
    for key, command in (group or make_command_group(COMMANDS)).commands.items():
        full = f"{name} {key}".strip()
        yield full, command
        if hasattr(command, "commands"):
            yield from commands(command, full)


def environment_page() -> Iterator[str]:
    yield "# Environment variables\n\n<!-- Written from the program by `tools/make_docs.py` -->\n"
    yield "An option of the command line wins over its variable. An option that is repeatable takes several values"
    yield "separated by spaces from a variable; a flag takes `1` or `0`.\n"
    yield "## Of options\n\n| variable | stands for |\n|---|---|"
    meanings: dict[str, list[str]] = {}
    for name, command in commands():
        for parameter in command.params:
            given = parameter.envvar or ()
            for variable in [given] if isinstance(given, str) else given:
                shown = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.name.upper()
                meanings.setdefault(variable, []).append(f"`{name}` `{shown}`")
    yield from (f"| `{variable}` | {', '.join(places)} |" for variable, places in sorted(meanings.items()))
    yield "\n## Others\n\n| variable | meaning |\n|---|---|"
    yield from (f"| `{variable}` | {meaning} |" for variable, meaning in VARIABLES.items())


def reports_page() -> Iterator[str]:
    yield "# JSON reports and files\n\n<!-- Written from `schemas/` by `tools/make_docs.py` -->\n"
    yield "The schemas themselves ship with osbctl, under `osbctl/schemas/` in the installed package.\n"
    for file, command in REPORTS.items():
        schema = json.loads((SCHEMAS / file).read_text(encoding="utf-8"))
        yield f"## {schema['title']}\n\n{schema['description']}\n"
        yield f"Schema: [`schemas/{file}`](../../schemas/{file}). Written by `{command}`.\n"
        topic = schema["title"].split()[0].lower()  # two schemas may have a definition of the same name
        yield from fields(schema, topic)
        for shape in schema.get("anyOf", ()):
            yield f"### {topic}: {shape['title']}\n"
            yield from (f"As {type_of(base)}, and:\n" for base in shape.get("allOf", ()))
            yield from fields(shape, topic)
        short = []
        for name, definition in schema.get("definitions", {}).items():
            if "properties" in definition:
                yield f"### {topic}: {name}\n"
                yield from [f"{definition['description']}\n"] if "description" in definition else []
                yield from fields(definition, topic)
            else:
                short.append(f"`{name}` is {type_of(definition)}")
        yield from [f"Here {', '.join(short)}.\n"] if short else []


def fields(definition: dict[str, Any], topic: str) -> Iterator[str]:
    """Tables of the fields of an object and its nested objects."""
    present = {name: field for name, field in definition.get("properties", {}).items() if field is not False}
    if not present:
        return
    yield "| field | type | meaning |\n|---|---|---|"
    for name, field in present.items():
        optional = "" if name in definition.get("required", ()) else "Optional. "
        yield f"| `{name}` | {type_of(field)} | {optional}{field.get('description', '')} |"
    yield ""
    for name, field in present.items():
        if "properties" in field.get("items", {}):
            yield f"### {topic}: an entry of {name}\n"
            yield from fields(field["items"], topic)


def type_of(field: dict[str, Any]) -> str:
    """The type of a field in words."""
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(type_of(one) for one in field["anyOf"])
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    kind = field.get("type", "any value")
    if kind == "array":
        return f"list of {type_of(field['items'])}"
    if "$ref" in field.get("additionalProperties", ()):
        return f"{kind} of {type_of(field['additionalProperties'])}s by name"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
