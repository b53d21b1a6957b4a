"""Rules whose findings come from readers, schemas, builds, and several catalogs together."""

from osbctl.findings import Severity
from osbctl.rule import Category, Rule

ERROR, WARNING, INFO = Severity
READING, SCHEMA, BUILD = Category.READING, Category.SCHEMA, Category.BUILD

Rule("cannot-open", ERROR, READING).register("""A source cannot be opened.

    The file is missing or may not be read, or the revision is not in this clone. The run ends with exit code 3.
    Source: the operating system, git""")
Rule("internal-error", ERROR, READING).register("""osbctl failed on this source.

    This is a bug of osbctl: please report it. The other sources are checked, and the run ends with exit code 3.""")
Rule("syntax", ERROR, READING).register("""The text is not valid JSON or YAML.
    Bad: services: [
    Good: services: []
    Source: RFC 8259; YAML 1.2""")
Rule("empty-document", ERROR, READING).register("""The document is empty.

    A catalog is an object with `services`.
    Source: OSB 2.14, Catalog Management: the answer is a JSON object""")
Rule("encoding", ERROR, READING).register("""The text is not UTF-8.

    JSON between systems is UTF-8 (a byte order mark at its beginning is skipped). Save the file as UTF-8.
    Source: RFC 8259, section 8.1""")
Rule("lone-surrogate", ERROR, READING).register("""Half of a surrogate pair stands alone.

    An escape such as `\\ud800` by itself is no character; platforms refuse the whole answer.
    Bad: {"name": "\\ud83d"}
    Good: {"name": "\\ud83d\\udc18"}
    Source: RFC 8259, section 8.2""")
Rule("duplicate-key", ERROR, READING).register("""A key appears twice in one object.

    Most readers take the last one in silence, some the first. Beside a catalog in a larger document it is a warning.
    Bad: {name: small, name: large}
    Good: {name: small}
    Source: RFC 8259, section 4: names SHOULD be unique; YAML 1.2, section 3.2.1.3: keys must be""")
Rule("key-not-string", ERROR, READING).register("""A key of a mapping is not a string.

    YAML reads `1:` as a number and `true:` as a boolean; JSON has only keys that are strings.
    Bad: 1: small
    Good: "1": small
    Source: RFC 8259, section 4""")
Rule("number-out-of-range", ERROR, READING).register("""A number is infinite, not a number, or too long.
    Bad: amount: {usd: .inf}
    Good: amount: {usd: 99.0}
    Source: RFC 8259, section 6""")
Rule("nesting-too-deep", ERROR, READING).register("""The document is nested deeper than 100 levels.

    Real catalogs have under 15 levels. osbctl does not predict what a platform does with more than 100.
    Source: RFC 8259, section 9: an implementation may limit the depth""")
Rule("too-large", ERROR, READING).register("""The source is larger than the limit.

    `--max-bytes` raises it.""")
Rule("too-many-nodes", ERROR, READING).register("""The document has too many values once its aliases are expanded.

    A few hundred bytes of aliases of aliases can stand for billions of values; the limit is 20 million.""")
Rule("recursive-alias", ERROR, READING).register("""An alias refers to itself.

    JSON has no value that holds itself.
    Bad:
        &a
        - *a
    Good: - a
    Source: RFC 8259, section 3""")
Rule("several-documents", ERROR, READING).register("""A second document follows the first.

    JSON holds one value, and each file of a source folder one document. Remove the second, or split the file.
    Source: RFC 8259, section 2; YAML 1.2, section 9.2""")
Rule("not-an-object", ERROR, READING).register("""The document is not an object.

    A catalog is an object with `services`, and holds objects.
    Bad: - postgres
    Good:
        services:
          - name: postgres
    Source: OSB 2.14, Catalog Management: the answer is a JSON object""")
Rule("unknown-tag", ERROR, READING).register("""A YAML value has a tag other than `!!str`.
    Bad: description: !!binary aGVsbG8=
    Good: description: hello
    Source: YAML 1.2, section 10.3: core schema""")
Rule("pointer-not-found", ERROR, READING, needs_option="--at").register("""\
    The pointer of `--at` leads nowhere in the document.
    Source: RFC 6901""")
Rule("catalog-elsewhere", ERROR, READING).register("""\
    The catalog is not at the top of the document, or there are several.

    `--at POINTER` selects one, also inside a string. Without it, commands that only read take the only catalog; `fix`,
    `serve` and `split` do not guess. In a YAML stream, the pointer begins with the number of the document, from 0.
    Beside the catalog, keys that are not strings, tags, and Maven's `@project.version@` are read as text.
    Bad:
        blue: {services: [{name: postgres, plans: []}]}
        green: {services: [{name: postgres, plans: []}]}
    Good: services: []
    Source: OSB 2.14, Catalog Management: the answer has `services`""")
