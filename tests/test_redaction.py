"""Names and texts that hold secrets, and those that only look a little like it."""

import json
import time
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from osbctl.client.connection_options import SentPassword, find_secret_pointers
from osbctl.masking import mask_secrets
from osbctl.messages import (
    SECRET,
    Redactor,
    is_secret_name,
    may_be_secret_name,
    redact,
    redact_at,
    redact_field,
    redact_text,
)
from tests.case import each

HIDDEN = [
    ("postgres://admin:hunter2@db.example.com:5432/x", "postgres://***@db.example.com:5432/x"),
    ("see https://hunter2@git.example.com now", "see https://***@git.example.com now"),
    ("amqp://u:hunter2/2@host", "amqp://***@host"),
    ("mongodb://u:p@hunter2@host,other/x", "mongodb://***@host,other/x"),
    ("redis://:hunter2@host:6379", "redis://***@host:6379"),
    ("https://x/?a=1&token=hunter2&b=2", "https://x/?a=1&token=***&b=2"),
    ("https://x/#access_token=hunter2", "https://x/#access_token=***"),
    ("https://x/?X-Amz-Signature=hunter2&sig=hunter2;key=hunter2", "https://x/?X-Amz-Signature=***&sig=***;key=***"),
    ("Server=db;Uid=sa;Pwd=hunter2;Timeout=3", "Server=db;Uid=sa;Pwd=***;Timeout=3"),
    ("host=db user=x password = 'hunter 2' port=1", "host=db user=x password = *** port=1"),
    ('client_secret="hunter2, and more" x', "client_secret=*** x"),
    ('secret="hunter2 and cut', "secret=*** and cut"),
    ('{"dsn": "password=\\"hunter2\\""}', '{"dsn": "password=***"}'),
    ('{"dsn": "password=\\"hunter \\\\\\"2\\" x"}', '{"dsn": "password=*** x"}'),
]
SHOWN = [
    "https://medium.com/@acme",
    "https://example.com:8443/@acme",
    "https://example.com/?page=2&design=blue&author=x",
    "someone@example.com",
    "no token, no password: ask us",
    "a = b",
    "password=",
]


@pytest.mark.parametrize(("text", "shown"), HIDDEN)
def test_secrets_in_texts_are_hidden(text: str, shown: str) -> None:
    assert redact_text(text) == shown
    assert redact_text(shown) == shown


@pytest.mark.parametrize("text", SHOWN)
def test_other_texts_are_left_alone(text: str) -> None:
    assert redact_text(text) == text


def test_keys_of_tables_are_texts_too_and_flags_are_no_secrets() -> None:
    value = {"https://u:hunter2@x": [1, "token=hunter2"], "apiKey": {"a": 1}, "tokens": None, "secret": True}
    assert redact(value) == {"https://***@x": [1, "token=***"], "apiKey": SECRET, "tokens": None, "secret": True}


def test_the_value_of_a_variable_with_a_secret_name_is_redacted() -> None:
    value = [
        {"name": "DB_PASSWORD", "value": 5, "x": 1},
        {"name": "size", "value": 5},
        {"name": ["key"], "value": 5},
        {"name": "key"},
    ]
    shown = [{"name": "DB_PASSWORD", "value": SECRET, "x": 1}, *value[1:]]
    assert redact_at({"key": "token", "value": 5}, ()) == {"key": SECRET, "value": SECRET}
    assert redact(value) == redact_at(value, ("metadata", "env")) == shown
    assert redact(value, by_name=False) == value


def test_names_are_certainly_secret_possibly_or_not() -> None:
    certain = ("password", "dbPassword", "X-Api-Key", "API_KEY", "access-key", "clientSecret", "TOKEN")
    possible = ("passphrase", "Credentials", "pwd", "keyring")
    neither = ("name", "description", "plan_updateable")
    names = (*certain, *possible, *neither)
    assert [name for name in names if is_secret_name(name)] == [*certain]
    assert [name for name in names if may_be_secret_name(name)] == [*certain, *possible]
    assert not may_be_secret_name(0)


