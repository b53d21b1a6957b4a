"""Changes through every format, and what each asks for."""

import json
import re
import tomllib
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from osbctl.changes import READING_ORDER, Change, DiffFailOn, Effect, Level, ObjectRef, join_equal
from osbctl.commands.settings import all_rules
from osbctl.findings import Finding, Location, Severity
from osbctl.platforms import Platform
from osbctl.reports.changes import DiffFormat, DiffReport, render
from tests.case import each
from tests.reports.standards import assert_only_escapes, checked_json, checked_sarif

REMOVED = Change(
    rule="change-plan-removed",
    sentence="removed",
    effects=(
        Effect(Platform.CLOUD_FOUNDRY, Level.BREAKING, "deletes it"),
        Effect(Platform.SERVICE_MANAGER, Level.REFUSED, "refuses the whole update (409)"),
        Effect(Platform.KORIFI, Level.BREAKING, "deletes it"),
    ),
    service=ObjectRef("s1", "db"),
    plan=ObjectRef("p1", "small"),
    old="p1",
    old_path=("services", 0, "plans", 0),
    new_path=("services", 0, "plans"),
    old_location=Location("old.yaml", 7, 5),
    new_location=Location("new.yaml", 6, 3),
    advice="move its instances first",
)
WORDING = replace(
    REMOVED,
    rule="change-wording",
    sentence="description changed",
    values=' from "Small." to "Tiny."',
    effects=(Effect(Platform.KORIFI, Level.SAFE, "shows the new one"),),
    field="description",
    old="Small.",
    new="Tiny.",
    old_path=("services", 0, "plans", 0, "description"),
    new_path=("services", 0, "plans", 0, "description"),
)


def at_level(level: Level) -> Change:
    return replace(REMOVED, effects=(Effect(Platform.KORIFI, level, "does something"),))


def report(*changes: Change, fail_on: DiffFailOn = DiffFailOn.BREAKING, color: bool = False) -> DiffReport:
    return DiffReport("old.yaml", "new.yaml", changes, all_rules, fail_on=fail_on, root="/r", color=color)


TEXT = """\
refused: a platform refuses the update
  db/small: removed [change-plan-removed]
    old.yaml:7:5 → –
    Cloud Foundry, Korifi: deletes it
    SAP Service Manager: refuses the whole update (409)
    hint: move its instances first

safe: no impact
  db/small: description changed [change-wording]
    old.yaml:7:5 → new.yaml:6:3
    - description: "Small."
    + description: "Tiny."

old.yaml → new.yaml: 1 refused, 1 safe
"""
MARKDOWN = """\
### Catalog changes

`old.yaml` → `new.yaml`: **1 refused, 1 safe**

#### Refused

- **db/small**: removed (`change-plan-removed`)
  - old `old.yaml:7:5`, new –
  - Cloud Foundry, Korifi: deletes it
  - SAP Service Manager: refuses the whole update \\(409\\)
  - **Instead:** move its instances first

<details><summary>1 safe</summary>

- **db/small**: description changed from "Small." to "Tiny." (`change-wording`)
  - old `old.yaml:7:5`, new `new.yaml:6:3`

</details>
"""


def test_text_and_markdown() -> None:
    assert render(report(WORDING, REMOVED), DiffFormat.TEXT) == TEXT
    coloured = render(report(WORDING, REMOVED, color=True), DiffFormat.TEXT)
    assert_only_escapes(coloured, TEXT)
    assert "    \x1b[36mhint:\x1b[0m move its instances first\n" in coloured
    assert render(report(WORDING, REMOVED), DiffFormat.MARKDOWN) == MARKDOWN


LONG = {"display": "x" * 200}


