"""`osbctl fix`: what is mended means what was meant, and every other byte stays."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from osbctl.commands.fix import FixResult, fix_bytes, fix_source, write_fixed_files
from osbctl.errors import SourceError, UsageError
from osbctl.findings import DocumentError, Finding, Fix, Severity
from osbctl.fixes import Edit, Pass, apply_edits, make_edit, offset_before
from osbctl.platforms.verdict import VerdictKind
from osbctl.sources.document import parse_document
from osbctl.sources.places import Span
from osbctl.validation import schema_errors
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.deploy.harness import write
from tests.git import commit

OPTIONS = ValidationOptions()
ID = "6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4"
HEAD = f"services:\n- name: a\n  id: {ID}\n  description: d\n"
SERVICE = HEAD.partition("\n")[2].replace("- name", "name").replace("  ", "")
"""The same service offering, as its file of a source folder begins."""
PLAN = "  plans:\n  - {id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4, name: p, free: true, description: d}\n"
D4, D6, D7 = (f"http://json-schema.org/draft-{number}/schema#" for number in ("04", "06", "07"))
D2020 = "https://json-schema.org/draft/2020-12/schema"


def fix_text(text: str, name: str = "c.yaml", unsafe: bool = False) -> tuple[str, FixResult]:
    found = fix_bytes(name, text.encode(), OPTIONS, unsafe=unsafe)
    return found.after[name].decode(), found


ELSEWHERE = "the same text is used elsewhere, too"
LISTS = "  bindable: false\n  tags:{}\n"


@pytest.mark.parametrize(("written", "safely", "unsafely", "hint"), [
    ("\n    -ondemand\n    -document", None, None, "a space is missing behind the hyphen"),
    (" -ondemand", None, None, "a space is missing behind the hyphen"),
    (" sql, relational", None, ' ["sql", "relational"]', 'write a list: ["sql", "relational"]'),
    (" 'sql,relational,'", None, ' ["sql", "relational"]', 'write a list: ["sql", "relational"]'),
    (" sql db", None, ' ["sql db"]', "write a list, even of a single entry"),
    (" |\n    - a\n    - b", None, None, "write a list, even of a single entry"),
    (' ""', None, None, "write a list, even of a single entry"),
    (" sql", ' ["sql"]', ' ["sql"]', "write a list, even of a single entry"),
])  # fmt: skip
def test_a_list_is_made_of_one_entry_alone(written: str, safely: str | None, unsafely: str | None, hint: str) -> None:
    text = HEAD + LISTS.format(written) + PLAN
    for unsafe, expected in (False, safely), (True, unsafely):
        after, _ = fix_text(text, unsafe=unsafe)
        assert after == (HEAD + LISTS.format(expected) + PLAN if expected else text)
    findings = validate_document(parse_document(text.encode(), "c.yaml"), OPTIONS).findings
    assert hint in {finding.advice for finding in findings}


@pytest.mark.parametrize("key", ["schema", "$Schema", "schema$"])
@pytest.mark.parametrize("draft", [D4, "http://json-schema.org/draft-07/schema#"])
def test_a_misnamed_draft_is_renamed(key: str, draft: str) -> None:
    plan = PLAN.replace("description: d}", "description: d, schemas: {service_instance: {create: {parameters: {%s}}}}}")
    text = HEAD + "  bindable: false\n" + plan % f'type: object, {key}: "{draft}"'
    after, found = fix_text(text, unsafe=True)
    assert after == text.replace(f"{key}:", "$schema:").replace(draft, D4)  # which every platform takes
    assert found.fixed[0].hint == f"rename {key} to $schema"
    assert fix_text(text)[0] == after, "it is proved that the same requests pass"


@pytest.mark.parametrize(("old", "new", "unsafe"), [
    ('  bindable: "true"   # keep\n', "  bindable: true   # keep\n", False),
    ("  bindable: no\n", "  bindable: false\n", False),
    ("  bindable: 'Off'\n", "  bindable: false\n", False),
    ("  bindable: false\n  tags: one # of them\n", '  bindable: false\n  tags: ["one"] # of them\n', False),
    ("  bindable: false\n  tags: 'it''s'\n", "  bindable: false\n  tags: ['it''s']\n", False),
    ("  bindable: false\n  tags: [no, 'on', y]\n", '  bindable: false\n  tags: ["no", \'on\', "y"]\n', True),
    (
        "  bindable: true\n  metadata: {y: 1, 'y ': &a no, no: [No]}\n  on: x\n",
        '  bindable: true\n  metadata: {"y": 1, \'y \': &a no, "no": ["No"]}\n  "on": x\n',
        True,
    ),
    ("  bindable: false\n  planUpdateable: true\n", "  bindable: false\n  plan_updateable: true\n", True),
    ("  bindable: false\n  planUpdateable: yes\n", "  bindable: false\n  plan_updateable: true\n", True),
    ('  bindable: false\n  "plan_updatable": true\n', '  bindable: false\n  "plan_updateable": true\n', True),
    (
        "  bindable: false\n  metadata:\n    displayName: 12\n",
        '  bindable: false\n  metadata:\n    displayName: "12"\n',
        True,
    ),
])  # fmt: skip
def test_a_value_is_mended_and_all_else_stays(old: str, new: str, unsafe: bool) -> None:
    after, found = fix_text(HEAD + old + PLAN, unsafe=unsafe)
    assert after == HEAD + new + PLAN
    assert len(found.fixed) >= 1
    assert fix_text(after, unsafe=unsafe)[0] == after
    for end in ("\r\n", "\r"):
        made, _ = fix_text((HEAD + old + PLAN).replace("\n", end), unsafe=unsafe)
        assert made == (HEAD + new + PLAN).replace("\n", end)
    if unsafe:
        untouched, safe_only = fix_text(HEAD + old + PLAN)
        assert untouched == HEAD + old + PLAN and safe_only.unsafe


@pytest.mark.parametrize(("id", "lines"), [
    ("012", "  bindable: true\n"),  # ids are never touched
    (ID, "  bindable: false\n  plan_updatable: true\n  plan_updateable: false\n"),  # the right one stands there
    (ID, "  bindable: &x 'yes'\n  other: *x\n"),  # an alias would change, too
    (ID, "  bindable: |\n    true\n"),
    (ID, "  bindable: maybe\n"),
])  # fmt: skip
def test_what_only_the_author_knows_is_left(id: str, lines: str) -> None:
    text = HEAD.replace(ID, id) + lines + PLAN
    after, _ = fix_text(text, unsafe=True)
    assert yaml.safe_load(after)["services"][0].keys() == yaml.safe_load(text)["services"][0].keys()
    assert after.splitlines()[1:6] == text.splitlines()[1:6]


@pytest.mark.parametrize(
    ("plan", "after"),
    [
        ("  - id: x\n    name: p\n    description: d\n    bullets: []\n", "  - id: x\n    name: p\n    description: d\n    free: true\n    bullets: []\n"),
        ("  - {id: x, name: p, description: d}\n", "  - {id: x, name: p, free: true, description: d}\n"),
        ("  -   name: p\n", "  -   free: true\n      name: p\n"),
        ('  - {"id":"x","schemas":{}}\n', '  - {"id":"x","free": true, "schemas":{}}\n'),
    ],
)  # fmt: skip
def test_an_entry_is_added_as_its_neighbours_are_written(plan: str, after: str) -> None:
    text = HEAD + "  bindable: false\n  plans:\n"
    assert fix_text(text + plan, unsafe=True)[0] == text + after


def test_json_keeps_its_layout() -> None:
    plan = '{\n      "id": "x",\n      "name": "p",\n      "description": "d",\n      "metadata": {}\n    }'
    text = f'{{"services": [{{"id": "i", "name": "n", "bindable": "no", "plans": [\n    {plan}]}}]}}'
    after, _ = fix_text(text, "c.json", unsafe=True)
    assert after == text.replace('"no"', "false").replace('"metadata"', '"free": true,\n      "metadata"')


def test_an_entry_is_added_without_a_look_at_all_others() -> None:
    class Asked(dict[tuple[str | int, ...], Span]):
        items = keys = values = __iter__ = None  # type: ignore[assignment]  # as many entries as fixes: that would be a square

    document = parse_document(b'{"services": [{"id": "i"}, {"id": "j"}]}', "c.json")
    path = ("services", 1, "bindable")
    made = make_edit(document, Asked(document.spans()), Fix("set", path, True), path)
    assert made is not None
    assert apply_edits(document.text, [made]) == '{"services": [{"id": "i"}, {"bindable": true, "id": "j"}]}'


def test_an_item_and_a_list_of_several_lines_cannot_be_edited() -> None:
    document = parse_document(b"services:\n- tags:\n  - a\n  - b\n  name: n\n", "c.yaml")
    tags, spans = ("services", 0, "tags"), document.spans()
    for fix in (Fix("remove", (*tags, 1)), Fix("rename", (*tags, 1), "c"), Fix("set", tags, ["a"])):
        assert isinstance(make_edit(document, spans, fix, fix.path), str), fix
    edit = make_edit(document, spans, Fix("set", (*tags, 1), "c"), (*tags, 1))
    assert isinstance(edit, Edit)
    assert apply_edits(document.text, [edit]) == document.text.replace("- b", '- "c"')


def test_a_byte_order_mark_stays() -> None:
    found = fix_bytes("c.yaml", b"\xef\xbb\xbf" + (HEAD + "  bindable: no\n" + PLAN).encode(), OPTIONS)
    assert found.after["c.yaml"] == b"\xef\xbb\xbf" + (HEAD + "  bindable: false\n" + PLAN).encode()


def with_schema(schema: dict[str, Any]) -> str:
    plan = {"id": "x", "name": "p", "description": "d", "free": True, "bindable": False}
    plan["schemas"] = {"service_instance": {"create": {"parameters": schema}}}
    return json.dumps({"services": [{"id": "i", "name": "n", "description": "d", "bindable": False, "plans": [plan]}]})


@pytest.mark.parametrize(("schema", "safe", "unsafe"), [
    ({"type": "object", "properties": {"a": {"minimum": 1}}}, D4, D4),
    ({"type": "object", "properties": {"a": {"const": 1}}}, D6, D6),  # draft-04 knows no const
    ({"type": "object", "properties": {"a": {"if": {}, "then": {"minLength": 1}}}}, None, None),
    ({"$schema": D2020, "type": "object"}, D4, D4),
    ({"$schema": D2020, "properties": {"a": {"const": 1}}}, D6, D6),
    ({"$schema": D2020, "properties": {"a": {"if": {}, "then": {"minLength": 1}}}}, "same", "same"),
    ({"$schema": D7, "properties": {"a": {"format": "date"}}}, "same", D4),
    ({"$schema": D7.replace("http:", "https:"), "properties": {"a": {"type": "integer"}}}, "same", D6),
    ({"$schema": "https://example.com/schema", "type": "object"}, "same", "same"),
    ({"$schema": "https://json-schema.org/draft-04/schema#", "type": "object"}, "same", D4),
])  # fmt: skip
def test_a_draft_stays_if_requests_differ(schema: dict[str, Any], safe: str | None, unsafe: str | None) -> None:
    for flag, wanted in ((False, safe), (True, unsafe)):
        (plan,) = json.loads(fix_text(with_schema(schema), "c.json", unsafe=flag)[0])["services"][0]["plans"]
        after = plan["schemas"]["service_instance"]["create"]["parameters"]
        assert after.get("$schema") == (schema.get("$schema") if wanted == "same" else wanted)
        assert {k: v for k, v in after.items() if k != "$schema"} == {k: v for k, v in schema.items() if k != "$schema"}


def test_a_folder_is_mended_in_its_files(tmp_path: Path) -> None:
    plan = tmp_path / "services/a/plans/p.yaml"
    text = "id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4\nname: p\ndescription: no # so\n"
    write(tmp_path, {"services/a.yaml": SERVICE + "bindable: 'yes' # well\n", "services/a/plans/p.yaml": text})
    found = fix_source(str(tmp_path), OPTIONS, unsafe=True)
    assert sorted(found.changed_files) == [str(tmp_path / "services/a.yaml"), str(plan)]
    assert plan.read_text().endswith("description: no # so\n")  # nothing is written yet
    assert all(f.location and f.location.source.startswith(str(tmp_path)) for f in found.fixed)
    write_fixed_files(found)
    assert (tmp_path / "services/a.yaml").read_text().endswith("bindable: true # well\n")
    assert plan.read_text().endswith('\nname: p\nfree: true\ndescription: "no" # so\n')
    assert found.remaining == ()
    assert not fix_source(str(tmp_path), OPTIONS, unsafe=True).changed_files


def test_a_variable_of_the_build_stays(tmp_path: Path) -> None:
    plans = PLAN.replace("  plans", "plans", 1)
    write(tmp_path, {"services/a.yaml": f"{SERVICE}{plans}tags: ${{T:-sql}}\nbindable: ${{B:-true}}\n"})
    found = fix_source(str(tmp_path), OPTIONS, unsafe=True)
    assert {finding.path[-1] for finding in found.remaining} >= {"tags", "bindable"}
    assert {why for _, why in found.unfixable} == {"its text has a variable of the build"}
    assert not found.changed_files


def test_a_value_that_many_share_is_left(tmp_path: Path) -> None:
    plans = PLAN.replace("\n  ", "\n").replace("  plans", "plans")
    write(tmp_path, {"catalog.yaml": "defaults:\n  service:\n    bindable: 'yes'\n"})
    for name in "ab":
        text = SERVICE.replace("name: a", f"name: {name}").replace("6C", f"0{name.upper()}")
        write(tmp_path, {f"services/{name}.yaml": text + plans})
    after = {name: new for name, (_, new) in fix_source(str(tmp_path), OPTIONS).changed_files.items()}
    assert not after or b"bindable: true" in after[str(tmp_path / "catalog.yaml")]


def test_of_two_edits_that_overlap_the_first_is_made() -> None:
    assert apply_edits("abcd", [Edit(1, 3, "y"), Edit(0, 2, "x"), Edit(3, 4, "z"), Edit(0, 2, "x")]) == "xcz"


def test_an_offset_is_followed_back_through_edits() -> None:
    edits = [Edit(1, 3, "long"), Edit(2, 4, "overlaps"), Edit(5, 5, "new"), Edit(6, 8, "")]
    after = apply_edits("abcdefghij", edits)
    assert after == "alongdenewfij"
    assert [*map(offset_before(edits), range(len(after)))] == [0, 1, 1, 1, 1, 3, 4, 5, 5, 5, 5, 8, 9]


def test_lines_are_those_of_the_file_before_the_passes() -> None:
    shared = "  plan_updateable: &f 'no'\n  x: *f\n"
    plan = "  plans:\n  - id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4\n    name: yes\n    metadata: {}\n    description: 1:30\n"
    _, found = fix_text(HEAD + "  bindable: true\n" + plan + shared, unsafe=True)
    assert [str(one.location) for one in found.fixed] == ["c.yaml:7:5", "c.yaml:8:11", "c.yaml:10:18"]
    assert [str(one.location) for one, _ in found.unfixable] == ["c.yaml:12:3"]
    assert [str(one.location) for one, _ in found.unfixable_before] == ["c.yaml:11:3"]


def test_what_is_no_file_cannot_be_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c.yaml").write_text(FAULT)
    commit(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="not a file that can be edited"):
        fix_source("HEAD:c.yaml", OPTIONS)
    for text in ("---\na: 1\n---\n" + HEAD + PLAN, json.dumps({"catalog.yaml": HEAD + PLAN})):
        with pytest.raises(UsageError, match="no text inside a string or a stream"):
            fix_text(text)


def fix_file(source: Path, **asked: Any) -> FixResult:
    """Mend what is on disk."""
    found = fix_source(str(source), OPTIONS, **asked)
    write_fixed_files(found)
    return found


FAULT = HEAD + "  bindable: 'no'\n" + PLAN
MENDED = HEAD + "  bindable: false\n" + PLAN


def test_a_link_stays_a_link_and_the_owner_the_owner(tmp_path: Path) -> None:
    file, link = tmp_path / "real" / "c.yaml", tmp_path / "link.yaml"
    file.parent.mkdir()
    file.write_text(FAULT)
    file.chmod(0o664)
    link.symlink_to("real/c.yaml")
    owner = (12345, 23456) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(file, *owner)
    with file.open() as reader:
        fix_file(link)
        assert reader.read() == FAULT, "the file is replaced: a killed process leaves the old one or the new one"
    assert link.is_symlink()
    assert file.read_text() == MENDED
    state = file.stat()
    assert (state.st_uid, state.st_gid, state.st_mode & 0o777) == (*owner, 0o664)
    assert [path.name for path in file.parent.iterdir()] == ["c.yaml"]


def test_a_catalog_inside_of_a_larger_file(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    text = "other: &x {{free: no}}\nbroker:\n{}also: *x\n"
    inside, mended = ("".join(f"  {line}\n" for line in one.splitlines()) for one in (FAULT, MENDED))
    file.write_text(text.format(inside))
    fix_file(file, at="/broker")
    assert file.read_text() == text.format(mended)


def test_a_text_that_counts_in_two_places_stays_and_the_others_are_mended() -> None:
    shared = "  plan_updateable: &f 'no'\n  x: *f\n  metadata: &m {bullets: one, shareable: 'no'}\n"
    plan = "  - {id: q, name: q, description: d, free: 'no', bindable: true, metadata: *m}\n"
    text = HEAD + "  bindable: 'no'\n" + shared + PLAN + plan
    after, found = fix_text(text, unsafe=True)
    stuck = [(one.path[-1], why) for one, why in found.unfixable]
    assert stuck == [(field, ELSEWHERE) for field in ("plan_updateable", "bullets", "shareable")]
    assert after == HEAD + "  bindable: false\n" + shared + PLAN + plan.replace("'no'", "false")


def test_only_the_fixes_that_were_made_are_counted() -> None:
    document = parse_document(b'{"a": "no", "b": "no"}', __file__)
    fixes = tuple(Fix("set", path, False, True) for path in (("x", "y"), ("a",), ("b",)))
    finding = Finding("schema-type", Severity.ERROR, "m", ("x", "y"), fixes=fixes)
    step = Pass(document, {__file__: document.text.encode()})
    step.make_edits([(finding, fix) for fix in fixes])
    assert [found.fixes for found in step.fixed_findings] == [fixes[1:]]
    assert step.obstacles == {finding: "there is no text that can be edited safely"}


def test_a_folder_that_cannot_be_read_is_told_by_its_own_name(tmp_path: Path) -> None:
    file = write(tmp_path, {"services/a.yaml": "name: [\n"}) / "services/a.yaml"
    with pytest.raises(DocumentError) as fault:
        fix_source(str(tmp_path), OPTIONS)
    assert fault.value.findings[0].location and fault.value.findings[0].location.source == str(file)


def test_in_a_folder_links_stay_links(tmp_path: Path) -> None:
    shared = tmp_path / "shared" / "a.yaml"
    write(tmp_path, {"shared/a.yaml": "name: a\nid: x\ndescription: d\nbindable: 'no'\nplans: []\n"})
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "a.yaml").symlink_to("../shared/a.yaml")
    fix_file(tmp_path)
    assert (tmp_path / "services" / "a.yaml").is_symlink()
    assert "bindable: false\n" in shared.read_text()


def test_more_errors_than_a_report_names_are_all_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_errors, "MAX_FINDINGS", 100)
    plans = "".join(f"  - {{id: i{n}, name: p{n}, description: d, bindable: 'yes'}}\n" for n in range(120))
    mended, _ = fix_text(f"{HEAD}  bindable: true\n  plans:\n{plans}")
    assert mended.count("bindable: true}") == 120


def test_more_than_a_reader_points_out_at_a_time() -> None:
    words = "  bindable: true\n  x:\n" + "  - no\n" * 250
    assert fix_text(HEAD + words + PLAN, unsafe=True)[0] == HEAD + words.replace("no", '"no"') + PLAN


def test_what_was_saved_while_it_was_mended_is_not_lost(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(FAULT)
    found = fix_source(str(file), OPTIONS)
    file.write_text(FAULT + "# saved by an editor\n")
    with pytest.raises(SourceError, match="has changed since it was read"):
        write_fixed_files(found)
    assert file.read_text() == FAULT + "# saved by an editor\n"
    file.write_text(MENDED)  # the same was done by another run
    write_fixed_files(found)
    assert file.read_text() == MENDED


NULLS = """\
services:
- name: a
  id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
  description: d
  bindable: true
  metadata: null
  dashboard_client:
  plans:
  - metadata: ~
    id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4
    name: p
    free: true
    description: d
    schemas:
      service_instance:
        update:
          parameters: null
      service_binding: {create: {parameters: null}}
