"""Completion, hover, outline, definitions and fixes, as an editor asks for them."""

import json
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from osbctl.editor.completion import new_catalog
from osbctl.editor.open_files import analyse_source
from osbctl.editor.text_document import TextDocument
from osbctl.findings import Severity
from osbctl.platforms import format_platforms, platforms_refusing
from tests.editor.client import Editor, in_editor
from tests.editor.test_diagnostics import place

pytestmark = pytest.mark.usefixtures("one_server")

GUID = r"[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}"
ID = "6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4"


def at(text: str) -> tuple[str, dict[str, Any]]:
    """The text without its `|`, and the position that it stood at."""
    before = text[: text.index("|")].split("\n")
    return text.replace("|", "", 1), {"position": types.Position(len(before) - 1, len(before[-1]))}


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """The text after the edits, whose characters are counted in UTF-16."""
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    end = "\n".encode("utf-16-le")
    starts = [sum(len(line) + 2 for line in lines[:number]) for number in range(len(lines) + 1)]
    data = end.join(lines)
    for edit in sorted(edits, key=lambda edit: place(edit.range.start), reverse=True):
        start, stop = (starts[p.line] + 2 * p.character for p in (edit.range.start, edit.range.end))
        data = data[:start] + edit.new_text.encode("utf-16-le") + data[stop:]
    return data.decode("utf-16-le")


def ask(path: Path, text: str, question: Callable[[Editor, types.TextDocumentIdentifier], Awaitable[Any]]) -> Any:
    return in_editor(lambda editor: question(editor, types.TextDocumentIdentifier(editor.open(path, text))))


def diagnostics(path: Path, text: str) -> list[types.Diagnostic]:
    found: list[types.Diagnostic] = ask(path, text, lambda editor, file: editor.heard(file.uri))
    return found


def ask_at(path: Path, marked: str, question: str, params: Any) -> Any:
    """The answer to a question about the place of `|`."""
    text, where = at(marked)
    return ask(path, text, lambda editor, file: getattr(editor.client, question)(params(text_document=file, **where)))


def completions(path: Path, marked: str) -> list[types.CompletionItem]:
    found: list[types.CompletionItem] = ask_at(path, marked, "text_document_completion_async", types.CompletionParams)
    return found


def complete(path: Path, marked: str) -> dict[str, str]:
    """Completions at `|`: label and resulting text."""
    text = at(marked)[0]
    return {item.label: applied(text, [item.text_edit]) for item in completions(path, marked)}  # type: ignore[list-item]


def test_fields_are_offered_that_are_not_there_yet(tmp_path: Path) -> None:
    offered = complete(tmp_path / "catalog.yaml", "services:\n- name: a\n  pl|\n  id: x\n  metadata: {")
    assert offered["plans"] == "services:\n- name: a\n  plans:\n  id: x\n  metadata: {"
    assert offered["plan_updateable"] == "services:\n- name: a\n  plan_updateable: \n  id: x\n  metadata: {"
    assert not {"name", "id", "metadata", "free"} & offered.keys()


def test_fields_and_values_in_json_that_is_not_whole(tmp_path: Path) -> None:
    offered = complete(tmp_path / "catalog.json", '{"services": [{"plans": [{"fr|')
    assert offered["free"] == '{"services": [{"plans": [{"free": '
    offered = complete(tmp_path / "catalog.json", '{"services": [{"plans": [{"free": |}]}]}')
    assert offered == {
        "true": '{"services": [{"plans": [{"free": true}]}]}',
        "false": '{"services": [{"plans": [{"free": false}]}]}',
    }
    offered = complete(tmp_path / "catalog.json", '{"services": [{"requires": ["vo|"]}]}')
    assert offered["volume_mount"] == '{"services": [{"requires": ["volume_mount"]}]}'


