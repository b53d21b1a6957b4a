"""Rules on ids, names and descriptions."""

import re
from collections.abc import Iterable, Iterator
from string import ascii_letters, ascii_lowercase, digits, hexdigits

from osbctl.catalog import has_price, service_and_plan_names
from osbctl.findings import Finding, Fix, Group, Severity
from osbctl.messages import Message, Value
from osbctl.placeholders import holds_placeholder
from osbctl.platforms import ApiVersion, Platform
from osbctl.rule import Category, Rule
from osbctl.validation.checks import CatalogNode, Node, check_catalog

_LOWER = f"{ascii_lowercase}{digits}-"
_FRIENDLY = f"{ascii_letters}{digits}-."
_TYPED = f"{_FRIENDLY}_"
_UNRESERVED = f"{_TYPED}~"
_GUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BARE_GUID = re.compile(r"[0-9a-fA-F]{32}")

_PAID = re.compile(r"(?<![a-z])(?:premium|paid|enterprise|business|professional|platinum|gold)(?![a-z])", re.IGNORECASE)
"""Words in the names of plans that cost something."""


@check_catalog(Rule("text-blank", Severity.ERROR, Category.SPEC))
def text_blank(catalog: CatalogNode) -> Iterator[Finding]:
    """An id, a name or a description holds nothing but white space.

    Users see nothing, and Cloud Foundry treats it as missing.

    Bad: description: " "
    Good: description: A database.
    Source: OSB 2.14, Catalog Management: id, name and description MUST be non-empty strings
    """
    for key in ("id", "name", "description"):
        for node, value in catalog.nonempty_texts(key):
            if value.isspace():
                yield node.finding(Message("{} of {} is blank", key, node.label), key, "write what users should read")


@check_catalog(Rule("name-characters", Severity.INFO, Category.SPEC, in_build=True))
def name_characters(catalog: CatalogNode) -> Iterator[Finding]:
    """A name has characters that API versions up to 2.14 forbid, and that are easy to type.

    Up to 2.13 a name has lower-case letters, digits and hyphens. 2.14 adds capitals and dots, 2.15 all characters. No
    known platform refuses such a name. Keep the name of a published object, because users and scripts know it.

    Bad: name: postgres_eu
    Good: name: postgres-eu
    Source: OSB 2.13 and 2.14, Catalog Management: a CLI-friendly name has only letters, digits, dots, hyphens
    """
    version = catalog.api_version
    allowed, words = _FRIENDLY, "letters, digits, . and -"
    if version == ApiVersion.V2_13:
        allowed, words = _LOWER, "lower-case letters, digits and hyphens"
    for node, name in _checkable_names(catalog):
        wrong = name.lstrip(allowed)[:1]
        if wrong and not name.lstrip(_TYPED) and version <= ApiVersion.V2_14:
            message = Message("the name {} has {!r}, which API version {} forbids", node.label, wrong, version)
            hint = f"use {words}; keep a name that is published"
            group = Group(f"names have characters that API version {version} forbids")
            yield node.finding(message, "name", hint, group=group)


@check_catalog(Rule("name-not-cli-friendly", Severity.WARNING, Category.ADVICE))
def name_not_cli_friendly(catalog: CatalogNode) -> Iterator[Finding]:
    """A name is awkward to type in a shell, where it must be quoted.

    People type it on command lines. API versions up to 2.14 forbid it; from 2.15 on a name may hold any character.
    Programs read a name such as `--help` as an option, and `.` as a folder.

    Bad: name: postgres (EU)
    Good:
        name: postgres-eu
        metadata: {displayName: Postgres (EU)}
    Source: OSB 2.15, Service Offering Object: a CLI-friendly name is RECOMMENDED
    """
    summary = "names are awkward on a command line"
    for node, name in _checkable_names(catalog):
        wrong = name.lstrip(_TYPED)[:1]
        if name.startswith("-") or not name.strip(".-_"):
            message = Message("programs read the name {} as an option or a folder", node.label)
            yield node.finding(message, "name", "begin it with a letter or a digit", group=Group(summary, "option"))
        elif wrong:
            message = Message("the name {} has {!r}, which is awkward on a command line", node.label, wrong)
            hint = "use letters, digits, dots and hyphens; metadata.displayName may hold the rest"
            yield node.finding(message, "name", hint, group=Group(summary))


