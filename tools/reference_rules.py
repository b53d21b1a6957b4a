"""Reference pages of the rules: an index with severity, platforms and fix, and a page per group."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from osbctl.commands.settings import all_rules
from osbctl.platforms import format_platforms
from osbctl.rule import Category

if TYPE_CHECKING:
    from collections.abc import Iterator

    from osbctl.rule import Rule

HEAD = "<!-- Written from the rules' records by `tools/make_docs.py` -->\n"


def rule_pages(folder: Path) -> Iterator[tuple[Path, str]]:
    """The index `rules.md` and the page of each group, with its text."""
    yield folder / "rules.md", "\n".join(index())
    for category, rules in groups():
        text = "\n".join(group_page(category, rules))
        yield folder / "rules" / f"{category.value}.md", text


def groups() -> list[tuple[Category, list[Rule]]]:
    """The groups with rules, each with its rules by id."""
    rules = sorted(all_rules().values(), key=lambda rule: rule.id)
    found = [(category, [rule for rule in rules if rule.category is category]) for category in Category]
    return [(category, ours) for category, ours in found if ours]


def summary() -> str:
    """The number of rules, groups and automatic fixes, as one sentence for the README."""
    rules = all_rules().values()
    fixable = sum(bool(rule.fix) for rule in rules)
    return f"{len(rules)} rules in {len(groups())} groups; `osbctl fix` repairs what {fixable} of them find."


def index() -> Iterator[str]:
    yield f"# Rules\n\n{HEAD}"
    yield f"{summary()} `osbctl rules ID` prints the same text as these pages."
    for category, rules in groups():
        yield f"\n## {category.value.capitalize()}\n\n{category.meaning}\n"
        yield "| rule | severity | refused by | fixable |\n|---|---|---|---|"
        for rule in rules:
            place = f"rules/{category.value}.md#{rule.id.replace('.', '')}"
            refused = format_platforms(rule.refused_by)
            yield f"| [`{rule.id}`]({place}) | {rule.severity.value} | {refused} | {'yes' if rule.fix else ''} |"
    yield "\n```{toctree}\n:hidden:\n"
    yield from (f"rules/{category.value}" for category, _ in groups())
    yield "```\n"


def group_page(category: Category, rules: list[Rule]) -> Iterator[str]:
    yield f"# Rules: {category.value}\n\n{HEAD}\n{category.meaning} [All rules](../rules.md).\n"
    for rule in rules:
        yield from rule_entry(rule)


def rule_entry(rule: Rule) -> Iterator[str]:
    # The anchor is part of each link to a rule, and stays when its sentence changes.
    yield f'<a id="{rule.id.replace(".", "")}"></a>\n'
    yield f"## {rule.id}: {rule.summary.removesuffix('.')}\n\n*{rule.severity.value}.*\n"
    if rule.why:
        yield f"{rule.why}\n"
    for title, example in (("Bad", rule.bad), ("Good", rule.good)):
        if example:
            yield f"{title}:\n\n```yaml\n{example}\n```\n"
    if rule.fix:
        yield f"Fix: {rule.fix}\n"
    refused = format_platforms(rule.refused_by)
    yield f"Source: {rule.source}." + (f" Refused by {refused}.\n" if refused else "\n")
