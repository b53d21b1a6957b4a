"""Promises of `osbctl fix` for every text, checked independently: values, bytes, findings, a second run."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from osbctl.commands import fix as task
from osbctl.commands.fix import FixResult, fix_bytes
from osbctl.findings import Finding, Fix
from osbctl.platforms import Platform
from osbctl.rule import Category
from osbctl.sources.document import parse_document
from osbctl.validation.checks import CATALOG_CHECKS, SCHEMA_CHECKS, load_all
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document

PLAIN = ValidationOptions()
RULES = load_all()
CHECKS = {*CATALOG_CHECKS, *SCHEMA_CHECKS}
FULL = ValidationOptions(platforms=frozenset(Platform))
Regions = dict[tuple[int, int], list[str]]
"""From where to where in a text something may be replaced, and by what (regular expressions)."""


def check(name: str, data: bytes, *, unsafe: bool, options: ValidationOptions = PLAIN) -> int:
    """Mend `data` and hold it to the promises; how many fixes were carried out."""
    found, passes = _fix_with_passes(name, data, options, unsafe)
    after = found.after[name]
    assert not fix_bytes(name, after, options, unsafe=unsafe).changed_files, "the second run changes something"
    text, made = data, []
    for step in passes:
        changed = step.changed_files()[name]
        fixes = [one for group in step.fixes_by_edit.values() for one in group]
        _check_pass(name, text, changed, fixes)
        text = changed
        made += fixes
    assert text == after
    check_no_new_findings(validate_document(parse_document(data, name), options).findings, found.remaining, made)
    return len(made)


def check_marks(source: str, document: Any, fix: Callable[[bool], FixResult], at: str = "") -> int:
    """Hold what `validate` says to be fixable to what `fix` does; `fix` is asked with `--unsafe` or without."""
    found = validate_document(document, PLAIN).findings
    marked = task.keep_possible_fixes(found, document, source, at, None)
    for unsafe in (False, True):
        done = fix(unsafe)
        said = {(f.rule, f.location) for f in marked if any(each.safe or unsafe for each in f.fixes)}
        assert not said & {(f.rule, f.location) for f, _ in done.unfixable_before}, "said to be fixable, and is not"
        # Of a group of findings, a part may be fixed, which is not counted before.
        alone = {(f.rule, f.location) for f in found if not f.other_paths}
        assert {(f.rule, f.location) for f in done.fixed} & alone <= said, "fixed, and not said to be fixable"
    return len(said)


def _fix_with_passes(name: str, data: bytes, options: ValidationOptions, unsafe: bool) -> tuple[FixResult, list[Any]]:
    """The result, and the passes that led to it."""
    possible, passes = task._find_working_pass, list[Any]()

    def record_pass(*given: Any) -> Any:
        watching.append(None)
        result = possible(*given)
        watching.pop()
        if result and not watching:  # it calls itself
            passes.append(result[0])
        return result

    watching: list[None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task, "_find_working_pass", record_pass)
        patch.setattr(task, "_find_possible_fixes", lambda *_: [])  # passes that change nothing
        return fix_bytes(name, data, options, unsafe=unsafe), passes


def _check_pass(name: str, old: bytes, new: bytes, made: list[tuple[Finding, Fix]]) -> None:
    before, after = parse_document(old, name), parse_document(new, name)
    assert new.startswith(b"\xef\xbb\xbf") == old.startswith(b"\xef\xbb\xbf")
    fixes = {fix.path: fix for _, fix in made}
    for path, was, is_now in differences(before.data, after.data):
        assert is_fix(path, was, is_now, fixes), f"{path}: {was!r} became {is_now!r}"
    assert _is_edited(before.text, after.text, _regions(before, made)), "a byte beside the fixes changed"


ABSENT = object()


def differences(old: Any, new: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """The deepest places where two values differ, and what stands there, `ABSENT` where nothing does."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, (*path, index))
    elif type(old) is not type(new) or old != new:
        yield path, old, new


def is_fix(path: tuple[Any, ...], old: Any, new: Any, fixes: dict[tuple[Any, ...], Fix]) -> bool:
    """Return whether a difference is the fix at that place, and an id stays unchanged."""
    fix = fixes.get(path)
    if path[-1:] == ("id",) and old is not ABSENT:
        return False
    if new is ABSENT:
        return fix is not None and fix.action in ("rename", "remove")
    if old is ABSENT and fix is None:  # the new name of an entry
        return any(f.action == "rename" and (*p[:-1], f.value) == path for p, f in fixes.items())
    if fix is None:
        return False
    return {
        "set": type(new) is type(fix.value) and new == fix.value,
        "quote": isinstance(old, int | float) and isinstance(new, str),
        "wrap": new == [old],
        "rename": False,
        "remove": False,
    }[fix.action]


