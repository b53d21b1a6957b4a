"""Korifi: Cloud Foundry's API on Kubernetes."""

from __future__ import annotations

from osbctl.platforms.record import Identity, PlatformRecord, State

_KNOWN_BY = "takes both: they are known by broker and id"

PLATFORM = PlatformRecord(
    folder=__name__,
    label="Korifi",
    api_version="2.17",
    refuses=frozenset({"schema-type", "wire-gzip-broken"}),
    # brokers/controller.go names its objects by broker and id and keeps no dashboard client.
    sharing={
        Identity.SERVICE_ID: _KNOWN_BY,
        Identity.PLAN_ID: _KNOWN_BY,
        Identity.SERVICE_NAME: "takes both, and users must name the broker (-b)",
        Identity.CLIENT_ID: "ignores it",
    },
    omitted_is_false=frozenset({"free", "bindable", "plan_updateable"}),
    keeps=State.OFFERED,
    takes=range(300),
)
