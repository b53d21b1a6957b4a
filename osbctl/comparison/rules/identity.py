"""Services and plans that come, go, move, or change their ids and names.

Platforms know a service by (broker, id) and a plan by (service id, plan id); some know a plan by (broker, plan id).
"""

from __future__ import annotations

from osbctl.comparison.kinds import kind
from osbctl.platforms.reactions import UPDATES, breaking, refused

NOW_REFUSED = kind(
    "change-now-refused",
    """The platform refuses the new catalog for a reason that the old one did not give.

    It reads the whole catalog again at the update, and applies nothing of one that it refuses.
    """,
    every=refused("refuses the whole update"),
    advice="osbctl validate shows where, and how to correct it",
)
CATALOG_EMPTIED = kind(
    "change-catalog-emptied",
    """The new catalog offers no service any more.

    Most often a sign of a build or a template that went wrong.
    """,
    advice="delete the service broker if that is meant",
)
SERVICE_WITHOUT_PLANS = kind(
    "change-service-without-plans",
    """A service offering is left without plans.""",
    advice="remove the service offering, once its last instance is gone",
)
SERVICE_REMOVED = kind(
    "change-service-removed",
    """A service offering is gone, with all its plans.

    After its sunset (`metadata: {state: deprecated, sunset: "2027-03-31"}` in the old catalog) this is risky: nobody
    was promised that it would still be there.
    """,
    advice="withdraw access to its plans, move or delete their instances, then remove it",
)
PLAN_REMOVED = kind(
    "change-plan-removed",
    """A service plan is gone.

    After its sunset (`metadata: {state: deprecated, sunset: "2027-03-31"}` in the old catalog) this is risky: nobody
    was promised that it would still be there.
    """,
    advice="withdraw access to the plan, move or delete its instances, then remove it",
)
SERVICE_ADDED = kind("change-service-added", """A service offering is new.""")
PLAN_ADDED = kind("change-plan-added", """A service plan is new.""")
PLAN_ID = kind(
    "change-plan-id",
    """A plan's id changed while its name stayed.

    A platform knows a plan by its id: to it, the old plan is gone and a stranger claims its name. This is the most
    reported incident of all catalog changes, often caused by ids that are generated anew at each build.
    """,
    advice="keep the old id; for a plan that really is another, choose another name and keep the old plan until it is "
    "empty",
)
SERVICE_ID = kind(
    "change-service-id",
    """A service offering's id changed while its name stayed; its plans have new ids, too.

    To the platform, the old service offering is gone and a stranger claims its name.
    """,
    advice="keep the old id; a service offering that really is another needs another name",
)
SERVICE_ID_PLANS_KEPT = kind(
    "change-service-id-plans-kept",
    """A service offering's id changed while plans of it kept theirs.

    The plans stand under another service offering now, and plan ids are unique over the whole platform.
    """,
    advice="keep the old id of the service offering",
)
PLAN_MOVED = kind(
    "change-plan-moved",
    """A plan id stands under another service offering than before.""",
    advice="give the plan under the other service offering an id of its own; keep the old one until it is empty",
)
PLAN_NAME_REUSED = kind(
    "change-plan-name-reused",
    """A plan takes the name of one that is removed at the same time.

    Cloud Foundry and Service Manager delete what is gone last: the name is still taken when its new holder is saved.
    """,
    advice="remove the old plan in one update, rename in the next",
)
SERVICE_NAME_REUSED = kind(
    "change-service-name-reused",
    """A service offering takes the name of one that is removed at the same time.

    Cloud Foundry refuses it as long as the old one has instances, Service Manager always.
    """,
    advice="remove the old service offering in one update, rename in the next",
)
PLAN_NAMES_SWAPPED = kind(
    "change-plan-names-swapped",
    """Plans exchanged their names.

    They are saved one after the other, and names compare without regard to case: the first takes a name that the next
    still holds.
    """,
    advice="rename one of them to a third name in an update of its own first",
)
SERVICE_NAMES_SWAPPED = kind(
    "change-service-names-swapped",
    """Service offerings exchanged their names.

    Cloud Foundry refuses it where the one that had the name has instances.
    """,
    advice="rename one of them to a third name in an update of its own first",
)
PLAN_NAME_TAKEN = kind(
    "change-plan-name-taken",
    """A plan takes a name that another one still has.

    Cloud Foundry compares names without regard to case, and saves each plan by itself, in the order of the
    catalog with new ones last: a name that another one gives up further down is still taken.
    """,
    advice="choose another name; where the other one gives it up, put that first in the catalog",
)
SERVICE_NAME_CASE = kind(
    "change-service-name-case",
    """A service offering takes a name that differs from an old one in upper and lower case alone.

    Cloud Foundry finds the old one by its name without regard to case, looks for it in the new catalog with regard to
    it, and crashes. With MySQL it does so for outer blanks and accents, too.
    """,
    every=UPDATES,
    advice="rename it to something else in an update of its own first",
)
_PASSED_ON = """{} takes the name that another one gave up in the same update.

    Scripts that use the name go on working, with something else than before.
    """
_PASSES_ON = breaking("accepts it; whoever uses the name gets something else than before")
PLAN_NAME_PASSED_ON = kind(
    "change-plan-name-passed-on",
    _PASSED_ON.format("A plan"),
    every=_PASSES_ON,
    advice="let the name rest until nobody uses it any more",
)
SERVICE_NAME_PASSED_ON = kind(
    "change-service-name-passed-on",
    _PASSED_ON.format("A service offering"),
    every=_PASSES_ON,
    advice="let the name rest until nobody uses it any more",
)
PLAN_RENAMED = kind(
    "change-plan-renamed",
    """A plan has another name; its id stayed.""",
    every=UPDATES,
    advice="keep the name and change metadata.displayName; or add a plan under the new name and retire the old one",
)
SERVICE_RENAMED = kind(
    "change-service-renamed",
    """A service offering has another name; its id stayed.

    On Cloud Foundry its name is the key under which applications find their credentials in VCAP_SERVICES.
    """,
    every=UPDATES,
    advice="keep the name and change metadata.displayName",
)
