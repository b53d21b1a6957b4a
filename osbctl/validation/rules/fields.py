"""Fields that are misspelt, misplaced, or newer than the API version; characters and placeholders of any text."""

from collections.abc import Iterator
from functools import cache

from osbctl.fields import BOOLEAN_WORDS, field_type, known_fields, version_introduced
from osbctl.findings import Finding, Fix, Group, Severity
from osbctl.messages import Message, Value
from osbctl.paths import JSON_TYPES, JsonPath, JsonValue, entries
from osbctl.placeholders import find_placeholders, holds_placeholder
from osbctl.platforms import ApiVersion, Platform
from osbctl.rule import Category, Rule
from osbctl.text import closest_word, semantic_version_pattern
from osbctl.validation.checks import CatalogNode, KnownObject, Node, check_catalog

_FREE = ("service_metadata", "plan_metadata")
"""Objects with arbitrary fields: an unknown field of another type than the similar one is not misspelt."""


_OTHER_NAMES = {
    "service": {"dashboard": "dashboard_client", "guid": "id", "uuid": "id"},
    "plan": {"guid": "id", "uuid": "id"},
}
"""Other names of known fields that are not near to them, by the kind of object."""

_USELESS_IN_METADATA = frozenset((
    "allow_context_updates", "bindable", "binding_rotatable", "bindings_retrievable", "dashboard_client",
    "instances_retrievable", "maintenance_info", "maximum_polling_duration", "plan_updateable", "requires", "schemas",
))  # fmt: skip
"""Fields of service offerings and plans that platforms do not read in metadata, and that are not meant for users."""

_LEVELS = {
    "service": dict.fromkeys(("service_instance", "service_binding"), "below schemas of a plan"),
    "plan": dict.fromkeys(("service_instance", "service_binding"), "below schemas"),
    "schemas": dict.fromkeys(("create", "update", "parameters"), "below service_instance or service_binding"),
    "service_instance_schemas": {"parameters": "below create or update"},
    "service_binding_schemas": {"parameters": "below create", "update": "below service_instance"},
    "input_parameters": dict.fromkeys(("$schema", "type", "properties"), "below parameters"),
}
"""Fields that belong to another level of `schemas`, by the kind of object that they are found in, and where to."""


@cache
def _closest_field(kind: str, key: str) -> str:
    """The known field that an unknown one likely misspells. Empty if there is none."""
    if other := _OTHER_NAMES.get(kind, {}).get(key):
        return other
    fields = known_fields(kind)
    normalized = _normalize_key(key)
    for name in fields:
        if _normalize_key(name) == normalized:
            return name
    return closest_word(key, fields) if len(key) > 3 else ""


def _normalize_key(key: str) -> str:
    return key.replace("_", "").replace("-", "").replace(" ", "").lower()


def _fits_type(value: JsonValue, wanted_type: str) -> bool:
    """Return whether a value has the type of a known field (see `field_type`)."""
    return wanted_type in ("", JSON_TYPES.get(type(value)))


def _with_article(json_type: str) -> str:
    return f"{'an' if json_type[:1] in 'aio' else 'a'} {json_type}"


def _near_miss_finding(catalog: CatalogNode, known_object: KnownObject, key: str) -> Finding | None:
    """The finding for an unknown key of an object. None if it resembles no field that the object lacks."""
    holder, path, kind = known_object
    meant = _closest_field(kind, key)
    value, wanted_type = holder[key], field_type(kind, meant)
    fits = _fits_type(value, wanted_type)
    is_plural_or_case = _normalize_key(key).removesuffix("s") == _normalize_key(meant).removesuffix("s")
    if not meant or meant in holder or (kind in _FREE and not fits and not is_plural_or_case):
        return None
    at, hint = (*path, key), f"rename to {meant}"
    message = Message("unknown field {}: did you mean {}?", Value(key), meant)
    summary = Message("fields are named {}: did you mean {}?", Value(key), meant)
    if isinstance(value, str) and holds_placeholder(value):
        return catalog.finding(message, at, hint, (), Group(summary, (key, meant)))
    is_other_name = key in _OTHER_NAMES.get(kind, {})  # its value may mean something else
    becomes_fit = fits or (wanted_type == "boolean" and str(value).lower() in BOOLEAN_WORDS)
    fixes = (Fix("rename", at, meant),) if becomes_fit and not is_other_name else ()
    hint = hint if fits else f"{hint}, and make it {_with_article(wanted_type)}"
    return catalog.finding(message, at, hint, fixes, Group(summary, (key, meant, fits or wanted_type)))


