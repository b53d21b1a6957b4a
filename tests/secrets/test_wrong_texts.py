"""A secret that is no valid YAML or JSON, or is read in two ways, is not quoted by the message about it."""

from pathlib import Path

import pytest

from tests.case import each
from tests.cli.program import osbctl
from tests.deploy.harness import write
from tests.sources.folder.brokerpaks import DATABASE, brokerpak

MARK = "qzmark77"
NUMBER = "0123456701234"
YAML = [
    f"*{MARK}", f"!{MARK} x", f"&{MARK} [x", f"[x, *{MARK}]", f"{{a: 1, b: !{MARK} x}}", f"{{{MARK}: 1, {MARK}: 2}}",
    f"{{5: {MARK}}}", f'"{MARK}', f"'{MARK}' {MARK}", f"@{MARK}", f"`{MARK}", f"%{MARK}", f"{MARK}: x: y", f"[{MARK}",
    NUMBER, "1_234_567_0123", "0x4d2fe1234567012", "1234567012e9999", "1234567012:34:56",
]  # fmt: skip
JSON = [
    f"'{MARK}'", MARK, f'{{"{MARK}": 1, "{MARK}": 2}}', f'{{"a": {{"b": 1}}, "c": \'{MARK}\'}}', f'"{MARK}" "{MARK}"',
    f'["x", {MARK}]', f'"{MARK}\\q"', f'"{MARK}', f'["x" "{MARK}"]', f"0{NUMBER}", "1234567012e9999",
]  # fmt: skip
WORDS = (MARK, "1234567012", "1_234_567_0123", "4d2fe1234567012")
YAML_PLACES = {
    "client": "dashboard_client: {{id: c, secret: {}, redirect_uri: 5}}",
    "client in lines": "dashboard_client:\n    id: c\n    secret: {}\n    redirect_uri: 5",
    "unknown field of a client": "dashboard_client: {{id: c, secrte: {}, redirect_uri: 5}}",
    "metadata": "metadata: {{access: {{apiKey: {}}}}}",
    "parameter": "plans: [{{schemas: {{service_binding: {{create: {{parameters: {{properties: {{pwd: "
    "{{default: {}}}}}}}}}}}}}}}]",
}
JSON_PLACES = {
    "client": '"dashboard_client": {{"id": "c", "secret": {}, "redirect_uri": 5}}',
    "client in lines": '"dashboard_client": {{\n"id": "c",\n"secret":\n{}\n}}',
    "client in a list": '"dashboard_client": [{{}}, [{}]], "name": "a" "b"',
    "after a missing comma": '"dashboard_client": {{"id": "c" "secret": {}}}',
    "metadata": '"metadata": {{"credentials": [{{"user": {}}}]}}',
}


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_messages_do_not_quote_a_secret(tmp_path: Path, form: str) -> None:
    files = {}
    for place, line in YAML_PLACES.items():
        for number, value in enumerate(YAML):
            text = f"services:\n- id: a\n  name: db\n  {line.format(value)}\n"
            files[f"{place.replace(' ', '-')}-{number}.yaml"] = text
    for place, line in JSON_PLACES.items():
        for number, value in enumerate(JSON):
            files[f"{place.replace(' ', '-')}-{number}.json"] = f'{{"services": [{{"id": "a", {line.format(value)}}}]}}'
    write(tmp_path, files)
    done = osbctl("validate", "-f", form, *files, cwd=tmp_path)
    assert done.returncode == 1
    lines = [line for line in (done.stdout + done.stderr).splitlines() if any(word in line for word in WORDS)]
    assert not lines, "\n".join(lines[:20])
    assert all(name in done.stdout for name in files)


