"""Icons: pictures in the catalog itself, known by their first bytes, and the initials in place of one."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter

import pytest

from osbctl.pages.icons import MAX_BYTES, as_data_url, from_data_url, monogram

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.mark.parametrize("data", [PNG, SVG, b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF1234WEBP", b"<!-- x -->\n<svg >"])
def test_images_are_recognised_by_their_first_bytes(data: bytes) -> None:
    assert from_data_url(f"data:image/png;base64,{b64encode(data).decode()}") == as_data_url(data) != ""


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64,%%%",
        "data:text/html;base64," + b64encode(PNG).decode(),
        "data:image/svg+xml,<html><svg>",
        "data:image/png;base64," + b64encode(b"<html>").decode(),
        "data:image/png",
        "https://img.example/x.png",
        None,
    ],
)
def test_other_values_are_not_images(url: object) -> None:
    assert from_data_url(url) == ""


def test_a_large_image_is_not_shown() -> None:
    assert as_data_url(PNG.ljust(MAX_BYTES)) != ""
    assert as_data_url(PNG.ljust(MAX_BYTES + 1)) == ""


def test_monograms_differ() -> None:
    names = ["Object Storage", "redis", "", "--", "ß x", "Open Search", "Redis 2", "Registry", "r"]
    used: Counter[str] = Counter()
    assert [monogram(name, used).letters for name in names] == ["OS", "RE", "?", "?", "SS", "OP", "R2", "RG", "R"]
    assert monogram("r", used).color != monogram("r", used).color