@check_catalog(Rule("field-near-miss", Severity.WARNING, Category.ADVICE))
def field_near_miss(catalog: CatalogNode) -> Iterator[Finding]:
    """An unknown field looks like a misspelt known one.

    Unknown fields are allowed, and ignored silently: `planUpdateable: true` has no effect. The specification spells
    `plan_updateable` with an e. In YAML, names without separators, as Go reads them into structs, are not reported.

    Bad: planUpdateable: true
    Good: plan_updateable: true
    Fix: renames the field, with --unsafe, if its value has the type of the known field, or is a word for a boolean.
    Source: OSB 2.14: unknown fields are allowed and ignored
    """
    # A broker in Go may read YAML with structs.
    others = _go_spellings() if catalog.syntax == "yaml" else frozenset[str]()
    for known_object in catalog.known_objects:
        holder, _, kind = known_object
        unknown = (key for key in holder if key not in known_fields(kind) and key not in others)
        yield from filter(None, (_near_miss_finding(catalog, known_object, key) for key in unknown))


@cache
def _go_spellings() -> frozenset[str]:
    """Fields as yaml.v2 reads them into structs of Go without tags: the name of the Go field in lower case."""
    kinds = ("service", "plan", "dashboard_client", "maintenance_info")
    fields = [name.replace("_", "") for kind in kinds for name in known_fields(kind) if "_" in name]
    return frozenset((*fields, "planupdatable"))


@cache
def _fields_after(version: ApiVersion, kind: str) -> frozenset[str]:
    """The fields of a kind of object that are newer than `version`."""
    return known_fields(kind) - known_fields(kind, version)


@check_catalog(Rule("field-too-new", Severity.INFO, Category.ADVICE, yields_to_faults=True))
def field_too_new(catalog: CatalogNode) -> Iterator[Finding]:
    """A field is newer than the chosen API version, or than the versions of the platforms of `--platform`.

    A platform of an older version ignores it. `--api-version` counts if both are given. A fault in the field is
    reported instead: as a warning, or as an error if a platform of `--platform` refuses it.

    Bad: maintenance_info: {version: 1.2.0}  # with --api-version 2.14
    Good: maintenance_info: {version: 1.2.0}  # with --api-version 2.15
    Source: OSB release notes: 2.14 brought *_retrievable, 2.15 plan updates and maintenance_info, 2.17 rotation
    """
    version = catalog.spoken_version
    for holder, path, kind in catalog.known_objects:
        newer = _fields_after(version, kind)
        for key in filter(newer.__contains__, holder):
            since = version_introduced(kind, key)
            added = f"came with API version {since}; platforms that speak {version} ignore"
            hint = f"check with --api-version {since} if your platforms speak it"
            yield catalog.finding(f"{key} {added} it", (*path, key), hint, group=Group(f"fields {added} them", since))


@check_catalog(Rule("maintenance-version", Severity.ERROR, Category.SPEC))
def maintenance_version(catalog: CatalogNode) -> Iterator[Finding]:
    """`maintenance_info.version` is not a Semantic Version 2.0.

    Platforms compare it to tell whether an instance can be upgraded.

    Bad: maintenance_info: {version: v1.2}
    Good: maintenance_info: {version: 1.2.0}
    Source: OSB 2.15, Maintenance Info Object: version MUST conform to Semantic Version 2.0
    """
    pattern = semantic_version_pattern()
    for plan in catalog.plans:
        info = plan.get("maintenance_info")
        version = info.get("version") if isinstance(info, dict) else None
        if version and isinstance(version, str) and not pattern.fullmatch(version):
            shown = Value(version, (*plan.path, "maintenance_info", "version"), limit=60)
            message = Message("{} is not a Semantic Version", shown)
            yield plan.finding(message, ("maintenance_info", "version"), "write it as MAJOR.MINOR.PATCH")


@check_catalog(Rule("field-misplaced", Severity.WARNING, Category.ADVICE))
def field_misplaced(catalog: CatalogNode) -> Iterator[Finding]:
    """A field that belongs elsewhere: to plans, to the service offering, into metadata, to another level of `schemas`.

    Unknown fields are ignored silently: `free` of a service offering makes none of its plans free, `requires` in
    metadata requires nothing, and no platform reads a parameter schema that is not at
    `service_instance.create.parameters` or the like.

    Bad: displayName: Postgres
    Good: metadata: {displayName: Postgres}
    Source: OSB 2.14: unknown fields are allowed and ignored
    """
    for own_kind, other_kind, nodes in (("service", "plan", catalog.services), ("plan", "service", catalog.plans)):
        belongs_to = {
            **dict.fromkeys(known_fields(other_kind), (other_kind, f"to the {other_kind}")),
            **dict.fromkeys(known_fields(f"{own_kind}_metadata"), (f"{own_kind}_metadata", "into metadata")),
        }
        misplaced = belongs_to.keys() - known_fields(own_kind)
        for node in nodes:
            for key in filter(misplaced.__contains__, node.value):
                kind, where = belongs_to[key]
                wanted_type = field_type(kind, key)
                fits = _fits_type(node.value[key], wanted_type)
                hint = "move it there" + ("" if fits else f", and make it {_with_article(wanted_type)}")
                group = Group(f"{own_kind}s have {key!r}, which belongs {where}", (own_kind, key, fits or wanted_type))
                message = Message("{!r} of {} belongs {}", key, node.label, where)
                yield node.finding(message, key, hint, group=group)
    yield from _useless_metadata(catalog)
    for holder, path, kind in catalog.known_objects:
        for key, where in _LEVELS.get(kind, {}).items():
            if key in holder:
                group = Group(f"fields of {path[-1]} belong {where}", (path[-1], where))
                holder_name: Value | str = str(path[-1])
                if kind in ("service", "plan"):
                    group = Group(f"{kind}s have {key!r}, which belongs {where}", (kind, key))
                    holder_name = Node(holder, path).label
                message = Message("{!r} of {} belongs {}", key, holder_name, where)
                yield catalog.finding(message, (*path, key), "move it there", group=group)


