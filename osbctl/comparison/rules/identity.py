"""Services and plans that come, go, move, or change their ids and names.

Platforms know a service by (broker, id) and a plan by (service id, plan id); Korifi a plan by (broker, plan id).
Cloud Foundry updates what it has, creates what is new, and only then deletes what is gone: a plan's name that is still
taken when its new holder is saved makes it refuse the whole update. Names of services are not unique in its database:
one clashes if its old holder has instances, whatever the order (cloud_controller_ng 3bbba906,
lib/services/service_brokers/v2/catalog.rb, `taken_names`).
Service Manager updates what it has, in the catalog's order, then deletes what is gone, then creates what is new;
names are unique in its database, and nothing goes that has instances (service-manager e616ec91f886,
storage/interceptors/broker_update_catalog_interceptor.go, storage/postgres/migrations). Service Catalog never moves a
plan to another class (service-catalog b37daf589e77, pkg/controller/controller_clusterservicebroker.go).
"""

from __future__ import annotations

from osbctl.comparison.kinds import Depends, breaking, kind, refused, risky, safe

_KORIFI_KEEPS = breaking("keeps what is gone, and goes on offering it; the broker no longer knows it")
_UPDATES = "overwrites the name; scripts that use the old one stop working"
_IN_USE = "refuses the whole update (409)"
_NOT_YET_FREE = refused("refuses the whole update (409): it deletes what is gone last, and the name is still taken")
_NAME_IN_USE = Depends(
    breaking("refuses the update if the one that had the name has instances; else the name stands for something else"),
    refused('"Services with names [{service}] already exist": the one that had the name has instances'),
    breaking("overwrites the name; scripts, and the keys of VCAP_SERVICES in applications, change with it"),
)
_DELETES = "deletes it with its visibilities and its id on the platform"

