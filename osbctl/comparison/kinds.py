"""Kinds of change: the rule of each, and what each platform does when it meets one.

A reaction that several platforms share stands here; where a platform's differs, or there is no common one, it stands in
`REACTIONS` of its module `updates`. A platform knows a service offering by (broker, id) and a plan by (service id, plan
id); some know a plan by (broker, plan id).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from osbctl.changes import SEVERITIES, Effect
from osbctl.platforms import Platform
from osbctl.platforms.updates import (
    NO_ACT,
    NOT_STORED,
    UPDATES,
    DependsOnInstances,
    Level,
    Reaction,
    breaking,
    refused,
    risky,
    safe,
)
from osbctl.rule import Category, Rule


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of change. `advice` is a safe way to do what was meant, or empty."""

    id: str
    reactions: Mapping[Platform, Reaction | DependsOnInstances]
    advice: str

    def effects(
        self, platforms: Collection[Platform], is_used: bool | None = None, service: str = "", plan: str = ""
    ) -> tuple[Effect, ...]:
        """Effects on the `platforms`, in words that may name the service offering and the plan.

        `is_used` is as in `DependsOnInstances.choose_reaction`.
        """
        effects = []
        for platform in Platform:
            if platform in platforms:
                reaction = self.reactions[platform]
                if isinstance(reaction, DependsOnInstances):
                    reaction = reaction.choose_reaction(is_used)
                effects.append(Effect(platform, reaction.level, reaction.format_text(service, plan)))
        return tuple(effects)

    def with_reactions(self, exceptions: Mapping[Platform, Reaction | DependsOnInstances]) -> "Kind":
        """The kind with the reactions of those platforms to which a change is a different one."""
        return replace(self, reactions={**self.reactions, **exceptions})

    def with_levels(self, levels: Mapping[Level, Level]) -> "Kind":
        """The kind with those levels of its reactions replaced."""

        def changed(reaction: Reaction) -> Reaction:
            return replace(reaction, level=levels.get(reaction.level, reaction.level))

        return self.with_reactions(
            {
                platform: reaction.map(changed) if isinstance(reaction, DependsOnInstances) else changed(reaction)
                for platform, reaction in self.reactions.items()
            }
        )


KINDS: dict[str, Kind] = {}
"""Every kind of change by the id of its rule."""


def register_kind(
    id: str,  # the record's own field name
    text: str,
    *,
    reaction: Reaction | DependsOnInstances | None = None,
    advice: str = "",
    level: Level | None = None,
) -> Kind:
    """Register a kind of change and its rule; `reaction` is the usual one, `level` by default the strictest."""
    reactions: dict[Platform, Reaction | DependsOnInstances] = {}
    for platform in Platform:
        own = platform.load_module("updates").REACTIONS.get(id, reaction)
        if own is None:
            raise LookupError(f"REACTIONS of {platform.label} needs {id}, which has no common reaction")
        reactions[platform] = own
    usual = {platform: r.unknown if isinstance(r, DependsOnInstances) else r for platform, r in reactions.items()}
    levels = {platform: r.level for platform, r in usual.items()}
    level = level or max(levels.values(), key=lambda each: each.rank)
    refused_by = tuple(platform for platform, each in levels.items() if each is Level.REFUSED)
    text += "\n\n    Source: What the platforms do when a broker is updated"
    Rule(id, SEVERITIES[level], Category.CHANGE, refusing=refused_by).register(text)
    KINDS[id] = Kind(id, reactions, advice)
    return KINDS[id]


