"""Reactions of Korifi to changes. It keeps removed objects, and identifies a plan by broker and id."""

from osbctl.platforms.reactions import NO_ACT, NOT_STORED, UPDATES, Level, breaking, risky, safe

_KEEPS = breaking("keeps what is gone and still offers it; the broker no longer knows it", expired=Level.RISKY)

REACTIONS = {
    "change-catalog-emptied": _KEEPS,
    "change-service-without-plans": _KEEPS,
    "change-service-removed": _KEEPS,
    "change-plan-removed": _KEEPS,
    "change-service-added": safe("adds it; its plans are visible to administrators only until someone enables access"),
    "change-plan-added": safe("adds it, visible to administrators only until someone enables access"),
    "change-plan-id": breaking("adds a second plan of this name beside the old one, which stays"),
    "change-service-id": breaking("adds a second service offering of this name beside the old one, which stays"),
    "change-service-id-plans-kept": risky("moves the plans to a new service offering of this name; the old one stays"),
    "change-plan-moved": risky("moves the plan to the other service offering, with its instances"),
    "change-plan-name-reused": breaking("has two plans of this name then, as it keeps the removed one"),
    "change-service-name-reused": breaking("has two service offerings of this name then, as it keeps the removed one"),
    "change-plan-names-swapped": UPDATES,
    "change-service-names-swapped": UPDATES,
    "change-bindable-withdrawn": risky("shows it as not bindable, and binds it all the same"),
    "change-requires-removed": NO_ACT,
    "change-requires-added": NO_ACT,
    "change-polling-lowered": NOT_STORED,
    "change-polling-raised": NOT_STORED,
    "change-dashboard-client": NOT_STORED,
}