def test_known_secrets_are_redacted_everywhere() -> None:
    known = frozenset({"hunter2", 4711, 1})
    value = {"a": ["hunter2", "hunter2-and-more", "not hunter2"], "b": {"c": 4711, "d": True, "e": [[4711]]}, "f": 2}
    shown = {"a": [SECRET, SECRET, "not hunter2"], "b": {"c": SECRET, "d": True, "e": [[SECRET]]}, "f": 2}
    assert redact(value, known) == shown
    assert redact({"name": "hunter2"}, known) == {"name": SECRET}
    assert redact(["pass-2", "pas-2"], frozenset({"pass", "pas"})) == [SECRET, "pas-2"]


def test_names_may_be_left_aside_and_what_is_deep_is_hidden() -> None:
    value = {"a": [{"pwd": 1}]}
    assert redact(value) == {"a": [{"pwd": SECRET}]}
    assert redact(value, by_name=False) == value
    assert redact({"a": [{"b": [0], "c": 0}]}, levels=3) == {"a": [{"b": SECRET, "c": 0}]}
    assert redact_field("pwd", 1) == SECRET
    assert redact_field("a", [{"pwd": 1}], by_name=False) == [{"pwd": 1}]
    assert redact_field("a", [[0]], levels=1) == [SECRET]


