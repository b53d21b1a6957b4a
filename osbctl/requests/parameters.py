"""Parameters of requests: examples that a plan's schema accepts, and validation by the schema."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from osbctl.errors import SourceError
from osbctl.findings import Finding, Severity
from osbctl.jsonschemas.bounded_validator import BoundedValidator, build_checked_tree
from osbctl.jsonschemas.comparison.secrets import secret_literals
from osbctl.jsonschemas.constraints import OBJECT, Constraints
from osbctl.jsonschemas.schema_tree import SchemaTree
from osbctl.jsonschemas.sentences import describe_error, describe_violation, error_path, leaf_errors
from osbctl.jsonschemas.value_generator import ValueGenerator
from osbctl.jsonschemas.walk import UndecidableError
from osbctl.paths import JsonPath, JsonValue
from osbctl.redaction import is_secret_path, redact
from osbctl.text import did_you_mean, format_key

MAX_MADE = 2_000
"""Maximum number of generated values per example; a schema that refers to itself is infinite."""

_LONGEST_TEXT = 65_536
"""Characters of a text in a request beside patterns: a certificate with its chain has some 5,000."""


@dataclass(frozen=True, slots=True)
class Examples:
    """The smallest and the fullest request that a schema accepts; if None, `why` gives the reason."""

    smallest: dict[str, JsonValue] | None = None
    fullest: dict[str, JsonValue] | None = None
    why: str = ""


def generate_examples(schema: JsonValue) -> Examples:
    """Generate examples for a parameter schema (draft-04 to 2020-12; see `detect_dialect`). Never raises."""
    try:
        tree = build_checked_tree(schema)
    except UndecidableError as error:
        return Examples(why=f"no example can be made for this schema: it {error}")
    smallest = _generate_example(tree, full=False)
    fullest = _generate_example(tree, full=True)
    if smallest is None and fullest is None:
        return Examples(why="no request that this schema accepts was found")
    secrets = secret_literals(schema)
    shown = [redact(example, secrets, by_name=False) for example in (smallest, fullest) if example is not None]
    return Examples(shown[0], shown[-1])


def _generate_example(tree: SchemaTree, *, full: bool) -> dict[str, JsonValue] | None:
    """Generate the smallest or the fullest example; None unless the validator accepts it."""
    values = ValueGenerator(BoundedValidator(), MAX_MADE, full=full, formats=True)
    found = values.valid_values(Constraints(within=OBJECT).and_also(tree.top))
    proved = found and isinstance(found[0], dict) and BoundedValidator().accepts(tree.top, found[0], formats=True)
    return found[0] if proved else None


def request_errors(schema: JsonValue, request: dict[str, JsonValue]) -> list[Finding]:
    """Validate a request, including formats. Findings have the keyword as rule, and no location or secret values.

    Raises SourceError: the schema is invalid, has an unknown draft or an external reference, or a pattern would take
    too long on the longest text of the request.
    """
    try:
        tree = build_checked_tree(schema)
    except UndecidableError as error:
        raise SourceError(f"the plan's schema cannot be applied: it {error}") from None
    errors = BoundedValidator(max_text=_LONGEST_TEXT).errors(tree.top, request)
    if errors is None:
        reason = "it is invalid, or one of its patterns would take too long on the longest text of the request"
        raise SourceError(f"the plan's schema cannot be applied: {reason}")
    secrets = secret_literals(schema)
    names = set(Constraints().and_also(tree.top).property_names())
    found = (_findings_of_error(error, error_path(error, request), names, secrets) for error in leaf_errors(errors))
    return list(dict.fromkeys(chain.from_iterable(found)))


def _findings_of_error(error: Any, path: JsonPath, names: set[str], secrets: frozenset[Any]) -> Iterator[Finding]:
    """Convert an error of the validator at `path`; `names` are the parameters at the top of the schema."""
    kind = error.kind
    if kind.name == "required":
        yield _create_finding(kind.name, (*path, kind.property), f"{format_key(kind.property)} is missing")
    elif kind.name in ("additionalProperties", "unevaluatedProperties"):
        for name in kind.unexpected:
            hint = (not path and did_you_mean(name, names)) or "`osbctl params` without -c lists what the plan accepts"
            yield _create_finding(kind.name, (*path, name), f"the schema does not allow {format_key(name)} here", hint)
    elif kind.name == "propertyNames":
        name = kind.error.instance
        about = describe_violation(kind.error.kind.name, kind.error.kind.value, name, (), "the name of a parameter")
        yield _create_finding(kind.name, (*path, name), about)
    elif is_secret_path(path):
        yield _create_finding(kind.name, path, f"{format_key(str(path[-1]))} does not meet `{kind.name}` of the schema")
    else:
        yield _create_finding(kind.name, path, describe_error(error, path, "the request", secrets))


def _create_finding(keyword: str, path: JsonPath, message: str, hint: str = "") -> Finding:
    return Finding(keyword, Severity.ERROR, message, path, hint=hint)
