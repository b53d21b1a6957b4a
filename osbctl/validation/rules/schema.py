"""What the JSON Schema of an API version, or of the user's house, forbids."""

from __future__ import annotations

from functools import partial

from osbctl.findings import Severity
from osbctl.rule import Category, describe

_error = partial(describe, severity=Severity.ERROR, category=Category.SCHEMA)

_error(
    "schema-required",
    """A field that must be there is missing.

    Bad::

        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small}

    Good::

        plans:
          - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: small, description: Small.}
    """,
    source="OSB 2.14, Catalog Management: the fields marked as required",
)
_error(
    "schema-type",
    """A field has a value of the wrong type.

    Bad::

        bindable: "true"

    Good::

        bindable: true
    """,
    source="OSB 2.14, Catalog Management: the types of the fields",
    fix="writes a word for a boolean as the boolean, a number in quotes as the number, and a single text as a list.",
)
_error(
    "schema-empty",
    """A required text or list is empty.

    Bad::

        description: ""

    Good::

        description: A database.
    """,
    source="OSB 2.14: MUST be a non-empty string; a service offering MUST have at least one plan",
)
_error(
    "schema-enum",
    """A value is not one of those that are allowed.

    Bad::

        requires: [syslog]

    Good::

        requires: [syslog_drain]
    """,
    source="OSB 2.14, Service Offering Object: the permissions of requires",
)
_error(
    "schema-other",
    """A value breaks another keyword of the schema.""",
    source="the JSON Schema of the API version",
)
_error(
    "house-schema",
    """A value breaks a schema of your own, given with `--schema`.""",
    source="your schema",
)
describe(
    "metadata-type",
    """A field of the metadata conventions has an unusual type.

    Metadata is free in form, but marketplaces know some fields and their types.

    Bad::

        metadata: {bullets: fast and cheap}

    Good::

        metadata: {bullets: [fast, cheap]}
    """,
    severity=Severity.WARNING,
    category=Category.SCHEMA,
    source="OSB profile, Service Metadata and Service Plan Metadata conventions",
    fix="as schema-type, with --unsafe.",
)
