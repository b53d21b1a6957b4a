"""Overlays: changes to the composed catalog for one environment, addressed by name.

services:
  postgres:                  the service offering of that name
    metadata: {…}            JSON Merge Patch (RFC 7396): null removes, objects merge, the rest replaces
    plans:
      small: {free: false}   the plan of that name, patched the same way
      huge: null             removed
    add-plans: [{…}]         new plans, after those that stand
  redis: null                the whole service removed
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from osbctl.paths import Path
    from osbctl.sources.folder.compose import Composer
    from osbctl.sources.folder.parts import SourcePart


class Overlay:
    """One overlay file, to be applied to what a composer has made."""

    def __init__(self, part: SourcePart, composer: Composer) -> None:
        self._part = part
        self._composer = composer
        self._origins = composer.origins

    def apply(self) -> None:
        """Change the composed catalog in place; what addresses nothing is a problem."""
        patch = self._part.data
        for key in patch:
            if key != "services":
                self._problem(f"unknown key {key!r} in an overlay", (key,), "an overlay holds `services` only")
        services = patch.get("services")
        if not isinstance(services, dict) or not services:
            self._problem(
                "an overlay needs `services`: a mapping from names to changes", ("services",), "see osbctl build --help"
            )
            return
        self._members(self._origins.data, "services", services, ("services",), self._service)

    def _service(self, service: dict[str, Any], patch: dict[str, Any], path: Path) -> None:
        patch = dict(patch)
        plans, added = patch.pop("plans", {}), patch.pop("add-plans", [])
        self._merge(service, patch, path)
        if isinstance(plans, dict):
            if plans:
                self._members(service, "plans", plans, (*path, "plans"), self._merge)
        else:
            hint = "to add plans, write add-plans"
            self._problem("plans in an overlay is a mapping from names to changes", (*path, "plans"), hint)
        self._add(service, added, (*path, "add-plans"))

    def _members(self, owner: dict[str, Any], key: str, patches: dict[str, Any], path: Path, change: Any) -> None:
        """Change, or remove with null, the members of a list that have the names given."""
        members = owner.get(key)
        members = members if isinstance(members, list) else []
        for name, patch in patches.items():
            named = [m for m in members if isinstance(m, dict) and m.get("name") == name]
            if not named:
                there = ", ".join(str(m.get("name")) for m in members if isinstance(m, dict))
                kind = "service" if key == "services" else "plan"
                self._problem(f"there is no {kind} {name!r} to change", (*path, name), f"there are: {there}")
            elif patch is None:
                members = [m for m in members if m is not named[0]]
            elif isinstance(patch, dict):
                change(named[0], patch, (*path, name))
            else:
                self._problem(f"the change to {name!r} must be a mapping, or null to remove it", (*path, name))
        owner[key] = members

    def _add(self, service: dict[str, Any], added: Any, path: Path) -> None:
        if not isinstance(added, list) or not all(isinstance(plan, dict) for plan in added):
            self._problem("add-plans must be a list of plans", path)
            return
        names = {plan.get("name") for plan in service.get("plans", []) if isinstance(plan, dict)}
        for index, plan in enumerate(added):
            if plan.get("name") in names:
                self._problem(f"plan {plan['name']!r} is there already", (*path, index), "change it under plans")
            names.add(plan.get("name"))
            taken = self._composer.take(self._part, plan, (*path, index))
            service["plans"] = [*service.get("plans", []), taken]

    def _merge(self, target: dict[str, Any], patch: dict[str, Any], path: Path) -> None:
        for key, value in patch.items():
            here = (*path, key)
            if value is None:
                target.pop(key, None)
            elif isinstance(value, dict):
                if not isinstance(target.get(key), dict):
                    target[key] = {}
                    self._origins.of_key(target, key, (self._part, here))
                self._merge(target[key], value, here)
            else:
                target[key] = self._composer.take(self._part, value, here)
                self._origins.of_key(target, key, (self._part, here))

    def _problem(self, message: str, path: Path, hint: str = "") -> None:
        self._composer.parts.problems.add("build-overlay", message, self._part, path, hint)
