"""Reactions of Korifi to changes. It keeps removed objects, and identifies a plan by broker and id."""

from osbctl.platforms.reactions import NO_ACT, NOT_STORED, UPDATES, Level, breaking, refused, risky, safe

_KEEPS = breaking("keeps and still offers it, though the broker no longer knows it", expired=Level.RISKY)
_SHOWN = risky("stores and shows it, never enforces it")

NOTES: dict[str, frozenset[str]] = {
    "At each update, Korifi empties the lists of organisations that may see a plan, even if nothing changed: "
    "grant access again": frozenset()
}

REACTIONS = {
    "change-refused-in-part": refused("stops at this service offering and retries; earlier ones are applied"),
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
    "change-plan-name-reused": breaking("then has two plans of this name, as it keeps the removed one"),
    "change-service-name-reused": breaking("then has two service offerings of this name, as it keeps the removed one"),
    "change-plan-names-swapped": UPDATES,
    "change-service-names-swapped": UPDATES,
    "change-bindable-withdrawn": risky("stores and shows it, never enforces it: it still creates bindings"),
    "change-plan-updateable-withdrawn": risky(
        "stores and shows it, never enforces it: it cannot change the plan of an instance at all"
    ),
    "change-instances-retrievable-withdrawn": _SHOWN,
    "change-bindings-retrievable-withdrawn": _SHOWN,
    "change-context-updates-withdrawn": _SHOWN,
    "change-requires-removed": NO_ACT,
    "change-requires-added": NO_ACT,
    "change-polling-lowered": NOT_STORED,
    "change-polling-raised": NOT_STORED,
    "change-dashboard-client": NOT_STORED,
}