@each("change, lines", [
    (WORDING, ["  db/small: description changed [change-wording]", "    old.yaml:7:5 → new.yaml:6:3"]),
    (replace(WORDING, old_location=Location("a/b.yaml", 3, 2)), ["    a/b.yaml:3:2 → new.yaml:6:3"]),
    (replace(WORDING, sentence="x", old=None, new_path=("a", "tags", 2)), ["    old.yaml:7:5 → new.yaml:6:3", '    + tags: "Tiny."']),
    (replace(WORDING, sentence="x changed (secret)", old="(secret)", new="(secret)"), ["    old.yaml:7:5 → new.yaml:6:3", ""]),
    # What is too long for one line stands in the message, cut around the difference.
    (replace(WORDING, sentence="x changed", values=" from a to b", old=LONG), ["  db/small: x changed from a to b [change-wording]"]),
    (replace(WORDING, sentence="x changed", values=" from a to b", new=LONG), ["    old.yaml:7:5 → new.yaml:6:3", ""]),
])  # fmt: skip
def test_the_excerpt_shows_values_in_place_of_the_message(change: Change, lines: list[str]) -> None:
    shown = render(report(change), DiffFormat.TEXT).split("\n")
    start = shown.index(lines[0])
    assert shown[start : start + len(lines)] == lines


def test_text_breaks_at_words_of_a_terminal_and_nowhere_else() -> None:
    wide = replace(REMOVED, sentence="removed " + "for a reason " * 20)
    narrow = render(replace(report(wide), width=80), DiffFormat.TEXT)
    assert max(map(len, narrow.splitlines())) <= 80
    assert narrow.split() == render(report(wide), DiffFormat.TEXT).split()


def test_a_common_effect_names_every_platform() -> None:
    alike = tuple(Effect(platform, Level.BREAKING, "deletes it") for platform in Platform)
    assert "    every platform: deletes it\n" in render(report(replace(REMOVED, effects=alike)), DiffFormat.TEXT)
    assert "    Cloud Foundry, " in render(report(replace(REMOVED, effects=alike[:3])), DiffFormat.TEXT)


@pytest.mark.parametrize(("number", "lines"), [(5, 4), (6, 1)])
def test_of_many_changes_each_has_one_line(number: int, lines: int) -> None:
    many = report(*[replace(WORDING, sentence=f"m{n}", values="") for n in range(number)])
    assert f"- {number} changes (`change-wording`)\n  - **db/small**: m0; " in render(many, DiffFormat.MARKDOWN)
    shown = render(many, DiffFormat.TEXT).splitlines()
    assert shown[1] == f"  {number} changes [change-wording]"
    assert len(shown) == 4 + lines * number
    assert (shown[2] == "    db/small: m0 (old.yaml:7:5 → new.yaml:6:3)") is (lines == 1)


READ = (DiffFormat.TEXT, DiffFormat.MARKDOWN, DiffFormat.GITHUB, DiffFormat.HTML)
"""Formats for people."""


@pytest.mark.parametrize("format", DiffFormat)
def test_what_breaks_users_comes_first_for_people(format: DiffFormat) -> None:
    changes = [replace(at_level(level), sentence=f"{level} m") for level in (Level.SAFE, *Level)]
    text = render(report(*changes, fail_on=DiffFailOn.ANY), format)
    in_given_order = ("safe", "refused", "breaking", "risky")
    order = {DiffFormat.JSON: [*Level], DiffFormat.ALLOW: in_given_order}.get(format, READING_ORDER)
    at = [text.index(f"{level} m") for level in order]
    assert at == sorted(at)
    assert "change-plan-removed" in text
    if format in (DiffFormat.TEXT, DiffFormat.MARKDOWN):
        assert "1 breaking, 1 refused, 1 risky, 2 safe" in text


def equal_changes(number: int, change: Change = REMOVED) -> list[Change]:
    return [
        replace(
            change,
            plan=ObjectRef(f"p{n}", f"plan-{n}"),
            old_path=("services", 0, "plans", n),
            old_location=Location("old.yaml", n + 11, 5),
            new_location=Location("new.yaml", n + 12, 3),
        )
        for n in range(number)
    ]


