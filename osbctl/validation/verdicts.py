"""Verdicts of platforms on a catalog that may hold placeholders: unclear where one depends on such a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from osbctl.paths import Path
from osbctl.placeholders import filled, placeholders
from osbctl.platforms import Platform
from osbctl.platforms.judge import judge_all
from osbctl.platforms.outcome import Outcome, Refusal, VerdictKind, bounded


def judge_template(data: dict[str, Any], asked: Collection[Platform] = tuple(Platform)) -> dict[Platform, Outcome]:
    """What each platform of those that are `asked` does with the catalog `data` once its placeholders are replaced.

    A platform refuses it for what is wrong whatever they stand for. Where nothing is, and it does not accept the
    catalog as it stands either, its verdict is unclear.
    """
    outcomes = judge_all(data, asked)
    rejecting = [platform for platform, outcome in outcomes.items() if outcome.kind is not VerdictKind.ACCEPTS]
    found = placeholders(data) if rejecting else {}
    if not found:
        return outcomes
    rendered = judge_all(filled(data, found), rejecting)
    return outcomes | {one: _without(found, outcomes[one], rendered[one]) for one in rejecting}


def _without(found: Mapping[Path, str], as_it_stands: Outcome, rendered: Outcome) -> Outcome:
    refusals = tuple(one for one in rendered.refusals if found.keys().isdisjoint(_prefixes(one.path)))
    if refusals:
        return rendered._replace(refusals=refusals)
    met = {path for one in as_it_stands.refusals for path in _prefixes(one.path)}
    decisive = [path for path in found if path in met] or found
    doubts = (Refusal("placeholder-unresolved", path, f"it depends on {found[path][:40]!r}") for path in decisive)
    return Outcome(VerdictKind.UNCLEAR, doubts=bounded(doubts))


def _prefixes(path: Path) -> list[Path]:
    """The paths of the value at `path` and of all that it stands in."""
    return [path[:end] for end in range(1, len(path) + 1)]
