"""`osbctl rules` and `schema`: the rules, and the schema of a catalog."""

import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated

from osbctl.commands import options as common
from osbctl.commands.options import Argument, Option
from osbctl.commands.output import use_color, wrap_width, write_json, write_lines, write_output
from osbctl.commands.settings import all_rules, first_config, read_user_schemas, resolve_rule_ids
from osbctl.fields import schema_text
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, format_platforms
from osbctl.rule import Category, Rule
from osbctl.text import AnsiStyle, wrap_line

_VERSION = 1
"""Version of the JSON format, `schemas/rules-1.json`. Only new fields need no new version."""

_KEYS = ("id", "severity", "category", "summary", "why", "bad", "good", "fix", "source", "refused_by", "only_for")


def rules(
    rule: Annotated[
        str | None,
        Argument("[RULE]", "A rule to explain, or a group (advice) or prefix (id-*) to list.", complete="rules"),
    ] = None,
    schemas: Annotated[
        tuple[str, ...],
        Option("Also list the rules of this JSON Schema of yours; repeatable.", "--schema", metavar="FILE"),
    ] = (),
    format: common.TextOrJson = "text",  # the option's own name
    color: common.ColorChoice = "auto",
    config: common.Config = None,
) -> int:
    """List the rules, or explain one: its meaning, its reason, and the platforms that refuse because of it.

    Those of your own schemas are among them, if the configuration or --schema names the schemas.

    \b
    osbctl rules
    osbctl rules advice
    osbctl rules plan-name-duplicate
    osbctl rules --format json | jq -r '.rules[] | select(.fix != "") | .id'
    """
    _, user_rules = read_user_schemas(schemas, first_config((), config))
    known = {**all_rules(), **user_rules}
    categories = list(Category)
    found = [known[id_] for id_ in (known if rule is None else resolve_rule_ids(rule, user_rules))]
    found.sort(key=lambda record: (categories.index(record.category), record.id))
    paint, width = AnsiStyle(use_color(color, sys.stdout)), wrap_width(sys.stdout)
    if format == "json":
        records = [{**{key: getattr(one, key) for key in _KEYS}, "url": one.documentation_url} for one in found]
        write_json({"version": _VERSION, "rules": records})
    elif rule == found[0].id:
        write_lines(_rule_explanation_lines(found[0], paint, width))
    else:
        write_lines([*_rule_list_lines(found, paint, width)][:-1])
    return 0


def _rule_list_lines(records: Sequence[Rule], paint: AnsiStyle, width: int) -> Iterator[str]:
    """The rules by category, one per line, wrapped to `width` columns."""
    for category, ours in groupby(records, key=lambda record: record.category):
        group = list(ours)
        yield wrap_line(f"{paint(category.value, 'bold')}: {category.meaning}", width)
        longest = max(len(record.id) for record in group)
        for record in group:
            severity = paint(f"{record.severity.value:<7}", record.severity.value)
            fixable = paint(" (fixable)", "safe") if record.fix else ""
            yield wrap_line(
                f"  {record.id:<{longest}}  {severity}  {record.summary}{fixable}", width, " " * (longest + 13)
            )
        yield ""


def _rule_explanation_lines(record: Rule, paint: AnsiStyle, width: int) -> Iterator[str]:
    severity = paint(record.severity.value, record.severity.value)
    yield f"{paint(record.id, 'bold')} ({severity}, {record.category.value})\n"
    yield wrap_line(record.summary, width, "")
    for paragraph in filter(None, record.why.split("\n\n")):
        yield "\n" + wrap_line(" ".join(paragraph.split("\n")) if width else paragraph, width, "")
    for title, example, style in (("Bad", record.bad, "removed"), ("Good", record.good, "added")):
        if example:
            yield f"\n{paint(title, style)}:\n{textwrap.indent(example, '    ')}"
    if record.fix:
        yield wrap_line(f"\n{paint('Fix', 'bold')}: {record.fix}", width)
    yield wrap_line(f"\n{paint('Source', 'bold')}: {record.source}", width)
    if record.refused_by:
        yield wrap_line(f"{paint('Refused by', 'bold')}: {format_platforms(record.refused_by)}", width)


def schema(api_version: Annotated[ApiVersion, Option("API version of the catalog.")] = DEFAULT_API_VERSION) -> int:
    """Print the JSON Schema of a catalog, for editors that complete and check fields.

    \b
    osbctl schema > catalog-schema.json
    osbctl schema --api-version 2.17
    """
    write_output(schema_text(api_version))
    return 0