@pytest.mark.parametrize("format", DiffFormat)
def test_equal_changes_are_one_entry_for_people_and_many_for_machines(format: DiffFormat) -> None:
    text = render(report(*equal_changes(3), REMOVED), format)
    if format in READ:
        assert text.count("deletes it") == 1
        assert all(f"plan-{n}" in text for n in range(3))
    machine = {
        DiffFormat.JSON: lambda: [change["plan"]["id"] for change in json.loads(text)["changes"]],
        DiffFormat.GITLAB: lambda: {issue["fingerprint"] for issue in json.loads(text)},
        DiffFormat.SARIF: lambda: json.loads(text)["runs"][0]["results"],
        DiffFormat.JUNIT: lambda: [*ElementTree.fromstring(text).iter("testcase")],
        DiffFormat.ALLOW: lambda: tomllib.loads(text)["allow"],
    }
    assert format in READ or len(machine[format]()) == 4


def test_equal_changes_name_their_number_and_places() -> None:
    text = render(report(*equal_changes(3, WORDING)), DiffFormat.TEXT)
    assert text.startswith("safe: no impact\n  3 plans: description changed [change-wording]\n    db/plan-0 old.yaml:11:5 → new.yaml:12:3, db/plan-1 12:5 → 13:3, db/plan-2 13:5 → 14:3\n    - plans: \"Small.\"")  # fmt: skip
    markdown = render(report(*equal_changes(2)), DiffFormat.MARKDOWN)
    assert "- **2 plans**: removed (`change-plan-removed`)\n  - db/plan-0 (old `old.yaml:11:5`, new –), db/plan-1 (old `12:5`, new –)\n" in markdown  # fmt: skip
    assert "refused: 2 plans (db/plan-0, db/plan-1): removed. " in render(report(*equal_changes(2)), DiffFormat.GITHUB)
    services = [replace(change, plan=None, service=ObjectRef(f"s{n}", f"s{n}")) for n, change in enumerate(equal_changes(2))]  # fmt: skip
    assert "  2 service offerings: removed [" in render(report(*services), DiffFormat.TEXT)
    assert "  2 places: removed [" in render(report(services[0], *equal_changes(1)), DiffFormat.TEXT)


def test_of_very_many_places_some_are_named() -> None:
    for form in (DiffFormat.TEXT, DiffFormat.MARKDOWN, DiffFormat.GITHUB):
        text = render(report(*equal_changes(2_000)), form)
        assert "db/plan-29" in text
        assert " and 1,970 more" in text
        assert "db/plan-30" not in text


def test_changes_with_other_values_effects_or_advice_are_not_equal() -> None:
    others = {
        "old": "p2",
        "new": "p2",
        "sentence": "gone",
        "advice": "x",
        "effects": REMOVED.effects[:2],
        "rule": "other",
    }
    for field, value in others.items():
        assert len(join_equal([REMOVED, replace(REMOVED, **{field: value})])) == 2, field
    assert len(join_equal([REMOVED, replace(REMOVED, plan=None, old_path=(), new_location=None)])) == 1


def test_a_reason_of_a_platform_is_in_json() -> None:
    refused = replace(REMOVED, effects=(Effect(Platform.KORIFI, Level.REFUSED, "refuses", "its words (korifi-type)"),))
    (told,) = checked_json(render(report(refused), DiffFormat.JSON), "diff-1")["changes"]
    assert told["effects"] == [
        {"platform": "korifi", "level": "refused", "does": "refuses", "reason": "its words (korifi-type)"}
    ]


@pytest.mark.parametrize("end", ["removed", "removed.", "did you mean small?"])
def test_sentences_of_a_finding_have_one_end_each(end: str) -> None:
    text = render(report(replace(REMOVED, sentence=end)), DiffFormat.GITHUB)
    assert ".." not in text
    assert "?." not in text
    assert f"{end.removesuffix('.')}. Cloud" in text or f"{end} Cloud" in text


@pytest.mark.parametrize("format", DiffFormat)
def test_without_changes_only_documents_have_text(format: DiffFormat) -> None:
    text = render(report(), format)
    if format in (DiffFormat.JSON, DiffFormat.GITLAB, DiffFormat.SARIF):
        json.loads(text)
    elif format is DiffFormat.JUNIT:
        ElementTree.fromstring(text)
    else:
        assert "Nothing changed." in text if format is DiffFormat.HTML else text == ""


