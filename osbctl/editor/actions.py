"""Code actions for findings: the fixes of `osbctl fix`, and a fresh GUID for a missing or duplicate id."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from lsprotocol import types

from osbctl.editor.analysis import Analysis, read_open_source
from osbctl.editor.open_files import OpenFiles
from osbctl.editor.text_document import TextDocument, diagnostic, range_of, written
from osbctl.errors import OsbctlError
from osbctl.findings import Finding, Fix
from osbctl.fixes.edits import Edit
from osbctl.sources.document import Document
from osbctl.tasks.fix import edits_of, with_fixes
from osbctl.text import escape_line

FIX_ALL = "source.fixAll.osbctl"

_IGNORED = re.compile(r"#[ \t]*osbctl:[ \t]*ignore\[[^\]\n]*(?=\])")

MOST = 20
"""Findings of one place that something is offered for: each costs a reading of the whole source."""

_OF_IDS = {"schema-required", "schema-other", "schema-type", "build-id-missing", "build-id-reused", "id-duplicate"}


@dataclass(frozen=True, slots=True)
class ActionBuilder:
    """Makes code actions of the findings of one source."""

    analysis: Analysis
    document: Document
    unsaved: Mapping[str, str]
    open: OpenFiles

    def actions(self, file: TextDocument, findings: Iterable[Finding]) -> Iterator[types.CodeAction]:
        """Code actions for findings in `file`."""
        for finding in with_fixes(islice(findings, MOST), self.document):
            told = [diagnostic(finding, file)]
            for fixes in _at_once(finding):
                yield from self._action(_title(fixes[0]), types.CodeActionKind.QuickFix,
                                        [finding._replace(fixes=fixes)], diagnostics=told,
                                        is_preferred=fixes[0].safe or None)  # fmt: skip
            if finding.rule in _OF_IDS and finding.path[-1:] == ("id",) and len(finding.path) in (3, 5):
                fresh = Fix("set", finding.path, str(uuid.uuid4()).upper())
                yield from self._action("Set a fresh GUID", types.CodeActionKind.QuickFix,
                                        [finding._replace(fixes=(fresh,))], diagnostics=told)  # fmt: skip
            yield from self._ignore(file, finding)

    def _ignore(self, file: TextDocument, finding: Finding) -> Iterator[types.CodeAction]:
        """A comment that silences the finding in its line, where the text takes one and says the same with it."""
        if finding.location is None or file.document is None or file.document.syntax != "yaml":
            return
        line = file.line_of(file.offset_of(finding.location.line, finding.location.column))
        start, end = file.lines[line], file.line_end(line)
        begun = _IGNORED.search(file.body, start, end)
        at, new = (begun.end(), f", {finding.rule}") if begun else (end, f"  # osbctl: ignore[{finding.rule}]")
        try:
            texts = {**self.unsaved, file.name: file.body[:at] + new + file.body[at:]}
            again = self._as_edited(texts)
        except OsbctlError:
            return
        if again.data == self.document.data:
            edit = types.WorkspaceEdit(
                changes={self.open.uri(file.name): self._text_edits(file.name, [Edit(at, at, new)])}
            )
            yield types.CodeAction(f"Ignore {finding.rule} here", types.CodeActionKind.QuickFix,
                                   [diagnostic(finding, file)], edit=edit)  # fmt: skip

    def fix_all(self, file: TextDocument) -> Iterator[types.CodeAction]:
        """The one action that carries out all safe fixes of `file`.

        Those of the source's other files stay: editors carry it out on saving, and would leave these changed and
        not saved (LSP 3.17: "Source code actions apply to the entire file").
        """
        findings = with_fixes(self.open.found_in(file.name, self.analysis), self.document)
        yield from self._action("Apply all safe fixes (osbctl)", FIX_ALL, findings, unsafe=False)

    def _action(
        self,
        title: str,
        kind: str,
        findings: Iterable[Finding],
        *,
        unsafe: bool = True,
        diagnostics: list[types.Diagnostic] | None = None,
        is_preferred: bool | None = None,
    ) -> Iterator[types.CodeAction]:
        files = {path: text.encode("utf-8", "surrogatepass") for path, text in self.unsaved.items()}
        edits = edits_of(findings, self.document, files, self._read, unsafe)
        if not edits:
            return
        changes = {self.open.uri(name): self._text_edits(name, made) for name, made in edits.items()}
        edit = types.WorkspaceEdit(changes=changes)
        yield types.CodeAction(title, kind, diagnostics, is_preferred=is_preferred, edit=edit)

    def _text_edits(self, name: str, edits: Iterable[Edit]) -> list[types.TextEdit]:
        path = self.open.path(name)
        known = self.unsaved.get(path)
        text = self.open.text(path) if known is None else written(path, known, self.open.encoding)
        return [types.TextEdit(range_of(text, edit.start, edit.end), edit.new) for edit in edits]

    def _read(self, files: dict[str, bytes]) -> Document:
        texts = {path: data.decode("utf-8", "surrogatepass") for path, data in files.items()}
        return self._as_edited(texts)

    def _as_edited(self, texts: Mapping[str, str]) -> Document:
        analysis = self.analysis
        return read_open_source(analysis.source, texts, self.open.encoding, self.open.variables_of, analysis.at)


def _at_once(finding: Finding) -> list[tuple[Fix, ...]]:
    """The fixes that are one action each; those of a text that several values are of can only be made together."""
    if finding.also and not finding.several:
        return [finding.fixes] if finding.fixes else []
    return [(fix,) for fix in finding.fixes]


def _title(fix: Fix) -> str:
    name = escape_line(str(fix.path[-1])) if fix.path else "it"
    value = escape_line(str(fix.value).lower() if isinstance(fix.value, bool) else str(fix.value))
    done = {
        "set": f"Set {name} to {value[:80]}",
        "remove": f"Remove {name}",
        "rename": f"Rename {name} to {value}",
        "quote": f"Put {name} in quotes",
        "wrap": f"Make {name} a list",
    }[fix.action]
    return done if fix.safe else f"{done} (platforms may behave differently)"
