"""A fix harms nothing: placeholders, what stands outside of the catalog, and what YAML 1.1 readers see stay."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from osbctl.commands.fix import FixResult, fix_bytes
from osbctl.errors import OsbctlError
from osbctl.findings import Severity
from osbctl.paths import get_at
from osbctl.placeholders import holds_placeholder
from osbctl.requests import request_errors
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.document import decode_utf8, parse_document, parse_text
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.case import each
from tests.cli.program import osbctl
from tests.corpus import CORPUS, EVERY_CASE, catalogs, needs_corpus, records
from tests.fixes.generated import catalog, text
from tests.fixes.promises import differences
from tests.fixes.test_fix import D6, D7, D2020, HEAD, PLAN, fix_text, with_schema
from tests.fragments import places

OPTIONS = ValidationOptions()
PLACEHOLDERS = ["((x))", "(( grab meta.x ))", "<value>", "REPLACE_WITH_IT", "{{ .Values.x }}", "${X}"]
NOT_READ = object()
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where PyYAML has it: a tenth of the time."""
EACH = 3_000 if EVERY_CASE else 22
"""Catalogs of either kind, generated and mutated."""


def read_yaml_1_1(data: bytes) -> Any:
    """The value that a YAML 1.1 reader sees."""
    try:
        return yaml.load(data.removeprefix(b"\xef\xbb\xbf").decode(), LOADER)
    except (yaml.YAMLError, ValueError, TypeError):
        return NOT_READ


def paths_after_renames(path: tuple[Any, ...], mended: FixResult) -> set[tuple[Any, ...]]:
    """The path, and what it may be called after the fixes."""
    found = {path}
    for finding in mended.fixed:
        for fix in finding.fixes:
            if fix.action == "rename":
                found |= {(*one[: len(fix.path) - 1], fix.value, *one[len(fix.path) :]) for one in found
                          if one[: len(fix.path)] == fix.path}  # fmt: skip
    return found


def check_safe_fixes(name: str, data: bytes) -> bool:
    """Hold the safe fixes of a text to what old readers see; whether something was fixed."""
    mended = fix_bytes(name, data, OPTIONS)
    places = {fix.path for finding in mended.fixed for fix in finding.fixes if fix.safe}
    allowed = places | {other for place in places for other in paths_after_renames(place, mended)}
    after = mended.after[name]
    before_11, after_11 = read_yaml_1_1(data), read_yaml_1_1(after)
    assert (before_11 is NOT_READ) == (after_11 is NOT_READ), name
    pairs = [(parse_document(data, name).data, parse_document(after, name).data)]
    pairs += [(before_11, after_11)] if before_11 is not NOT_READ else []
    for old, new in pairs:
        for path, was, now in differences(old, new):
            assert path in allowed, f"{name}: {path}: {was!r} became {now!r}"
    return bool(mended.changed_files)


def check_placeholders_stay(name: str, data: bytes, paths: list[tuple[Any, ...]]) -> None:
    before = parse_document(data, name).data
    mended = fix_bytes(name, data, OPTIONS, unsafe=True)
    after = parse_document(mended.after[name], name).data
    for path in paths:
        was = get_at(before, path)
        assert holds_placeholder(was)
        assert was in [get_at(after, one) for one in paths_after_renames(path, mended)], (
            f"{name}: {path} holds {was!r} no more"
        )


def check_outside(random: Random, inside: bytes) -> None:
    """A catalog below another key: nothing beside it changes to any reader, in safe fixes nor in unsafe ones."""
    if b"\r" in inside or inside.startswith(b"\xef\xbb\xbf") or b"---" in inside or b"%" in inside or b"..." in inside:
        return
    catalog = "\n".join(f"  {line}" for line in inside.decode().split("\n"))
    whole = f"first: {{free: no, n: 1_0, at: 1:30}}\nbroker: \n{catalog}\nlast: [yes, 0o7, 'true']\n"
    whole = whole.replace("broker: \n", random.choice(["broker: \n", "broker: &c\n"]))
    whole += random.choice(["", "again: *c\n"]) if "&c" in whole else ""
    data = whole.encode()
    for unsafe in (False, True):
        try:
            mended = fix_bytes("c.yaml", data, OPTIONS, unsafe=unsafe, at="/broker")
        except OsbctlError:
            return
        for read in read_yaml_1_1, lambda one: parse_text(decode_utf8(one, "c.yaml"), "c.yaml").data:
            old, new = read(data), read(mended.after["c.yaml"])
            if old is NOT_READ:
                continue
            assert {**old, "broker": 0} == {**new, "broker": 0}


def sample_texts(random: Random, number: int) -> Iterator[tuple[str, bytes]]:
    yield from (text(random, catalog(random)) for _ in range(number))
    for file in catalogs()[:: 1 if EVERY_CASE else 8]:
        yield file.name, file.read_bytes()
    if CORPUS:
        recorded = (case for name in ("service-manager-cases", "korifi-cases") for case in records(name))
        mutated = (found for case in recorded if isinstance(found := case.get("catalog"), dict))
        yield from (text(random, one) for one in islice(mutated, number))


def readable_texts(random: Random, number: int) -> Iterator[tuple[str, bytes]]:
    for name, data in sample_texts(random, number):
        try:
            parse_catalog(decode_utf8(data, name), name, allow_nested=False)
        except (OsbctlError, RecursionError):
            continue
        yield name, data


