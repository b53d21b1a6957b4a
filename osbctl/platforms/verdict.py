"""Verdicts of platforms on catalogs, and their reasons."""

import json
from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from osbctl.messages import Sentence, text_of
from osbctl.paths import JsonPath
from osbctl.platforms import Platform

MAX_REFUSALS = 10_000
"""Maximum number of reasons of one platform: a few megabytes can cause millions."""


class VerdictKind(StrEnum):
    """Verdict of a platform at registration."""

    ACCEPTS = "accepts"
    REFUSES = "refuses"
    CRASHES = "crashes"
    UNCLEAR = "unclear"
    UNREADABLE = "unreadable"


class Refusal(NamedTuple):
    """One reason of a platform to refuse a catalog: rule id, path, message and hint.

    `sentence` is the platform's own line without indentation if its words are known, else ours. `crashes`: the platform
    crashes on it. `is_wrong_type`: the value there has a type that the platform cannot read.
    """

    rule: str
    path: JsonPath
    sentence: Sentence
    hint: Sentence = ""
    crashes: bool = False
    is_wrong_type: bool = False

    @property
    def message(self) -> str:
        """The text of `sentence`, without secrets."""
        return text_of(self.sentence)


class Outcome(NamedTuple):
    """A platform's treatment of a whole catalog.

    `lines` are those that the platform itself would print, in its order and indentation. Empty if its words are not
    known. `doubts` are the reasons why the verdict is unclear; they are no refusals.
    """

    kind: VerdictKind
    refusals: tuple[Refusal, ...] = ()
    lines: tuple[Sentence, ...] = ()
    doubts: tuple[Refusal, ...] = ()

    @property
    def messages(self) -> tuple[str, ...]:
        """The text of `lines`, without secrets; a line break in a name breaks the line."""
        return tuple(line for sentence in self.lines for line in text_of(sentence).split("\n"))


def limit_refusals(refusals: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """The first `MAX_REFUSALS`; if there are more, another one says so."""
    remaining = iter(refusals)
    first = tuple(islice(remaining, MAX_REFUSALS))
    omitted = next(remaining, None)
    if omitted is None:
        return first
    return (*first, Refusal(omitted.rule, (), f"more than {MAX_REFUSALS:,} reasons; the rest is omitted"))


_LONGEST_SCHEMAS = 65_536 // len("\\u003c")
"""Characters of the schemas of one plan that stay within Cloud Foundry's limit even if Rails escapes each of them."""


def is_accepted_by_all(data: dict[str, Any]) -> bool:
    """Return whether all platforms `in_accepted_by_all` surely accept the catalog `data`; if not, nothing is known.

    `accepted_by_all.json`, a JSON Schema, describes less than they accept: known fields, short names, common keywords
    of draft-04. Most catalogs then need no verdicts. Tests hold it against these.
    """
    if not _load_validator()(data) or not _has_distinct_identities(data["services"]):
        return False
    schemas = (plan.get("schemas") for service in data["services"] for plan in service["plans"])
    return all(len(json.dumps(each)) <= _LONGEST_SCHEMAS for each in schemas)


def _has_distinct_identities(services: list[dict[str, Any]]) -> bool:
    """Return whether all ids and names are different that must be; Cloud Foundry ignores the case of plan names."""
    lists = [[service["id"] for service in services], [service["name"] for service in services]]
    lists += [[plan["id"] for service in services for plan in service["plans"]]]
    lists += [[plan["name"].lower() for plan in service["plans"]] for service in services]
    return all(len(texts) == len(set(texts)) for texts in lists)


@cache
def _load_validator() -> Callable[[Any], bool]:
    from osbctl.jsonschemas.dialects import DRAFT_4, make_fast_validator  # findings load this module, too

    # Beside this module; pathlib loads slowly.
    with open(__file__.removesuffix("verdict.py") + "accepted_by_all.json", encoding="utf-8") as file:  # noqa: PTH123
        return make_fast_validator(json.load(file), DRAFT_4)


def judge_all(data: dict[str, Any], platforms: Collection[Platform] = tuple(Platform)) -> dict[Platform, Outcome]:
    """Verdicts of `platforms` on the catalog `data`, in the order of `Platform`."""
    accepted = Outcome(VerdictKind.ACCEPTS) if is_accepted_by_all(data) else None
    chosen = (platform for platform in Platform if platform in platforms)
    return {each: accepted if accepted and each.record.in_accepted_by_all else judge(each, data) for each in chosen}


def judge(platform: Platform, data: dict[str, Any]) -> Outcome:
    """Verdict of one platform on the catalog `data`, from its module `verdict`."""
    outcome: Outcome = platform.load_module("verdict").judge(data)
    return outcome
