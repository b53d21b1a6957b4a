"""What is told of the place under the mouse: why what was found there matters, and what the field means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from lsprotocol import types

from osbctl.editor.analysis import Analysis
from osbctl.editor.cursor import cursor_at
from osbctl.editor.texts import Written, range_of
from osbctl.editor.vocabulary import part_at, said, title
from osbctl.fields import LATEST
from osbctl.findings import Finding
from osbctl.paths import Path
from osbctl.platforms import ApiVersion, Platform
from osbctl.tasks.rules import all_rules
from osbctl.text import safe

_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&:])")


def hover(
    file: Written, offset: int, found: Iterable[Finding], analysis: Analysis | None, place: PurePath | None
) -> types.Hover | None:
    """What is told of an offset; `found` are the findings there, `analysis` is that of the whole source."""
    told = [part for finding in found for part in _finding(finding)]
    cursor = cursor_at(file.body, offset)
    shown = range_of(file, cursor.start, cursor.end) if cursor else None
    if cursor and cursor.end > cursor.start:
        word = file.body[cursor.start : cursor.end].strip("\"'")
        path = cursor.whole if cursor.key is not None or cursor.item else (*cursor.path, word)
        told += _field(path, analysis, place)
    if not told:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(told)), shown)


def plain(text: str) -> str:
    """Text from a catalog or a platform in Markdown: as it is, and no markup."""
    return _MARKUP.sub(r"\\\1", safe(text))


def _finding(finding: Finding) -> Iterator[str]:
    """What the diagnostic of a finding does not say: editors show that one beside the hover, or above it."""
    rule = all_rules().get(finding.rule)
    if rule:
        yield f"`{rule.id}`: {' '.join((rule.why or rule.summary).split())}"  # ours, and Markdown
    for words in finding.platform_messages:
        yield f"> {plain(words)}"
    if rule:
        yield f"Source: {rule.source}"


def _field(path: Path, analysis: Analysis | None, place: PurePath | None) -> Iterator[str]:
    version = analysis.options.api_version if analysis else None
    part = part_at(path, LATEST, place)
    if part is None or not title(part):
        return
    yield f"**{path[-1]}**: {title(part)}"
    if said(part, "description"):
        yield str(said(part, "description"))
    since = next(one for one in ApiVersion if part_at(path, one, place))
    if since > next(iter(ApiVersion)):
        older = [platform.label for platform in Platform if platform.api_version < since]
        yield f"Since API version {since}" + (f"; {' and '.join(older)} request an older one." if older else ".")
    if version and since > version:
        yield f"Checked against {version}, which does not know it."
    if path == ("services",) and analysis and analysis.verdicts:
        yield "\n".join(f"- {platform.label}: {verdict.kind.value}" for platform, verdict in analysis.verdicts.items())