NOW_REFUSED = register_kind(
    "change-now-refused",
    """The platform refuses the new catalog for a reason that the old one did not give.

    It reads the whole catalog again at an update, and applies nothing of a refused one.
    """,
    reaction=refused("refuses the whole update"),
    advice="osbctl validate shows where, and how to correct it",
)
REFUSED_IN_PART = register_kind(
    "change-refused-in-part",
    """The platform refuses a part of the new catalog for a reason that the old one did not give, and applies the rest.

    It saves one object after another, and stops at the first that it refuses; earlier ones stay applied.
    """,
    reaction=refused("applies earlier objects, and stops here"),
    advice="correct it soon: osbctl validate shows where; earlier objects are already applied",
)
CATALOG_EMPTIED = register_kind(
    "change-catalog-emptied",
    """The new catalog no longer offers a service.

    The usual cause is a broken build or template.
    """,
    advice="if that is intended, delete the service broker instead",
)
SERVICE_WITHOUT_PLANS = register_kind(
    "change-service-without-plans",
    "A service offering is left without plans.",
    advice="remove the service offering, once its last instance is gone",
)
SERVICE_REMOVED = register_kind(
    "change-service-removed",
    """A service offering is gone, with all its plans.

    After its sunset (`metadata: {state: deprecated, sunset: "2027-03-31"}` in the old catalog) this is risky: its
    availability was not promised any longer.
    """,
    advice="withdraw access to its plans, move or delete their instances, then remove it",
)
PLAN_REMOVED = register_kind(
    "change-plan-removed",
    """A service plan is gone.

    After its sunset (`metadata: {state: deprecated, sunset: "2027-03-31"}` in the old catalog) this is risky: its
    availability was not promised any longer.
    """,
    advice="withdraw access to the plan, move or delete its instances, then remove it",
)
SERVICE_ADDED = register_kind("change-service-added", "A service offering is new.")
PLAN_ADDED = register_kind("change-plan-added", "A service plan is new.")
PLAN_ID = register_kind(
    "change-plan-id",
    """A plan's id changed while its name stayed.

    A platform knows a plan by its id: to it, the old plan is gone and a new one claims its name. Of all catalog
    changes this causes the most incidents, often because ids are generated at each build.
    """,
    advice="keep the old id; if this really is a new plan, give it a new name and keep the old one until it has no "
    "instances",
)
SERVICE_ID = register_kind(
    "change-service-id",
    """A service offering's id changed while its name stayed; its plans have new ids, too.

    To the platform, the old service offering is gone and a new one claims its name.
    """,
    advice="keep the old id; if this really is a new service offering, give it a new name",
)
SERVICE_ID_PLANS_KEPT = register_kind(
    "change-service-id-plans-kept",
    """A service offering's id changed while plans of it kept theirs.

    The plans now belong to another service offering, and plan ids are unique across the platform.
    """,
    advice="keep the old id of the service offering",
)
PLAN_MOVED = register_kind(
    "change-plan-moved",
    "A plan id belongs to a different service offering than before.",
    advice="give the plan of the other service offering its own id; keep the old one until it has no instances",
)
_ANOTHER = breaking("accepts it; users of the name get another object")
PLAN_NAME_TAKEN = register_kind(
    "change-plan-name-taken",
    """A plan takes a name that another one had, or still has.

    Plans are saved one by one in the order of the catalog, new ones last; removed ones are deleted after that. A name
    that its holder gives up later is still taken. Cloud Foundry compares names ignoring case. Where the name is free,
    scripts that use it keep working, but with another plan.
    """,
    reaction=_ANOTHER,
    advice="choose another name; or give the name up in one update and take it in a later one: the name of a removed "
    "plan may be kept while the plan has instances, and until the first update after the last one is gone",
)
SERVICE_NAME_TAKEN = register_kind(
    "change-service-name-taken",
    """A service offering takes a name that another one had, or its own one in another case.

    Cloud Foundry refuses it if the old holder of the name has instances. It finds an old service offering by its name
    ignoring case, looks it up in the new catalog by its exact name, and crashes if only the case differs. On MySQL,
    leading or trailing spaces and accents have the same effect. Service Manager deletes removed ones last.
    """,
    reaction=_ANOTHER,
    advice="choose another name; or give the name up in one update and take it in the next, once the last instance of "
    "its old holder is gone",
)
PLAN_RENAMED = register_kind(
    "change-plan-renamed",
    "A plan has a new name; its id stayed.",
    reaction=UPDATES,
    advice="keep the name and change metadata.displayName; or add a plan under the new name and retire the old one",
)
SERVICE_RENAMED = register_kind(
    "change-service-renamed",
    """A service offering has a new name; its id stayed.

    On Cloud Foundry its name is the key under which applications find their credentials in VCAP_SERVICES.
    """,
    reaction=UPDATES,
    advice="keep the name and change metadata.displayName",
)


_STORES = safe("stores the new value")