def _checkable_names(catalog: CatalogNode) -> Iterator[tuple[Node, str]]:
    """The names that are neither blank nor placeholders, each with its object."""
    for node, name in catalog.nonempty_texts("name"):
        if not name.isspace() and not holds_placeholder(name):
            yield node, name


@check_catalog(Rule("id-characters", Severity.WARNING, Category.ADVICE))
def id_characters(catalog: CatalogNode) -> Iterator[Finding]:
    """An id has a character that must be encoded in a URL.

    Platforms send ids in URLs, such as `?service_id=...`. If one side encodes such a character and the other does not,
    requests go to the wrong address. Do not change the id of a published object.

    Bad: id: postgres/eu
    Good: id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
    Source: OSB 2.14, URL Properties: ids are RECOMMENDED to have only the unreserved characters of RFC 3986
    """
    for node, value, reason in _non_guid_ids(catalog):
        wrong = value.lstrip(_UNRESERVED)[:1]
        if wrong and not reason:
            message = Message("the id of {} has {!r}, which must be encoded in a URL", node.label, wrong)
            hint = "use letters, digits and . _ ~ -; keep an id that is published"
            yield node.finding(message, "id", hint, group=Group("ids have characters that must be encoded in a URL"))


@check_catalog(Rule("id-not-guid", Severity.INFO, Category.ADVICE))
def id_not_guid(catalog: CatalogNode) -> Iterator[Finding]:
    """An id is not a GUID.

    Ids must be globally unique, and a GUID is. But do not change the id of a published object: platforms would see
    another object.

    Bad: id: postgres-service
    Good: id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
    Source: OSB 2.14, Service Offering Object: using a GUID is RECOMMENDED
    """
    for node, value, reason in _non_guid_ids(catalog):
        if not reason and not value.lstrip(_UNRESERVED):
            message = Message("the id of {} is not a GUID", node.label)
            hint = "use a GUID, unless the id is published"
            yield node.finding(message, "id", hint, group=Group("ids are not GUIDs"))


@check_catalog(Rule("id-almost-guid", Severity.WARNING, Category.ADVICE))
def id_almost_guid(catalog: CatalogNode) -> Iterator[Finding]:
    """An id looks like a GUID, but is not one.

    A digit is missing, a letter is not hexadecimal, or all digits are 0: likely a typing error, or a placeholder.
    Platforms accept the id, and it cannot change later.

    Bad: id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3BG
    Good: id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
    Source: RFC 9562, section 4: 8-4-4-4-12 hexadecimal digits
    """
    for node, _, reason in _non_guid_ids(catalog):
        if reason:
            message = Message("the id of {} is almost a GUID: {}", node.label, reason)
            hint = "correct it, unless the id is published"
            yield node.finding(message, "id", hint, group=Group("ids are almost GUIDs"))


def _non_guid_ids(catalog: CatalogNode) -> Iterator[tuple[Node, str, str]]:
    """Objects whose id is not a GUID, each with the id, and with the reason if it is almost one."""
    for node, value in catalog.nonempty_texts("id"):
        is_unique = (_GUID.fullmatch(value) or _BARE_GUID.fullmatch(value)) and not _is_nil_guid(value)
        if not is_unique and not value.isspace() and not holds_placeholder(value):
            yield node, value, _almost_guid_reason(value)


def _is_nil_guid(text: str) -> bool:
    return not text.strip("0-") and bool(_GUID.fullmatch(text) or _BARE_GUID.fullmatch(text))


def _almost_guid_reason(text: str) -> str:
    """Reason why a text is almost a GUID. Empty for other texts."""
    if _is_nil_guid(text):
        return "the nil GUID stands for none"
    bare = text.strip("{} ")
    if bare != text and _GUID.fullmatch(bare):
        return "braces or spaces stand around it"
    groups = text.split("-")
    if len(groups) != 5 or not 30 <= len(text) <= 42:
        return ""
    wrong = [character for character in "".join(groups) if character not in hexdigits]
    # With three quarters of the digits right it is a slip; with fewer, a name that has four hyphens.
    if wrong:
        return f"{wrong[0]!r} is not a hexadecimal digit" if len(text) - 4 - len(wrong) >= 24 else ""
    return f"its groups have {', '.join(str(len(group)) for group in groups)} digits, not 8, 4, 4, 4, 12"


