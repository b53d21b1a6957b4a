"""The errors of jsonschema-rs in our own sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from osbctl.jsonschemas.sentences import field_name, refusal

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError


def innermost(errors: Iterable[ValidationError]) -> Iterator[ValidationError]:
    """Replace the error of a choice between schemas by those of the branch that was likely meant: the fewest."""
    for error in errors:
        branches: list[list[ValidationError]] = [branch for branch in getattr(error.kind, "context", ()) if branch]
        meant = [branch for branch in branches if not any(_is_of_another_kind(inner, error) for inner in branch)]
        if len(meant) == 1 or (meant and isinstance(error.instance, dict)):
            likeliest = min(meant, key=len)
            yield from innermost(likeliest)
        else:
            yield error


def sentence(error: ValidationError, whole: str) -> str:
    """One error as a sentence of ours; `whole` is what the top is called."""
    kind = error.kind
    if kind.name == "required":
        return f"{field_name(kind.value)} is missing"
    keyword = "None" if kind.name == "falseSchema" else kind.name
    return refusal(keyword, kind.value, error.instance, tuple(error.instance_path), whole)


def _is_of_another_kind(inner: ValidationError, error: ValidationError) -> bool:
    return inner.kind.name == "type" and list(inner.instance_path) == list(error.instance_path)