def test_fields_of_a_spring_configuration_in_its_spelling(tmp_path: Path) -> None:
    def offered(marked: str) -> dict[str, str]:
        text = (
            f"spring.cloud.openservicebroker.catalog:\n  services:\n  - {{name: a, plans: [{{name: p, {marked}}}]}}\n"
        )
        found = complete(tmp_path / "application.yml", text)
        return {label: new[text.index("p, ") + 3 : -4] for label, new in found.items()}

    assert offered("plan-updateable: |") == {"true": "plan-updateable: true", "false": "plan-updateable: false"}
    assert offered("max|")["maximumPollingDuration"] == "maximumPollingDuration: "
    assert "planUpdateable" not in offered("plan-updateable: true, |")
    parameters = "schemas: {serviceInstance: {create: {parameters: {"
    assert offered(f"{parameters}|}}}}}}}}")["[$schema]"] == f'{parameters}"[$schema]": }}}}}}}}'
    assert next(iter(offered(f"{parameters}'[$schema]': |}}}}}}}}"))).endswith("draft-04/schema#")


def test_a_line_of_its_own_takes_a_key_and_no_value(tmp_path: Path) -> None:
    """Any indentation below a key counts: editors choose it. Behind a colon or a hyphen, values are offered."""
    for indent in ("  ", "   ", "    ", "      "):
        for key in ("bindable:", "bindable: ", "plan_updateable:", "bindable: # not yet"):
            for word in ("", "tr"):
                text = f"services:\n- name: a\n  {key}\n{indent}{word}|"
                assert not {"true", "false"} & complete(tmp_path / "catalog.yaml", text).keys(), text
    assert "plans" in complete(tmp_path / "catalog.yaml", "services:\n- name: a\n  bindable:\n  |")
    for text in ("services:\n- bindable: |", "services:\n- bindable: &a tr|", '{"services": [{"bindable":\n|'):
        assert {"true", "false"} <= complete(tmp_path / "catalog.yaml", text).keys(), text
    assert "syslog_drain" in complete(tmp_path / "catalog.yaml", "services:\n- requires:\n  - |")


@pytest.mark.parametrize("name", ["catalog.yaml", "broker.yml", "offer.json"])
@pytest.mark.parametrize("before", ["", "osb|", "\n\n", "# ours\n---\n", "  |\n"])
def test_a_file_with_nothing_yet_is_offered_a_catalog_first(tmp_path: Path, name: str, before: str) -> None:
    marked = before if "|" in before else f"{before}|"
    items = sorted(completions(tmp_path / name, marked), key=lambda item: str(item.sort_text))
    assert items[0].label == "osb-catalog"
    assert [item.label for item in items[1:]] in ([], ["services"])
    assert items[0].insert_text_format == types.InsertTextFormat.PlainText  # this editor has no snippets
    text = applied(at(marked)[0], [items[0].text_edit])  # type: ignore[list-item]
    analysis = analyse_source("catalog.yaml", {"catalog.yaml": text})
    assert [finding.rule for finding in analysis.findings if finding.severity is not Severity.INFO] == []
    assert len(set(re.findall(GUID, text))) == 2


@pytest.mark.parametrize("text", ["services:\n|", "a: b\n|", "one two|", "# osb|", "[|", '{"|', "a\n|b"])
def test_a_file_with_something_is_not(tmp_path: Path, text: str) -> None:
    assert "osb-catalog" not in complete(tmp_path / "catalog.yaml", text)


def test_nor_is_a_part_of_a_source_folder(folder: Path) -> None:
    assert complete(folder / "services" / "redis.yaml", "|").keys() >= {"name", "plans"}
    assert "osb-catalog" not in complete(folder / "services" / "redis.yaml", "|")


def test_an_editor_with_snippets_takes_the_user_through_the_values(tmp_path: Path) -> None:
    (item,) = new_catalog(TextDocument("catalog.yaml", ""), types.Position(0, 0), snippets=True)
    assert item.insert_text_format == types.InsertTextFormat.Snippet
    assert item.text_edit and re.findall(r"\$\{(\d)", item.text_edit.new_text) == ["1", "2", "3", "4"]


