"""anyOf, oneOf, not and if: whether the facts imply these keywords."""

from __future__ import annotations

from collections.abc import Iterator

from osbctl.jsonschemas.comparison.facts import Facts
from osbctl.jsonschemas.comparison.prover import Prover
from osbctl.jsonschemas.comparison.suspects import PlacePair, Suspect
from osbctl.jsonschemas.roots import Subschema
from osbctl.jsonschemas.same import same_keywords, same_schema

_MAX_DISJOINT_DEPTH = 8
_ALIKE = 4
"""Steps for each schema that is held against another word by word."""


def check_any_of(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`anyOf`: one branch that takes all."""
    branches = pair.new.children("anyOf")
    if branches and not _some_branch(prover, pair.facts, branches):
        yield pair.suspect("anyOf")


def check_one_of(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`oneOf`: an equal one, or one branch that takes all while every other takes none."""
    branches = pair.new.children("oneOf")
    if branches and not is_known(prover, pair, "oneOf") and not _one_branch(prover, pair.facts, branches):
        yield pair.suspect("oneOf")


def check_not(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`not`: an equal one, or nothing that is known meets it."""
    if pair.new.get("not") is None or is_known(prover, pair, "not"):
        return
    if not disjoint(prover, pair.facts, pair.new.child("not")):
        yield pair.suspect("not")


def check_if(prover: Prover, pair: PlacePair) -> Iterator[Suspect]:
    """`if`: both cases hold, or the old schema parts its values by the same condition."""
    new = pair.new
    equal = next((s for s in pair.facts.known if s.get("if") is not None and same_keywords(s, new, ("if",))), None)
    yes, no = pair.facts.and_also(new.child("if")), pair.facts
    if equal is not None:  # p→q and ¬p→r are known: within p there is q, without it r
        yes = yes.and_also(*([equal.child("then")] if equal.get("then") is not None else []))
        no = no.and_also(*([equal.child("else")] if equal.get("else") is not None else []))
    for keyword, facts in (("then", yes), ("else", no)):
        if new.get(keyword) is not None and not prover.implies(facts, new.child(keyword)):
            yield pair.suspect(keyword)


def is_known(prover: Prover, pair: PlacePair, *keywords: str) -> bool:
    """Whether the old schema has these keywords, all of them, just as the new one."""
    prover.spend(pair.facts, _ALIKE)
    return any(same_keywords(schema, pair.new, keywords) for schema in pair.facts.known)


def disjoint(prover: Prover, facts: Facts, other: Subschema, depth: int = 0) -> bool:
    """Whether no value that meets the facts meets the other schema: shown, not guessed."""
    prover.spend(facts)
    both = facts.and_also(other)
    if not both.kinds:
        return True
    values = both.values()
    if values is not None and len(values) * len(both.known) < prover.oracle.left:
        return all(any(prover.oracle.accepts(s, v) is False for s in both.known) for v in values)
    if both.kinds != {"object"} or depth >= _MAX_DISJOINT_DEPTH:
        return False
    return any(_parted_by(prover, both, name, depth) for name in sorted(both.required()))


def _parted_by(prover: Prover, facts: Facts, name: str, depth: int) -> bool:
    """Whether no value of this property, which must be there, is possible."""
    inner = facts.at_key(name)
    return any(disjoint(prover, Facts(tuple(k for k in inner.known if k != s)), s, depth + 1) for s in inner.known[:8])


def _some_branch(prover: Prover, facts: Facts, branches: tuple[Subschema, ...]) -> bool:
    alike = sorted(branches, key=lambda b: not any(same_schema(k, b) for k in facts.known))
    return any(prover.implies(facts, branch) for branch in alike)


def _one_branch(prover: Prover, facts: Facts, branches: tuple[Subschema, ...]) -> bool:
    for i, branch in enumerate(branches):
        if prover.implies(facts, branch):
            return all(disjoint(prover, facts, other) for other in branches[:i] + branches[i + 1 :])
    return False