BINDABLE = register_kind(
    "change-bindable-withdrawn",
    """Instances can no longer be bound.

    The effective value counts: a plan that does not set it inherits it from its service offering.
    """,
    reaction=breaking("refuses new bindings; those that exist are kept"),
    advice="add a plan that is not bindable beside this one",
)
BINDINGS_RETRIEVABLE = register_kind(
    "change-bindings-retrievable-withdrawn",
    """Bindings can no longer be fetched.

    A platform needs to fetch a binding that was created asynchronously.
    """,
    reaction=breaking("no longer fetches bindings, and cannot create them asynchronously"),
    advice="keep it true as long as the broker answers requests for a binding",
)
WITHDRAWN: dict[str, Kind] = {
    "bindable": BINDABLE,
    "bindings_retrievable": BINDINGS_RETRIEVABLE,
    "plan_updateable": register_kind(
        "change-plan-updateable-withdrawn",
        """Instances can no longer change their plan.

        Kubernetes Service Catalog reads the value of the service offering alone, also where all plans set their own.
        """,
        reaction=breaking("refuses to change the plan of an instance"),
        advice="keep it true and let the broker refuse the changes that it cannot make",
    ),
    "instances_retrievable": register_kind(
        "change-instances-retrievable-withdrawn",
        "Instances can no longer be fetched.",
        reaction=breaking("no longer fetches the parameters of an instance"),
        advice="keep it true as long as the broker answers requests for an instance",
    ),
    "allow_context_updates": register_kind(
        "change-context-updates-withdrawn",
        "The broker is no longer notified when the context of an instance changes.",
        reaction=breaking("no longer sends updates of the context, such as a new name of the instance"),
    ),
    "metadata/shareable": register_kind(
        "change-shareable-withdrawn", "Instances can no longer be shared between spaces.", reaction=NO_ACT
    ),
    "metadata/supportsInstanceSharing": register_kind(
        "change-instance-sharing-withdrawn",
        "Instances of a plan can no longer be shared (`supportsInstanceSharing`).",
        reaction=NO_ACT,
    ),
    "binding_rotatable": register_kind(
        "change-binding-rotatable-withdrawn",
        "Bindings can no longer be rotated. No platform stores the field.",
        reaction=NOT_STORED,
    ),
}
"""The kind of change of each boolean that becomes false."""

GRANTED = register_kind("change-capability-granted", "A capability is new: a boolean is true now.", reaction=_STORES)

PLATFORMS_WITHDRAWN = register_kind(
    "change-platforms-withdrawn",
    """Platforms lose a plan that they could offer.

    Service Manager shows a plan to the platforms that `supportedPlatforms` (by type), `supportedPlatformNames` or
    `excludedPlatformNames` of its metadata allow.
    """,
    reaction=NO_ACT,
    advice="first move or delete the instances on these platforms",
)
SERVICE_FLAG = register_kind(
    "change-service-default",
    "A boolean of the service offering changed, but no plan inherits it.",
    reaction=safe("stores the new value; the plans have their own"),
)
EXPLICIT_DROPPED = register_kind(
    "change-explicit-dropped",
    """A boolean that was set explicitly is now left to its default.

    By the specification nothing changes, but platforms disagree on the default.
    """,
    reaction=safe("uses the same value by default"),
    level=Level.RISKY,
    advice="set the value explicitly",
)
EXPLICIT_ADDED = register_kind(
    "change-explicit-added",
    "A boolean that was left to its default is now set explicitly, to the same value.",
    reaction=safe("uses the same value"),
)
PAID = register_kind(
    "change-free-to-paid",
    """A free plan costs money now.

    `free` is true where a plan does not set it (OSB, Service Plan Object); Kubernetes Service Catalog and Korifi then
    read it as false.
    """,
    reaction=risky("shows it as paid"),
    advice="add a paid plan beside the free one",
)
FREE = register_kind(
    "change-paid-to-free",
    """A plan that cost money is free now.

    A plan that no longer says `free: false` is free by the specification, and may be so by mistake: that is risky.
    Kubernetes Service Catalog and Korifi read an omitted value as false, so nothing changes there.
    """,
    reaction=_STORES,
    level=Level.RISKY,
    advice="set the value explicitly",
)
REQUIRES_REMOVED = register_kind(
    "change-requires-removed", "The broker no longer asks for a permission.", advice="drop it only once no plan uses it"
)
REQUIRES_ADDED = register_kind("change-requires-added", "The broker asks for one more permission.")
TAG_REMOVED = register_kind(
    "change-tag-removed",
    "A tag is gone. Applications look for their credentials by tag.",
    reaction=risky("stores the new tags; applications that look for the tag no longer find anything"),
    advice="keep the tag; others may stand beside it",
)
TAG_ADDED = register_kind("change-tag-added", "A tag is new.", reaction=_STORES)
MAINTENANCE = register_kind(
    "change-maintenance-version",
    "The version of a plan's maintenance information changed, came or went (OSB, Maintenance Info Object).",
    reaction=risky("offers an upgrade for every instance"),
    advice="raise it only when instances should be upgraded; never lower it",
)
POLLING_LOWERED = register_kind(
    "change-polling-lowered",
    "The platform gives up waiting for an operation sooner than before.",
    reaction=risky("marks operations that take longer as failed"),
)
POLLING_RAISED = register_kind(
    "change-polling-raised", "The platform waits longer for an operation than before.", reaction=_STORES
)
DASHBOARD = register_kind(
    "change-dashboard-client",
    "The OAuth client of the dashboard changed. Its secret is never shown.",
    advice="let the dashboard accept both clients until all platforms have the new one",
)
COSTS = register_kind(
    "change-costs",
    "The price of a plan changed.",
    reaction=risky("shows the new price; whether users agreed to it is not known"),
)
METADATA = register_kind("change-metadata", "A field of the metadata changed.", reaction=_STORES)
WORDING = register_kind(
    "change-wording", "A text, a link or an image for people changed.", reaction=safe("shows the new one")
)
ORDER = register_kind(
    "change-order",
    "The order of services, plans, tags or required permissions changed, or an entry is listed twice.",
    reaction=safe("ignores the order"),
)
OTHER = register_kind(
    "change-other-field", "An unknown field changed.", reaction=safe("ignores fields that it does not know")
)