NOW_REFUSED = kind(
    "change-now-refused",
    """The platform refuses the new catalog for a reason that the old one did not give.

    It reads the whole catalog again at the update, and applies nothing of one that it refuses.
    """,
    every=refused("refuses the whole update"),
    advice="osbctl validate names the place and the way to mend it",
)
CATALOG_EMPTIED = kind(
    "change-catalog-emptied",
    """The new catalog offers no service any more.

    Most often a sign of a build or a template that went wrong.
    """,
    cf=refused('"Service broker must provide at least one service"'),
    k8s=breaking("flags every class and plan as removed"),
    sm=Depends(
        breaking("refuses the whole update (409) if any plan has instances, else deletes all"),
        refused(_IN_USE),
        breaking("deletes all"),
    ),
    korifi=_KORIFI_KEEPS,
    advice="delete the service broker if that is meant",
)
SERVICE_WITHOUT_PLANS = kind(
    "change-service-without-plans",
    """A service offering is left without plans.""",
    cf=refused('"At least one plan is required"'),
    k8s=refused("refuses a class without plans"),
    sm=Depends(
        breaking("refuses the whole update (409) if any of its plans has instances, else deletes them"),
        refused(_IN_USE),
        breaking("deletes its plans"),
    ),
    korifi=_KORIFI_KEEPS,
    advice="remove the service offering, once its last instance is gone",
)
SERVICE_REMOVED = kind(
    "change-service-removed",
    """A service offering is gone, with all its plans.

    After its sunset (`metadata: {state: deprecated, sunset: "2027-03-31"}` in the old catalog) this is risky: nobody
    was promised that it would still be there.
    """,
    cf=Depends(
        breaking("deactivates it if it has instances and warns the operator, else deletes it with its visibilities"),
        breaking("deactivates it and warns the operator; nobody can create an instance any more"),
        breaking(_DELETES),
    ),
    k8s=breaking("flags it as removed and refuses new instances; deletes it once the last one is gone"),
    sm=Depends(
        breaking("refuses the whole update (409) if any of its plans has instances, else deletes it"),
        refused(_IN_USE),
        breaking("deletes it"),
    ),
    korifi=_KORIFI_KEEPS,
    advice="withdraw access to its plans, move or delete their instances, then remove it",
)
PLAN_REMOVED = kind(
    "change-plan-removed",
    """A service plan is gone.

    After its sunset (`metadata: {state: deprecated, sunset: "2027-03-31"}` in the old catalog) this is risky: nobody
    was promised that it would still be there.
    """,
    cf=Depends(
        breaking("deactivates it if it has instances and warns the operator, else deletes it with its visibilities"),
        breaking("deactivates it and warns the operator; nobody can create an instance any more"),
        breaking(_DELETES),
    ),
    k8s=breaking("flags it as removed and refuses new instances; deletes it once the last one is gone"),
    sm=Depends(
        breaking("refuses the whole update (409) if the plan has instances, else deletes it"),
        refused(_IN_USE),
        breaking(_DELETES),
    ),
    korifi=_KORIFI_KEEPS,
    advice="withdraw access to the plan, move or delete its instances, then remove it",
)
SERVICE_ADDED = kind(
    "change-service-added",
    """A service offering is new.""",
    cf=safe("adds it; its plans are private until someone enables access"),
    k8s=safe("adds it, visible at once"),
    sm=safe("adds it; visible as its visibilities say"),
    korifi=safe("adds it; its plans are seen by administrators alone until someone enables access"),
)
PLAN_ADDED = kind(
    "change-plan-added",
    """A service plan is new.""",
    cf=safe("adds it, private until someone enables access"),
    k8s=safe("adds it, visible at once"),
    sm=safe("adds it, visible as its visibilities say"),
    korifi=safe("adds it, seen by administrators alone until someone enables access"),
)
PLAN_ID = kind(
    "change-plan-id",
    """A plan's id changed while its name stayed.

    A platform knows a plan by its id: to it, the old plan is gone and a stranger claims its name. This is the most
    reported incident of all catalog changes, often caused by ids that are generated anew at each build.
    """,
    cf=refused('"Plan names must be unique within a service. Service {service} already has a plan named {plan}"'),
    k8s=breaking("takes it for a new plan and flags the old one as removed"),
    sm=Depends(
        refused("refuses the whole update (409) if the plan has instances, else replaces it"),
        refused(_IN_USE),
        risky("deletes the old plan with its visibilities and adds a new one"),
    ),
    korifi=breaking("adds a second plan of this name beside the old one, which stays"),
    advice="keep the old id; for a plan that really is another, choose another name and keep the old plan until it is "
    "empty",
)
SERVICE_ID = kind(
    "change-service-id",
    """A service offering's id changed while its name stayed; its plans have new ids, too.

    To the platform, the old service offering is gone and a stranger claims its name.
    """,
    cf=Depends(
        refused('if it has instances: "Services with names [{service}] already exist"; else replaces it'),
        refused('"Services with names [{service}] already exist"'),
        risky("replaces it; access to its plans must be enabled again"),
    ),
    k8s=breaking("takes it for a new class and flags the old one as removed"),
    sm=Depends(
        refused("refuses the whole update (409) if it has instances, else replaces it"),
        refused(_IN_USE),
        risky("replaces it; its visibilities are lost"),
    ),
    korifi=breaking("adds a second service offering of this name beside the old one, which stays"),
    advice="keep the old id; a service offering that really is another needs another name",
)
SERVICE_ID_PLANS_KEPT = kind(
    "change-service-id-plans-kept",
    """A service offering's id changed while plans of it kept theirs.

    The plans stand under another service offering now, and plan ids are unique over the whole platform.
    """,
    cf=refused('"Plan ids must be unique"'),
    k8s=breaking("flags the old class as removed, and leaves its plans there: the new class gets none"),
    sm=Depends(
        refused("refuses the whole update (409) if it has instances, else replaces it"),
        refused(_IN_USE),
        risky("replaces it and its plans; their visibilities are lost"),
    ),
    korifi=risky("hangs the plans under a new service offering of this name; the old one stays"),
    advice="keep the old id of the service offering",
)
PLAN_MOVED = kind(
    "change-plan-moved",
    """A plan id stands under another service offering than before.""",
    cf=refused('"Plan ids must be unique"'),
    k8s=breaking("leaves it under its old class, and asks the broker for it with the old service id"),
    sm=Depends(
        refused("refuses the whole update (409) if the plan has instances, else replaces it"),
        refused(_IN_USE),
        risky("deletes it with its visibilities and adds it to the other service offering"),
    ),
    korifi=risky("hangs the plan under the other service offering, its instances with it"),
    advice="give the plan under the other service offering an id of its own; keep the old one until it is empty",
)
PLAN_NAME_REUSED = kind(
    "change-plan-name-reused",
    """A plan takes the name of one that is removed at the same time.

    Cloud Foundry and Service Manager delete what is gone last: the name is still taken when its new holder is saved.
    """,
    cf=refused('"Plan names must be unique within a service. Service {service} already has a plan named {plan}"'),
    k8s=breaking(_UPDATES),
    sm=_NOT_YET_FREE,
    korifi=breaking("has two plans of this name, as it keeps the removed one"),
    advice="remove the old plan in one update, rename in the next",
)
SERVICE_NAME_REUSED = kind(
    "change-service-name-reused",
    """A service offering takes the name of one that is removed at the same time.

    Cloud Foundry refuses it as long as the old one has instances, Service Manager always.
    """,
    cf=_NAME_IN_USE,
    k8s=breaking(_UPDATES),
    sm=_NOT_YET_FREE,
    korifi=breaking("has two service offerings of this name, as it keeps the removed one"),
    advice="remove the old service offering in one update, rename in the next",
)
PLAN_NAMES_SWAPPED = kind(
    "change-plan-names-swapped",
    """Plans exchanged their names.

    They are saved one after the other, and names compare without regard to case: the first takes a name that the next
    still holds.
    """,
    cf=refused('"Plan names must be unique within a service. Service {service} already has a plan named {plan}"'),
    k8s=breaking(_UPDATES),
    sm=refused("refuses the update: the name is taken"),
    korifi=breaking(_UPDATES),
    advice="rename one of them to a third name in an update of its own first",
)
SERVICE_NAMES_SWAPPED = kind(
    "change-service-names-swapped",
    """Service offerings exchanged their names.

    Cloud Foundry refuses it where the one that had the name has instances.
    """,
    cf=_NAME_IN_USE,
    k8s=breaking(_UPDATES),
    sm=refused("refuses the update: the name is taken"),
    korifi=breaking(_UPDATES),
    advice="rename one of them to a third name in an update of its own first",
)
PLAN_NAME_TAKEN = kind(
    "change-plan-name-taken",
    """A plan takes a name that another one still has.

    Cloud Foundry compares names without regard to case, and saves each plan by itself, in the order of the
    catalog with new ones last: a name that another one gives up further down is still taken.
    """,
    cf=refused('"Plan names must be unique within a service. Service {service} already has a plan named {plan}"'),
    advice="choose another name; where the other one gives it up, put that first in the catalog",
)
SERVICE_NAME_CASE = kind(
    "change-service-name-case",
    """A service offering takes a name that differs from an old one in upper and lower case alone.

    Cloud Foundry finds the old one by its name without regard to case, looks for it in the new catalog with regard to
    it, and crashes. With MySQL it does so for outer blanks and accents, too.
    """,
    cf=refused('crashes: the operator reads "An unknown error occurred"'),
    every=breaking(_UPDATES),
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
    cf=_NAME_IN_USE,
    every=_PASSES_ON,
    advice="let the name rest until nobody uses it any more",
)
PLAN_RENAMED = kind(
    "change-plan-renamed",
    """A plan has another name; its id stayed.""",
    every=breaking(_UPDATES),
    advice="keep the name and change metadata.displayName; or add a plan under the new name and retire the old one",
)
SERVICE_RENAMED = kind(
    "change-service-renamed",
    """A service offering has another name; its id stayed.

    On Cloud Foundry its name is the key under which applications find their credentials in VCAP_SERVICES.
    """,
    cf=breaking("overwrites the name; scripts, and the keys of VCAP_SERVICES in applications, change with it"),
    every=breaking(_UPDATES),
    advice="keep the name and change metadata.displayName",
)