def test_spaces_without_end_are_read_once() -> None:
    file = TextDocument("catalog.yaml", "\n" * 200_000 + "{")
    start = time.process_time()
    assert new_catalog(file, types.Position(0, 0), snippets=False) == []
    assert time.process_time() - start < 2


def test_required_fields_are_offered_first_and_later_ones_with_their_version(tmp_path: Path) -> None:
    items = completions(tmp_path / "catalog.yaml", "services:\n- plans:\n  - |")
    offered = [(item.label, item.detail or "") for item in sorted(items, key=lambda item: str(item.sort_text))]
    assert {name for name, _ in offered[:3]} == {"description", "id", "name"}
    later = {name for name, detail in offered if "since" in detail}
    assert later == {"binding_rotatable", "maintenance_info", "maximum_polling_duration", "plan_updateable"}
    assert dict(offered)["plan_updateable"].endswith(", since 2.15")


def test_ids_and_the_schemas_of_parameters(tmp_path: Path) -> None:
    (fresh,) = complete(tmp_path / "catalog.yaml", "services:\n- id: |")
    assert re.fullmatch(GUID, fresh)
    (fresh,) = complete(tmp_path / "catalog.yaml", "services:\n- dashboard_client: {id: |}")
    assert re.fullmatch(GUID, fresh)
    schema = "services:\n- plans:\n  - schemas:\n      service_instance:\n        create:\n          parameters:\n            properties:\n              size:\n                "
    assert {"type", "enum", "properties", "$ref"} <= complete(tmp_path / "catalog.yaml", schema + "|").keys()
    assert {"string", "integer"} <= complete(tmp_path / "catalog.yaml", schema + "type: |").keys()


def test_files_of_a_source_folder_are_completed(folder: Path) -> None:
    assert "plan_updateable" in complete(folder / "services" / "redis.yaml", "name: redis\n|")
    assert "free" in complete(folder / "services" / "redis" / "plans" / "cache.yaml", "name: cache\n|")
    assert "type" in complete(folder / "schemas" / "storage.json", "{|}")
    assert complete(folder / "overlays" / "production.yaml", "services:\n  redis:\n    |") == {}


def hover(path: Path, marked: str) -> str:
    said = ask_at(path, marked, "text_document_hover_async", types.HoverParams)
    return said.contents.value if said else ""


def test_hover_explains_a_rule_of_the_user_and_names_chosen_platforms_alone(tmp_path: Path) -> None:
    rule = {"rule": "house-a", "hint": "a *hint*", "url": "https://wiki.example.com/a_b"}
    schema = {"properties": {"services": {"items": {"x-osbctl": rule, "description": "Our *own*.", "required": ["x"]}}}}
    (tmp_path / "rules.json").write_text(json.dumps(schema))
    (tmp_path / "osbctl.toml").write_text('schema = ["rules.json"]\nplatform = ["korifi"]\n')
    said = hover(tmp_path / "catalog.yaml", "services:\n- na|me: a\n  plans: []\n")
    assert "`house-a`: Our \\*own\\*\\. Hint\\: a \\*hint\\*" in said
    assert "https://wiki\\.example\\.com/a\\_b" in said.replace("\\:", ":")
    said = hover(tmp_path / "catalog.yaml", "serv|ices:\n- name: a\n")
    assert "- Korifi: " in said and "- Cloud Foundry: " not in said
    said = hover(tmp_path / "catalog.yaml", "services:\n- plans:\n  - maintenance_info: |{version: 1.2.3}\n")
    assert "Since API version 2.15." in said and "request an older one" not in said


