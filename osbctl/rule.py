"""The record of a rule, and the registry of all.

Validation, comparison and the check of a live broker have rules. Documentation pages, `osbctl rules ID`, SARIF metadata
and tests read the same record.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import NamedTuple, Self

import osbctl
from osbctl.findings import Finding, Severity
from osbctl.platforms import Platform, platforms_refusing

USER_PREFIX = "house-"
"""The beginning of the id of a rule of the user."""


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

    `text` is a summary line, paragraphs with the reason, then labelled lines; that of a rule with a check is the
    docstring of the check. `Bad:` and `Good:` are fragments of YAML, behind or indented below the label; `Fix:`
    describes the automatic fix, if there is one; `Source:` cites the origin of the rule, if it is not osbctl.

    When it is reported:
    - `only_for`: only if that platform is chosen, or if none is and the rule is selected.
    - `about`: the platform that it is about; not reported if only others are chosen.
    - `needs_option`: the option of `osbctl validate` without which it is never reported.
    - `skips_brokerpaks`: not on brokerpaks, whose broker sends such values by itself.
    - `skips_brokers`: not on the answers of a running broker.
    - `on_placeholders`: also on values that hold a placeholder, which other rules skip.
    - `yields_to_faults`: not if an error, a refusal or a schema fault is reported at its path or below.
    - `yields_to_sources`: not if an error of a reader or of a build is reported at its path.
    - `supersedes`: rules of `osbctl check` that say nothing more once this one is reported.
    - `in_build`: `osbctl build` prints its findings, too.

    What it means:
    - `is_schema_fault`: refusals of platforms join its findings, even if they are no errors.
    - `covers_inside`: refusals of what is inside the value join its findings, too.
    - `stops_check`: `osbctl check` could not send all of its requests.
    - `wants_new_id`: a new id repairs it where an id is wrong.
    - `url`: a page about it if it is a rule of the user, empty without one; rules of osbctl have no `url`.
    - `refusing`: the platforms that refuse because of it, if the records of the platforms (`refuses`) do not say so.
    """

    id: str
    severity: Severity
    category: Category
    text: str = ""
    only_for: Platform | None = None
    about: Platform | None = None
    needs_option: str = ""
    skips_brokerpaks: bool = False
    skips_brokers: bool = False
    on_placeholders: bool = False
    yields_to_faults: bool = False
    yields_to_sources: bool = False
    supersedes: frozenset[str] = frozenset()
    in_build: bool = False
    is_schema_fault: bool = False
    covers_inside: bool = False
    stops_check: bool = False
    wants_new_id: bool = False
    url: str | None = None
    refusing: tuple[Platform, ...] | None = None

    def register(self, text: str) -> "Rule":
        """Add the rule with its `text` to `RULES`, the one place where all are found."""
        rule = self._replace(text=text)
        if RULES.setdefault(self.id, rule) != rule:
            raise ValueError(f"rule {self.id} is registered twice")
        return rule

    @property
    def refused_by(self) -> tuple[Platform, ...]:
        """The platforms that refuse a catalog, or the answer of a broker, because of it."""
        return platforms_refusing(self.id) if self.refusing is None else self.refusing

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
        """Automatic fix in words. Empty if the author has to decide."""
        return " ".join(_split_at_labels(self.text).get("Fix", "").split())

    @property
    def source(self) -> str:
        """Source of the rule; osbctl if the text names none."""
        return " ".join(_split_at_labels(self.text).get("Source", "osbctl").split())

    @property
    def documentation_url(self) -> str:
        """Address of its documentation; empty while osbctl has no public address. Anchors have no dots."""
        if self.url is not None:
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
"""Rules of imported modules by id. `osbctl.validation.checks.load_all` imports the modules of validation."""

_OTHER = Rule("", Severity.ERROR, Category.SPEC)


def rule_of(finding: Finding) -> Rule:
    """The record of the finding's rule; without any trait for a rule of the user, or of a platform."""
    return RULES.get(finding.rule, _OTHER)