@pytest.mark.fuzz
def test_safe_fixes_change_for_no_reader_what_they_are_not_about() -> None:
    assert sum(check_safe_fixes(*one) for one in readable_texts(Random(1), EACH)) > 10


@pytest.mark.fuzz
def test_nothing_beside_the_catalog_changes() -> None:
    random = Random(2)
    for name, data in readable_texts(random, EACH):
        if name.endswith("yaml"):
            check_outside(random, data)


@pytest.mark.fuzz
def test_no_value_with_a_placeholder_changes() -> None:
    random = Random(3)
    for name, data in readable_texts(random, EACH):
        whole = json.loads(json.dumps(parse_document(data, name).data))
        _, *paths = places(whole)
        made: list[tuple[Any, ...]] = []
        for path in random.sample(paths, min(len(paths), 3)):
            holder = get_at(whole, path[:-1])
            if isinstance(holder, dict | list) and not any(path[: len(one)] == one for one in made):
                holder[path[-1]] = random.choice(PLACEHOLDERS)
                made = [one for one in made if one[: len(path)] != path] + [path]
        check_placeholders_stay(*text(random, whole), made)


def test_the_fix_for_old_readers_is_not_safe() -> None:
    """They saw false and 1000: quotes change that."""
    words = "  bindable: true\n  metadata: {highAvailability: no, n: 1_000}\n"
    after, mended = fix_text(HEAD + words + PLAN)
    assert after == HEAD + words + PLAN
    assert len(mended.unsafe) == 3  # the key n, too
    changed = '  bindable: true\n  metadata: {highAvailability: "no", "n": "1_000"}\n'
    assert fix_text(HEAD + words + PLAN, unsafe=True)[0] == HEAD + changed + PLAN


@pytest.mark.parametrize("top", ["services: {web: {version: 1_0, on: yes}}\n", "version: 1_0\nsize: no\n"])
def test_a_file_without_a_catalog_stays(top: str, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(top)
    osbctl("fix", "--unsafe", str(file))
    assert file.read_text() == top


@each("head", [{"$schema": D2020}, {"$schema": D7}, {}])
def test_the_fix_of_a_draft_keeps_what_a_schema_refuses(head: dict[str, str]) -> None:
    ratio = {"type": "number", "exclusiveMaximum": 2}
    schema = {"type": "object", "properties": {"ratio": {"$ref": "#/$defs/ratio"}}, "$defs": {"ratio": ratio}}
    (plan,) = parse_catalog(fix_text(with_schema(head | schema), "c.json")[0], "c.json").catalog.plans
    fixed = plan.parameters["service_instance.create"]
    assert fixed == {"$schema": D6, **schema}
    assert [fault.message for fault in request_errors(fixed, {"ratio": 5})] == ["ratio must be less than 2, not 5"]


MERGED = """x-base: &base
  free: "true"
{more}services:
- name: a
  id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
  description: d
  bindable: &b "true"
  plans:
  - {{<<: *base, id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4, name: p, description: d, bindable: *b}}
  - {{<<: *base, id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B5, name: q, description: d}}
"""


@pytest.mark.parametrize("more", ["", "y: {<<: *base}\n"])
def test_what_an_anchor_outside_of_the_services_repeats_is_left_with_the_reason(more: str, tmp_path: Path) -> None:
    whole = MERGED.format(more=more)
    after, mended = fix_text(whole)
    assert after == whole.replace('&b "true"', "&b true")
    assert [why for _, why in mended.unfixable] == ["the same text is used elsewhere, too"]
    file = tmp_path / "c.yaml"
    file.write_text(whole)
    told = osbctl("fix", str(file)).stderr
    assert f"{file}:2:3: not fixed: " in told
    assert "[schema-type]: the same text is used elsewhere, too\n" in told


def test_a_base_outside_of_the_catalog_is_left_with_the_reason() -> None:
    lines = MERGED.format(more="").partition("services:")
    nested = f"{lines[0]}broker:\n  " + "\n  ".join((lines[1] + lines[2]).splitlines()) + "\n"
    mended = fix_bytes("c.yaml", nested.encode(), OPTIONS, at="/broker")
    assert mended.after["c.yaml"].decode() == nested.replace('&b "true"', "&b true")
    assert [why for _, why in mended.unfixable] == ["the same text is used elsewhere, too"]


def test_one_merge_is_one_finding() -> None:
    document = parse_document(MERGED.format(more="").encode(), "c.yaml")
    errors = [one for one in validate_document(document, OPTIONS).findings if one.severity is Severity.ERROR]
    assert [(one.path[-1], one.location and one.location.line) for one in errors] == [
        ("free", 2), ("bindable", 7), ("bindable", 9),
    ]  # fmt: skip
    assert errors[0].message.endswith("(an alias or a merge repeats it in 1 more place)")
    assert errors[0].other_paths == (("services", 0, "plans", 1, "free"),)


@needs_corpus
def test_real_catalogs_keep_their_placeholders() -> None:
    for file in catalogs():
        try:
            data = parse_document(file.read_bytes(), file.name).data
        except OsbctlError:
            continue
        held = [path for path in places(data) if isinstance(one := get_at(data, path), str) and holds_placeholder(one)]
        check_placeholders_stay(file.name, file.read_bytes(), held)