def test_hover_tells_the_field_the_finding_and_the_platforms(tmp_path: Path) -> None:
    text = 'services:\n- name: a\n  bind|able: "yes"\n'
    said = hover(tmp_path / "catalog.yaml", text)
    assert "Whether instances can be bound to applications." in said
    assert "`schema-type`: " in said
    assert "Source: OSB 2.14, Catalog Management: the types" in said
    assert "> Service" in said
    found = diagnostics(tmp_path / "catalog.yaml", at(text)[0])
    message = next(one.message for one in found if one.code == "schema-type")
    assert "must be a boolean" in message
    assert f"refused by {format_platforms(platforms_refusing('schema-type'))}" in message
    for line in message.splitlines():  # which an editor shows itself
        assert line.lower() not in said.replace("\\", "").lower()
    said = hover(tmp_path / "catalog.yaml", "services:\n- plans:\n  - maintenance_info: |{version: 1.2.3}\n")
    assert "**maintenance_info**" in said
    assert "- Cloud Foundry: refuses" in hover(tmp_path / "catalog.yaml", "serv|ices:\n- name: a\n")
    assert hover(tmp_path / "catalog.yaml", "services:\n- name: a # c|\n") == ""


def test_what_a_catalog_says_is_no_markup(tmp_path: Path) -> None:
    said = hover(tmp_path / "catalog.yaml", 'services:\n- name: a\n  requires: ["|![x](http://x.test/y)<b>`"]\n')
    assert "http" in said
    for marked in ("![", "](", "<b>"):
        assert marked not in said


def outline(path: Path, text: str) -> Any:
    return ask(path, text, lambda editor, file: editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(file)))  # fmt: skip


def test_the_outline_is_services_and_plans(tmp_path: Path) -> None:
    text = "services:\n- name: a\n  id: x\n  plans:\n  - name: p\n  - id: q\n- id: b\n"
    found = outline(tmp_path / "catalog.yaml", text)
    told = [(one.name, one.detail, [inner.name for inner in one.children]) for one in found]
    assert told == [("a", "x", ["p", "number 2"]), ("number 2", "b", [])]
    assert place(found[0].selection_range.start) == (1, 8)
    assert (place(found[0].range.start), place(found[0].range.end)) == ((1, 2), (5, 9))


NAMELESS = {
    "missing": "id: x", "null": "name: null", "empty": "name: ", "quoted": "name: ''", "spaces": "name: '  '", "list": "name: [a]",
    "object": "name: {a: b}", "false": "name: false",
}  # fmt: skip


def test_the_outline_has_no_value_that_is_no_name(tmp_path: Path) -> None:
    services = "\n".join(f"- {{{name}, plans: [{{{name}}}]}}" for name in NAMELESS.values())
    found = outline(tmp_path / "catalog.yaml", f"services:\n- bindable: true\n{services}\n")
    assert [one.name for one in found] == [f"number {number}" for number in range(1, len(NAMELESS) + 2)]
    assert {plan.name for one in found for plan in one.children} == {"number 1"}
    assert [one.detail for one in found] == ["", "x", *[""] * (len(NAMELESS) - 1)]
    text = "services:\n- {name: 7, id: null, plans: [{name: None, id: {}}]}\n- {name: a, id: 3, bindable: true}"
    shown = [(one.name, one.detail) for one in outline(tmp_path / "catalog.yaml", text)]
    assert shown == [("7", ""), ("a", "3")]  # YAML's numbers are what the user wrote


def definition(path: Path, marked: str) -> tuple[str, int, int] | None:
    found = ask_at(path, marked, "text_document_definition_async", types.DefinitionParams)
    return (found.uri, *place(found.range.start)) if found else None


def test_an_id_leads_to_its_line_of_the_lock(folder: Path) -> None:
    service = folder / "services" / "redis.yaml"
    found = definition(service, re.sub(r"^id: ", "id: |", service.read_text(), flags=re.MULTILINE))
    assert found
    assert found[0] == (folder / "catalog.lock").as_uri()
    assert '"redis"' in (folder / "catalog.lock").read_text().split("\n")[found[1]]
    for other in ("|name: redis\n", "{name: redis|", "id: |none\n", "{ |}", "name: redis # |\n"):
        assert definition(service, other) is None


