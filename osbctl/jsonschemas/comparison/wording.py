"""The sentences of schema changes: safe to print, and without secrets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from osbctl.jsonschemas.comparison.candidates import FORBIDDEN, FORMAT, REQUIRED, UNDECIDED, Candidate, Step
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.paths import JsonValue
from osbctl.redaction import SECRET, may_be_secret_name, redact_text
from osbctl.text import ELLIPSIS, escape_line

MAX_TEXT = 60
MAX_EXAMPLE = 200
ABSENT = object()
"""Stands for a keyword that a schema does not have."""


def example(value: JsonValue, secrets: Secrets, most: int = MAX_EXAMPLE) -> str:
    """A value as one line of JSON: cut short, escaped, without secrets; `none` for `ABSENT`."""
    if value is ABSENT:
        return "none"
    # As many entries as may be visible: a long list is shown once for each of its entries.
    if isinstance(value, dict):
        value = dict(islice(value.items(), most))
    elif isinstance(value, list):
        value = value[:most]
    return cut(secrets.line(value), most)


def cut(text: str, most: int = MAX_TEXT) -> str:
    """`text` without secrets, safe to print, at most so many characters."""
    plain = escape_line(redact_text(text)[: most + 1])
    return plain if len(plain) <= most else plain[: most - 1] + ELLIPSIS


def subject(names: Sequence[str]) -> str:
    """The name of a value in a request: `"nodes[0].size"`, or `the parameters` for the whole."""
    return f'"{cut(".".join(names).replace(".[", "["))}"' if names else "the parameters"


def _where(steps: Sequence[Step]) -> str:
    return subject([f"[{step.at}]" if isinstance(step.at, int) else "*" if step.fresh else step.at for step in steps])


def refused(candidate: Candidate, value: JsonValue, secrets: Secrets) -> str:
    """The message of a change that a counterexample proves; `value` is the one at the candidate's place."""
    steps = candidate.pair.steps
    where = _where(steps)
    if candidate.rule == REQUIRED:
        return f'"{cut(candidate.name)}" is now required' + (f" in {where}" if steps else "")
    if candidate.rule == FORBIDDEN and not candidate.keyword:
        is_any_other = bool(steps) and steps[-1].fresh
        around = f"{_where(steps[:-1])} no longer may have other properties"
        return around if is_any_other else f"{where} is no longer allowed"
    shown = SECRET if _is_secret(candidate, secrets) else example(value, secrets, MAX_TEXT)
    condition = " where formats are enforced" if candidate.rule == FORMAT else ""
    return f"{where} no longer {'accepts' if steps else 'accept'} {shown}{_because(candidate, secrets)}{condition}"


def undecided(candidate: Candidate, secrets: Secrets) -> str:
    """The message of a change that was neither proved harmless nor shown to refuse a request."""
    where = _where(candidate.pair.steps)
    if candidate.keyword == "type" and candidate.rule == UNDECIDED:
        return f"{where}: the new draft does not accept 1.0 as an integer; whether requests hold such is not known"
    what = f"{where}: {candidate.keyword or 'the schema'} changed"
    return f"{what}{_because(candidate, secrets)}; whether it refuses requests that were valid cannot be decided"


def unknown_before(steps: Sequence[Step]) -> str:
    """The message for a property that the old schema did not describe: any value was accepted."""
    return (
        f"{_where(steps)} was not described before and took any value; it is described now,"
        " so requests that use it may be refused"
    )


def both_values(values: Sequence[JsonValue], secrets: Secrets, *, hidden: bool) -> str:
    """` from 1 to 2`, with `none` for `ABSENT`; without the values if they are `hidden`."""
    shown = [SECRET if hidden and value is not ABSENT else example(value, secrets, MAX_TEXT) for value in values]
    return f" {SECRET}" if shown[0] == shown[1] else f" from {shown[0]} to {shown[1]}"


def _because(candidate: Candidate, secrets: Secrets) -> str:
    if not candidate.keyword or not isinstance(candidate.pair.new.value, dict):
        return ""
    value = candidate.pair.new.value.get(candidate.keyword)
    hide = candidate.keyword in ("enum", "const") and _is_secret(candidate, secrets)
    if isinstance(value, str | int | float | list) and not hide:
        return f" ({candidate.keyword}: {example(value, secrets, MAX_TEXT)})"
    return f" ({candidate.keyword})"


def _is_secret(candidate: Candidate, secrets: Secrets) -> bool:
    pair = candidate.pair
    return any(may_be_secret_name(str(step.at)) for step in pair.steps) or secrets.at(pair.new, *pair.old.known)
