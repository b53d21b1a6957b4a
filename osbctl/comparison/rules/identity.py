"""Services and plans that come, go, move, or change their ids and names.

Platforms know a service by (broker, id) and a plan by (service id, plan id); some know a plan by (broker, plan id).
"""

from osbctl.comparison.kinds import register_kind
from osbctl.platforms.updates import UPDATES, breaking, refused

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
    """A service offering is left without plans.""",
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
SERVICE_ADDED = register_kind("change-service-added", """A service offering is new.""")
PLAN_ADDED = register_kind("change-plan-added", """A service plan is new.""")
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
    """A plan id belongs to a different service offering than before.""",
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
    """A plan has a new name; its id stayed.""",
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