FIELD_CASE = register_kind(
    "change-field-case",
    """A known field in another case, such as `Bindable`, changed.

    Platforms written in Go read it as the field itself.
    """,
    reaction=breaking("reads it as the field of that name in lower case"),
    advice="write the field in lower case",
)

_SENTENCES: dict[str, tuple[Level, str]] = {
    "added": (Level.BREAKING, "There was no parameter schema; there is one now."),
    "bound-tightened": (Level.BREAKING, "A number in a request has a tighter bound."),
    "combination-narrowed": (Level.BREAKING, "A combination of schemas accepts less than before."),
    "const-added": (Level.BREAKING, "A value in a request may only be this one."),
    "default-changed": (Level.RISKY, "The default of a parameter changed; a request without it gets something else."),
    "enum-narrowed": (Level.BREAKING, "A value in a request has fewer choices."),
    "format-changed": (Level.BREAKING, "A string in a request has another format."),
    "items-narrowed": (Level.BREAKING, "A list in a request may hold less than before."),
    "length-tightened": (Level.BREAKING, "A string, list or object in a request has a tighter limit on its size."),
    "pattern-changed": (Level.BREAKING, "A string in a request must match another pattern."),
    "property-described": (Level.RISKY, "A property that could hold anything is described now."),
    "property-dropped": (
        Level.RISKY,
        "A property of a request is no longer described; whether the broker still uses it is not known.",
    ),
    "property-forbidden": (Level.BREAKING, "A property of a request is no longer allowed."),
    "relaxed": (Level.SAFE, "A schema changed, or got a property, and refuses nothing that was accepted."),
    "removed": (Level.SAFE, "The parameter schema is gone; anything is accepted."),
    "required-added": (Level.BREAKING, "A request must hold one more property."),
    "type-narrowed": (Level.BREAKING, "A value in a request may have fewer types."),
    "undecided": (Level.RISKY, "Whether the schema refuses what it accepted before cannot be decided."),
    "unique-items-added": (Level.BREAKING, "A list in a request may no longer hold a value twice."),
    "wording": (Level.SAFE, "A text for people in a schema changed."),
}
_WHY = """{}

    A request that is no longer valid breaks its senders: saved commands, pipelines, user interfaces.
    """
_ADVICE = "keep accepting the old requests, in the broker and in the schema; or add a plan with the new schema"

SCHEMA_KINDS = {
    f"schema-{name}": register_kind(
        f"change-schema-{name}",
        _WHY.format(sentence),
        reaction=safe("stores it for user interfaces and does not enforce it; the broker does"),
        level=level,
        advice="" if level is Level.SAFE else _ADVICE,
    )
    for name, (level, sentence) in _SENTENCES.items()
}
"""The kind of each rule of a `SchemaChange`."""
