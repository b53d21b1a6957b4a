"""Parameter schemas that changed. Platforms store them for user interfaces; the broker enforces them."""

from __future__ import annotations

from osbctl.comparison.kinds import kind
from osbctl.platforms.reactions import Level, safe

_SENTENCES: dict[str, tuple[Level, str]] = {
    "added": (Level.BREAKING, "There was no parameter schema; there is one now."),
    "bound-tightened": (Level.BREAKING, "A number of a request has a tighter bound."),
    "combination-narrowed": (Level.BREAKING, "A combination of schemas accepts less than before."),
    "const-added": (Level.BREAKING, "A value of a request may only be this one."),
    "default-changed": (Level.RISKY, "The default of a parameter changed; whoever leaves it out gets something else."),
    "enum-narrowed": (Level.BREAKING, "A value of a request has fewer choices."),
    "format-changed": (Level.BREAKING, "A text of a request has another format."),
    "items-narrowed": (Level.BREAKING, "A list of a request may hold less than before."),
    "length-tightened": (Level.BREAKING, "A text, list or object of a request has a tighter bound on its size."),
    "pattern-changed": (Level.BREAKING, "A text of a request must match another pattern."),
    "property-described": (Level.RISKY, "A property that could hold anything is described now."),
    "property-dropped": (
        Level.RISKY,
        "A property of a request is no longer described; whether it is heeded is not known.",
    ),
    "property-forbidden": (Level.BREAKING, "A property of a request is no longer allowed."),
    "relaxed": (Level.SAFE, "A schema accepts more than before."),
    "removed": (Level.SAFE, "The parameter schema is gone; anything is accepted."),
    "required-added": (Level.BREAKING, "A request must hold one more property."),
    "type-narrowed": (Level.BREAKING, "A value of a request may have fewer types."),
    "undecided": (Level.RISKY, "Whether the schema refuses what it accepted before cannot be decided."),
    "unique-items-added": (Level.BREAKING, "A list of a request may no longer hold a value twice."),
    "wording": (Level.SAFE, "A text for people in a schema changed."),
}
_WHY = """{}

    A request that was valid and no longer is breaks whoever sends it: saved commands, pipelines, user interfaces.
    """
_ADVICE = "let the broker go on accepting the old requests, and the schema with it; or add a plan with the new schema"

SCHEMA_KINDS = {
    f"schema-{name}": kind(
        f"change-schema-{name}",
        _WHY.format(sentence),
        every=safe("stores it for user interfaces and does not enforce it; the broker does"),
        level=level,
        advice="" if level is Level.SAFE else _ADVICE,
    )
    for name, (level, sentence) in _SENTENCES.items()
}
"""The kind of each rule of a `SchemaChange`."""
