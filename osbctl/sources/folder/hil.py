"""Templates of HIL, the language of `${…}` in a brokerpak: which names they use, and what they are without any.

Only as much of its grammar as decides whether a text is a template (github.com/hashicorp/hil, parser and scanner).
"""

import re
from typing import NamedTuple

FUNCTIONS = (
    "time.nano", "str.truncate", "str.queryEscape", "regexp.matches", "counter.next", "rand.base64", "assert",
    "json.marshal", "map.flatten", "env", "config",
)  # fmt: skip
"""Functions of cloud-service-broker (pkg/varcontext/interpolation/funcs.go)."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<name>[A-Za-z_][\w.*:-]*)|(?P<operator>&&|\|\||[=!<>]=|[-+*/%<>])"
    r"|(?P<mark>[!?:,()\[\]}\"]))"
)


class NotTemplateError(ValueError):
    """A text that is no template."""


class Template(NamedTuple):
    """A parsed text: the variables and functions that it uses, and its text if that does not depend on any."""

    variables: frozenset[str]
    functions: frozenset[str]
    text: str | None
    is_plain: bool


def parse_template(text: str) -> Template:
    """Parse a text. Raises NotTemplateError: the broker refuses to compute an expression in it."""
    parser = _Parser(text)
    try:
        value = parser.parse_text("")
    except RecursionError:  # nested beyond any use
        raise NotTemplateError from None
    return Template(frozenset(parser.variables), frozenset(parser.functions), value, value == text)


def is_template(text: str) -> bool:
    """Return whether the broker computes a value from a text (`IsHILExpression`)."""
    try:
        return not parse_template(text).is_plain
    except NotTemplateError:
        return False


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self.variables: set[str] = set()
        self.functions: set[str] = set()

    def parse_text(self, end: str) -> str | None:
        """Parse up to the character `end`; the text, None if an expression in it has no constant value."""
        parts: list[str | None] = []
        while self._text[self._at : self._at + 1] != end:
            if self._at >= len(self._text):
                raise NotTemplateError
            if self._text.startswith("$${", self._at):
                parts.append("${")
                self._at += 3
            elif self._text.startswith("${", self._at):
                self._at += 2
                parts.append(self._parse_expression())
                self._expect("}")
            elif end and self._text[self._at] == "\\":
                parts.append(self._text[self._at + 1 : self._at + 2])
                self._at += 2
            else:
                parts.append(self._text[self._at])
                self._at += 1
        self._at += len(end)
        return None if None in parts else "".join(filter(None, parts))

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._at)
        return (match.lastgroup or "", match[match.lastgroup or 0]) if match else ("", "")

    def _take(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._at)
        if not match:
            raise NotTemplateError
        self._at = match.end()
        return match.lastgroup or "", match[match.lastgroup or 0]

    def _expect(self, mark: str) -> None:
        if self._take()[1] != mark:
            raise NotTemplateError

    def _parse_expression(self) -> str | None:
        value = self._parse_term()
        while self._next()[0] == "operator":
            self._take()
            self._parse_term()
            value = None
        if self._next()[1] == "?":
            for mark in "?:":
                self._expect(mark)
                self._parse_expression()
            value = None
        return value

    def _parse_term(self) -> str | None:
        kind, word = self._take()
        if word in ("-", "!"):
            self._parse_term()
        elif word == "(":
            self._parse_expression()
            self._expect(")")
        elif word == '"':
            return self.parse_text('"')
        elif kind == "number" or word in ("true", "false"):
            return word
        elif kind != "name":
            raise NotTemplateError
        elif self._next()[1] == "(":
            self.functions.add(word)
            self._take()
            while self._next()[1] != ")":
                self._parse_expression()
                if self._next()[1] != ")":
                    self._expect(",")
            self._take()
        else:
            self.variables.add(word)
            if self._next()[1] == "[":
                self._take()
                self._parse_expression()
                self._expect("]")
        return None
