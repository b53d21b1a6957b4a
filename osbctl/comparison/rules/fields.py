"""Fields and parameter schemas that changed. `OSB` names the sections of the specification."""

from osbctl.comparison.kinds import Kind, register_kind
from osbctl.platforms.updates import NO_ACT, NOT_STORED, Level, breaking, risky, safe

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
        """Instances can no longer be fetched.""",
        reaction=breaking("no longer fetches the parameters of an instance"),
        advice="keep it true as long as the broker answers requests for an instance",
    ),
    "allow_context_updates": register_kind(
        "change-context-updates-withdrawn",
        """The broker is no longer notified when the context of an instance changes.""",
        reaction=breaking("no longer sends updates of the context, such as a new name of the instance"),
    ),
    "metadata/shareable": register_kind(
        "change-shareable-withdrawn", """Instances can no longer be shared between spaces.""", reaction=NO_ACT
    ),
    "metadata/supportsInstanceSharing": register_kind(
        "change-instance-sharing-withdrawn",
        """Instances of a plan can no longer be shared (`supportsInstanceSharing`).""",
        reaction=NO_ACT,
    ),
    "binding_rotatable": register_kind(
        "change-binding-rotatable-withdrawn",
        """Bindings can no longer be rotated. No platform stores the field.""",
        reaction=NOT_STORED,
    ),
}
"""The kind of change of each boolean that becomes false."""

GRANTED = register_kind(
    "change-capability-granted", """A capability is new: a boolean is true now.""", reaction=_STORES
)

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
    """A boolean of the service offering changed, but no plan inherits it.""",
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
    """A boolean that was left to its default is now set explicitly, to the same value.""",
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
    "change-requires-removed",
    """The broker no longer asks for a permission.""",
    advice="drop it only once no plan uses it",
)
REQUIRES_ADDED = register_kind("change-requires-added", """The broker asks for one more permission.""")
TAG_REMOVED = register_kind(
    "change-tag-removed",
    """A tag is gone. Applications look for their credentials by tag.""",
    reaction=risky("stores the new tags; applications that look for the tag no longer find anything"),
    advice="keep the tag; others may stand beside it",
)
TAG_ADDED = register_kind("change-tag-added", """A tag is new.""", reaction=_STORES)
MAINTENANCE = register_kind(
    "change-maintenance-version",
    """The version of a plan's maintenance information changed, came or went (OSB, Maintenance Info Object).""",
    reaction=risky("offers an upgrade for every instance"),
    advice="raise it only when instances should be upgraded; never lower it",
)
POLLING_LOWERED = register_kind(
    "change-polling-lowered",
    """The platform gives up waiting for an operation sooner than before.""",
    reaction=risky("marks operations that take longer as failed"),
)
POLLING_RAISED = register_kind(
    "change-polling-raised", """The platform waits longer for an operation than before.""", reaction=_STORES
)
DASHBOARD = register_kind(
    "change-dashboard-client",
    """The OAuth client of the dashboard changed. Its secret is never shown.""",
    advice="let the dashboard accept both clients until all platforms have the new one",
)
COSTS = register_kind(
    "change-costs",
    """The price of a plan changed.""",
    reaction=risky("shows the new price; whether users agreed to it is not known"),
)
METADATA = register_kind("change-metadata", """A field of the metadata changed.""", reaction=_STORES)
WORDING = register_kind(
    "change-wording", """A text, a link or an image for people changed.""", reaction=safe("shows the new one")
)
ORDER = register_kind(
    "change-order",
    """The order of services, plans, tags or required permissions changed, or an entry is listed twice.""",
    reaction=safe("ignores the order"),
)
OTHER = register_kind(
    "change-other-field", """An unknown field changed.""", reaction=safe("ignores fields that it does not know")
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
    "default-changed": (
        Level.RISKY,
        "The default of a parameter changed; a request without it gets something else.",
    ),
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
