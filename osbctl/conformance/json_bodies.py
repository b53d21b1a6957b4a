"""Bodies that are not JSON, as platforms read them."""

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|/\*.*?(?:\*/|\Z)|//[^\n]*', re.DOTALL)
"""A string or a comment. One without an end takes the rest, so that a search is linear."""
_RAW = re.compile(r"\\.|[\x00-\x1f]", re.DOTALL)


def read_as_platform(body: bytes, *, loosely: bool) -> bytes | None:
    """The JSON object, in UTF-8, that a platform reads in a body that is not one; None if it cannot read it.

    `loosely`: as Cloud Controller, which takes comments, NaN (which stays in the result) and raw control characters;
    else as programs in Go, which replace bytes that are not UTF-8. Source: Oj, parse.c; Go, encoding/json, decode.go.
    """
    try:
        text = body.decode("utf-8", "strict" if loosely else "replace")
        text = _TOKEN.sub(_normalize_token, text) if loosely else text
        value = json.loads(text, parse_constant=float if loosely else _refuse_constant)
    except (ValueError, RecursionError):
        return None
    return text.encode() if isinstance(value, dict) else None


def _normalize_token(token: re.Match[str]) -> str:
    """A string with escapes for control characters; blanks for a comment, so that places stay where they are."""
    if token[0].startswith('"'):
        return _RAW.sub(lambda raw: raw[0] if len(raw[0]) > 1 else f"\\u{ord(raw[0]):04x}", token[0])
    return re.sub(r"[^\n]", " ", token[0])


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
