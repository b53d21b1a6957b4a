"""The sentences of schema changes; nothing in them is trusted, no secret is shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from osbctl.jsonschemas.comparison.candidates import FORBIDDEN, FORMAT, REQUIRED, UNDECIDED, Candidate, Step
from osbctl.jsonschemas.comparison.changes import ABSENT, Absent
from osbctl.jsonschemas.comparison.secrets import Secrets
from osbctl.jsonschemas.schema_tree import Subschema
from osbctl.paths import JsonValue
from osbctl.redaction import SECRET, may_be_secret_name, redact_text
from osbctl.text import ELLIPSIS, escape_line

MAX_TEXT = 60
MAX_EXAMPLE = 200


def example(value: JsonValue | Absent, secrets: Secrets, most: int = MAX_EXAMPLE) -> str:
    """A value as one line of JSON: cut short, escaped, without secrets; empty where there is none."""
    return "" if value is ABSENT else cut(secrets.line(_beginning(value, most)), most)


def subject(steps: Sequence[Step]) -> str:
    """The value's name in a request: `"nodes[0].size"`, or `the parameters` for the whole."""
    path: list[str] = []
    for step in steps:
        if step.kind == "index":
            path.append(f"[{step.at}]")
        elif step.kind == "key":
            path.append(f"{'.' if path else ''}{'*' if step.fresh else step.at}")
    return f'"{cut("".join(path))}"' if path else "the parameters"


def _verb(word: str, steps: Sequence[Step]) -> str:
    """`word` as it follows `subject`: the parameters are many."""
    return word if subject(steps) == "the parameters" else f"{word}s"


def refused(candidate: Candidate, value: JsonValue | Absent, secrets: Secrets) -> str:
    """For a change that a witness proves; `value` is the one at the candidate's place."""
    steps = candidate.pair.steps
    where = subject(steps)
    if candidate.rule == REQUIRED:
        inside = f" in {where}" if steps else ""
        return f'"{cut(candidate.name)}" is now required{inside}'
    if candidate.rule == FORBIDDEN and not candidate.keyword:
        if _is_fresh(steps):
            return f"{subject(steps[:-1])} no longer may have other properties"
        return f"{where} is no longer allowed"
    shown = SECRET if _is_secret(candidate, secrets) else example(value, secrets, MAX_TEXT)
    condition = " where formats are enforced" if candidate.rule == FORMAT else ""
    return f"{where} no longer {_verb('accept', steps)} {shown}{_because(candidate, secrets)}{condition}"


def undecided(candidate: Candidate, secrets: Secrets) -> str:
    """For a change that could be neither proved harmless nor shown to hurt."""
    where = subject(candidate.pair.steps)
    if candidate.keyword == "type" and candidate.rule == UNDECIDED:
        return f"{where}: the new draft does not accept 1.0 as an integer; whether requests hold such is not known"
    what = f"{where}: {candidate.keyword or 'the schema'} changed"
    return f"{what}{_because(candidate, secrets)}; whether it refuses requests that were valid cannot be decided"


def unknown_before(steps: Sequence[Step]) -> str:
    """For a property that any value could stand under, as the old schema did not know it."""
    return (
        f"{subject(steps)} was not described before and took any value; it is described now,"
        " so requests that use it may be refused"
    )


def relaxed(candidate: Candidate, secrets: Secrets) -> str:
    """For what the new schema accepts, and the old did not for certain.

    The candidate was found from the other end: what is new to it is the old schema.
    """
    steps = candidate.pair.steps
    where = subject(steps)
    if candidate.rule == REQUIRED:
        return f'"{cut(candidate.name)}" is no longer required'
    if candidate.rule == FORBIDDEN and not candidate.keyword:
        return f"{subject(steps[:-1])} may have other properties now" if _is_fresh(steps) else f"{where} is allowed now"
    return f"{where} {_verb('accept', steps)} more than before{_loosened(candidate, secrets)}"


def _loosened(candidate: Candidate, secrets: Secrets) -> str:
    """` (maximum 1 → 2)`, ` (maximum 1 dropped)`; without values where they are whole schemas, or may be secrets."""
    keyword, pair = candidate.keyword, candidate.pair
    sides = [side.value for side in (pair.new, *pair.old.known) if isinstance(side.value, dict)]
    before, *after = [side[keyword] for side in sides if keyword in side] or [ABSENT]
    if not isinstance(before, str | int | float | list) or _is_secret(candidate, secrets):
        return f" (changed: {keyword})" if keyword else ""
    shown = f"{keyword} {example(before, secrets, MAX_TEXT)}"
    return f" ({shown} → {example(after[0], secrets, MAX_TEXT)})" if after else f" ({shown} dropped)"


def default_changed(before: Subschema, after: Subschema, secrets: Secrets) -> str:
    """For a default that was added, changed or dropped."""
    path = before.pointer
    named = [str(step) for at, step in enumerate(path) if at and path[at - 1] == "properties"]
    where = f'"{cut(".".join(named))}"' if named else "the parameters"
    return f"the default of {where} changed{_from_to(before, after, secrets)}"


def cut(text: str, most: int = MAX_TEXT) -> str:
    """`text` without secrets, safe to print, at most so many characters."""
    plain = escape_line(redact_text(text)[: most + 1])
    return plain if len(plain) <= most else plain[: most - 1] + ELLIPSIS


def _beginning(value: JsonValue, most: int) -> JsonValue:
    """As many entries as so many characters could show: a list may be long, and is shown for each of its entries."""
    if isinstance(value, dict):
        return dict(islice(value.items(), most))
    return value[:most] if isinstance(value, list) else value


def _from_to(before: Subschema, after: Subschema, secrets: Secrets) -> str:
    values = [place.value.get("default", ABSENT) for place in (before, after)]
    if secrets.at(before, after):
        texts = ["none" if value is ABSENT else SECRET for value in values]
    else:
        texts = ["none" if value is ABSENT else secrets.line(value) for value in values]
    if texts[0] == texts[1]:
        return f" {SECRET}"
    return " from {} to {}".format(*map(cut, texts))


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
    return any(may_be_secret_name(step.at) for step in pair.steps) or secrets.at(pair.new, *pair.old.known)


def _is_fresh(steps: Sequence[Step]) -> bool:
    """Return whether they lead to the properties that no schema names."""
    return bool(steps) and steps[-1].fresh
