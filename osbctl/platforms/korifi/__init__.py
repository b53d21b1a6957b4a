"""Korifi: Cloud Foundry's API on Kubernetes."""

from osbctl.platforms import BY_BROKER, PlatformRecord

PLATFORM = PlatformRecord(
    folder=__name__,
    label="Korifi",
    api_version="2.17",
    refuses=frozenset({"schema-type", "wire-gzip-broken"}),
    # brokers/controller.go names its objects by broker and id and keeps no dashboard client.
    sharing=BY_BROKER,
    omitted_is_false=frozenset({"free", "bindable", "plan_updateable"}),
    merges_same_ids=True,
    accepted_statuses=range(300),
    accepts_ordinary=True,
)
