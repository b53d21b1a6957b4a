"""The record of a rule, and the decorator that makes one out of a check function.

The documentation pages, `osbctl rules ID`, SARIF metadata and the tests all read this one record.
"""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from osbctl.findings import Severity
    from osbctl.platforms import Platform
    from osbctl.validation.node import Hit, Node

    Check: TypeAlias = Callable[[Node], Iterator[Hit]]


class Scope(StrEnum):
    """What a rule's check is called with, once for each in the document."""

    CATALOG = "catalog"
    SERVICE = "service offering"
    PLAN = "service plan"
    PARAMETERS = "parameter schema"


class Category(StrEnum):
    """Where a rule comes from."""

    READING = "reading"
    SCHEMA = "schema"
    SPEC = "spec"
    ADVICE = "advice"
    PLATFORM = "platform"


@dataclass(frozen=True, slots=True)
class Rule:
    """All that is known of a rule.

    `doc` is the docstring of its check: a summary line, paragraphs that say why, then a block
    after `Bad::` and one after `Good::`. `source` cites where the rule comes from. `check` is None where
    something else finds it: the reader, the schema engine, or the emulation of a platform.
    """

    id: str
    severity: Severity
    category: Category
    source: str
    doc: str
    refused_by: tuple[Platform, ...] = ()
    scope: Scope = Scope.CATALOG
    check: Check | None = None

    @property
    def summary(self) -> str:
        """One sentence: what is wrong."""
        return self.doc.partition("\n\n")[0].replace("\n", " ")

    @property
    def why(self) -> str:
        """The paragraphs between the summary and the examples."""
        return self.doc.partition("\n\n")[2].partition("Bad::")[0].strip()

    @property
    def bad(self) -> str:
        """A fragment of YAML that breaks the rule."""
        return textwrap.dedent(self.doc.partition("Bad::\n")[2].partition("Good::")[0]).strip("\n ")

    @property
    def good(self) -> str:
        """The same fragment, mended."""
        return textwrap.dedent(self.doc.partition("Good::\n")[2]).strip("\n ")


RULES: dict[str, Rule] = {}
"""Every rule whose module was imported, by id. `osbctl.validation.rules.load_all` imports them all."""


def rule(
    id: str,  # noqa: A002  # the record's own field name
    *,
    severity: Severity,
    category: Category,
    source: str,
    scope: Scope = Scope.CATALOG,
    refused_by: tuple[Platform, ...] = (),
) -> Callable[[Check], Check]:
    """Register the decorated generator function as the check of a rule; its docstring is the rule's text."""

    def register(check: Check) -> Check:
        _add(Rule(id, severity, category, source, _doc(check), refused_by, scope, check))
        return check

    return register


def described(
    id: str,  # noqa: A002  # the record's own field name
    *,
    severity: Severity,
    category: Category,
    source: str,
    refused_by: tuple[Platform, ...] = (),
) -> Callable[[Callable[[], None]], Rule]:
    """Register a rule that something else finds; the decorated function has a docstring and no body."""

    def register(function: Callable[[], None]) -> Rule:
        return _add(Rule(id, severity, category, source, _doc(function), refused_by))

    return register


def _doc(function: Any) -> str:
    return inspect.cleandoc(function.__doc__ or "")


def _add(record: Rule) -> Rule:
    if record.id in RULES:
        raise ValueError(f"rule {record.id} is registered twice")
    RULES[record.id] = record
    return record
