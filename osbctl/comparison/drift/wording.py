"""Changes worded as drift: what the platform has, and what the broker says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from osbctl.comparison.rules import fields, identity
from osbctl.comparison.values import shown, shown_both
from osbctl.secrecy import SECRET

if TYPE_CHECKING:
    from osbctl.changes import Change

_GONE = "the platform has it, the broker no longer offers it"
_NEW = "the broker offers it, the platform does not have it"
_BACK = "the broker offers it again, the platform keeps it as gone"
_SENTENCES = {
    identity.SERVICE_REMOVED.id: _GONE,
    identity.PLAN_REMOVED.id: _GONE,
    identity.SERVICE_ADDED.id: _NEW,
    identity.PLAN_ADDED.id: _NEW,
    identity.CATALOG_EMPTIED.id: "the broker offers no service any more",
    identity.SERVICE_WITHOUT_PLANS.id: "the broker offers no plan of it any more",
}
_ENTRIES = {
    fields.TAG_REMOVED.id: "tag",
    fields.TAG_ADDED.id: "tag",
    fields.REQUIRES_REMOVED.id: "requires",
    fields.REQUIRES_ADDED.id: "requires",
}
_OF_REQUESTS = "change-schema-"
"""The rules whose messages say of a request what is true at the broker."""


def as_drift(change: Change, *, back: bool = False) -> Change:
    """`change` with a message that names the platform and the broker in place of before and after.

    `back`: the platform had deactivated what is added, and still keeps it.
    """
    return replace(change, message=_BACK if back else _message(change))


def _message(change: Change) -> str:
    if change.rule in _SENTENCES:
        return _SENTENCES[change.rule]
    if change.rule == fields.ORDER.id:
        return f"the broker has its {change.field or 'services'} in another order"
    if change.rule in _ENTRIES:
        entry = change.new if change.old is None else change.old
        sides = ("broker", "platform") if change.old is None else ("platform", "broker")
        return f"{_ENTRIES[change.rule]} {shown(entry)}: the {sides[0]} has it, the {sides[1]} does not"
    if change.rule.startswith(_OF_REQUESTS) or change.rule == identity.PLAN_MOVED.id:
        return f"at the broker: {change.message}"
    name = shown(change.field.replace("/", "."))[1:-1]
    if SECRET in (change.old, change.new):
        return f"{name}: the platform and the broker differ (it may be a secret, and is not shown)"
    if change.old is None and change.new is None:
        return f"{name}: the platform and the broker differ"
    stored, said = shown_both(change.old, change.new)
    stored, said = "nothing" if change.old is None else stored, "nothing" if change.new is None else said
    return f"{name}: the platform has {stored}, the broker says {said}"
