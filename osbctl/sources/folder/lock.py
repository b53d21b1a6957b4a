"""Read and update `catalog.lock`, the ids by name, so that no id changes or is reused by accident.

A platform knows a service offering and a plan by its id alone. An id that changes while the name stays is
refused by Cloud Foundry always and by SAP Service Manager while there are instances; Kubernetes Service Catalog
takes it for a new plan and flags the old one.
"""

import json
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from osbctl.catalog import objects_in_list
from osbctl.errors import ConfigError
from osbctl.findings import Finding, Severity
from osbctl.paths import JsonPath, get_at
from osbctl.platforms import platforms_refusing

_HEADER = "# osbctl catalog.lock, version 2"
_COMMENT = f"""{_HEADER}
# Which id belongs to which name. Commit it. In a merge keep the lines of both sides: each stands for itself.
"""
_BROKEN = "restore it from git: without it nothing remembers which ids are published"


@dataclass(frozen=True, slots=True)
class Lock:
    """Recorded id of each name (`service`, or `service/plan`)."""

    ids: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The lock file, the same bytes for the same lock: a line `["name", "id"]` each, sorted."""
        return _COMMENT + "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in sorted(self.ids.items()))


def is_lock(text: str) -> bool:
    """Return whether the text is that of a lock file, of any version."""
    return text.startswith(_HEADER.rpartition(" ")[0])


def parse(text: str, name: str) -> Lock:
    """Parse a lock, LF or CRLF. Raises ConfigError: it is not a lock, of a later version, or has a merge conflict."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0] != _HEADER and not lines[0].startswith("<<<<<<<"):
        if is_lock(text):
            raise ConfigError(f"{name}: a lock file of another version", "use a newer osbctl")
        raise ConfigError(f"{name}: not a lock file", _BROKEN)
    lock, places = Lock(), dict[str, int]()
    for number, line in enumerate(lines, 1):
        place = f"{name}:{number}"
        if line.startswith(("<<<<<<<", "|||||||", "=======", ">>>>>>>")):
            raise ConfigError(
                f"{place}: there is a merge conflict here", "keep the lines of both sides, not the markers"
            )
        if line and not line.startswith("#"):
            object_name, id_ = _parse_entry(line, place)
            if lock.ids.setdefault(object_name, id_) != id_:
                message = f"{place}: {object_name!r} has another id in line {places[object_name]}"
                raise ConfigError(message, "keep the line whose id is published, and delete the other")
            places.setdefault(object_name, number)
    return lock


def _parse_entry(line: str, place: str) -> list[str]:
    """The name and id of a line; `place` is for the message. Raises ConfigError: it is not a line of a lock file."""
    try:
        entry: list[str] = json.loads(line)
    except (ValueError, RecursionError):
        entry = []
    if not isinstance(entry, list) or len(entry) != 2 or not all(isinstance(word, str) for word in entry):
        raise ConfigError(f"{place}: not a line of a lock file", _BROKEN)
    return entry


def update_lock(lock: Lock, catalog: dict[str, Any], accepted: Collection[str] = ()) -> tuple[Lock, list[Finding]]:
    """Update the lock after a build of `catalog`, and return findings about ids that contradict it.

    `accepted` names the services and plans whose id may change. Names that have gone stay remembered,
    unless their id is now that of another name at the same place: then the thing was renamed. With findings, the
    updated lock is not for writing: it has the ids that contradict the old one.
    """
    names_with_ids = list(_names_with_ids(catalog))
    ids_now = {name: id_ for name, id_, _ in names_with_ids}
    changed = [(name, path) for name, id_, path in names_with_ids if lock.ids.get(name, id_) != id_]
    findings = [_changed_id_finding(name, lock.ids[name], path) for name, path in changed if name not in accepted]
    in_use = set(ids_now.values())
    # A name that has gone was renamed where another one has its id.
    ids = {name: id_ for name, id_ in {**lock.ids, **ids_now}.items() if name in ids_now or id_ not in in_use}
    return Lock(ids), [*findings, *_find_reused_ids(lock, names_with_ids, ids_now)]


def _find_reused_ids(
    lock: Lock, names_with_ids: Sequence[tuple[str, str, JsonPath]], present_names: Collection[str]
) -> Iterator[Finding]:
    owners = {id_: name for name, id_ in lock.ids.items()}
    # After a merge one id may have two names, the old one and that of a rename: the one that is there owns it.
    owners |= {id_: name for name, id_, _ in names_with_ids if lock.ids.get(name) == id_}
    for name, id_, path in names_with_ids:
        owner = owners.get(id_, name)
        if _is_other_object(owner, name, present_names):
            verb, source = ("is", ", as catalog.lock knows") if owner in present_names else ("was", "")
            message = f"the id of {name!r} {verb} that of {owner!r}{source}"
            yield _lock_finding("build-id-reused", message, path, f"give {name!r} an id of its own")


def fresh_id() -> str:
    """A new GUID in upper case, as the interface shows them."""
    import uuid

    return str(uuid.uuid4()).upper()


def find_missing_ids(catalog: dict[str, Any]) -> Iterator[Finding]:
    """Report each service and plan without an id, with a fresh GUID to paste; none is added."""
    for item, path in _services_and_plans(catalog):
        if "id" not in item:
            name = f"{'service' if len(path) == 2 else 'plan'} {item.get('name', int(path[-1]) + 1)!r}"
            hint = f"paste a fresh one: id: {fresh_id()}"
            yield Finding("build-id-missing", Severity.ERROR, f"{name} has no id", (*path, "id"), hint=hint)


def _is_other_object(owner: str, name: str, present_names: Collection[str]) -> bool:
    """Return whether the owner of an id is another service or plan than the one now named `name`.

    It is the same thing, renamed, where it is of the same kind, in the same service, and its old name is gone.
    """
    if owner == name:
        return False
    old_parent, new_parent = owner.rpartition("/")[0], name.rpartition("/")[0]
    same_place = old_parent == new_parent or (bool(old_parent) and old_parent not in present_names)
    return owner in present_names or ("/" in owner) != ("/" in name) or not same_place


def _changed_id_finding(name: str, old_id: str, path: JsonPath) -> Finding:
    kind = "plan" if "/" in name else "service"
    command = shlex.join(["osbctl", "build", "--accept-id-change", name])
    hint = f"restore the old id, or accept the new one: `{command}`"
    finding = _lock_finding("build-id-changed", f"the id of {kind} {name!r} has changed; it was {old_id!r}", path, hint)
    return finding._replace(reaction="refused as an update by")


def _lock_finding(rule: str, message: str, path: JsonPath, hint: str) -> Finding:
    return Finding(rule, Severity.ERROR, message, path, refused_by=platforms_refusing(rule), hint=hint)


def _names_with_ids(catalog: dict[str, Any]) -> Iterator[tuple[str, str, JsonPath]]:
    """Name (`service` or `service/plan`), id and the path of the id, of every service and plan that has both."""
    for item, path in _services_and_plans(catalog):
        if all(isinstance(item.get(key), str) and item[key] for key in ("id", "name")):
            service = "" if len(path) == 2 else f"{get_at(catalog, (*path[:2], 'name'))}/"
            yield f"{service}{item['name']}", item["id"], (*path, "id")


def _services_and_plans(catalog: dict[str, Any]) -> Iterator[tuple[dict[str, Any], JsonPath]]:
    """Each service, followed by its plans, with its path."""
    for service, path in objects_in_list(catalog, "services"):
        yield service, path
        yield from objects_in_list(service, "plans", path)