def _regions(before: Any, made: list[tuple[Finding, Fix]]) -> Regions:
    found, by_path = dict[tuple[int, int], list[str]](), before.texts[0].spans(aliases=True)
    starts = [0, *(end.end() for end in re.finditer(r"\r\n?|\n", before.text))]
    for finding, fix in made:
        span = by_path.get(fix.path) if fix.path else None
        if not fix.path and finding.location:
            start = starts[finding.location.line - 1] + finding.location.column - 1
            end = start + finding.location.end - finding.location.column
            found.setdefault((start, end), []).append(re.escape(json.dumps(before.text[start:end])))
        elif span is None:
            entries = [s.key[0] for p, s in by_path.items() if p and p[:-1] == fix.path[:-1]]
            entry = rf'"?{re.escape(fix.path[-1])}"?: {re.escape(json.dumps(fix.value))}(?:,[ \t\r\n]*|[\r\n]+ *)'
            for at in entries:
                found.setdefault((at, at), []).append(entry)
        else:
            anchor = re.compile(r"&[^\s,]+[ \t]+").match(before.text, span.start, span.end)
            start = anchor.end() if anchor else span.start
            text = before.text[start : span.end]
            # What parts an entry from its neighbours goes with it.
            gap = before.text[: span.key[0]].rstrip("\ufeff \t\r\n").removesuffix(",")
            rest = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*").match(before.text, span.end)
            place, new = {
                "remove": ((len(gap.rstrip()), rest.end() if rest else span.end), r"[\s,]*"),
                "set": ((start, span.end), re.escape(json.dumps(fix.value, ensure_ascii=False))),
                "rename": (span.key, rf"""(["']?){re.escape(str(fix.value))}\1"""),
                "quote": ((start, span.end), re.escape(json.dumps(text))),
                "wrap": (
                    (start, span.end),
                    rf"\[(?:{re.escape(text)}|{re.escape(json.dumps(fix.value, ensure_ascii=False))})\]",
                ),
            }[fix.action]
            beside = [one for one in found if fix.action == "remove" and one[0] < place[1] and place[0] < one[1]]
            for one in beside:  # neighbours that go, too
                place = min(one[0], place[0]), max(one[1], place[1])
                del found[one]
            found.setdefault(place, []).extend([new, r"\s*\{\}\s*"] if fix.action == "remove" else [new])
    return found


def _is_edited(before: str, after: str, regions: Regions) -> bool:
    """Return whether `after` differs from `before` only in allowed replacements of regions."""
    places = sorted(regions)
    tried = [(0, 0, 0)]  # the next region, and how far either text has been gone through
    while tried:
        number, old, new = tried.pop()
        start, end = places[number] if number < len(places) else (len(before), len(before))
        kept = before[old:start]
        if start == end < old:  # an entry could have been added in the middle of what was removed
            tried.append((number + 1, old, new))
            continue
        if start < old or not after.startswith(kept, new):
            continue
        old, new = start, new + len(kept)
        if number == len(places):
            if new == len(after):
                return True
            continue
        tried.append((number + 1, old, new))
        matches = (re.compile(form).match(after, new) for form in regions[start, end])
        tried += [(number + 1, end, match.end()) for match in matches if match]
    return False


COMPARING = {
    *("id-duplicate", "id-shared", "service-name-duplicate", "placeholder-unresolved"),
    *("cloudfoundry-mysql", "field-near-miss", "field-too-new"),
}
"""The rules that look at more of a catalog than one service offering."""


def check_no_new_findings(
    before: tuple[Finding, ...], left: tuple[Finding, ...], made: list[tuple[Finding, Fix]]
) -> None:
    """No new finding of a shape but below one that was mended.

    Rules are silent on what has the wrong shape, and platforms stop reading there: they may speak up in the service
    offering that has a mended part, and of the whole where they compare all of it, or it was mended for a platform.
    """
    places = [fix.path for _, fix in made if fix.path]
    renamed = {(*fix.path[:-1], fix.value): fix.path for _, fix in made if fix.action == "rename"}
    stopped = {platform for finding, _ in made for platform in finding.refused_by}
    known = {(f.rule, path) for f in before for path in (f.path, *f.other_paths)}
    for finding in left:
        category = RULES[finding.rule].category
        depth = (
            None
            if category in (Category.SCHEMA, Category.READING)
            else 0
            if finding.rule in COMPARING or finding.rule not in CHECKS
            else 2
        )
        for path in (finding.path, *finding.other_paths):
            was = next((old + path[len(new) :] for new, old in renamed.items() if path[: len(new)] == new), path)
            below = any(was[: len(place[:depth])] == place[:depth] for place in places)
            below |= category is Category.PLATFORM and stopped >= {*finding.refused_by} != set()
            assert below or (finding.rule, was) in known, f"{finding.rule} at {path} is new: {finding.message}"
