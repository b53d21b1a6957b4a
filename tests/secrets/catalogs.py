"""Catalogs that hold a marked value at every place of a secret, in every shape that a value may have."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

Value = Any
Service = dict[str, Any]

ANYTHING: dict[str, Callable[[int], Value]] = {
    "string": lambda n: mark(n),
    "number": lambda n: number(n),
    "list": lambda n: [mark(n), number(n), {"a": mark(n)}],
    "object": lambda n: {"a": mark(n), "n": number(n), "deep": {"b": [mark(n)]}},
    "lines": lambda n: f"-----BEGIN\n{mark(n)}\n\n  {mark(n)} END",
    "trailing blank": lambda n: f"{mark(n)} \t ",
    "userinfo": lambda n: f"https://admin:{mark(n)}@db.example.com/x",
    "query": lambda n: f"https://db.example.com/x?a=1&sig={mark(n)}&b=2",
}
"""Values for places where every value is secret."""

IN_TEXTS: dict[str, Callable[[int], Value]] = {
    "userinfo": lambda n: f"https://admin:{mark(n)}@db.example.com/x",
    "query": lambda n: f"https://db.example.com/x?a=1&sig={mark(n)}&b=2",
    "a sentence": lambda n: f"See https://{mark(n)}@db.example.com/x, or https://x.example.com/?token={mark(n)}.",
    "lines": lambda n: f"First:\nhttps://admin:{mark(n)}@db.example.com/x\nhttps://x.example.com/?key={mark(n)}\n",
    "trailing blank": lambda n: f"https://admin:{mark(n)}@db.example.com/x?sig={mark(n)} ",
    "long": lambda n: f"{'Long. ' * 8}amqp://admin:{mark(n) * 40}@db.example.com/{'x' * 400}",
    "list": lambda n: [f"https://admin:{mark(n)}@db.example.com/x", f"password={mark(n)}"],
    "object": lambda n: {"password": mark(n), "url": f"https://db.example.com/?api_key={mark(n)}"},
}
"""Texts of which a part is secret, and what may stand in their place."""


def mark(place: int) -> str:
    """The mark of a place: in no encoding of this program it looks any different."""
    return f"qz{place:03}mark"


def number(place: int) -> int:
    return 8_472_900_000 + place


class Place(NamedTuple):
    """A place of secrets: `put` changes a service offering so that it holds the value there, or returns a catalog."""

    put: Callable[[Service, Value], Any]
    kinds: Mapping[str, Callable[[int], Value]] = ANYTHING


def parameters(schema: dict[str, Any]) -> dict[str, Any]:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", **schema}
    return {
        "service_instance": {"create": {"parameters": schema}, "update": {"parameters": schema}},
        "service_binding": {"create": {"parameters": schema}},
    }


def schema(make: Callable[[Value], dict[str, Any]]) -> Callable[[Service, Value], None]:
    return lambda service, value: service["plans"][0].update(schemas=parameters(make(value)))


def prop(name: str, make: Callable[[Value], Any]) -> Callable[[Service, Value], None]:
    return schema(lambda value: {"properties": {name: make(value), "size": {"type": "integer"}}})


def field(*path: str) -> Callable[[Service, Value], None]:
    def put(service: Service, value: Value) -> None:
        at: Any = service
        for step in path[:-1]:
            at = at[0] if step == "0" else at.setdefault(step, {})
        at[path[-1]] = value

    return put


def text(*path: str) -> Place:
    return Place(field(*path), IN_TEXTS)


CLIENT = {"id": "ui", "redirect_uri": "https://ui.example.com"}
PLAN = ("plans", "0")
Keyword = Callable[[Value], dict[str, Any]]
KEYWORDS: dict[str, Keyword] = {
    "default": lambda v: {"default": v},
    "enum": lambda v: {"enum": [v, "x"]},
    "const": lambda v: {"const": v},
    "examples": lambda v: {"examples": [v]},
}
"""The keywords of a schema that hold values, each with what it is of one."""


def in_property(
    where: str, name: str, make: Callable[[Keyword, Value], Any], kinds: Mapping[str, Callable[[int], Value]] = ANYTHING
) -> dict[str, Place]:
    """A place for each keyword: in the schema of the parameter `name`, which `make` makes."""
    return {
        f"{key} {where}": Place(prop(name, lambda v, keyword=keyword: make(keyword, v)), kinds)
        for key, keyword in KEYWORDS.items()
    }


def cost(make: Callable[[Value], dict[str, Any]]) -> Callable[[Service, Value], None]:
    return lambda service, value: field(*PLAN, "metadata", "costs")(service, [make(value)])


# Names and ids are no places of secrets: reports call the objects by them, and users order by them.
PLACES: dict[str, Place] = {
    "client secret": Place(lambda s, v: s.update(dashboard_client={**CLIENT, "secret": v})),
    "client": Place(field("dashboard_client")),
    "client in a list": Place(lambda s, v: s.update(dashboard_client=[{**CLIENT, "secret": v}])),
    "client as Go reads it": Place(lambda s, v: s.update(Dashboard_Client={**CLIENT, "Secret": v})),
    "misspelt client": Place(lambda s, v: s.update({"dashboard-client": {**CLIENT, "other": v}})),
    "redirect of the client": Place(lambda s, v: s.update(dashboard_client={**CLIENT, "redirect_uri": v}), IN_TEXTS),
    **in_property("of a parameter", "dbPassword", lambda hold, v: hold(v)),
    **in_property("of a string", "apiKey", lambda hold, v: {"type": "string", "minLength": 99, **hold(v)}),
    **in_property("below a parent", "credentials", lambda hold, v: {"type": "object", "properties": {"user": hold(v)}}),
    **in_property("of an object", "db", lambda hold, v: hold({"pwd": v})),
    **in_property("in a text", "db", lambda hold, v: hold(v), IN_TEXTS),
    **in_property("of items", "tokens", lambda hold, v: {"type": "array", "items": hold(v)}),
    **{
        f"{key} behind a reference": Place(
            schema(
                lambda v, hold=hold: {
                    "definitions": {"p": hold(v)},
                    "properties": {"login": {"$ref": "#/definitions/p"}, "password": {"$ref": "#/definitions/p"}},
                }
            )
        )
        for key, hold in KEYWORDS.items()
    },
    "a branch": Place(schema(lambda v: {"allOf": [{"properties": {"passphrase": {"enum": [v]}}}]})),
    "a parameter": Place(prop("password", lambda v: v if isinstance(v, str | int) else {"default": v})),
    "default of all": Place(schema(lambda v: {"default": {"password": v}, "examples": [{"password": v}]})),
    "reference": Place(prop("a", lambda v: {"$ref": v}), IN_TEXTS),
    "reference of a secret": Place(prop("token", lambda v: {"$ref": v}), IN_TEXTS),
    "draft": Place(schema(lambda v: {"$schema": v}), IN_TEXTS),
    "type of a parameter": Place(prop("a", lambda v: {"type": v}), IN_TEXTS),
    "pattern": Place(prop("a", lambda v: {"type": "string", "pattern": v}), IN_TEXTS),
    "format": Place(prop("a", lambda v: {"type": "string", "format": v, "default": "z"}), IN_TEXTS),
    "title of a parameter": Place(prop("a", lambda v: {"type": "string", "title": v}), IN_TEXTS),
    "description of a parameter": Place(prop("a", lambda v: {"type": "string", "description": v}), IN_TEXTS),
    "schemas": Place(field(*PLAN, "schemas", "apiKey")),
    "unit of costs": Place(cost(lambda v: {"amount": {"usd": 1}, "unit": v}), IN_TEXTS),
    "amount of costs": Place(cost(lambda v: {"amount": {"apiKey": v}, "unit": "MONTHLY"})),
    "amount as a text": Place(cost(lambda v: {"amount": v, "unit": "DAILY"}), IN_TEXTS),
    "amount of a currency": Place(cost(lambda v: {"amount": {"usd": v}, "unit": "DAILY"}), IN_TEXTS),
    "in costs": Place(cost(lambda v: {"amount": {"usd": 1}, "unit": "MONTHLY", "password": v})),
    "costs": text(*PLAN, "metadata", "costs"),
    "metadata": Place(field("metadata", "apiKey")),
    "metadata of a plan": Place(field(*PLAN, "metadata", "password")),
    "properties in metadata": Place(field("metadata", "properties", "password", "value")),
    "below metadata": Place(field("metadata", "credentials", "user")),
    "all metadata": Place(lambda s, v: s.update(metadata=[{"password": v}])),
    "bullets": Place(lambda s, v: field(*PLAN, "metadata", "bullets")(s, [v, "x"]), IN_TEXTS),
    "bullets as a text": text(*PLAN, "metadata", "bullets"),
    **{
        f"{key} of the offering": text("metadata", key)
        for key in (
            "displayName",
            "longDescription",
            "documentationUrl",
            "supportUrl",
            "imageUrl",
            "providerDisplayName",
        )
    },
    "display name of a plan": text(*PLAN, "metadata", "displayName"),
    "other metadata of a plan": text(*PLAN, "metadata", "endpoint"),
    "tag": Place(lambda s, v: s.update(tags=[v]), IN_TEXTS),
    "permission": Place(lambda s, v: s.update(requires=[v]), IN_TEXTS),
    **{f"{key} of an offering": text(key) for key in ("description", "bindable", "tags", "plan_updateable")},
    **{f"{key} of a plan": text(*PLAN, key) for key in ("description", "free")},
    "maintenance": text(*PLAN, "maintenance_info", "version"),
    "description of maintenance": text(*PLAN, "maintenance_info", "description"),
    "polling": text(*PLAN, "maximum_polling_duration"),
    "unknown field": Place(field("password")),
    "unknown field of a plan": Place(field(*PLAN, "clientSecret")),
    "unknown text": text(*PLAN, "endpoint"),
    "plans": Place(lambda s, v: s.update(plans=[{"password": v}])),
}
CLIENT_SECRETS = frozenset(name for name in PLACES if name.startswith("client"))
"""The places of what no registry stores."""


def offering(number: int, name: str = "") -> Service:
    """A service offering without a fault."""
    ids = f"6C3B{number:04X}-8A4F-4E57-9B1C-2D7F5A90E3B4", f"F0A1{number:04X}-4D5E-4F60-8A7B-9C0D1E2F3A4B"
    plan = {"id": ids[1], "name": "small", "description": "A small one.", "free": True}
    return {
        "id": ids[0], "name": name or f"service-{number:03}", "description": "A database.", "bindable": True, "plans": [plan]
    }  # fmt: skip


def catalog_of(kinds: Mapping[str, str]) -> dict[str, Any]:
    """A catalog with a service offering for each of these places, which holds its marked value of the kind."""
    services = []
    for number, (name, place) in enumerate(PLACES.items()):
        if name in kinds:
            service = offering(number)
            place.put(service, place.kinds[kinds[name]](number))
            services.append(service)
    return {"services": services}


def clean_catalog(places: Collection[str]) -> dict[str, Any]:
    return {"services": [offering(number) for number, name in enumerate(PLACES) if name in places]}


def as_yaml(catalog: dict[str, Any]) -> str:
    import yaml

    plain = json.loads(json.dumps(catalog))  # without aliases
    return str(yaml.dump(plain, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True))


def in_string(catalog: dict[str, Any]) -> str:
    """A ConfigMap as kubectl prints it: the catalog is JSON in a string, and once more in an annotation."""
    text = json.dumps(catalog, separators=(",", ":"))
    applied = json.dumps({"data": {"c": json.dumps({"x": catalog})}})
    return json.dumps(
        {"data": {"c": text}, "metadata": {"annotations": {"last-applied": applied}}}, separators=(",", ":")
    )


def found_places(output: bytes) -> set[str]:
    """The places whose mark is in the output."""
    spelled = output.replace(b",", b"")  # 8,472,900,001
    return {
        name
        for number_, name in enumerate(PLACES)
        if mark(number_).encode() in output or str(number(number_)).encode() in spelled
    }
