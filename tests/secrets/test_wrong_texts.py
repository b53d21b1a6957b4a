"""A secret that is no valid YAML or JSON, or is read in two ways, is not quoted by the message about it."""

from pathlib import Path

import pytest

from tests.cli.program import osbctl

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
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = osbctl("validate", "-f", form, *files, cwd=tmp_path)
    assert done.returncode == 1
    lines = [line for line in (done.stdout + done.stderr).splitlines() if any(word in line for word in WORDS)]
    assert not lines, "\n".join(lines[:20])
    assert all(name in done.stdout for name in files)