@each("level, meaning", [(Level.RISKY, "it may break existing users"), (Level.SAFE, "no impact")])
def test_the_summary_says_no_breaking_changes(level: Level, meaning: str) -> None:
    first, *_, last = render(report(at_level(level)), DiffFormat.TEXT).splitlines()
    assert first.startswith(f"{level}: {meaning}")
    assert last == f"old.yaml → new.yaml: no breaking changes, but the catalogs differ: 1 {level}"


@pytest.mark.parametrize("fail_on", DiffFailOn)
@pytest.mark.parametrize("level", Level)
def test_failing_is_the_same_in_the_exit_code_and_in_junit(fail_on: DiffFailOn, level: Level) -> None:
    made = report(at_level(level), fail_on=fail_on)
    ranks = {"refused": 4, "breaking": 3, "risky": 2, "any": 1, "never": 5}
    assert made.failed is (level.rank >= ranks[fail_on])
    (suite,) = ElementTree.fromstring(render(made, DiffFormat.JUNIT)).iter("testsuite")
    assert suite.get("failures") == str(int(made.failed))


def test_json_meets_its_schema_and_tells_all() -> None:
    accepted = replace(report(REMOVED), accepted=[(WORDING, "fine")], problems=["x expired"])
    told = checked_json(render(accepted, DiffFormat.JSON), "diff-1")
    first, second = told["changes"]
    assert first["fingerprint"] == REMOVED.fingerprint
    assert first["old_location"] == {"source": "old.yaml", "line": 7, "column": 5}
    assert first["service"] == {"id": "s1", "name": "db"}
    assert (first["accepted"], second["accepted"]) == (None, "fine")
    assert told["summary"] == {"refused": 1, "breaking": 0, "risky": 0, "safe": 0, "accepted": 1}
    assert told["allow_problems"] == ["x expired"]
    assert "errors" not in told


def test_sarif_meets_the_standard() -> None:
    told = checked_sarif(render(report(REMOVED, WORDING), DiffFormat.SARIF))
    assert [result["level"] for result in told["runs"][0]["results"]] == ["error", "note"]


@pytest.mark.parametrize("name", ['a"b\\\x7f\n\U0001f600', "a\x9b31m\u202e##[error]x"])
def test_allow_writes_what_fails_as_toml(name: str) -> None:
    odd = replace(REMOVED, service=ObjectRef("s", name), plan=None)
    text = render(report(odd, WORDING), DiffFormat.ALLOW)
    (entry,) = tomllib.loads(text)["allow"]
    assert (entry["rule"], entry["object"]) == (odd.rule, odd.object)
    assert not re.search("[\x80-\x9f\u202e]|##\\[", text)


HOSTILE = "::error::z##vso[task.x]##[error]x\x1b[31m\x07\r\n::error::y\u202e]]>&<img src=a>\u2028@all #12 [a](http://b) www.c.example `d` |\ud800"


@pytest.mark.parametrize("format", DiffFormat)
def test_text_of_a_catalog_is_escaped(format: DiffFormat) -> None:
    hostile = replace(
        REMOVED,
        sentence=HOSTILE,
        advice=HOSTILE,
        service=ObjectRef(HOSTILE, HOSTILE),
        effects=(Effect(Platform.CLOUD_FOUNDRY, Level.REFUSED, HOSTILE),),
        old_location=Location(HOSTILE, 1, 1),
        new_location=Location("n", 1, 1),
        old=HOSTILE,
    )
    text = render(replace(report(hostile), accepted=[(hostile, HOSTILE)], old=HOSTILE), format)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", text)
    assert text.encode()
    assert not re.search(r"(?m)^\s*::error::", text)
    assert not re.search(r"##\w*\[", text)  # a page, too, may be printed on a runner
    assert format is not DiffFormat.HTML or "[error]x" in text
    if format is DiffFormat.MARKDOWN:
        outside = re.sub(r"`[^`\n]*`", "", text)
        assert not re.search(r"<img|@all|(?<!\\)#12|(?<!\\)\[a\]|www\.|(?<!\\)\|", outside)


