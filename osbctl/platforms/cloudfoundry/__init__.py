"""Cloud Foundry's Cloud Controller, which is written in Ruby."""

from osbctl.platforms import BY_BROKER, SHARED_PLAN_ID, Identity, PlatformRecord

_REFUSES = {
    "build-id-changed", "build-id-missing", "build-id-reused", "catalog-elsewhere", "empty-document", "encoding",
    "id-duplicate", "lone-surrogate", "maintenance-version", "not-an-object", "number-out-of-range",
    "parameters-dialect-missing", "parameters-dialect-unknown", "parameters-invalid", "parameters-reference-external",
    "parameters-reference-loop", "parameters-reference-missing", "parameters-too-large", "plan-name-duplicate",
    "schema-empty", "schema-enum", "schema-required", "schema-type", "service-name-duplicate",
    "shared-dashboard-client", "syntax", "text-blank", "wire-client-certificate", "wire-gzip-unasked",
}  # fmt: skip

_RULES = {
    "crash": """Cloud Foundry crashes on this, and the operator reads "An unknown error occurred".

    It does not check that lists are lists before it reads them.
    Bad: services: null
    Good: services: []
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "no-service": """Cloud Foundry requires at least one service offering; the specification does not.
    Bad: services: []
    Good: services: [{name: postgres}]
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "service-ids": """Two service offerings share an id.
    Bad:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: redis, description: A cache.}
    Good:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: redis, description: A cache.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "service-names": """Two service offerings share a name.
    Bad:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: postgres, description: A cache.}
    Good:
        services:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: postgres, description: A database.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: redis, description: A cache.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "plan-ids": f"""Two plans of the catalog share an id.
{SHARED_PLAN_ID}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb, catalog_service.rb""",
    "plan-names": """Two plans of a service offering share a name.
    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: small, description: Large.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Large.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_service.rb""",
    "dashboard-client-ids": """Two dashboard clients share an id.
    Bad:
        services:
          - {name: postgres, dashboard_client: {id: ui}}
          - {name: redis, dashboard_client: {id: ui}}
    Good:
        services:
          - {name: postgres, dashboard_client: {id: postgres-ui}}
          - {name: redis, dashboard_client: {id: redis-ui}}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb""",
    "no-plan": """A service offering has no plan.
    Bad: plans: []
    Good: plans: [{name: small}]
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_service.rb""",
    "required": """A field that Cloud Foundry requires is missing, null or blank.

    A string of white space only, no-break spaces included, counts as missing.
    Bad: description: " "
    Good: description: A database.
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_validation_helper.rb""",
    "type": """A field has a type that Cloud Foundry does not accept.

    It requires a boolean for `bindable`, strings for ids, names and descriptions, objects for metadata.
    Bad: bindable: "true"
    Good: bindable: true
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_validation_helper.rb""",
    "description-length": """A description has more than 10,000 characters.
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_validation_helper.rb""",
    "tags": """The tags of a service offering have more than 2,048 characters.
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_validation_helper.rb""",
    "requires": """`requires` holds a permission that Cloud Foundry does not know.
    Bad: requires: [syslog]
    Good: requires: [syslog_drain]
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_service.rb""",
    "maintenance-info": """`maintenance_info` is not what Cloud Foundry accepts.

    A Semantic Version, a description, nothing else, and at most 2,000 characters as JSON.
    Bad: maintenance_info: {version: 1.2.3, public: true}
    Good: maintenance_info: {version: 1.2.3, description: A new base image.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog_plan.rb""",
    "schema-size": """A parameter schema has more than 65,536 characters as Rails writes JSON.
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-dialect": """A parameter schema is written for a draft that Cloud Foundry does not know.

    It knows draft-01 to draft-04 and draft-06, under their http addresses. draft-07 and later are "custom meta
    schemas" to it.
    Bad: parameters: {$schema: "http://json-schema.org/draft-07/schema#", type: object}
    Good: parameters: {$schema: "http://json-schema.org/draft-06/schema#", type: object}
    Fix: names draft-04 or draft-06 instead if the schema means the same there; with --unsafe if it has a format that is
    newer.
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-metaschema": """A parameter schema is not valid under draft-04.

    Cloud Foundry checks every schema against draft-04, regardless of `$schema`.
    Bad: parameters: {$schema: "http://json-schema.org/draft-06/schema#", exclusiveMinimum: 3}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", minimum: 3, exclusiveMinimum: true}
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-pattern": """A key of `patternProperties` is not a regular expression.

    Cloud Foundry compiles these keys, though it accepts any text as a `pattern`.
    Bad: patternProperties: {"^(a": {type: string}}
    Good: patternProperties: {"^(a)": {type: string}}
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-reference": """A reference in a parameter schema leads to another document, or to nothing.
    Bad: properties: {size: {$ref: "https://example.com/size.json"}}
    Good: properties: {size: {type: integer}}
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "schema-unclear": """The answer of Cloud Foundry to a parameter schema cannot be predicted.

    Its JSON Schema library has rules of its own for base URIs of `id`, keywords of draft-03, and patterns of Ruby as
    keys of `patternProperties`. osbctl does not guess: the verdict is unclear.
    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", patternProperties: {"^\\\\p{Alpha}": {}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", patternProperties: {"^[a-z]": {}}}
    Source: Cloud Controller, lib/services/service_brokers/v2/schema.rb""",
    "storage": """Cloud Foundry's validator accepts it, and its database does not.

    The names of two plans of a service offering differ only in case or outer blanks: the operator reads "Plan names
    must be unique within a service". Or a polling duration does not fit into 32 bits, or one of `bindings_retrievable`,
    `instances_retrievable` and `allow_context_updates` is null: the operator reads "An unknown error occurred".
    Measured with its migrations and its code on PostgreSQL and MariaDB.
    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: Small, description: Larger.}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
          - {id: A1F7C254-3B6D-4C8E-8F02-9E5D4B7A6C13, name: large, description: Larger.}
    Source: Cloud Controller, lib/services/service_brokers/v2/catalog.rb; db/migrations""",
}

PLATFORM = PlatformRecord(
    label="Cloud Foundry",
    api_version="2.15",
    refuses=frozenset(_REFUSES),
    rules=_RULES,
    # Cloud Controller's service_brokers and unique indexes.
    sharing={**BY_BROKER, Identity.CLIENT_ID: "refuses the broker that comes later: a client is one broker's"},
    unique=frozenset({Identity.CLIENT_ID}),
    unfollowed_redirects=frozenset({308}),
    is_quoted=True,
    stripped_from_names="\0\t\n\v\f\r ",
    uses_httpclient=True,
    reads_loose_json=True,
    doubles_slash=True,
    in_accepted_by_all=True,
)