Rule("no-catalog", ERROR, READING).register("""There is no catalog in the document.

    Nothing was checked, and no platform has a verdict. Render a template first; name the folder of a brokerpak.
    Commands that read a catalog, of a file or a broker, refuse an object without `services`, or with null, which is not
    an empty catalog; `validate` and `check` report what is wrong with it.
    Bad: kind: ConfigMap
    Good: services: []
    Source: OSB 2.14, Catalog Management: the answer has `services`""")
Rule("spring-binding", ERROR, READING).register("""Spring's broker does not read or send a value as it is written.

    It does not start with an object without fields, or with `properties` that are not an object. Other findings are
    warnings. Of metadata, it sends the fields that it knows and what is in `properties`; of the `properties` of a plan,
    it sends lists as objects with the keys 0, 1 and so on. A key such as `$schema` needs brackets and quotes:
    `'[$schema]'`. `yes` and `off` are booleans there, as in YAML 1.1.
    Source: Spring Boot 3.3, Binder; Spring Cloud Open Service Broker 4.3, ServiceMetadata and PlanMetadata""")
Rule("yaml-1.1", WARNING, READING).register("""YAML 1.1 readers see another value here.

    osbctl reads YAML 1.2, where `no` is a string. In YAML 1.1 it is a boolean, `012` is ten, `2001-01-01` a date.
    Bad: free: no
    Good: free: false
    Fix: puts the text in quotes, with --unsafe, since it changes the value for readers of YAML 1.1.
    Source: YAML 1.2, section 10.3, against YAML 1.1's type repository""")
Rule("ignore-unknown", WARNING, READING).register("""\
    A comment `# osbctl: ignore[rule]` names no rule, or one that does not exist.
    Bad: name: postgres  # osbctl: ignore[name-character] published in 2019
    Good: name: postgres""")
Rule("format-mismatch", INFO, READING).register("""The file's ending names one format, and its content is in another.

    osbctl goes by the content; other tools may not.""")
Rule("folder-without-services", ERROR, BUILD).register("""The folder has no file under `services/`.""")
Rule("folder-escape", ERROR, BUILD).register("""A file of the folder leads out of it, by `..` or a symbolic link.

    Anyone who can change the folder could publish any file of the machine.""")
Rule("folder-two-files", ERROR, BUILD).register("""Two files of the folder have one stem.""")
Rule("folder-unread", ERROR, BUILD).register("""\
    A file under `services/`, or a folder with a name like that, looks like a part and is none.

    Plans or a service would be missing. Examples: a folder of plans without a service, a misspelt `services/` or
    `plans/`, an ending in capitals, a template, TOML, a name that begins with a dot.""")
Rule("folder-order", ERROR, BUILD).register("""A list of files names one that is not there, one twice, or forgets one.
    Bad: services: [postgres, postgres]
    Good: services: [postgres, redis]""")
Rule("folder-settings", ERROR, BUILD).register("""catalog.yaml holds a key or a type that osbctl does not know.""")
Rule("folder-plans", ERROR, BUILD).register("""A service with plans in files has `plans` that are not a list.""")
Rule("build-variable", ERROR, BUILD).register("""A `${NAME}` in a string is not set, or is not a reference.

    Set it with `--set NAME=VALUE`, give a default (`${NAME:-default}`), or write `$${` for a
    literal `${`.""")
Rule("build-overlay", ERROR, BUILD).register("""An overlay addresses nothing, or has the wrong shape.

    It addresses services and plans by name; what is named must be there.
    Source: osbctl build; RFC 7396 for the changes""")
Rule("build-reference", ERROR, BUILD).register("""A `$ref` of a parameter schema cannot be followed.

    It names a URL, leads out of the folder, back to itself, or to nothing.
    Source: osbctl build; OSB 2.13: no external references""")
Rule("build-id-missing", ERROR, BUILD, wants_new_id=True).register("""A service offering or a plan has no id.

    `osbctl build` makes up no ids, because platforms identify objects by them. The hint offers a fresh GUID.
    Source: OSB 2.14, Service Offering Object: id is required""")
Rule("build-id-changed", ERROR, BUILD).register("""An id has changed while the name stayed.

    Platforms identify an object by its id. Cloud Foundry refuses such an update, Service Manager does while there are
    instances, and Service Catalog takes it for a new plan.
    Source: catalog.lock; Cloud Controller, catalog.rb""")
Rule("build-id-reused", ERROR, BUILD, wants_new_id=True).register("""An id was used before for something else.

    A platform would take the new object for the old one, or refuse the update.
    Source: catalog.lock; OSB 2.16: ids SHOULD NOT be reused""")
Rule("brokerpak-refused", ERROR, BUILD).register("""cloud-service-broker refuses the brokerpak, and does not start.

    The message quotes it, and says when it fails: at `pak build`, or at its start. Variables are checked if `--env` or
    the key `env` names their file; the broker is taken to run on linux/amd64. Templates are checked for their variables
    and outputs alone.
    Source: cloud-service-broker, pkg/providers/tf/definition.go, pkg/broker/registry.go, internal/brokerpak""")