@pytest.mark.parametrize("piece", ["://", "://a:b", "a", "=", "token=", "a='", "key  ", "@", "\\"])
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    redact_text("@=" + piece * (200_000 // len(piece)))
    assert time.process_time() - began < 2


WORD = "a password of a broker"
CLIENT = {"id": "c", "secret": WORD, "redirect_uri": "x"}


@pytest.mark.parametrize(("data", "found"), [
    # The secret of a dashboard client may be the password: it is not stored.
    ({"services": [{"dashboard_client": CLIENT}]}, []),
    ({"services": [{"dashboard_client": {**CLIENT, "id": WORD}}]}, ["/services/0/dashboard_client/id"]),
    ({"services": [{"metadata": {"dashboard_client": CLIENT}}]}, ["/services/0/metadata/dashboard_client/secret"]),
    ({"x": [{"dashboard_client": CLIENT}]}, ["/x/0/dashboard_client/secret"]),
    ({"services": {"x": {"dashboard_client": CLIENT}}}, ["/services/x/dashboard_client/secret"]),
    ({"services.": {"x": {"dashboard_client": CLIENT}}}, ["/services./x/dashboard_client/secret"]),
    # Texts are found in keys and values, in any case and percent-encoded.
    ({"services": [{WORD: 1}]}, ["/services/0"]),
    ({"a": {f"x{WORD.title()}": 1}, "b": ["x", WORD.upper()]}, ["/a", "/b/1"]),
    ({"x": f"it has {WORD} in it"}, ["/x"]),
    ({"x": WORD.replace(" ", "%20")}, ["/x"]),
    ({"x": WORD.title().replace("s", "%73")}, ["/x"]),
])  # fmt: skip
def test_secrets_that_stand_in_a_catalog_are_found(data: dict[str, Any], found: list[str]) -> None:
    assert sorted(find_secret_pointers(SentPassword("u", WORD), data)) == found
    assert sorted(find_secret_pointers(SentPassword("u", WORD.title()), data)) == found


def test_a_percent_sign_may_be_in_a_secret() -> None:
    assert find_secret_pointers(SentPassword("u", "100%"), {"a": "100% sure"}) == ["/a"]


def in_base64(text: str) -> str:
    return b64encode(text.encode()).decode()


@pytest.mark.parametrize(("password", "text", "shown"), [
    # In codes from 8 characters on, and the longer half, but no piece below 6 characters.
    ("s3cret-8", f"{b's3cret-8'.hex()} {in_base64('s3cret-8')} {in_base64('xs3cret-8')} {in_base64('xys3cret-8')}",
     "*** *** eH*** eHl***"),
    ("s3cret7", f"{b's3cret7'.hex()} {in_base64('s3cret7')} {in_base64('u:s3cret7')}", "73336372657437 czNjcmV0Nw== ***"),
    ("s3cret-8", "s3cret-8s3cret-8 s3cret and s3cre", "****** *** and s3cre"),
    ("s3cret-8", "cret-8", "***"), ("s3cret-8", "s3cret", "***"), ("twelve-chars", "lve-chars", "***"),
    ("twelve-chars", "twelve", "***"), ("thirteen-char", "thirte", "thirte"),
    # In any case, and escapes of bytes that are Latin-1, no characters, or half of one.
    ("s3cret-8", "İ S3CRET-8 İ", "İ *** İ"), ("große-garten", "im Garten", "im ***"),
    ("Zwölf-Jäger", "Zwölf-J%C3%A4ger", "***"), ("Jäger-1234", "J%E4ger-1234", "***"),
    ("s3cret-8", r"%C3%733cret-8 \X733cret-8 \x733cret\x2D8", "*** *** ***"),
    ("caf\udce9-1234", "in caf\udce9-1234", "in ***"), ("go-😀😀-on", json.dumps("go-😀😀-on"), '"***"'),
])  # fmt: skip
def test_as_much_of_a_sent_password_as_tells_is_redacted(password: str, text: str, shown: str) -> None:
    assert SentPassword("u", password).redact(text) == shown


@pytest.mark.parametrize(("user", "password", "telling", "other"), [
    ("u", "abc", "dTphYmM", "dTph"), ("u", "W", "dTpX", "dTp"), ("u", " ", "dTog", "dTo"),
    ("platform", "abc", "cm06YWJj", "m06YWJj"), ("platform", "abc12", "06YWJjMTI", "6YWJjMTI"),
    ("a-long-platform", "abc12", "Rmb3JtOmFiYzEy", "YS1sb25nLXBsY mb3JtOmFiYzEy"),
    # Beside other text, which shares a character with it.
    ("u", "s3cret-8", "czNjcmV0LTh6eg==", "czNjcmV0"), ("u", "fifteen-chars-1", "WNoYXJzLTF6eg==", "NoYXJzLTF6eg=="),
])  # fmt: skip
def test_half_of_a_header_tells_a_password(user: str, password: str, telling: str, other: str) -> None:
    known = SentPassword(user, password)
    assert (known.is_in(telling), known.is_in(other)) == (True, False)


def test_redactions_of_a_page_are_counted() -> None:
    redactor = Redactor()
    texts = ("see https://hunter2@host", "plain", 5)
    assert [redactor.redact(one) for one in texts] == ["see https://***@host", "plain", ""]
    assert redactor.redact("token=hunter2") == "token=***"
    assert redactor.left_out == 2
    assert [redactor.must_redact(name) for name in ("password", "region", "client_secret")] == [True, False, True]
    assert redactor.left_out == 4
    assert [redactor.redact(shown) for shown in ("https://***@host", SECRET)] == ["https://***@host", SECRET]
    assert redactor.left_out == 6


def test_a_long_text_of_a_page_is_cut() -> None:
    redactor = Redactor()
    assert redactor.redact("x" * 1_200, limit=1_200) == "x" * 1_200
    assert redactor.redact("x" * 1_201, limit=1_200) == "x" * 1_200 + " … (1,201 characters)"
    assert redactor.left_out == 0


def test_secret_fields_of_a_line_are_masked_in_their_width() -> None:
    for line, shown in {
        '{"id": 7, "secret": "a, \\"b", "x": 1}': '{"id": 7, "secret": ********, "x": 1}',
        "{client_secret: hunter2, id: 7}": "{client_secret: *******, id: 7}",
        "  my-Api-Key : 'a b' # c": "  my-Api-Key : ***** # c",
        "{schema: {password: [a, b]}}": "{schema: {password: ******}}",
        "description: no secret here": "description: no secret here",
        '{"a": "http://u:hunter2@h:80/a:b@c", "b": "x@y"}': '{"a": "http://******************@c", "b": "x@y"}',
        '{"a":"https://h","b":"x@y"}': '{"a":"https://h","b":"x@y"}',
        "a: x?token=hunter2&b": "a: x?token=*******&b",
        '{"password": {"a": ["}", {}], "b": 1}, "x": 1}': '{"password": ************************, "x": 1}',
        """{dashboard_client: 'a, b', y: 1, "dashboard_client": [{id: c, name: "}d"}, e], z: 2}""":
        """{dashboard_client: ******, y: 1, "dashboard_client": ************************, z: 2}""",
        "{dashboard_client: {id: c, x: {y: 5}, redirect_uri: u}, dashboard_client: X}":
        "{dashboard_client: {id: c, x: ******, redirect_uri: u}, dashboard_client: *}",
        # behind a missing comma a name may be a value, and the other way round
        '{dashboard_client: {id: "a" b: c, id: hunter2}, z: 2}': "{dashboard_client: {id: **********************, z: 2}",
    }.items():  # fmt: skip
        assert mask_secrets(line) == shown
    assert mask_secrets("a: hun, b: x, c: hun", ((3, 6), (17, 20))) == "a: ***, b: x, c: ***"
    began = time.process_time()
    mask_secrets("a" * 1_000_000, tuple((start, start + 1) for start in range(0, 1_000_000, 20)))
    mask_secrets("a" * 400_000 + '"secret":' * 10_000 + "://" + ":" * 400_000)
    assert time.process_time() - began < 5


SECRETS = {
    "dashboard_client": {"secret": "hun, t}]hun", "id": "i1", "notes": [["x"], "hun"], "o": {"id": "hun", "p": 'a"hun'}},
    "CREDENTIALS": ["hun, hun", {"a": "hun"}], "a" * 50 + "Token": 'a"hun', "api-key": "hun\\", "more": "shown",
}  # fmt: skip


def strings_of(text: str, levels: int) -> Iterator[str]:
    """JSON with the text in a string, in a string of that, and so on."""
    for _ in range(levels):
        yield (text := json.dumps({"c": text}))


@each("text", [
    *(json.dumps(SECRETS, indent=indent, separators=separators) for indent, separators in ((None, None), (1, None), (None, (",", ":")))),
    "{'secret': 'a''b, hun', id: i1, more: shown}", "{secret: !!str &a 'hun, hun', id: i1, more: shown}",
    "{dashboard_client: {my id: hun, redirect_uri: 'https://shown', 'id!': hun, id: i1, x: 'hun'}}",
])  # fmt: skip
def test_secrets_of_a_text_in_strings_are_masked(text: str) -> None:
    in_yaml = text.replace("'", "''")
    for line in (text, f"c: '{in_yaml}'", *strings_of(text, 4)):
        shown = mask_secrets(line)
        assert ("hun" in shown, "i1" in shown, "shown" in shown) == (False, True, True), shown
        assert len(shown) == len(line)


@each("lines", [
    "dashboard_client:\n  notes: hun, hun\n  x: hun\n", "password:\n- hun, hun\n- hun\n", "password: hun, hun\nname: x\n",
    "private_key: |-\n  hun, hun\n  hun\n",
])  # fmt: skip
def test_secrets_of_lines_in_a_string_are_masked(lines: str) -> None:
    for line in strings_of(f"shown: b\n{lines}", 3):
        shown = mask_secrets(line)
        assert "hun" not in shown and "shown" in shown and len(shown) == len(line), shown


@each("piece", [
    '\\"', '\\\\"', "\\", "'", '"', 'key\\"', 'secret: [\\"a', "dashboard_client:{", '\\"secret\\":\\"', 'a=\\"', "secret: a, ",
    "secret: ''", "secret: \\n", "secret: &a ", "secret: |", "token=\\", '"secret":', ":", "://",
])  # fmt: skip
def test_no_line_takes_long(piece: str) -> None:
    for begin in ("", 'dashboard_client: {"id":', "secret: [", 'secret: \\"', 'secret="'):
        began = time.process_time()
        mask_secrets(begin + piece * (50_000 // len(piece)))
        assert time.process_time() - began < 0.5
