"""Parameter schemas that contradict themselves."""

from __future__ import annotations

from collections.abc import Iterator

from osbctl.findings import Severity
from osbctl.paths import value_at
from osbctl.placeholders import holds_placeholder
from osbctl.rule import Category, Scope, rule
from osbctl.validation.node import Node, RuleMatch


@rule("parameters-default", Severity.WARNING, Category.ADVICE, Scope.PARAMETERS)
def parameters_default(schema: Node) -> Iterator[RuleMatch]:
    """A default or an example in a parameter schema is refused by the schema that it stands in.

    Forms fill it in, and the broker or the next check refuses it. Only proven cases are reported.

    Bad:
        parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {n: {type: integer, default: "3"}}}
    Good: parameters: {$schema: "http://json-schema.org/draft-04/schema#", properties: {n: {type: integer, default: 3}}}
    Source: JSON Schema Validation, default: RECOMMENDED to be valid against the schema that it stands in
    """
    from osbctl.validation.contradictions import refused_values

    for path, keywords in refused_values(schema.value):
        value = value_at(schema.value, path)
        if isinstance(value, str) and holds_placeholder(value):
            continue
        what = "default" if path[-1] == "default" else "example"
        by = f" by its {', '.join(keywords)}" if all(keywords) and keywords else ""
        yield schema.hit(f"the schema refuses its own {what}{by}", path, "correct one of the two")


@rule("parameters-impossible", Severity.WARNING, Category.ADVICE, Scope.PARAMETERS)
def parameters_impossible(schema: Node) -> Iterator[RuleMatch]:
    """Nothing can meet a part of a parameter schema, or all of it.

    A bound above its counterpart, or a required property that is forbidden. Only proven cases are reported; a bare
    `false` or `not` is intended.

    Bad:
        parameters:
          $schema: "http://json-schema.org/draft-04/schema#"
          required: [size]
          properties: {sise: {type: integer}}
          additionalProperties: false
    Good:
        parameters:
          $schema: "http://json-schema.org/draft-04/schema#"
          required: [size]
          properties: {size: {type: integer}}
          additionalProperties: false
    Source: OSB 2.13, Input Parameters Schema Object: the schema describes what may be sent
    """
    from osbctl.validation.contradictions import impossible

    for path, why in impossible(schema.value):
        yield schema.hit(f"nothing can meet this schema: {why}", path, "correct what contradicts the rest")
