"""Verdict of a platform on a catalog, and its reasons."""

import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import islice
from typing import NamedTuple, Self

from osbctl.paths import JsonPath

MAX_REFUSALS = 10_000
"""Maximum number of reasons of one platform: a few megabytes can cause millions."""

_RUBY_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"=>')
"""A key of an object as Cloud Foundry quotes it."""

SHARED_PLAN_ID = """\
    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: large, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}"""
"""The examples of a rule that two plans share an id."""


class VerdictKind(StrEnum):
    """Verdict of a platform at registration."""

    ACCEPTS = "accepts"
    REFUSES = "refuses"
    CRASHES = "crashes"
    UNCLEAR = "unclear"
    UNREADABLE = "unreadable"


class Refusal(NamedTuple):
    """One reason of a platform to refuse a catalog: rule id, path, message and hint.

    `message` is the platform's own line without indentation if its words are known, else ours.
    """

    rule: str
    path: JsonPath
    message: str
    hint: str = ""


class Outcome(NamedTuple):
    """A platform's treatment of a whole catalog.

    `messages` are the lines that the platform itself would print, in its order and indentation; empty if its words are
    not known. `doubts` are the reasons why the verdict is unclear; they are no refusals.
    """

    kind: VerdictKind
    refusals: tuple[Refusal, ...] = ()
    messages: tuple[str, ...] = ()
    doubts: tuple[Refusal, ...] = ()

    @property
    def redacted(self) -> Self:
        """The outcome with secrets in its messages redacted."""
        if not self.refusals and not self.doubts:
            return self
        refusals, doubts = (
            tuple(one._replace(message=redact_message(one.message, one.path)) for one in reasons)
            for reasons in (self.refusals, self.doubts)
        )
        redactions = {old.message: new.message for old, new in zip(self.refusals, refusals, strict=True) if old != new}
        # In order: a message may be several lines, so that none of them alone is known to be secret.
        text, pieces, at = "\n".join(self.messages), list[str](), 0
        for words in [refusal.message for refusal in self.refusals if self.messages]:
            if (found := text.find(words, at)) >= 0:
                pieces += text[at:found], redactions.get(words, words)
                at = found + len(words)
        lines = redact_message("".join([*pieces, text[at:]]), ()).split("\n")
        return self._replace(refusals=refusals, messages=tuple(lines) if self.messages else (), doubts=doubts)


def redact_message(message: str, path: JsonPath) -> str:
    """Redact secrets in a platform's line about the value at `path`: the quoted value, if it may hold one, and URLs."""
    from osbctl import redaction  # only refused catalogs need it

    names = _RUBY_KEY.findall(message)
    if redaction.is_secret_path(path) or any(map(redaction.may_be_secret_name, names)):
        quoted = r"(but has value|unsupported value|are allowed:) .*"
        message = re.sub(quoted, rf"\1 {redaction.SECRET}", message, flags=re.DOTALL)
    return redaction.redact_text(message)


def limit_refusals(refusals: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """The first `MAX_REFUSALS`; if there are more, another one says so."""
    remaining = iter(refusals)
    first = tuple(islice(remaining, MAX_REFUSALS))
    omitted = next(remaining, None)
    if omitted is None:
        return first
    return (*first, Refusal(omitted.rule, (), f"more than {MAX_REFUSALS:,} reasons; the rest is omitted"))
