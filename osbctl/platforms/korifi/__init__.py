"""Korifi: Cloud Foundry's API on Kubernetes."""

from math import inf

from osbctl.platforms import BY_BROKER, PlatformRecord

_RULES = {
    "crash": """Korifi's controller crashes on a documentationUrl that is not a string.
    Bad: metadata: {documentationUrl: null}
    Good: metadata: {documentationUrl: "https://docs.example.com"}""",
}

PLATFORM = PlatformRecord(
    label="Korifi",
    api_version="2.17",
    refuses=frozenset({"schema-type", "wire-client-certificate", "wire-gzip-broken"}),
    rules=_RULES,
    go_source="cloudfoundry/korifi fb0a00b25db6, controllers/controllers/services",
    # brokers/controller.go names its objects by broker and id and keeps no dashboard client.
    sharing=BY_BROKER,
    omitted_is_false=frozenset({"free", "bindable", "plan_updateable"}),
    merges_same_ids=True,
    timeout=inf,
    accepted_statuses=range(301),
    in_accepted_by_all=True,
)