@each("text", [
    # read up to a syntax error: names above the line, with escapes, of other characters, behind the error
    "x: {{password: {{a:\n {0}, b: 1}}, c: 'x' 'y'}}", 'x: {{"\\x70assword": {0}, c: \'x\' \'y\'}}', "password:\n   a:\n    b: '{0}' {0}",
    "dashboard_client:\n   id: x\n   secrte: {0}: {0}", "? password\n  : {{x: {0}, c: 'x' 'y'}}", "x: {{a: 'x' 'y', my token (x): {0}}}",
    "a: &k password\n  *k : {{x: {0}, y: 'a' 'b'}}", "a: {{b: &v {0}, c: 'a' 'b'}}\n  password: *v", "password: |\n\t{0}\n",
    "x: {{a: 'x' 'y', <<: {{*k : {0}}}}}", "<<<<<<< HEAD\n  password:\n   {0}\n>>>>>>> {0}", "password:\n   - #@ {0}",
    # of lines that are indented too little, or stand in a key
    "password:\n  - x\n - '{0}'", "password:\n  hunter {0}\n  x: y", "x:\n?     my token:\n    - '{0}'\n    - b\n  x: y",
    # read, with faults beside the secret: of a key that is there twice, a merge key, a key that is no text
    "x: {{password:\n   {0}, password: z, a: 1, a: 2}}", "x: {{password: z, password:\n   {0}, a: 1, a: 2}}",
    "x: {{<<: {{password:\n   {0}, a: !b c}}, password: z}}", "x: {{? [a] : {{password:\n   {0}, a: !b c}}}}",
    # of a variable whose name is that of a secret
    "x: [{{name: DB_PASSWORD, value: {0}, value: b}}]", "x:\n  - value: {0}\n    name: 'a token'\n    value: {{a: 1, a: {0}}}",
    "x: [{{value: {0}, name: A_TOKEN, name: b}}]", "x:\n  - name: api_key\n    value: '{0}' x", "x: [{{name: pwd, value: [{0}, 'a' x]}}]",
    "x: [{{name: pwd, value:\n   {0}, x: 'a' x}}]",
    "x: [{{key: token, value: {0}, value: b}}]", "x: [{{name: &n api_key}}, {{name: *n, value: {0}, value: b}}]", "x: {{password:\n   {0}, flag: yes}}", "password:\n   {0} # osbctl: ignore[a]", "password:\n   \udce9{0}",
])  # fmt: skip
def test_no_line_shows_a_secret(tmp_path: Path, text: str) -> None:
    check_lines(tmp_path, "c.yaml", f"services:\n- id: a\n  {text.format(MARK)}\n")


@each("text", [
    '{"a": [{"password":\n "qzmark77", "a": "b" "c"}]}', '{"a": [{"password"\n "qzmark77"}]}', '{"password" => "qzmark77"}',
    '{"a": {"\\u0070assword": {"a": "qzmark77"}, "a": "b" "c"}}', '{"services": [{"password":\n "qzmark77", "a": 1, "a": 2, "password": 3}]}',
    '{"dashboard_client": {"id":\n "c" "more": "qzmark77"}}', '{"a": {"pass\\word": "qzmark77"}}', '{"password":\n "qzmark77", "a":\n',
    '{"a": [{"name": "A_KEY", "value": "qzmark77" "x"}]}', '{"a": [{"name": "pwd", "value": {"b": "qzmark77"}, "value": 1}]}',
    '{"a": ["password": "qzmark77"]}', '{"a": ["dashboard_client": {"x": "qzmark77"}]}',
    ('{"services": [{"plans": [{"schemas": {"service_binding": {"create": {"parameters": {"properties": {"pwd": {"$ref": "#/definitions/d"}},\n'
    ' "definitions": {"d": {"default": "qzmark77", "minLength": "x"}}}}}}}]}]}'),
])  # fmt: skip
def test_no_line_of_json_shows_a_secret(tmp_path: Path, text: str) -> None:
    check_lines(tmp_path, "c.json", text)


@each("rest", [
    f"default: {MARK}, foo: bar",
    f"default: {MARK}, details: 'x' 'y'",
    f"constraints: {{default: {MARK}}}, type: 5, type: 6",
])  # fmt: skip
def test_no_line_of_a_brokerpak_shows_a_secret(tmp_path: Path, rest: str) -> None:
    folder = brokerpak(tmp_path / "pak")
    for inputs, name in (("user_inputs:\n", "field_name"), ("bind:\n", "name")):
        above = "" if name == "field_name" else "  computed_inputs:\n"
        entry = f"{above}  - {{{name}: admin_password, {rest}}}\n"
        text = DATABASE.replace(inputs, f"{inputs}{entry}" if not above else f"{entry}{inputs}", 1)
        (folder / "definitions/database.yml").write_text(text)
        done = osbctl("validate", str(folder), code=1)
        assert MARK not in done.stdout + done.stderr, done.stdout


def check_lines(folder: Path, name: str, text: str) -> None:
    block = "".join(f"  {line}\n" for line in text.splitlines())
    (folder / name).write_bytes(text.encode(errors="surrogateescape"))
    (folder / "map.yaml").write_bytes(f"a: b\nc: |\n{block}".encode(errors="surrogateescape"))
    for words in ([name], ["map.yaml", "--at", "/c"]):
        done = osbctl("validate", *words, cwd=folder)
        assert done.returncode == 1 and MARK not in done.stdout + done.stderr, done.stdout
