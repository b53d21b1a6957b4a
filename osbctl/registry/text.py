"""Registered brokers and results of refreshes as lines of text. All text is safe to print."""

from collections.abc import Iterator, Sequence

from osbctl.platforms.updates import row_labels
from osbctl.registry.records import BrokerRow, Refresh, RefreshOutcome, RegisteredBroker
from osbctl.text import align_columns, cut_to_width, escape_line

_COLUMNS = ("NAME", "PLATFORM", "SERVICES", "PLANS", "KEPT PLANS", "REFRESHED", "RESULT", "ADDRESS")


def broker_table(brokers: Sequence[BrokerRow], width: int = 0) -> Iterator[str]:
    """Lines of a table of brokers, cut to `width` cells (0: whole); no column of kept plans if there are none."""
    columns = [name for name in _COLUMNS if name != "KEPT PLANS" or any(row.kept_plans for row in brokers)]
    rows = [columns]
    for row in brokers:
        day = row.refreshed_at.partition("T")[0]
        counts = (f"{row.services:,}", f"{row.plans:,}", f"{row.kept_plans:,}")
        cells = (row.name, row.platform.value, *counts, day, row.outcome.value, row.url)
        named = dict(zip(_COLUMNS, map(escape_line, cells), strict=True))
        rows.append([named[name] for name in columns])
    return (cut_to_width(line, width) if width else line for line in align_columns(rows))


def broker_lines(broker: RegisteredBroker) -> Iterator[str]:
    """A broker in full: registration, offered objects and kept ones."""
    row = broker.row
    facts = {
        "name": row.name,
        "url": row.url,
        "user": row.username or "(none)",
        "api version": row.api_version,
        "platform": row.platform.label,
        "registered": row.registered_at,
        "refreshed": row.refreshed_at,
        "last outcome": row.outcome.value,
    }
    yield from align_columns([(f"{key}:", escape_line(value)) for key, value in facts.items()])
    offered = broker.offered
    for service in offered.services:
        yield f"\n{escape_line(service.name)}  {escape_line(service.id)}"
        yield from (f"  {escape_line(plan.name)}  {escape_line(plan.id)}" for plan in service.plans)
    names = row_labels(broker.kept, offered)
    if names:
        yield "\nkept, though gone from the catalog:"
    for kept in broker.kept:
        name, identity = names[kept.key], kept.plan or kept.service
        yield f"  {escape_line(name)}  {escape_line(identity)}  {kept.state} since {escape_line(kept.since)}"


def refresh_lines(name: str, refresh: Refresh, *, dry_run: bool = False, is_new: bool = False) -> Iterator[str]:
    """Lines on the result of a refresh, or the registration, of the broker `name`: a summary, then indented details."""
    yield f"{escape_line(name)}: {_refresh_headline(refresh, dry_run, is_new)}"
    for action in refresh.actions:
        changed = f"plan {action.service}/{action.plan}" if action.plan else f"service {action.service}"
        yield "  " + escape_line(f"{action.what.value} {changed}" + (f": {action.note}" if action.note else ""))
    if refresh.outcome is RefreshOutcome.FAILED:
        return
    for one in refresh.remarks:
        head, place = (f"{text}: " if text else "" for text in (one.level, one.object))
        rule = f" [{escape_line(one.rule)}]" if one.rule else ""
        yield "  " + escape_line(f"{head}{place}{one.message}") + rule


def _refresh_headline(refresh: Refresh, dry_run: bool, is_new: bool) -> str:
    label = refresh.platform.label
    change, save = ("would change", "would save") if dry_run else ("changed", "saved")
    rest = "nothing is stored" if is_new else "what is stored stays as it was"
    refused = f"refused as {label} does" if refresh.is_storable else "not stored by osbctl"
    counts = ", ".join(f"{number:,} {what}" for what, number in refresh.action_counts().items()) or "wording only"
    return {
        RefreshOutcome.ADDED: "added",
        RefreshOutcome.UNCHANGED: "unchanged",
        RefreshOutcome.CHANGED: f"{change} the stored catalog as {label} does: {counts}",
        RefreshOutcome.REFUSED: f"{refused}; "
        + (f"{save} up to the first fault: {counts}" if refresh.actions else rest),
        RefreshOutcome.FAILED: "; ".join(
            f"{one.rule.replace('-', ' ')}: {escape_line(one.message)}" for one in refresh.remarks
        ),
    }[refresh.outcome]