def test_markdown_fits_a_comment() -> None:
    many = [replace(REMOVED, sentence=f"removed {number}" + "x" * 200) for number in range(1000)]
    text = render(replace(report(*many), accepted=[(REMOVED, "y" * 200)] * 1000), DiffFormat.MARKDOWN)
    assert len(text) < 65_536
    assert re.search(r"[\d,]+ more changes are not shown", text)
    assert "1,000 more accepted changes are not shown" in text


BROKEN = Finding(
    "syntax",
    Severity.ERROR,
    "this cannot be read | <b>",
    (),
    Location("new.yaml", 3, 5, "secret: hunter2"),
    hint="mend it",
)
MACHINE = sorted(set(DiffFormat) - {DiffFormat.TEXT, DiffFormat.ALLOW})


@pytest.mark.parametrize("fail_on", [DiffFailOn.BREAKING, DiffFailOn.NEVER])
@pytest.mark.parametrize("format", MACHINE)
def test_a_catalog_that_cannot_be_read_is_reported_with_its_place(format: DiffFormat, fail_on: DiffFailOn) -> None:
    made = replace(report(fail_on=fail_on), errors=[BROKEN])
    assert made.failed
    text = render(made, format)
    assert "syntax" in text
    assert "this cannot be read" in text
    assert "hunter2" not in text
    checks = {
        DiffFormat.JSON: is_json,
        DiffFormat.SARIF: is_sarif,
        DiffFormat.JUNIT: lambda text: 'failures="1"' in text and "new.yaml:3:5" in text,
        DiffFormat.GITLAB: lambda text: json.loads(text)[0]["location"] == {"path": "new.yaml", "lines": {"begin": 3}},
        DiffFormat.GITHUB: lambda text: text.startswith("::error file=new.yaml,line=3,col=5,"),
        DiffFormat.MARKDOWN: lambda text: text == UNREAD,
        DiffFormat.HTML: lambda text: "new.yaml:3:5" in text and "Nothing changed" not in text,
    }
    assert checks[format](text)


UNREAD = """\
### Catalog changes

`old.yaml` → `new.yaml`: **the catalogs could not be compared**

- `new.yaml:3:5`: this cannot be read \\| &#60;b&#62; (`syntax`)
  - **Hint:** mend it
"""


def is_json(text: str) -> bool:
    told = checked_json(text, "diff-1")
    place = {"source": "new.yaml", "line": 3, "column": 5}
    return not told["same"] and told["changes"] == [] and [error["location"] for error in told["errors"]] == [place]


def is_sarif(text: str) -> bool:
    return bool(checked_sarif(text)) and '"startLine": 3' in text and '"level": "error"' in text


def test_places_name_the_file_and_the_branch_alone() -> None:
    old = Location("refs/remotes/origin/main:catalog.yaml", 7, 5)
    moved = replace(WORDING, old_location=old, new_location=Location("catalog.yaml", 6, 3))
    both = replace(report(moved), old=old.source, new="catalog.yaml")
    text, markdown = (render(both, form) for form in (DiffFormat.TEXT, DiffFormat.MARKDOWN))
    assert "    origin/main:catalog.yaml:7:5 → catalog.yaml:6:3\n" in text
    assert text.splitlines()[-1].startswith("origin/main:catalog.yaml → catalog.yaml: ")
    assert "`origin/main:catalog.yaml:7:5`" in markdown
    assert "`origin/main:catalog.yaml` → `catalog.yaml`: " in markdown
    assert "refs/" not in text + markdown


def test_a_field_that_the_root_of_a_file_lacks_is_at_the_line_of_the_object() -> None:
    path = ("services", 0, "plan_updateable")
    added = replace(WORDING, old_path=path, new_path=path, old_location=Location("a.json", 1, 1))
    text = render(report(replace(added, new_location=Location("b.json", 3, 57))), DiffFormat.TEXT)
    assert "    a.json:1:1 → b.json:3:57\n" in text