def actions(path: Path, text: str, line: int, only: list[str] | None = None) -> dict[str, types.CodeAction]:
    span = types.Range(types.Position(line, 0), types.Position(line, 0))
    context = types.CodeActionContext([], only=only)  # type: ignore[arg-type]
    found = ask(path, text, lambda editor, file: editor.client.text_document_code_action_async(
        types.CodeActionParams(file, span, context)))  # fmt: skip
    return {action.title: action for action in found}


def carried_out(path: Path, text: str, action: types.CodeAction) -> str:
    assert action.edit and action.edit.changes
    return applied(text, action.edit.changes[path.as_uri()])  # type: ignore[arg-type]


TEXT = f"""services:
- name: a
  id: {ID}
  description: é😀 d
  bindable: "yes"  # well
  plan_updatable: true
  plans:
  - {{id: {ID[::-1]}, name: p, description: d}}
  - {{name: "😀", id: {ID[::-1]}, description: d}}
  - {{name: q, description: "😀", free: "true"}}
"""


def test_a_fix_at_the_cursor_and_all_that_are_safe(tmp_path: Path) -> None:
    file = tmp_path / "catalog.yaml"
    found = actions(file, TEXT, 4)
    assert found.keys() == {"Set bindable to true", "Ignore schema-type here", "Apply all safe fixes (osbctl)"}
    one, everything = found["Set bindable to true"], found["Apply all safe fixes (osbctl)"]
    assert one.is_preferred
    assert carried_out(file, TEXT, one) == TEXT.replace('"yes"', "true")
    mended = carried_out(file, TEXT, everything)
    assert "bindable: true  # well" in mended
    assert "plan_updatable:" in mended
    assert actions(file, TEXT, 4, ["source.fixAll"]).keys() == {"Apply all safe fixes (osbctl)"}
    assert actions(file, TEXT, 0) == {}


def test_all_safe_fixes_of_a_file_leave_the_others_of_its_folder_alone(folder: Path) -> None:
    plans = [folder / "services" / "redis" / "plans" / name for name in ("cache.yaml", "durable.yaml")]
    for plan in plans:
        plan.write_text(plan.read_text() + 'bindable: "true"\n')
    action = actions(plans[0], plans[0].read_text(), 0, ["source.fixAll.osbctl"])["Apply all safe fixes (osbctl)"]
    assert action.edit and action.edit.changes
    assert action.edit.changes.keys() == {plans[0].as_uri()}


def test_ignore_here_silences_one_rule_and_then_another(tmp_path: Path) -> None:
    file = tmp_path / "catalog.yaml"
    text, line = TEXT, 9
    for _ in range(2):
        action = next(one for title, one in actions(file, text, line).items() if title.startswith("Ignore"))
        assert action.diagnostics
        text = carried_out(file, text, action)
        rule = str(action.diagnostics[0].code)
        assert text.split("\n")[line].endswith(f"  # osbctl: ignore[{rule}]")
        assert f"Ignore {rule} here" not in actions(file, text, line)


def test_ignore_is_not_offered_where_the_line_ends_within_a_text(tmp_path: Path) -> None:
    def offered(value: str) -> bool:
        return "Ignore schema-type here" in actions(tmp_path / "c.yaml", TEXT.replace('"yes"  # well', value), 4)

    assert offered('"yes and no"')
    assert not offered('"yes\n    and no"')


def test_an_unsafe_fix_says_so(tmp_path: Path) -> None:
    (title,) = (title for title in actions(tmp_path / "catalog.yaml", TEXT, 5) if title.startswith("Rename"))
    assert title.endswith("(platforms may behave differently)")


@pytest.mark.parametrize(("line", "count"), [(8, 1), (9, 2)])
def test_a_fresh_guid_for_an_id_that_is_double_or_missing(tmp_path: Path, line: int, count: int) -> None:
    file = tmp_path / "catalog.yaml"
    mended = carried_out(file, TEXT, actions(file, TEXT, line)["Set a fresh GUID"])
    fresh = set(re.findall(GUID, mended)) - {ID, ID[::-1]}
    assert len(fresh) == 1
    assert mended.count(ID[::-1]) == count
    assert "description: é😀 d" in mended