"""


def test_nulls_that_every_platform_takes_for_nothing_are_one_info_and_are_dropped() -> None:
    judgement = validate_document(parse_document(NULLS.encode(), "c.yaml"), OPTIONS)
    (finding,) = judgement.findings
    assert (finding.rule, finding.severity, finding.message[:7]) == ("null-object", "info", "5 nulls")
    assert {verdict.kind for verdict in judgement.verdicts.values()} == {VerdictKind.ACCEPTS}
    after, found = fix_text(NULLS)
    expected = NULLS.replace("  metadata: null\n  dashboard_client:\n", "").replace("metadata: ~\n    ", "")
    assert after == expected.replace("parameters: null\n", "{}\n").replace("{parameters: null}", "{}")
    assert (len(found.fixed), found.remaining) == (1, ())
    # As Go's SDK sends it: JSON, in one line.
    text, found = fix_text(json.dumps(yaml.safe_load(NULLS)), "c.json")
    assert json.loads(text) == yaml.safe_load(after)
    assert found.remaining == ()


@pytest.mark.parametrize("line", ["  metadata: null  # why\n", "  metadata: &a null\n"])
def test_a_null_with_something_beside_it_stays(line: str) -> None:
    text = NULLS.replace("  metadata: null\n  dashboard_client:\n", "")
    text = text.replace("    schemas:\n", f"  {line}    schemas:\n")
    text = text[: text.index("    schemas:")].replace("  - metadata: ~\n    id", "  - id")
    after, found = fix_text(text)
    assert after == text
    assert [finding.rule for finding in found.remaining] == ["null-object"]


@pytest.mark.parametrize("field", ["tags", "requires", "bindable", "plans", "description"])
def test_a_null_that_a_platform_refuses_stays_an_error(field: str) -> None:
    catalog = yaml.safe_load(NULLS)
    catalog["services"][0][field] = None
    found = validate_document(parse_document(json.dumps(catalog).encode(), "c.json"), OPTIONS).findings
    assert [one.rule for one in found if one.severity == "error"] == ["schema-type"]
    assert next(one for one in found if one.severity == "error").refused_by


def test_a_spring_configuration_is_mended_in_its_own_spelling() -> None:
    plan = PLAN.replace("  plans:", "    plans:").replace("  - ", "    - ")
    head = HEAD.replace("\n", "\n  ").rstrip(" ").replace("services", "  services")
    head = f"spring.cloud.openservicebroker.catalog:\n  other: no\n{head}"
    text = f"{head}    instanceRetrievable: 'true'\n    metdata: {{display-name: 1}}\n{plan}"
    text = text.replace("free: true", "free: true, maximumPollingDuraton: 60")
    at = "/spring.cloud.openservicebroker.catalog"
    found = fix_bytes("application.yml", text.encode(), OPTIONS, unsafe=True, at=at)
    after = found.after["application.yml"].decode()
    assert "maximumPollingDuration: 60," in after
    assert "instancesRetrievable: 'true'\n    metadata: {display-name: 1}\n" in after
    assert "_" not in after.replace("openservicebroker", "")
    assert "  other: no\n" in after, "only the service offerings are mended"
    assert {finding.rule for finding in found.fixed} == {"field-near-miss"}


@pytest.mark.parametrize(("old", "new"), [
    ("{type: object}", '{"[$schema]": "http://json-schema.org/draft-04/schema#", type: object}'),
    ("{type: object, $schema: http://json-schema.org/draft-04/schema#}", '{type: object, "[$schema]": http:'),
    ("{'$schema': 'http://json-schema.org/draft-04/schema#'}", "{'[$schema]': 'http:"),
    ("{'[$schema]': https://json-schema.org/draft-04/schema#}", "{'[$schema]': \"http:"),
])  # fmt: skip
def test_the_draft_of_a_schema_in_a_spring_configuration_stands_in_brackets(old: str, new: str) -> None:
    """Without them, Spring's broker sends `schema`."""
    schemas = f"[{{id: p, name: p, description: d, schemas: {{service-instance: {{create: {{parameters: {old}}}}}}}}}]"
    text = f"spring.cloud.openservicebroker.catalog:\n  services: [{{name: a, plans: {schemas}}}]\n"
    at = "/spring.cloud.openservicebroker.catalog"
    found = fix_bytes("application.yml", text.encode(), OPTIONS, unsafe=True, at=at)
    assert f"parameters: {new}" in found.after["application.yml"].decode()
    assert not {"parameters-dialect-missing", "spring-binding"} & {finding.rule for finding in found.remaining}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_an_entry_before_the_first_of_an_item_is_indented_as_that_one(end: str) -> None:
    old = HEAD + "  bindable: true\n  plans:\n  - schemas:\n      service_instance: {}\n"
    new = old.replace("- schemas", "- free: true\n    schemas")
    assert fix_text(old.replace("\n", end), unsafe=True)[0] == new.replace("\n", end)


@pytest.mark.parametrize(
    "comment", ["    # of the metadata\n", "    # osbctl: ignore[metadata-type] why\n    # and more\n"]
)
def test_a_new_entry_stands_above_the_comments_of_the_next(comment: str) -> None:
    plan = "  bindable: true\n  plans:\n  - name: p\n    id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4\n    description: d\n"
    metadata = comment + "    metadata: {bullets: []}\n"
    after, _ = fix_text(HEAD + plan + metadata, unsafe=True)
    assert after == HEAD + plan + "    free: true\n" + metadata
    quoted = metadata.replace("metadata: {", '"metadata": {')
    after, _ = fix_text(HEAD + plan + quoted, unsafe=True)
    assert after == HEAD + plan + '    "free": true\n' + quoted  # keys are written as the next one is
