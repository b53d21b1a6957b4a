"""Cloud Foundry's Cloud Controller, which is written in Ruby."""

from osbctl.platforms import BY_BROKER, Identity, PlatformRecord

_REFUSES = {
    "build-id-changed", "build-id-missing", "build-id-reused", "catalog-elsewhere", "empty-document", "encoding",
    "id-duplicate", "lone-surrogate", "maintenance-version", "not-an-object", "number-out-of-range",
    "parameters-dialect-missing", "parameters-dialect-unknown", "parameters-invalid", "parameters-reference-external",
    "parameters-reference-loop", "parameters-reference-missing", "parameters-too-large", "plan-name-duplicate",
    "schema-empty", "schema-enum", "schema-required", "schema-type", "service-name-duplicate",
    "shared-dashboard-client", "syntax", "text-blank", "wire-gzip-unasked",
}  # fmt: skip

PLATFORM = PlatformRecord(
    folder=__name__,
    label="Cloud Foundry",
    api_version="2.15",
    refuses=frozenset(_REFUSES),
    # Cloud Controller's service_brokers and unique indexes.
    sharing={**BY_BROKER, Identity.CLIENT_ID: "refuses the broker that comes later: a client is one broker's"},
    unique=frozenset({Identity.CLIENT_ID}),
    unfollowed_redirects=frozenset({308}),
    is_quoted=True,
    stripped_from_names="\0\t\n\v\f\r ",
    sends_password_elsewhere=True,
    reads_loose_json=True,
    doubles_slash=True,
    accepts_ordinary=True,
)
