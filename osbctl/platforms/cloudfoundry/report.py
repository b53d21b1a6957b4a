"""The errors of a catalog as the Cloud Controller gathers them, and the lines it prints of them."""

from __future__ import annotations

from collections.abc import Iterator

from osbctl.paths import Path
from osbctl.platforms.outcome import MAX_REFUSALS, Refusal

_INDENT = "  "


class Errors:
    """Errors of one object, then of the objects in it; `heading` is printed above both.

    What is beyond `MAX_REFUSALS` reasons is left out.
    """

    __slots__ = ("heading", "nested", "number", "own")

    def __init__(self, heading: str = "") -> None:
        self.heading = heading
        self.own: list[Refusal] = []
        self.nested: list[Errors] = []
        self.number = 0

    def add(self, rule: str, path: Path, message: str) -> None:
        """One more reason, in the platform's words."""
        if len(self.own) <= MAX_REFUSALS:
            self.own.append(Refusal(rule, path, message))

    def nest(self, errors: Errors) -> None:
        """The errors of an object inside this one, if it has any."""
        if errors and self.number <= MAX_REFUSALS:
            self.nested.append(errors)
            self.number += errors.number + len(errors.own)

    def __bool__(self) -> bool:
        return bool(self.own or self.nested)

    def refusals(self) -> Iterator[Refusal]:
        """All reasons, in the order of their lines."""
        yield from self.own
        for errors in self.nested:
            yield from errors.refusals()

    def lines(self) -> tuple[str, ...]:
        """Lines as the operator sees them; a line break in a name breaks the line."""
        return tuple(line for text in self._texts("") for line in text.split("\n"))

    def _texts(self, indent: str) -> Iterator[str]:
        for refusal in self.own:
            yield indent + refusal.message
        for errors in self.nested:
            yield indent + errors.heading
            yield from errors._texts(indent + _INDENT)
