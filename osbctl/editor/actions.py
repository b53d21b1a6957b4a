"""Code actions for findings: the fixes of `osbctl fix`, a fresh GUID, and a comment that silences the finding."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from lsprotocol import types

from osbctl.commands.fix import add_schema_draft_fixes, compute_fix_edits
from osbctl.editor.open_files import Analysis, OpenFiles, read_open_source
from osbctl.editor.text_document import TextDocument, cached_text_document, make_diagnostic
from osbctl.errors import OsbctlError
from osbctl.findings import Finding, Fix
from osbctl.fixes import Edit
from osbctl.rule import rule_of
from osbctl.sources.document import Document
from osbctl.sources.folder.lock import fresh_id
from osbctl.text import escape_line

FIX_ALL = "source.fixAll.osbctl"
MAX_FINDINGS = 10
"""Findings at one place that get actions: each costs a reading of the whole source."""


@dataclass(frozen=True, slots=True)
class ActionBuilder:
    """Makes code actions for the findings of one source. `unsaved` are its open files: path to text."""

    analysis: Analysis
    document: Document
    unsaved: Mapping[str, str]
    open: OpenFiles

    def build_actions(
        self, file: TextDocument, findings: Iterable[Finding], only: Sequence[str] | None
    ) -> list[types.CodeAction]:
        """Code actions for `findings` of the kinds in `only`, None for all kinds."""

        def is_requested(kind: str) -> bool:
            return only is None or any(kind == asked or kind.startswith(f"{asked}.") for asked in only)

        actions: list[types.CodeAction] = []
        if is_requested(types.CodeActionKind.QuickFix):
            actions += self._quick_fix_actions(file, findings)
        # Editors ask wherever the cursor goes: the whole file is fixed only on request, or beside another fix.
        if is_requested(FIX_ALL) and (only or actions):
            actions += self._fix_all_action(file)
        return actions

    def _quick_fix_actions(self, file: TextDocument, findings: Iterable[Finding]) -> Iterator[types.CodeAction]:
        for finding in add_schema_draft_fixes(islice(findings, MAX_FINDINGS), self.document):
            # One action for each fix, but for all at once where one text stands for several values.
            for fixes in [finding.fixes] if finding.members and finding.fixes else [(fix,) for fix in finding.fixes]:
                yield from self._quick_fix_action(file, finding, fixes, _fix_title(fixes[0]), preferred=fixes[0].safe)
            if rule_of(finding).wants_new_id and finding.path[-1:] == ("id",) and len(finding.path) in (3, 5):
                fresh = Fix("set", finding.path, fresh_id())
                yield from self._quick_fix_action(file, finding, (fresh,), "Set a fresh GUID")
            yield from self._ignore_comment_action(file, finding)

    def _fix_all_action(self, file: TextDocument) -> Iterator[types.CodeAction]:
        """The one action that applies all safe fixes of `file`.

        It leaves other files of the source alone: editors run it on saving, and would leave those changed and unsaved
        (LSP 3.17: "Source code actions apply to the entire file").
        """
        findings = add_schema_draft_fixes(self.open.findings_in(file.name, self.analysis), self.document)
        edit = self._workspace_edit(findings, unsafe=False)
        if edit:
            yield types.CodeAction("Apply all safe fixes (osbctl)", FIX_ALL, edit=edit)

    def _quick_fix_action(
        self, file: TextDocument, finding: Finding, fixes: tuple[Fix, ...], title: str, *, preferred: bool = False
    ) -> Iterator[types.CodeAction]:
        """The action that makes `fixes`, also unsafe ones and in other files. Empty if they cannot be made."""
        edit = self._workspace_edit([finding._replace(fixes=fixes)], unsafe=True)
        if edit:
            yield types.CodeAction(
                title,
                types.CodeActionKind.QuickFix,
                [make_diagnostic(finding, file)],
                is_preferred=preferred or None,
                edit=edit,
            )

    def _ignore_comment_action(self, file: TextDocument, finding: Finding) -> Iterator[types.CodeAction]:
        """A comment that silences the finding in its line. Empty if a comment would change the catalog."""
        if finding.location is None or file.document is None or file.document.syntax != "yaml":
            return
        at = file.line_end_offset(file.line_of(file.location_offset(finding.location)))
        comment = f"  # osbctl: ignore[{finding.rule}]"
        try:
            edited = self._read_source({**self.unsaved, file.name: file.body[:at] + comment + file.body[at:]})
        except OsbctlError:
            return
        if edited.data == self.document.data:
            edit = types.WorkspaceEdit({self.open.uri(file.name): self._text_edits(file.name, [Edit(at, at, comment)])})
            title = f"Ignore {finding.rule} here"
            yield types.CodeAction(title, types.CodeActionKind.QuickFix, [make_diagnostic(finding, file)], edit=edit)

    def _workspace_edit(self, findings: Iterable[Finding], *, unsafe: bool) -> types.WorkspaceEdit | None:
        """The edit that carries out the fixes of `findings`. None if there is nothing to do."""

        def read(files: dict[str, bytes]) -> Document:
            return self._read_source({path: data.decode("utf-8", "surrogatepass") for path, data in files.items()})

        files = {path: text.encode("utf-8", "surrogatepass") for path, text in self.unsaved.items()}
        edits = compute_fix_edits(findings, self.document, files, read, unsafe)
        changes = {self.open.uri(name): self._text_edits(name, file_edits) for name, file_edits in edits.items()}
        return types.WorkspaceEdit(changes) if changes else None

    def _text_edits(self, file_name: str, edits: Iterable[Edit]) -> list[types.TextEdit]:
        path = self.open.resolve_path(file_name)
        # As it was when the editor asked: it may have changed meanwhile.
        file = cached_text_document(path, self.unsaved[path]) if path in self.unsaved else self.open.read_document(path)
        return [types.TextEdit(file.range(edit.start, edit.end), edit.new) for edit in edits]

    def _read_source(self, texts: Mapping[str, str]) -> Document:
        return read_open_source(self.analysis.source, texts, self.open.variables_of)


def _fix_title(fix: Fix) -> str:
    name = escape_line(str(fix.path[-1])) if fix.path else "it"
    value = escape_line(str(fix.value).lower() if isinstance(fix.value, bool) else str(fix.value))
    title = {
        "set": f"Set {name} to {value[:80]}",
        "remove": f"Remove {name}",
        "rename": f"Rename {name} to {value}",
        "quote": f"Put {name} in quotes",
        "wrap": f"Make {name} a list",
    }[fix.action]
    return title if fix.safe else f"{title} (platforms may behave differently)"
