"""Ids and names that several brokers on one platform share, and each platform's reaction."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from osbctl.catalog import Catalog
from osbctl.paths import JsonPath
from osbctl.platforms import Identity, Platform
from osbctl.platforms.golang import catalog_as_read


@dataclass(frozen=True, slots=True)
class SharedIdentity:
    """An id or a name that the catalogs `first` and `second` share, with the path and name of each object."""

    identity: Identity
    value: str
    first: str
    second: str
    first_path: JsonPath
    second_path: JsonPath
    first_object: str
    second_object: str


def find_shared_identities(catalogs: Iterable[tuple[str, Mapping[str, Any] | Catalog]]) -> Iterator[SharedIdentity]:
    """Identities that each catalog shares with the first earlier one that has them. Linear in their size."""
    seen: dict[tuple[Identity, str], tuple[str, JsonPath, str]] = {}
    for name, data in catalogs:
        own_keys = set()
        for identity, value, path, object_name in _catalog_identities(data):
            key = identity, value
            if not value or key in own_keys:
                continue  # validation reports ids that stand twice in one catalog
            own_keys.add(key)
            first = seen.setdefault(key, (name, path, object_name))
            if first[0] != name:
                yield SharedIdentity(identity, value, first[0], name, first[1], path, first[2], object_name)


def describe_reactions(identity: Identity, platforms: Collection[Platform]) -> str:
    """Known reactions of `platforms`, as phrases. Empty if none is known."""
    labels_by_phrase: dict[str, list[str]] = {}
    for platform in Platform:
        if platform in platforms and (phrase := platform.record.sharing.get(identity)):
            labels_by_phrase.setdefault(phrase, []).append(platform.label)
    sentences = []
    for phrase, labels in labels_by_phrase.items():
        subject = " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
        verb, _, rest = phrase.partition(" ")
        sentences.append(f"{subject} {verb if len(labels) == 1 else verb.removesuffix('s')} {rest}")
    return "; ".join(sentences)


def ids_unique_on_platform(data: Mapping[str, Any] | Catalog, platform: Platform) -> Iterator[tuple[Identity, str]]:
    """The ids of a catalog that no other broker may have on the platform."""
    unique = platform.record.unique
    identities = _catalog_identities(catalog_as_read(platform, data)) if unique else ()
    return ((identity, value) for identity, value, *_ in identities if identity in unique)


def _catalog_identities(data: Mapping[str, Any] | Catalog) -> Iterator[tuple[Identity, str, JsonPath, str]]:
    """Kind, value, path and object of each id or name in a catalog that others might have."""
    for service in Catalog.of(data).services:
        client = service.data.get("dashboard_client")
        client_id = client.get("id") if isinstance(client, dict) else None
        yield Identity.SERVICE_ID, service.id, (*service.path, "id"), service.name
        yield Identity.SERVICE_NAME, service.name, (*service.path, "name"), service.name
        if isinstance(client_id, str):
            yield Identity.CLIENT_ID, client_id, (*service.path, "dashboard_client", "id"), service.name
        for plan in service.plans:
            yield Identity.PLAN_ID, plan.id, (*plan.path, "id"), f"{service.name}/{plan.name}"