def _useless_metadata(catalog: CatalogNode) -> Iterator[Finding]:
    """Findings on fields of service offerings and plans that stand in their metadata alone."""
    for node, metadata in catalog.with_metadata():
        kind, other = ("plan", "service") if "plans" in node.path else ("service", "plan")
        for key in filter(_USELESS_IN_METADATA.__contains__, metadata):
            if key not in node:
                where = f"beside the metadata of the {kind}" if key in known_fields(kind) else f"to the {other}"
                message = Message("{!r} in the metadata of {} does nothing: it belongs {}", key, node.label, where)
                group = Group(f"{kind}s have {key!r} in their metadata, where it does nothing", ("metadata", kind, key))
                yield node.finding(message, ("metadata", key), "move it there", group=group)


@check_catalog(Rule("cloudfoundry-feature", Severity.INFO, Category.PLATFORM, only_for=Platform.CLOUD_FOUNDRY))
def cloudfoundry_feature(catalog: CatalogNode) -> Iterator[Finding]:
    """A service offering requires a feature that may be off in an installation of Cloud Foundry.

    With volume or route services off, Cloud Foundry refuses the whole catalog (ServiceBrokerCatalogIncompatible). The
    verdict assumes that they are on. Reported only with `--platform cloudfoundry`, or if selected.

    Bad: requires: [volume_mount]
    Good: requires: [syslog_drain]
    Source: cloudfoundry/cloud_controller_ng 3bbba906, lib/services/service_brokers/v2/catalog.rb, `compatible?`
    """
    for service in catalog.services:
        requires = service.get("requires")
        for index, needed in enumerate(requires if isinstance(requires, list) else ()):
            flags = {"route_forwarding": "route_services_enabled", "volume_mount": "volume_services_enabled"}
            if flag := flags.get(str(needed)):
                template = "{} requires {}: Cloud Foundry takes the catalog only with {}"
                message = Message(template, service.label, needed, flag)
                yield service.finding(message, ("requires", index), "ask its operator")


@check_catalog(Rule("cloudfoundry-mysql", Severity.INFO, Category.PLATFORM, only_for=Platform.CLOUD_FOUNDRY))
def cloudfoundry_mysql(catalog: Node) -> Iterator[Finding]:
    """A text holds a character beyond U+FFFF, as emoji are.

    Cloud Foundry stores it with PostgreSQL, and fails with MySQL, whose columns and connection have three bytes for a
    character. Reported only with `--platform cloudfoundry`, or if selected.

    Bad: description: A database 🐘
    Good: description: A database
    Source: cloudfoundry/cloud_controller_ng 3bbba906, lib/cloud_controller/db_connection/mysql_options_factory.rb
        (charset utf8, of three bytes); measured with MariaDB
    """
    todo: list[tuple[JsonPath, object]] = [((), catalog.value)]
    while todo:
        path, value = todo.pop()
        todo += [((*path, step), inner) for step, inner in entries(value)]
        text = "".join(text for text in (value, *path[-1:]) if isinstance(text, str))
        if text and max(text) > "\uffff":
            hint = "write it in other words, or ask its operator"
            yield catalog.finding("Cloud Foundry cannot store a character beyond U+FFFF with MySQL", path, hint)


@check_catalog(
    Rule("placeholder-unresolved", Severity.WARNING, Category.ADVICE, skips_brokerpaks=True, on_placeholders=True)
)
def placeholder_unresolved(catalog: Node) -> Iterator[Finding]:
    """A value still holds a placeholder of a template.

    The platform would store it unchanged. No other rule checks a value with a placeholder. If a platform's verdict
    depends on that value, the verdict is *unclear*.

    Bad: id: ((plan_id))
    Good: id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
    Source: BOSH and Concourse ((var)), Spruce (( grab x )), Helm and Jinja {{ }}, shells ${VAR}, ERB <%= %>, printf,
        and what people write for people: <name>, REPLACE_WITH_NAME
    """
    for path, placeholder in find_placeholders(catalog.value).items():
        shown = Value(placeholder if len(placeholder) <= 40 else placeholder[:39] + "…")
        group = Group(Message("values hold {}, which was not replaced", shown), placeholder)
        hint = "render the template, or write the value"
        yield catalog.finding(Message("{} was not replaced", shown), path, hint, group=group)
