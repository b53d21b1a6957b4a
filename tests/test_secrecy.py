"""Names and texts that hold secrets, and those that only look a little like it."""

from __future__ import annotations

import time

import pytest

from osbctl.secrecy import SECRET, masked, without_secrets

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
    ('{"dsn": "password=\\"hunter2\\""}', '{"dsn": "password=***""}'),
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
    assert without_secrets(text) == shown
    assert without_secrets(shown) == shown


@pytest.mark.parametrize("text", SHOWN)
def test_other_texts_are_left_alone(text: str) -> None:
    assert without_secrets(text) == text


def test_keys_of_tables_are_texts_too_and_flags_are_no_secrets() -> None:
    value = {"https://u:hunter2@x": [1, "token=hunter2"], "apiKey": {"a": 1}, "tokens": None, "secret": True}
    shown = {"https://***@x": [1, "token=***"], "apiKey": SECRET, "tokens": None, "secret": True}
    assert masked(value) == shown


@pytest.mark.parametrize("piece", ["://", "://a:b", "a", "=", "token=", "a='", "key  ", "@", "\\"])
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    without_secrets("@=" + piece * (200_000 // len(piece)))
    assert time.process_time() - began < 2
