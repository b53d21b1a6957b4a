"""What the catalogs of one call share, with `--together`; `osbctl.validation.together` finds it."""

from __future__ import annotations

from osbctl.findings import Severity
from osbctl.rule import Category, describe

describe(
    "shared-id",
    """Two catalogs that are validated together share the id of a service offering or of a plan.

    The same id means the same thing, whichever broker says it. Service Catalog names the objects of a cluster by their
    ids and refuses the broker that comes later; Cloud Foundry, Service Manager and Korifi know a thing by broker and id
    and take both. A test catalog that shares ids with production on purpose goes to another platform: leave
    `--together` out.
    """,
    severity=Severity.WARNING,
    category=Category.SPEC,
    source="OSB 2.14, Service Offering Object and Service Plan Object: id MUST be globally unique",
)
describe(
    "shared-service-name",
    """Two catalogs that are validated together have a service offering of one name.

    Every platform takes both, since a name is unique within one broker only. But whoever orders it has to name the
    broker (`cf create-service -b`, `smctl provision -b`), and Service Catalog refuses an instance that names its class
    by the name.
    """,
    severity=Severity.INFO,
    category=Category.ADVICE,
    source="cf create-service; smctl provision; Service Catalog, controller_instance.go",
)
describe(
    "shared-dashboard-client",
    """Two catalogs that are validated together want the same OAuth client for their dashboards.

    Cloud Foundry makes the client when it registers the first broker, and refuses the second: "Service dashboard client
    id must be unique". Service Manager and Korifi do not read `dashboard_client`.
    """,
    severity=Severity.WARNING,
    category=Category.PLATFORM,
    source="Cloud Controller, service_brokers/service_dashboard_client_differ.rb, dashboard_sso_client",
)