@check_catalog(Rule("default-implicit", Severity.INFO, Category.ADVICE))
def default_implicit(catalog: CatalogNode) -> Iterator[Finding]:
    """A plan does not set `free`, and platforms disagree on the default.

    The specification's default is free. Kubernetes Service Catalog and Korifi treat the plan as paid.

    Bad: - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small., bindable: true}
    Good: - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small., bindable: true, free: true}
    Fix: writes the specification's default, `free: true`, with --unsafe, unless a price or the name says otherwise.
    Source: OSB 2.14, Service Plan Object: free, default true; Service Catalog and Korifi default it to false
    """
    for plan in catalog.plans:
        # The rule cost-of-free-plan reports plans with a price.
        if "free" not in plan and not has_price(plan.child("metadata").value):
            finding = _implicit_field_finding(plan, "free", "platforms disagree on the default")
            yield finding._replace(fixes=()) if _may_cost(plan) else finding


@check_catalog(Rule("bindable-unused", Severity.INFO, Category.ADVICE))
def bindable_unused(catalog: CatalogNode) -> Iterator[Finding]:
    """A service offering is bindable, but none of its plans is.

    The value of a plan counts, so that users can bind no instance.

    Bad:
        - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small., free: true, bindable: false}
    Good:
        - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small., free: true, bindable: true}
    Source: OSB 2.14, Service Plan Object: bindable overrides that of the service offering
    """
    for service, plans in catalog.plans_by_service:
        if service.get("bindable") is True and plans and all(plan.get("bindable") is False for plan in plans):
            message = Message("{} is bindable, but each of its plans is `bindable: false`", service.label)
            yield service.finding(message, "bindable", "write `bindable: false` here, or leave it out of the plans")


def _may_cost(plan: Node) -> bool:
    """Return whether a plan has a price that is not plainly zero, or a name or title that says that it is paid for."""
    metadata = plan.child("metadata")
    costs = metadata.get("costs")
    amounts = [cost.get("amount") for cost in costs if isinstance(cost, dict)] if isinstance(costs, list) else [costs]
    is_zero = all(not amount or (isinstance(amount, dict) and not any(amount.values())) for amount in amounts)
    texts = (plan.text("name"), metadata.text("displayName"))
    return not is_zero or any(_PAID.search(text) for text in texts if text)


@check_catalog(Rule("korifi-bindable-implicit", Severity.INFO, Category.PLATFORM, only_for=Platform.KORIFI))
def korifi_bindable_implicit(catalog: CatalogNode) -> Iterator[Finding]:
    """A plan of a bindable service offering does not set `bindable`, and Korifi treats it as not bindable.

    Every other platform uses the value of the service offering. Reported only with `--platform korifi`, or if selected.

    Bad: - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small., free: true}
    Good: - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small., free: true, bindable: true}
    Fix: writes `bindable: true`, with --unsafe.
    Source: Korifi: ServicePlan.Bindable is a boolean that is false where the catalog does not set it
    """
    for service, plans in catalog.plans_by_service:
        for plan in plans if service.get("bindable") is True else ():
            if "bindable" not in plan:
                yield _implicit_field_finding(plan, "bindable", "Korifi treats that as `bindable: false`")


def _implicit_field_finding(plan: Node, key: str, reason: str) -> Finding:
    return plan.finding(
        Message("plan {} does not set `{}`, and {}", plan.label, key, reason),
        hint=f"set `{key}: true` or `{key}: false`",
        fixes=(Fix("set", (*plan.path, key), True),),
        group=Group(f"plans do not set `{key}`, and {reason}"),
    )


@check_catalog(Rule("long-name", Severity.WARNING, Category.ADVICE))
def long_name(catalog: CatalogNode) -> Iterator[Finding]:
    """An id or a name is longer than 255 characters.

    Platforms must store only 255. Cloud Foundry fails with MySQL (`varchar(255)`), and stores more with PostgreSQL.

    Source: OSB 2.14, guidance for supported string lengths: at least 255 characters
    """
    for key in ("id", "name"):
        for node, value in catalog.nonempty_texts(key):
            if len(value) > 255:
                yield node.finding(f"{key} has more than 255 characters", key, "shorten it")


