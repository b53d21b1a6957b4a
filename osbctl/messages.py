"""Messages: sentences about a catalog or a broker, and the secrets that none of them shows.

A sentence is data until a report asks for its text: a template with values. What it quotes of a catalog, a schema or an
answer is a `Value`; its path says whether it may be secret, and `show_value` alone decides what is shown of it. A
sentence that is a plain string is redacted as a whole. Secrets are detected by the name of a field, or by their format;
those in lines of a source by `masking`.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from osbctl.paths import BY_NAME, LITERALS, JsonPath, JsonValue

SECRET = "(secret)"  # noqa: S105  # the replacement

_SURE = ("password", "passwd", "secret", "api_key", "apikey", "access_key", "private_key", "token")
SECRET_WORDS = (*_SURE, "passphrase", "credential", "key", "pwd")
"""Words of names that hold a secret, or may."""
PAIR_NAMES = ("name", "key")
"""Fields of an object whose value names the object's `value`."""
_SHORT = {"auth", "pass", "pw", "sas", "sig", "signature"}
"""Matched only as the last word of a parameter's name, as in X-Amz-Signature."""

MAX_TEXT = 20_000
"""Maximum number of characters of one text on a page."""

_SHORTEST_PREFIX = 4
_MAX_LEVELS = 200

MASK = "***"
_USER = re.compile(
    r"(?<=://)(?:"
    r"[^\s/?#@:]*:(?!\d*(?:[/?#]|$))\S{0,1000}"  # user:password, which may contain any character if unescaped; no port
    r"""|[^\s/?#@:]*:\d+[/?#][^\s"',<>]{0,1000}[^\s"',<>/]"""  # nor that before a path like /@name
    r"|[^\s/?#]*"
    r")@"
)
_CUT_USER = re.compile(r"""(?<=://)[^\s/?#@:"'\[\]]+:(?=[^\s/?#@"']*[^\d\s/?#@"'…])[^\s/?#@"'…]+(?=["'…]|$)""")
"""User and password of a URL whose end was cut off: what follows a host is a port, of digits."""
OPEN_TEXT = (
    r"""(?P<level>\\{0,15}+)"(?>(?:[^"\\]++|\\++(?!")"""
    r"""|(?!(?>(?:(?P=level){2}\\\\)*)(?P=level)")(?P=level)\\++")*)"""
)
"""A text in double quotes up to its end. In JSON in a string, n backslashes stand before its quotes: as many before
the last one, or more by a multiple of 2n + 2; another number belongs to a quote in the text.

`(?>(?:…)*)` and not `(?:…)*+`, which Python before 3.11.5 matches wrongly where the group has alternatives.
"""
TEXT_END = r"""(?:(?>(?:(?P=level){2}\\\\)*)(?P=level)")"""
_PARAMETER = re.compile(
    r"(?<![\w.-])([\w.-]+)(\s{0,3}=\s{0,3})"
    rf"""({OPEN_TEXT}{TEXT_END}|'[^']*'|\\*+["']?[^\s&;,"'<>]+)"""
)


@lru_cache(1_000)
def is_secret_name(name: str) -> bool:
    """Return whether a field of this name certainly holds a secret."""
    return any(word in name.lower().replace("-", "_") for word in _SURE)


@lru_cache(1_000)
def may_be_secret_name(name: str | int) -> bool:
    """Return whether a field of this name may hold a secret, so that its value must not be displayed."""
    return isinstance(name, str) and any(word in name.lower() for word in SECRET_WORDS)


def is_secret_path(path: JsonPath) -> bool:
    """Return whether the value at `path` of a catalog, a schema or a request may be secret, so that none may see it.

    It is a dashboard client or a part of one, or stands below a secret name. Of a parameter with such a name, its
    literals are secret, as `default` and `enum`, not the other keywords.
    """
    return any(_hides_what_follows(path, index) for index in range(len(path)))


def _hides_what_follows(path: JsonPath, index: int) -> bool:
    step = path[index]
    if is_client(step):
        return path[index + 1 :] not in (("id",), ("redirect_uri",))
    if not may_be_secret_name(step):
        return False
    above, below = path[:index], path[index + 1 :]
    is_in_schema = "parameters" in above or not (above[:1] == ("services",) or "metadata" in above)
    is_parameter = is_in_schema and index and path[index - 1] in BY_NAME and below
    return not is_parameter or not LITERALS.isdisjoint(below)


@lru_cache(1_000)
def may_hide(key: str) -> bool:
    """Return whether `is_secret_path` looks at this key of a path; it may be asked for the rest from there."""
    return key in BY_NAME or key in ("metadata", "parameters") or may_be_secret_name(key) or is_client(key)


def is_client(name: str | int) -> bool:
    """Return whether a field of this name is a dashboard client, also as Spring spells it; parts are no secret."""
    return isinstance(name, str) and name.casefold().replace("-", "").replace("_", "") == "dashboardclient"


