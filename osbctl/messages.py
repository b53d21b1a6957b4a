"""Messages: sentences about a catalog or a broker, which are data until a report asks for their text.

A sentence is a template with values. What it quotes of a catalog, a schema or an answer is a `Value`; its path says
whether it may be secret, and `show_value` alone decides what is shown of it. A sentence that is a plain string is
redacted as a whole.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from osbctl.paths import JsonPath
from osbctl.redaction import SECRET, is_secret_path, redact_at, redact_text


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

    __slots__ = ("named", "template", "values")

    def __init__(self, template: str, *values: object, **named: object) -> None:
        self.template = template
        self.values = values
        self.named = named

    def __str__(self) -> str:
        named = {name: _show(value) for name, value in self.named.items()}
        return self.template.format(*map(_show, self.values), **named)

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


def text_of(sentence: Sentence) -> str:
    """The text of a sentence, without secrets."""
    return redact_text(sentence) if isinstance(sentence, str) else str(sentence)


def show_value(value: Value) -> str:
    """A value as a message shows it: without what may be secret, cut short, in its form."""
    if not isinstance(value.value, bool | None) and is_secret_path(value.path):
        return value.if_secret
    if isinstance(value.value, str):
        text = redact_text(value.value)
        return value.form(text[: value.limit] if value.limit else text)
    return value.form(redact_at(value.value, value.path))


def _show(part: object) -> str:
    return text_of(part) if isinstance(part, str) else str(part)
