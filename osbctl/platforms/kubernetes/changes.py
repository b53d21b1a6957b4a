"""Reactions of Service Catalog to changes.

It never moves a plan to another class (service-catalog b37daf589e77,
pkg/controller/controller_clusterservicebroker.go).
"""

from osbctl.platforms.reactions import NO_ACT, NOT_STORED, UPDATES, Level, breaking, refused, safe

_FLAGS = breaking(
    "flags it as removed and refuses new instances; deletes it once the last one is gone", expired=Level.RISKY
)
_ADDS = safe("adds it, visible at once")

NOTES = {
    "Kubernetes Service Catalog refuses an id that another broker has in the cluster": frozenset(
        {"change-service-added", "change-plan-added", "change-service-id", "change-plan-id"}
    )
}

REACTIONS = {
    "change-refused-in-part": refused(
        "stops at the first faulty object and retries; earlier ones are applied: first classes, then flags on missing "
        "classes, then plans"
    ),
    "change-catalog-emptied": breaking("flags every class and plan as removed"),
    "change-service-without-plans": refused("refuses a class without plans"),
    "change-service-removed": _FLAGS,
    "change-plan-removed": _FLAGS,
    "change-service-added": _ADDS,
    "change-plan-added": _ADDS,
    "change-plan-id": breaking("treats it as a new plan and flags the old one as removed"),
    "change-service-id": breaking("treats it as a new class and flags the old one as removed"),
    "change-service-id-plans-kept": breaking(
        "flags the old class as removed but leaves its plans there: the new class gets none"
    ),
    "change-plan-moved": breaking(
        "leaves it under its old class: it cannot be ordered under the new one, nor anywhere once the old one is gone"
    ),
    "change-plan-name-reused": UPDATES,
    "change-service-name-reused": UPDATES,
    "change-plan-names-swapped": UPDATES,
    "change-service-names-swapped": UPDATES,
    "change-bindings-retrievable-withdrawn": safe(
        "stores it; uses it only with asynchronous bindings, which are off by default"
    ),
    "change-instances-retrievable-withdrawn": NOT_STORED,
    "change-context-updates-withdrawn": NOT_STORED,
    "change-requires-removed": NO_ACT,
    "change-requires-added": NO_ACT,
    "change-maintenance-version": NOT_STORED,
    "change-polling-lowered": NOT_STORED,
    "change-polling-raised": NOT_STORED,
    "change-dashboard-client": NOT_STORED,
}