def redact_at(value: JsonValue, path: JsonPath) -> JsonValue:
    """Redact the value at `path` of a catalog or a schema: what `is_secret_path` hides, and secrets in texts."""
    if value is None or isinstance(value, bool):
        return value
    if is_secret_path(path):
        return SECRET
    if isinstance(value, dict):
        value = _hide_named_secret(value)
        return {redact_text(key): redact_at(inner, (*path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        return [redact_at(inner, (*path, index)) for index, inner in enumerate(value)]
    return redact_text(value) if isinstance(value, str) else value


def _hide_named_secret(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Redact the `value` of an object whose `name` or `key` is that of a secret, as of a variable."""
    names = (value.get(key) for key in PAIR_NAMES if "value" in value)
    hides = any(isinstance(name, str) and may_be_secret_name(name) for name in names)
    return {**value, "value": SECRET} if hides else value


def redact_text(text: str) -> str:
    """Redact secrets in a text: the userinfo of URLs, and parameters like `token=…`."""
    if "://" in text:
        text = _CUT_USER.sub(MASK, _USER.sub(f"{MASK}@", text))
    return mask_parameters(text) if "=" in text else text


def redact(
    value: JsonValue, known: frozenset[Any] = frozenset(), *, by_name: bool = True, levels: int = _MAX_LEVELS
) -> JsonValue:
    """Redact a value: fields with secret names, secrets in texts, and the `known` texts and numbers.

    `by_name` false: fields with secret names as others. Whatever is more `levels` deep is redacted as well.
    """
    if isinstance(value, dict | list) and not levels:
        return SECRET
    if isinstance(value, dict):
        return {
            redact_text(k): redact_field(k, inner, known, by_name=by_name, levels=levels - 1)
            for k, inner in (_hide_named_secret(value) if by_name else value).items()
        }
    if isinstance(value, list):
        return [redact(inner, known, by_name=by_name, levels=levels - 1) for inner in value]
    if isinstance(value, str):
        # Prefixes, because other values may be derived from known ones.
        begins = tuple(k for k in known if isinstance(k, str) and len(k) >= _SHORTEST_PREFIX)
        return SECRET if value in known or value.startswith(begins) else redact_text(value)
    return SECRET if not isinstance(value, bool) and value in known else value


def redact_field(
    name: str | int,
    value: JsonValue,
    known: frozenset[Any] = frozenset(),
    *,
    by_name: bool = True,
    levels: int = _MAX_LEVELS,
) -> JsonValue:
    """Redact the value of a field with this name; see `redact`."""
    if value is None or isinstance(value, bool) or not (by_name and may_be_secret_name(name)):
        return redact(value, known, by_name=by_name, levels=levels)
    return SECRET


def mask_parameters(text: str, *, keep_length: bool = False) -> str:
    """Mask the values of parameters like `token=…`, with as many asterisks if `keep_length`."""

    def mask(match: re.Match[str]) -> str:
        name, equals, value = match.group(1, 2, 3)
        is_short = re.split(r"[-_.]", name.lower())[-1] in _SHORT
        shown = "*" * len(value) if keep_length else MASK
        return f"{name}{equals}{shown}" if is_short or may_be_secret_name(name) else match[0]

    return _PARAMETER.sub(mask, text)


class Redactor:
    """Redacts the texts of a page, and counts the redactions."""

    def __init__(self) -> None:
        self.left_out = 0

    def redact(self, value: object, limit: int = MAX_TEXT) -> str:
        """Redact and truncate a text, and count it if it changed. Empty for other values."""
        if not isinstance(value, str):
            return ""
        cut = value if len(value) <= limit else f"{value[:limit]} … ({len(value):,} characters)"
        shown = redact_text(cut)
        self.left_out += shown != cut or MASK in shown or SECRET in shown  # views redact some texts before
        return shown

    def must_redact(self, name: str) -> bool:
        """Return whether the value of `name` must be redacted, and count it if so."""
        hidden = may_be_secret_name(name)
        self.left_out += hidden
        return hidden


class Value(NamedTuple):
    """A value in a sentence, and the path at which it stands; as a string: what may be shown of it.

    `form` writes it, by default in quotes; `limit` is the maximum number of characters of a text (0: none). `if_secret`
    stands in place of a secret value.
    """

    value: Any
    path: JsonPath = ()
    form: Callable[[Any], str] = repr
    limit: int = 0
    if_secret: str = SECRET

    def __str__(self) -> str:
        return show_value(self)

    def __repr__(self) -> str:
        return str(self)  # no traceback shows more


class SourceName(NamedTuple):
    """The name of a source or of a file of it in a sentence, of which a page leaves out the folder."""

    name: str

    def __str__(self) -> str:
        return redact_text(self.name)


class Message:
    """A sentence: a template as for `str.format`, and its values: `Value`, other messages, numbers, our own words.

    As a string: the sentence. Two messages are equal if their templates and values are.
    """

    __slots__ = ("_text", "named", "template", "values")

    def __init__(self, template: str, *values: object, **named: object) -> None:
        self.template = template
        self.values = values
        self.named = named
        self._text: str | None = None  # once made: findings are sorted by it, and then a report asks for it

    def __str__(self) -> str:
        if self._text is None:
            named = {name: text_of(value) for name, value in self.named.items()}
            self._text = self.template.format(*map(text_of, self.values), **named)
        return self._text

    def with_values(self, change: Callable[[Any], object]) -> "Message":
        """The message with each of its values, and those of messages in it, replaced by what `change` returns."""

        def replace(value: object) -> object:
            return value.with_values(change) if isinstance(value, Message) else change(value)

        return Message(self.template, *map(replace, self.values), **{k: replace(v) for k, v in self.named.items()})

    def __repr__(self) -> str:
        return f"Message({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return (self.template, self.values, self.named) == (other.template, other.values, other.named)

    def __hash__(self) -> int:
        return hash(self.template)  # values may have no hash


Sentence: TypeAlias = Message | str


def text_of(part: object) -> str:
    """The text of a sentence, or of what one holds, without secrets."""
    return redact_text(part) if isinstance(part, str) else str(part)


def show_value(value: Value) -> str:
    """A value as a message shows it: without what may be secret, cut short, in its form."""
    if not isinstance(value.value, bool | None) and is_secret_path(value.path):
        return value.if_secret
    if isinstance(value.value, str):
        text = redact_text(value.value)
        return value.form(text[: value.limit] if value.limit else text)
    return value.form(redact_at(value.value, value.path))
