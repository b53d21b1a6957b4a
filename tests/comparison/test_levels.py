"""The level of each kind of change on each platform; a changed level needs a reason here."""

from __future__ import annotations

from osbctl.comparison.change_kinds import KINDS, load_all
from osbctl.platforms import Platform
from osbctl.platforms.reactions import DependsOnInstances, Reaction

LETTERS = {"refused": "R", "breaking": "B", "risky": "Y", "safe": "S"}
LEVELS = {
    "now-refused": "R R R R",
    "refused-in-part": "R R R R",
    "catalog-emptied": "R B BRB B",
    "service-without-plans": "R R BRB B",
    "service-removed": "BBB B BRB B",
    "plan-removed": "BBB B BRB B",
    "service-added": "S S S S",
    "plan-added": "S S S S",
    "plan-id": "R B RRY B",
    "service-id": "RRY B RRY B",
    "service-id-plans-kept": "R B RRY Y",
    "plan-moved": "R B RRY Y",
    "plan-name-reused": "R B R B",
    "service-name-reused": "BRB B R B",
    "plan-names-swapped": "R B R B",
    "service-names-swapped": "BRB B R B",
    "plan-name-taken": "R - R -",
    "service-name-case": "R B B B",
    "plan-name-passed-on": "B B B B",
    "service-name-passed-on": "BRB B B B",
    "plan-renamed": "B B B B",
    "service-renamed": "B B B B",
    "bindable-withdrawn": "B B B Y",
    "plan-updateable-withdrawn": "B B Y Y",
    "instances-retrievable-withdrawn": "B S B Y",
    "bindings-retrievable-withdrawn": "B S B Y",
    "context-updates-withdrawn": "B S B Y",
    "shareable-withdrawn": "B S S S",
    "instance-sharing-withdrawn": "S S Y S",
    "instance-sharing-granted": "S S S S",
    "platforms-withdrawn": "S S B S",
    "binding-rotatable-withdrawn": "S S S S",
    "capability-granted": "S S S S",
    "service-default": "S S S S",
    "explicit-dropped": "S S S S",
    "explicit-added": "S S S S",
    "free-to-paid": "B Y Y Y",
    "paid-to-free": "S S S S",
    "requires-removed": "B S Y S",
    "requires-added": "Y S Y S",
    "tag-removed": "Y Y Y Y",
    "tag-added": "S S S S",
    "maintenance-version": "Y S Y Y",
    "polling-lowered": "Y S Y S",
    "polling-raised": "S S S S",
    "dashboard-client": "Y S Y S",
    "dashboard-client-left": "B S S S",
    "costs": "Y Y Y Y",
    "metadata": "S S S S",
    "wording": "S S S S",
    "order": "S S S S",
    "other-field": "S S S S",
}
"""By platform (in the order of `Platform`); if it depends on instances: unknown, used, unused."""


def letters(answer: Reaction | DependsOnInstances | None) -> str:
    if answer is None:
        return "-"
    answers = (answer.unknown, answer.used, answer.unused) if isinstance(answer, DependsOnInstances) else (answer,)
    return "".join(LETTERS[one.level] for one in answers)


def test_levels() -> None:
    load_all()
    found = {
        name.removeprefix("change-"): " ".join(letters(kind.answers.get(platform)) for platform in Platform)
        for name, kind in KINDS.items()
    }
    schemas = {found.pop(name) for name in list(found) if name.startswith("schema-")}
    assert found == LEVELS
    assert schemas == {"S S S S"}  # platforms store them; the level is that of the comparison itself
