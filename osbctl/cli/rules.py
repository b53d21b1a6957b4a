"""`osbctl rules`: what osbctl looks for, and why."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Annotated

import typer

from osbctl.cli.output import put
from osbctl.platforms import labels
from osbctl.rule import Rule


def rules(
    rule: Annotated[
        str | None, typer.Argument(metavar="[RULE]", help="Explain this rule; without it, list all.")
    ] = None,
) -> int:
    """List the rules, or explain one: what it means, why it matters, and who refuses because of it.

    \b
    osbctl rules
    osbctl rules plan-name-duplicate
    """
    from osbctl.errors import UsageError
    from osbctl.tasks.rules import all_rules
    from osbctl.text import did_you_mean

    known = all_rules()
    if rule is None:
        put("\n".join(_list(sorted(known.values(), key=lambda r: (r.category, r.id)))) + "\n", None)
    elif rule in known:
        put("\n".join(_explanation(known[rule])) + "\n", None)
    else:
        raise UsageError(f"there is no rule {rule!r}", did_you_mean(rule, known) or "osbctl rules lists them")
    return 0


def _list(records: list[Rule]) -> Iterator[str]:
    width = max(len(record.id) for record in records)
    for record in records:
        yield f"{record.id:<{width}}  {record.severity.value:<7}  {record.category.value:<8}  {record.summary}"


def _explanation(record: Rule) -> Iterator[str]:
    yield f"{record.id} ({record.severity.value}, {record.category.value})"
    yield ""
    yield record.summary
    if record.why:
        yield f"\n{record.why}"
    for title, example in (("Bad", record.bad), ("Good", record.good)):
        if example:
            yield f"\n{title}:\n{textwrap.indent(example, '    ')}"
    if record.fix:
        yield f"\nFix: {record.fix}"
    yield f"\nSource: {record.source}"
    if record.refused_by:
        yield f"Refused by: {labels(record.refused_by)}"