def test_a_missing_id_in_a_folder_is_written_into_its_file(folder: Path) -> None:
    plan = folder / "services" / "redis" / "plans" / "cache.yaml"
    text = re.sub(r"^id: .*\n", "", plan.read_text(), flags=re.MULTILINE)
    named = next(number for number, line in enumerate(text.split("\n")) if line.startswith("name:"))
    found: dict[str, types.CodeAction] = {}
    for line in range(named + 1):
        found |= actions(plan, text, line)
    mended = carried_out(plan, text, found["Set a fresh GUID"])
    assert re.search(rf"^id: \"?{GUID}\"?$", mended, flags=re.MULTILINE)


def test_in_a_folder_a_comment_silences_and_quotes_are_put(folder: Path) -> None:
    plan = folder / "services" / "redis" / "plans" / "cache.yaml"
    text = plan.read_text() + "bindable: maybe\ncolour: no\n"
    last = text.count("\n") - 1
    text = carried_out(plan, text, actions(plan, text, last - 1)["Ignore schema-type here"])
    assert text.split("\n")[last - 1] == "bindable: maybe  # osbctl: ignore[schema-type]"
    assert "Ignore schema-type here" not in actions(plan, text, last - 1)
    quoted = actions(plan, text, last)["Put it in quotes (platforms may behave differently)"]
    assert carried_out(plan, text, quoted).endswith('\ncolour: "no"\n')


NESTED = (
    "spring:\n  cloud:\n    openservicebroker:\n      catalog:\n        services:\n        - name: a\n          bindable: true\n"
    "          id: x\n          plans:\n          - name: b\n            fr|"
)


def test_a_catalog_inside_a_larger_file_is_completed_and_outlined(tmp_path: Path) -> None:
    path = tmp_path / "application.yml"
    assert {"free", "description"} <= complete(path, NESTED).keys()

    found = outline(path, NESTED.replace("fr|", "free: true"))
    assert [(one.name, [below.name for below in one.children]) for one in found] == [("a", ["b"])]


def test_the_outline_stays_while_a_text_cannot_be_read(tmp_path: Path) -> None:
    async def look(editor: Editor) -> None:
        uri = editor.open(tmp_path / "catalog.yaml", "services:\n- name: a\n  plans: []\n")
        params = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        first = await editor.client.text_document_document_symbol_async(params)
        editor.change(uri, "services:\n- name: a\n  plans: [\n")
        assert await editor.client.text_document_document_symbol_async(params) == first != []

    in_editor(look)


PLANS = """\
services:
  - id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B0
    name: db
    description: D.
    bindable: "yes"
    plans:
      - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B1, name: small, description: S.}
      - {id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B2, name: large, description: L.}
"""


def test_each_place_of_a_group_is_marked_with_its_own_fix(tmp_path: Path) -> None:
    file = tmp_path / "catalog.yaml"

    told = {one.range.start.line: one.message for one in diagnostics(file, PLANS) if one.code == "default-implicit"}
    assert [(line, message.split()[1]) for line, message in sorted(told.items())] == [(6, "'small'"), (7, "'large'")]
    title = "Set free to true (platforms may behave differently)"
    assert carried_out(file, PLANS, actions(file, PLANS, 7)[title]).count("free: true") == 1
    assert "large, free: true" in carried_out(file, PLANS, actions(file, PLANS, 7)[title])
    assert "small, free: true" in carried_out(file, PLANS, actions(file, PLANS, 6)[title])


def test_a_diagnostic_says_who_refuses_before_what_to_do(tmp_path: Path) -> None:
    (message,) = (one.message for one in diagnostics(tmp_path / "catalog.yaml", PLANS) if one.code == "schema-type")
    _, second, third = message.splitlines()
    assert second == "refused by every platform"
    assert third.startswith("hint: ")
