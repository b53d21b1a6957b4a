"""References in parameter schemas: platforms fetch nothing, so each must lead to a place in the schema."""

from __future__ import annotations

from collections.abc import Iterator

from osbctl.findings import Severity
from osbctl.jsonschemas.metaschema import DRAFTS
from osbctl.jsonschemas.references import Nowhere, References
from osbctl.rule import Category, Scope, rule
from osbctl.validation.node import Hit, Node


@rule("parameters-reference-external", Severity.ERROR, Category.SPEC, Scope.PARAMETERS)
def parameters_reference_external(schema: Node) -> Iterator[Hit]:
    """A parameter schema refers to something outside of itself.

    Platforms fetch nothing. `osbctl build` bundles schemas that stand in files of their own.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "https://example.com/size.json"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {size: {type: integer}}}
    Source: OSB 2.13, Input Parameters Schema Object: schemas MUST NOT contain external references
    """
    references = References(schema.value)
    for place, keyword in references.all:
        reference = place.value[keyword]
        if references.target(place, keyword) is Nowhere.OUTSIDE and reference.partition("#")[0] not in DRAFTS:
            message = f"{reference[:80]!r} leads out of the schema"
            yield schema.hit(message, (*place.path, keyword), "put the definition into the schema itself")


@rule("parameters-reference-missing", Severity.ERROR, Category.SPEC, Scope.PARAMETERS)
def parameters_reference_missing(schema: Node) -> Iterator[Hit]:
    """A reference in a parameter schema leads nowhere.

    Bad:
        parameters:
          $schema: http://json-schema.org/draft-04/schema#
          properties: {size: {$ref: "#/definitions/size"}}
    Good:
        parameters:
          $schema: http://json-schema.org/draft-04/schema#
          properties: {size: {$ref: "#/definitions/size"}}
          definitions: {size: {type: integer}}
    Source: JSON Schema, $ref: the reference identifies a schema
    """
    references = References(schema.value)
    for place, keyword in references.all:
        if references.target(place, keyword) is Nowhere.MISSING:
            message = f"{place.value[keyword][:80]!r} leads nowhere"
            yield schema.hit(message, (*place.path, keyword), "add the definition, or correct the reference")


@rule("parameters-reference-loop", Severity.ERROR, Category.SPEC, Scope.PARAMETERS)
def parameters_reference_loop(schema: Node) -> Iterator[Hit]:
    """References in a parameter schema go round in a circle and never reach a schema.

    Recursion is fine where a value is consumed on the way, as in a tree; a reference that leads back to
    itself is not, be it through `allOf` and the like, which judge the same value. Each circle is reported once.

    Bad: parameters: {$schema: "http://json-schema.org/draft-04/schema#", $ref: "#"}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {child: {$ref: "#"}}}
    Source: JSON Schema, $ref: a schema MUST NOT be run into an infinite loop; Cloud Foundry crashes on one
    """
    for place in References(schema.value).loops():
        yield schema.hit("the reference leads back to itself", (*place.path, "$ref"), "let it lead to a schema")
