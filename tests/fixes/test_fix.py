"""`osbctl fix`: what is mended means what was meant, and every other byte stays."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from osbctl.errors import DocumentError, UsageError
from osbctl.findings import Severity
from osbctl.sources.parse import parse_document
from osbctl.tasks.fix import Mended, fix_bytes, fix_source, write
from osbctl.validation.options import ValidationOptions
from tests.corpus import CORPUS, needs_corpus

OPTIONS = ValidationOptions()
HEAD = "services:\n- name: a\n  id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4\n  description: d\n"
PLAN = "  plans:\n  - {id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4, name: p, free: true, description: d}\n"
D4 = "http://json-schema.org/draft-04/schema#"


def mend(text: str, name: str = "c.yaml", unsafe: bool = False) -> tuple[str, Mended]:
    found = fix_bytes(name, text.encode(), OPTIONS, unsafe=unsafe)
    return found.after[name].decode(), found


@pytest.mark.parametrize(
    ("old", "new", "unsafe"),
    [
        ('  bindable: "true"   # keep\n', "  bindable: true   # keep\n", False),
        ("  bindable: no\n", "  bindable: false\n", False),
        ("  bindable: 'Off'\n", "  bindable: false\n", False),
        ("  bindable: false\n  tags: one # of them\n", '  bindable: false\n  tags: ["one"] # of them\n', False),
        ("  bindable: false\n  tags: 'it''s'\n", "  bindable: false\n  tags: ['it''s']\n", False),
        ("  bindable: false\n  tags: [no, 'on', y]\n", '  bindable: false\n  tags: ["no", \'on\', "y"]\n', False),
        (
            "  bindable: true\n  metadata: {y: 1, 'y ': &a no, no: [No]}\n  on: x\n",
            '  bindable: true\n  metadata: {"y": 1, \'y \': &a no, "no": ["No"]}\n  "on": x\n',
            False,
        ),
        ("  bindable: false\n  planUpdateable: true\n", "  bindable: false\n  plan_updateable: true\n", True),
        ('  bindable: false\n  "plan_updatable": true\n', '  bindable: false\n  "plan_updateable": true\n', True),
        (
            "  bindable: false\n  metadata:\n    displayName: 12\n",
            '  bindable: false\n  metadata:\n    displayName: "12"\n',
            True,
        ),
    ],
)
def test_a_value_is_mended_and_all_else_stays(old: str, new: str, unsafe: bool) -> None:
    after, found = mend(HEAD + old + PLAN, unsafe=unsafe)
    assert after == HEAD + new + PLAN
    assert len(found.mended) >= 1
    assert mend(after, unsafe=unsafe)[0] == after
    crlf, _ = mend((HEAD + old + PLAN).replace("\n", "\r\n"), unsafe=unsafe)
    assert crlf == (HEAD + new + PLAN).replace("\n", "\r\n")
    if unsafe:
        untouched, safe_only = mend(HEAD + old + PLAN)
        assert untouched == HEAD + old + PLAN and safe_only.unsafe


@pytest.mark.parametrize(
    "text",
    [
        HEAD.replace("6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4", "012")
        + "  bindable: true\n"
        + PLAN,  # ids are never touched
        HEAD
        + "  bindable: false\n  plan_updatable: true\n  plan_updateable: false\n"
        + PLAN,  # the right one stands there
        HEAD + "  bindable: false\n  planUpdateable: 'yes'\n" + PLAN,  # of another type
        HEAD + "  bindable: &x 'yes'\n  other: *x\n" + PLAN,  # an alias would change, too
        HEAD + "  bindable: |\n    true\n" + PLAN,
        HEAD + "  bindable: maybe\n" + PLAN,
    ],
)
def test_what_only_the_author_knows_is_left(text: str) -> None:
    after, _ = mend(text, unsafe=True)
    assert (
        parse_document(after.encode(), "c.yaml").data["services"][0].keys()
        == yaml.safe_load(text)["services"][0].keys()
    )
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
    assert mend(text + plan, unsafe=True)[0] == text + after


def test_json_keeps_its_layout() -> None:
    plan = '{\n      "id": "x",\n      "name": "p",\n      "description": "d",\n      "metadata": {}\n    }'
    text = f'{{"services": [{{"id": "i", "name": "n", "bindable": "no", "plans": [\n    {plan}]}}]}}'
    after, _ = mend(text, "c.json", unsafe=True)
    assert after == text.replace('"no"', "false").replace('"metadata"', '"free": true,\n      "metadata"')


def test_a_byte_order_mark_stays() -> None:
    found = fix_bytes("c.yaml", b"\xef\xbb\xbf" + (HEAD + "  bindable: no\n" + PLAN).encode(), OPTIONS)
    assert found.after["c.yaml"] == b"\xef\xbb\xbf" + (HEAD + "  bindable: false\n" + PLAN).encode()


def with_schema(schema: dict[str, Any]) -> str:
    plan = {"id": "x", "name": "p", "description": "d", "free": True, "bindable": False}
    plan["schemas"] = {"service_instance": {"create": {"parameters": schema}}}
    return json.dumps({"services": [{"id": "i", "name": "n", "description": "d", "bindable": False, "plans": [plan]}]})


def schema_of(text: str) -> Any:
    return json.loads(text)["services"][0]["plans"][0]["schemas"]["service_instance"]["create"]["parameters"]


@pytest.mark.parametrize(
    ("schema", "safe", "unsafe"),
    [
        ({"type": "object", "properties": {"a": {"minimum": 1}}}, D4, D4),
        ({"type": "object", "properties": {"a": {"const": 1}}}, None, D4),  # draft-04 knows no const
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}, D4, D4),
        (
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"const": 1}}},
            "same",
            "same",
        ),
        ({"$schema": "https://json-schema.org/draft-04/schema#", "type": "object"}, "same", D4),
    ],
)
def test_a_draft_is_changed_only_where_the_same_requests_pass(
    schema: dict[str, Any], safe: str | None, unsafe: str | None
) -> None:
    for flag, wanted in ((False, safe), (True, unsafe)):
        after = schema_of(mend(with_schema(schema), "c.json", unsafe=flag)[0])
        assert after.get("$schema") == (schema.get("$schema") if wanted == "same" else wanted)
        assert {k: v for k, v in after.items() if k != "$schema"} == {k: v for k, v in schema.items() if k != "$schema"}


def test_a_folder_is_mended_in_its_files(tmp_path: Path) -> None:
    (tmp_path / "services/a/plans").mkdir(parents=True)
    (tmp_path / "services/a.yaml").write_text(
        HEAD.partition("\n")[2].replace("- name", "name").replace("  ", "") + "bindable: 'yes' # well\n"
    )
    plan = tmp_path / "services/a/plans/p.yaml"
    plan.write_text("id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4\nname: p\ndescription: no # so\n")
    found = fix_source(str(tmp_path), OPTIONS, unsafe=True)
    assert sorted(found.changed) == [str(tmp_path / "services/a.yaml"), str(plan)]
    assert plan.read_text().endswith("description: no # so\n")  # nothing is written yet
    assert all(f.location and f.location.source.startswith(str(tmp_path)) for f in found.mended)
    write(found)
    assert (tmp_path / "services/a.yaml").read_text().endswith("bindable: true # well\n")
    assert plan.read_text().endswith('\nname: p\nfree: true\ndescription: "no" # so\n')
    assert found.left == ()
    assert not fix_source(str(tmp_path), OPTIONS, unsafe=True).changed


def test_a_value_that_many_share_is_left(tmp_path: Path) -> None:
    (tmp_path / "services").mkdir()
    (tmp_path / "catalog.yaml").write_text("defaults:\n  service:\n    bindable: 'yes'\n")
    for name in "ab":
        text = HEAD.partition("\n")[2].replace("- name: a", f"name: {name}").replace("  ", "")
        (tmp_path / f"services/{name}.yaml").write_text(
            text.replace("6C", "0" + ("A" if name == "a" else "B"))
            + PLAN.replace("\n  ", "\n").replace("  plans", "plans")
        )
    found = fix_source(str(tmp_path), OPTIONS)
    after = {name: new for name, (_, new) in found.changed.items()}
    assert not after or b"bindable: true" in after[str(tmp_path / "catalog.yaml")]


def test_what_is_no_file_cannot_be_mended() -> None:
    with pytest.raises(UsageError, match="no file that could be edited"):
        fix_source("HEAD:catalogs/faulty.yaml", OPTIONS)


def mendable(old: Any, new: Any) -> Any:
    """`old` with what `fix` may do, as far as it can be told from the values alone; the rest must be equal."""
    if isinstance(old, dict) and isinstance(new, dict):
        squeezed = {key.replace("_", "").replace("-", "").lower(): value for key, value in old.items()}
        return {
            key: mendable(old[key] if key in old else squeezed.get(key.replace("_", "").lower(), value), value)
            for key, value in new.items()
        }
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [mendable(a, b) for a, b in zip(old, new, strict=True)]
    changed = type(old) is not type(new)
    return new if changed and (new == [old] or str(new).lower() in (str(old).lower(), "true", "false")) else old


def check(name: str, data: bytes) -> None:
    for unsafe in (False, True):
        found = fix_bytes(name, data, OPTIONS, unsafe=unsafe)
        after = parse_document(found.after[name], name).data
        before = parse_document(data, name).data
        again = fix_bytes(name, found.after[name], OPTIONS, unsafe=unsafe)
        assert not again.changed
        errors = [f for f in found.left if f.severity is Severity.ERROR]
        assert len(errors) <= len(
            [f for f in fix_bytes(name, data, OPTIONS).left if f.severity is Severity.ERROR] or errors
        )
        strip = copy.deepcopy(after)
        assert mendable(before, strip) == after


@needs_corpus
def test_the_real_catalogs_are_mended_and_stay_what_they_are() -> None:
    mended = 0
    for file in sorted((CORPUS / "catalogs").iterdir()):
        try:
            check(file.name, file.read_bytes())
        except DocumentError:
            continue
        mended += 1
    assert mended > 60


VALUES = st.sampled_from(["true", "no", True, 1, 1.5, "x", ["a"], "a", None, {}, {"costs": "1"}, "12"])
FIELDS = st.sampled_from(
    ["bindable", "free", "tags", "planUpdateable", "plan_updateable", "metadata", "requires", "id", "x: y"]
)


@given(
    st.dictionaries(FIELDS, VALUES, max_size=5),
    st.dictionaries(FIELDS, VALUES, max_size=5),
    st.booleans(),
    st.sampled_from([None, 1, 4]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_generated(service: Any, plan: Any, as_yaml: bool, indent: int | None) -> None:
    data = {"services": [{"name": "n", "description": "d", **service, "plans": [{"name": "p", **plan}]}]}
    if as_yaml:
        check("c.yaml", yaml.safe_dump(data, default_flow_style=indent is None, sort_keys=indent == 1).encode())
    else:
        check("c.json", json.dumps(data, indent=indent).encode())