Rule("brokerpak-no-catalog", ERROR, BUILD).register("""\
    cloud-service-broker starts with the brokerpak, but answers no catalog.

    It publishes parameter schemas, and one of them cannot be written as JSON.
    Source: cloud-service-broker, pkg/broker/variables.go, `ToSchema`; Go, encoding/json""")
Rule("brokerpak-plan-property", WARNING, BUILD).register("""\
    A plan of a brokerpak has a property that is no input, or a wrong value.

    The broker adds the properties of a plan to each request. Where they do not meet the schema of `user_inputs`, it
    refuses every request to the plan.
    Source: cloud-service-broker, pkg/broker/service_definition.go, `variables`""")
Rule("brokerpak-field-unread", WARNING, BUILD).register("""\
    A definition of a brokerpak has a field that cloud-service-broker does not read.

    It has no effect. Only `GSB_SERVICE_<NAME>_PLANS` adds prices and metadata of a plan to the catalog.
    Source: cloud-service-broker, pkg/providers/tf/definition.go""")
Rule("schema-required", ERROR, SCHEMA, is_schema_fault=True, yields_to_sources=True, wants_new_id=True).register("""\
    A field that must be there is missing.
    Bad:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small}
    Good:
        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
    Source: OSB 2.14, Catalog Management: the fields marked as required""")
Rule("schema-type", ERROR, SCHEMA, is_schema_fault=True, covers_inside=True, wants_new_id=True).register("""\
    A field has a value of the wrong type.
    Bad: bindable: "true"
    Good: bindable: true
    Fix: writes a word for a boolean as the boolean, a number in quotes as the number, and a single text as a list;
    removes `tags`, `requires` or a flag that is null.
    Source: OSB 2.14, Catalog Management: the types of the fields""")
Rule("schema-empty", ERROR, SCHEMA, is_schema_fault=True, yields_to_sources=True).register("""\
    A required text or list is empty.
    Bad: description: ""
    Good: description: A database.
    Source: OSB 2.14: MUST be a non-empty string; a service offering MUST have at least one plan""")
Rule("schema-enum", ERROR, SCHEMA, is_schema_fault=True).register("""A value is not one of those that are allowed.
    Bad: requires: [syslog]
    Good: requires: [syslog_drain]
    Source: OSB 2.14, Service Offering Object: the permissions of requires""")
Rule("schema-other", ERROR, SCHEMA, is_schema_fault=True, wants_new_id=True).register("""\
    A value breaks another keyword of the schema.
    Source: the JSON Schema of the API version""")
Rule("house-schema", ERROR, SCHEMA, needs_option="--schema").register("""\
    A value breaks a schema of your own, given with `--schema`.

    With `x-osbctl` in the schema its findings get an id of their own, `house-…`, with severity, message and hint.""")
Rule("null-object", INFO, SCHEMA, skips_brokerpaks=True).register("""A null stands where a field may be left out.

    Brokers of Go's SDK send them, as in `parameters: null`. Every platform treats such a null as a missing field; those
    that Cloud Foundry refuses (`tags`, `requires`), or crashes on (three flags), are `schema-type`.
    Bad: dashboard_client: null
    Good: tags: [sql]
    Fix: removes the field.
    Source: OSB 2.14, Catalog Management: the types of the fields; brokerapi, domain/service_catalog.go""")
Rule("metadata-type", WARNING, SCHEMA).register("""A field of the metadata conventions has an unusual type.

    Metadata is free in form, but marketplaces know some fields and their types.
    Bad: metadata: {bullets: fast and cheap}
    Good: metadata: {bullets: [fast, cheap]}
    Fix: as schema-type, with --unsafe.
    Source: OSB profile, Service Metadata and Service Plan Metadata conventions""")
Rule("shared-id", WARNING, Category.SPEC, needs_option="--together").register("""\
    Two catalogs that are validated together share the id of a service offering or of a plan.

    Service Catalog names the objects of a cluster by their ids, and refuses the later broker. The other platforms
    identify an object by broker and id, and accept both. Omit `--together` for catalogs of different platforms.
    Source: OSB 2.14, Service Offering Object and Service Plan Object: id MUST be globally unique""")
Rule("shared-service-name", INFO, Category.ADVICE, needs_option="--together").register("""\
    Two catalogs that are validated together have a service offering of one name.

    Every platform accepts both, since a name is unique within one broker only. But users must then name the broker
    (`cf create-service -b`, `smctl provision -b`), and Service Catalog refuses an instance that names only the class.
    Source: cf create-service; smctl provision; Service Catalog, controller_instance.go""")
Rule("shared-dashboard-client", WARNING, Category.PLATFORM, needs_option="--together").register("""\
    Two catalogs that are validated together want the same OAuth client for their dashboards.

    Cloud Foundry creates the client for the first broker and refuses the second: "Service dashboard client id must be
    unique". Service Manager and Korifi do not read `dashboard_client`.
    Source: Cloud Controller, service_brokers/service_dashboard_client_differ.rb, dashboard_sso_client""")