@check_catalog(Rule("id-duplicate", Severity.ERROR, Category.SPEC, wants_new_id=True))
def id_duplicate(catalog: CatalogNode) -> Iterator[Finding]:
    """An id is used twice in the catalog.

    Platforms identify a service offering and a plan by its id. With two of the same id, one of them cannot be ordered,
    or hides the other.

    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: large, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    Source: OSB 2.14, Service Offering Object and Service Plan Object: id MUST be globally unique
    """
    for nodes in (catalog.services, catalog.plans):
        for node, first in _find_duplicates(nodes, "id"):
            message = Message("{} {} reuses the id of {} {}", *_kind_and_label(node), *_kind_and_label(first))
            if nodes is catalog.plans and node.get("name") == first.get("name") and node.path[:2] != first.path[:2]:
                names = [service_and_plan_names(each.path, catalog.value) for each in (node, first)]
                message = Message("plan '{}/{}' reuses the id of plan '{}/{}'", *names[0], *names[1])
            yield node.finding(message, "id", "give it an id of its own", related_path=(*first.path, "id"))


@check_catalog(Rule("id-shared", Severity.WARNING, Category.SPEC))
def id_shared(catalog: CatalogNode) -> Iterator[Finding]:
    """A plan has the id of a service offering.

    No known platform confuses the two. Do not change the id of a published object.

    Bad:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database., bindable: true,
             plans: [{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small., free: true}]}
    Good:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database., bindable: true,
             plans: [{id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: small, description: Small., free: true}]}
    Source: OSB 2.14, Service Offering Object and Service Plan Object: id MUST be globally unique
    """
    taken = {service.text("id"): service for service in catalog.services}
    for plan in catalog.plans:
        value = plan.text("id")
        if value and value in taken and not holds_placeholder(value):
            message = Message("{} {} has the id of {} {}", *_kind_and_label(plan), *_kind_and_label(taken[value]))
            related_path = (*taken[value].path, "id")
            yield plan.finding(message, "id", "keep it if it is published already", related_path=related_path)


@check_catalog(Rule("service-name-duplicate", Severity.ERROR, Category.SPEC))
def service_name_duplicate(catalog: CatalogNode) -> Iterator[Finding]:
    """Two service offerings share a name.

    Users order a service offering by its name. With two of the same name, the platform cannot know which to use.

    Bad:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database., bindable: true,
             plans: [{id: 0D9B6E72-51C4-4A3F-A6D8-7F1E2C3B4A59, name: small, description: Small., free: true}]}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: postgres, description: A cache., bindable: true,
             plans: [{id: 5B8F0C3D-92E6-47A1-B4D7-3A6C1E9F2D80, name: small, description: Small., free: true}]}
    Good:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database., bindable: true,
             plans: [{id: 0D9B6E72-51C4-4A3F-A6D8-7F1E2C3B4A59, name: small, description: Small., free: true}]}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: redis, description: A cache., bindable: true,
             plans: [{id: 5B8F0C3D-92E6-47A1-B4D7-3A6C1E9F2D80, name: small, description: Small., free: true}]}
    Source: OSB 2.14, Service Offering Object: name MUST be unique across all service offerings of the broker
    """
    for service, first in _find_duplicates(catalog.services, "name"):
        message = Message("another service offering has the name {}", service.label)
        yield service.finding(message, "name", "rename one of them", related_path=(*first.path, "name"))


@check_catalog(Rule("plan-name-duplicate", Severity.ERROR, Category.SPEC))
def plan_name_duplicate(catalog: CatalogNode) -> Iterator[Finding]:
    """Two plans of one service offering share a name.

    Users order a plan by the names of service offering and plan. With two of the same name, the platform cannot know
    which to use.

    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: small, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    Source: OSB 2.14, Service Plan Object: name MUST be unique within the service offering
    """
    for service, plans in catalog.plans_by_service:
        for plan, first in _find_duplicates(plans, "name"):
            message = Message("another plan of {} has the name {}", service.label, plan.label)
            yield plan.finding(message, "name", "rename one of them", related_path=(*first.path, "name"))


def _find_duplicates(nodes: Iterable[Node], key: str) -> Iterator[tuple[Node, Node]]:
    """Each object with the `key` of an earlier one, and the first of these; unresolved placeholders do not count."""
    seen: dict[str, Node] = {}
    for node in nodes:
        value = node.text(key)
        if value and (first := seen.setdefault(value, node)) is not node and not holds_placeholder(value):
            yield node, first


def _kind_and_label(node: Node) -> tuple[str, Value | str]:
    return "plan" if node.path[-2] == "plans" else "service offering", node.label
