"""The record of a rule, and the decorator that registers a check function as one.

Validation, comparison and the check of a live broker have rules. Documentation pages, `osbctl rules ID`, SARIF metadata
and tests read the same record.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, Self, TypeAlias

import osbctl
from osbctl.findings import Severity
from osbctl.platforms import Platform, platforms_refusing

Check: TypeAlias = Callable[[Any], Iterator[Any]]
"""A rule's check: from an `osbctl.validation.node.Node` to findings, whose rule and severity the engine sets."""


class Category(StrEnum):
    """Group of rules. `meaning` describes it in a sentence."""

    meaning: str

    def __new__(cls, word: str, meaning: str) -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.meaning = meaning
        return member

    READING = "reading", "Errors and remarks of the readers of JSON, YAML and source folders."
    SCHEMA = "schema", "Violations of the JSON Schema of the API version."
    SPEC = "spec", "Violations of a MUST of the specification that a schema cannot express."
    ADVICE = "advice", "Recommendations of the specification and of experience."
    PLATFORM = "platform", "Refusals of a platform that the specification does not require."
    BUILD = "build", "Faults that prevent a source folder from being composed."
    CHANGE = "change", "Effects of a changed catalog on platforms and users."
    WIRE = "wire", "Faults in the answers of a running broker, found by `osbctl check`."


class Rule(NamedTuple):
    """Everything about a rule.

    `text` is the docstring of its check: a summary line, paragraphs with the reason, then labelled lines. `Bad:` and
    `Good:` are fragments of YAML, behind or indented below the label; `Fix:` describes the automatic fix, if there is
    one; `Source:` cites the origin of the rule, if it is not osbctl. `check` is None if the reader, the schema engine
    or the emulation of a platform finds it. `only_for`: the rule is reported only if that platform is chosen, or if
    none is and the rule is selected. `about`: the platform that it is about; not reported if only others are
    chosen. `url`: a page about a rule of the user.
    """

    id: str
    severity: Severity
    category: Category
    text: str
    refused_by: tuple[Platform, ...] = ()
    check: Check | None = None
    only_for: Platform | None = None
    about: Platform | None = None
    url: str = ""

    @property
    def summary(self) -> str:
        """One sentence: what is wrong."""
        return _split_at_labels(self.text)[""].partition("\n\n")[0].replace("\n", " ")

    @property
    def why(self) -> str:
        """The paragraphs between the summary and the examples."""
        return _split_at_labels(self.text)[""].partition("\n\n")[2]

    @property
    def bad(self) -> str:
        """A fragment of YAML that breaks the rule."""
        return _split_at_labels(self.text).get("Bad", "")

    @property
    def good(self) -> str:
        """The same fragment, repaired."""
        return _split_at_labels(self.text).get("Good", "")

    @property
    def fix(self) -> str:
        """Automatic fix in words; empty if the author has to decide."""
        return " ".join(_split_at_labels(self.text).get("Fix", "").split())

    @property
    def source(self) -> str:
        """Source of the rule; osbctl if the text names none."""
        return " ".join(_split_at_labels(self.text).get("Source", "osbctl").split())

    @property
    def documentation_url(self) -> str:
        """Address of its documentation; empty while osbctl has no public address. Anchors have no dots."""
        if self.id.startswith("house-") and self.id not in RULES:
            return self.url
        page = f"docs/reference/rules/{self.category.value}.md#{self.id.replace('.', '')}"
        return f"{osbctl.REPOSITORY}/blob/HEAD/{page}" if osbctl.REPOSITORY else ""


@cache
def _split_at_labels(text: str) -> dict[str, str]:
    """Split a rule's text at its labels; the text before the first label has the empty label."""
    import inspect  # costs more than all rules together, and only readers of the text need it
    from textwrap import dedent

    before, *labelled = re.split(r"(?m)^(Bad|Good|Fix|Source):", inspect.cleandoc(text))
    parts = {label: dedent(part).strip() for label, part in zip(labelled[::2], labelled[1::2], strict=True)}
    return {"": before.strip(), **parts}


def matching_rules(word: str, rules: Mapping[str, Rule]) -> frozenset[str]:
    """The rule ids that `word` selects: an id, a category, or a prefix followed by `*`."""
    if word in rules:
        return frozenset({word})
    if word.endswith("*"):
        return frozenset(name for name in rules if name.startswith(word[:-1]))
    return frozenset(name for name, record in rules.items() if record.category.value == word)


RULES: dict[str, Rule] = {}
"""Rules of imported modules by id. `osbctl.validation.rules.load_all` imports all modules."""


def rule(
    id: str,
    severity: Severity,
    category: Category,
    *,
    only_for: Platform | None = None,
    about: Platform | None = None,
) -> Callable[[Check], Check]:
    """Register the decorated generator function as the check of a rule; its docstring is the rule's text.

    The check gets the catalog; that of a rule `parameters-…` each parameter schema in it.
    """

    def register(check: Check) -> Check:
        register_rules({id: check.__doc__ or ""}, severity, category, check=check, only_for=only_for, about=about)
        return check

    return register


def register_rules(
    texts: Mapping[str, str],
    severity: Severity,
    category: Category,
    refused_by: tuple[Platform, ...] | None = None,
    *,
    check: Check | None = None,
    only_for: Platform | None = None,
    about: Platform | None = None,
) -> None:
    """Register rules from their texts by id. `refused_by` None: from the platforms' records."""
    for name, text in texts.items():
        if name in RULES:
            raise ValueError(f"rule {name} is registered twice")
        refused = platforms_refusing(name) if refused_by is None else refused_by
        RULES[name] = Rule(name, severity, category, text, refused, check, only_for, about)
