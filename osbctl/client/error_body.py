"""The cause of an error from its body, in one line for a message."""

import html
import json
import re
from collections.abc import Mapping

from osbctl.client.connection_options import ConnectionOptions
from osbctl.client.http_client import MAX_RECEIVED
from osbctl.client.sent_password import SURE_LENGTH
from osbctl.paths import JsonValue
from osbctl.redaction import mask_secrets, redact, redact_text
from osbctl.text import escape_line

_MAX_SHOWN = 300
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^>]*(?:>|\Z)", re.DOTALL | re.IGNORECASE)
"""Parts of a page that a browser does not show: comments, programs, styles, tags."""


def error_description(body: bytes, options: ConnectionOptions, headers: Mapping[str, str] | None = None) -> str:
    """The description in the error body of a broker, else the beginning of the body, after a colon.

    Credentials are redacted, and so is what may be a secret. A body that contains a short password, which may be any
    word of it, is left out. `headers` have lower-case names; Cloud Foundry's router names its errors in one of them.
    """
    shown = _shown_text(body, options)
    router = (headers or {}).get("x-cf-routererror", "")
    if router:
        name = escape_line(options.redact_credentials(router[:MAX_RECEIVED]))[:60]
        shown = f"{shown or 'the body is left out'} (the router of Cloud Foundry reports {name})"
    return f": {shown}" if shown else ""


def _shown_text(body: bytes, options: ConnectionOptions) -> str:
    if not body.strip():
        return "the body is empty"
    text = _cause(body)[:MAX_RECEIVED]
    # Redact before cutting: half a password would not be recognised.
    redacted = options.redact_credentials(text)
    if redacted != text and len(options.password) < SURE_LENGTH:
        return ""
    return escape_line(redact_text(redacted))[:_MAX_SHOWN]


def _cause(body: bytes) -> str:
    """The most telling text of a body: a description or message in JSON, else the whole as text."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return _plain_text(body.decode("utf-8", "replace")[: 4 * MAX_RECEIVED])
    if text := _message(value):
        return text
    return json.dumps(redact(value), ensure_ascii=False)


def _message(value: JsonValue) -> str:
    """The description of an error object (OSB, Service Broker Errors), or the message that frameworks write."""
    if not isinstance(value, dict):
        return ""
    fields = {key.lower(): inner for key, inner in reversed(value.items())}
    fields["description"] = value.get("description", fields.get("description"))
    for key in ("description", "message", "detail", "error"):
        inner = fields.get(key)
        if isinstance(inner, str) and inner.strip():
            is_vague = key == "message" and inner == "No message available"  # Spring
            return str(fields.get("error", inner)) if is_vague else inner
        if key == "error" and (text := _message(inner)):
            return text
    return ""


def _plain_text(text: str) -> str:
    """The text of a page of HTML, or any other text, in one line, without what may be secret."""
    if re.search(r"<(?:!doctype|html|body|head|h\d|p|title|pre)\b", text, re.IGNORECASE):
        text = html.unescape(_UNSEEN.sub(" ", text))
    masked = (mask_secrets(line) for line in text.splitlines())
    return re.sub(r"\*{4,}", "***", " ".join(" ".join(masked).split()))
