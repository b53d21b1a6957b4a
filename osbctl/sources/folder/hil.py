"""Templates of HIL, the language of `${…}` in a brokerpak, and their values.

A value is a text, boolean, integer or float, a list or map, or `Unknown`. Sources: scanner, parser, check_types.go and
eval.go of github.com/hashicorp/hil; pkg/varcontext/interpolation of cloud-service-broker.
"""

import json
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from math import inf
from typing import Any, NamedTuple, NoReturn, TypeAlias
from urllib.parse import quote_plus

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<name>[^\W\d](?:[\w.-]|(?<=\.)\*(?=\.|[^\w.*-]|\Z))*)"
    r"|(?P<operator>&&|\|\||[=!<>]=|[-+*/%<>])|(?P<mark>[!?:,()\[\]}\"]))"
)
_PRECEDENCE = (("||",), ("&&",), ("==", "!="), (">", ">=", "<", "<="), ("+", "-"), ("*", "/", "%"))
_TESTS = [sign for signs in _PRECEDENCE[:4] for sign in signs]

BOOLEANS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True)
BOOLEANS |= dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False)
"""The texts that Go reads as a boolean (strconv.ParseBool)."""


class NotTemplateError(ValueError):
    """A text that is no template."""


class Unknown(NamedTuple):
    """A value that the broker computes, of the type `kind`, which is empty if that is not known either."""

    kind: str = ""


Node: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""The value of a template, or a part of one, with variables. Raises ValueError: the broker cannot compute it."""


def parse_template(text: str) -> Node:
    """Parse a text. Raises NotTemplateError: the broker refuses to compute an expression in it."""
    return _Parser(text).parse()


def is_template(text: str) -> bool:
    """Return whether the broker computes a value from a text (`IsHILExpression`)."""
    parser = _Parser(text)
    try:
        node = parser.parse()
    except NotTemplateError:
        return False
    return parser.has_expressions or node({}) != text


def as_variable(value: Any) -> Any:
    """A value of JSON as that of a variable: only texts, and lists and maps of them (convert.go)."""
    if isinstance(value, dict):
        return {str(key): as_variable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_variable(item) for item in value]
    if isinstance(value, bool) or value is None:
        return {None: "", True: "1", False: "0"}[value]
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{Decimal(repr(value)):f}"
    return value if isinstance(value, Unknown) else str(value)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self.has_expressions = False

    def parse(self) -> Node:
        try:
            return self._parse_text("")
        except RecursionError:  # nested beyond any use
            raise NotTemplateError from None

    def _parse_text(self, end: str) -> Node:
        """Parse up to the character `end`."""
        parts: list[Any] = []
        escapes = _ESCAPES if end else {"$$": "$"}
        while self._text[self._at : self._at + 1] != end:
            two = self._text[self._at : self._at + 2]
            if two == "${":
                self._at += 2
                self.has_expressions = True
                parts.append(self._parse_expression())
                self._expect("}")
            elif two in escapes:
                parts.append(escapes[two])
                self._at += 2
            elif not two or (end and two[0] == "\\"):
                raise NotTemplateError
            else:
                parts.append(two[0])
                self._at += 1
        self._at += len(end)
        return partial(_join, parts)

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

    def _parse_expression(self) -> Node:
        condition = self._parse_operators(0)
        if self._next()[1] != "?":
            return condition
        self._expect("?")
        first = self._parse_expression()
        self._expect(":")
        return partial(_choose, condition, first, self._parse_expression())

    def _parse_operators(self, level: int) -> Node:
        if level == len(_PRECEDENCE):
            return self._parse_term()
        value = self._parse_operators(level + 1)
        while self._next()[1] in _PRECEDENCE[level]:
            value = partial(_operate, self._take()[1], value, self._parse_operators(level + 1))
        return value

    def _parse_term(self) -> Node:
        kind, word = self._take()
        if word in _PREFIXES:
            sign, left = _PREFIXES[word]
            return partial(_operate, sign, lambda _: left, self._parse_term())
        if word == "(":
            value = self._parse_expression()
            self._expect(")")
            return value
        if word == '"':
            return self._parse_text('"')
        if kind == "number" and ("." in word or len(word) < 19 or int(word[:20]) < 2**63):
            return lambda _: float(word) if "." in word else int(word)
        if kind != "name":
            raise NotTemplateError
        return (lambda _: word == "true") if word in ("true", "false") else self._parse_name(word)

    def _parse_name(self, word: str) -> Node:
        if self._next()[1] == "[":
            self._take()
            key = self._parse_expression()
            self._expect("]")
            return partial(_index, word, key)
        if self._next()[1] != "(":
            return partial(_look_up, word)
        self._take()
        arguments = []
        while self._next()[1] != ")":
            arguments.append(self._parse_expression())
            if self._next()[1] != ")":
                self._expect(",")
        self._take()
        return partial(_call, word, arguments)


_PREFIXES: dict[str, tuple[str, Any]] = {"-": ("-", 0), "!": ("==", False)}
_ESCAPES = {"$$": "$", "\\\\": "\\", "\\n": "\n", '\\"': '"'}


# Types and values. Both branches of a condition are computed, and both sides of && and ||.


def kind_of(value: Any) -> str:
    """The name of a value's type."""
    names = {str: "string", bool: "bool", int: "int", float: "float", list: "list", dict: "map"}
    return value.kind if isinstance(value, Unknown) else names[type(value)]


def _fail(message: str) -> NoReturn:
    raise ValueError(message)


def read_integer(text: str) -> int:
    """The integer of 64 bits in a text, in the base of its prefix (strconv.ParseInt). Raises ValueError."""
    value = int(re.sub(r"^([-+]?)0(?=[0-7_])", r"\g<1>0o", text), 0)
    return value if _is_bare(text) and -(2**63) <= value < 2**63 else _fail("value out of range")


def read_float(text: str) -> float:
    """The float in a text (strconv.ParseFloat). Raises ValueError."""
    value = float.fromhex(text) if re.match("[-+]?0[xX].*[pP]", text) else float(text)
    return value if _is_bare(text) and (abs(value) != inf or "n" in text.lower()) else _fail("value out of range")


def _is_bare(text: str) -> bool:
    return text.isascii() and text == text.strip()


def _format_float(value: float) -> str:
    """The text of a float: the format g of Go with as many digits as it takes."""
    number = Decimal(repr(value)).normalize()
    power = number.adjusted()
    return f"{number:f}" if -4 <= power < 6 else f"{number.scaleb(-power):f}e{power:+03d}"


_CONVERSIONS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("bool", "string"): lambda value: str(value).lower(),
    ("int", "string"): str,
    ("float", "string"): _format_float,
    ("int", "float"): float,
    ("float", "int"): int,
    ("string", "int"): read_integer,
    ("string", "float"): read_float,
    ("string", "bool"): lambda text: BOOLEANS[text] if text in BOOLEANS else _fail("a text is no boolean"),
}


def _convert(value: Any, kind: str) -> Any:
    """The value as one of type `kind`. Messages do not quote it: it may be secret."""
    found = kind_of(value)
    if kind in (found, "any"):
        return value
    if found and (found, kind) not in _CONVERSIONS:
        _fail(f"a {found} stands where a {kind} must")
    try:
        return Unknown(kind) if isinstance(value, Unknown) else _CONVERSIONS[found, kind](value)
    except (ValueError, OverflowError):
        _fail(f"a {found} cannot be read as a {kind}")


def _join(parts: list[str | Node], variables: Mapping[str, Any]) -> Any:
    values = [part if isinstance(part, str) else part(variables) for part in parts]
    if len(values) == 1 and kind_of(values[0]) in ("list", "map", ""):
        return values[0]
    texts = [_convert(value, "string") for value in values]
    return Unknown("string") if any(isinstance(text, Unknown) for text in texts) else "".join(texts)


def _divide(left: Any, right: Any) -> Any:
    if isinstance(left, float):
        return left / right if right else Unknown("float")
    quotient = abs(left) // abs(right) if right else _fail("divide by zero")
    return quotient if (left < 0) == (right < 0) else -quotient


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "||": operator.or_, "&&": operator.and_, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
    "<": operator.lt, "<=": operator.le, "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide,
    "%": lambda left, right: left - right * _divide(left, right),
}  # fmt: skip


def _type_of_operands(sign: str, kinds: list[str]) -> str:
    """The type that both operands are converted to."""
    if sign in ("&&", "||"):
        return "bool"
    usual = "float" if "float" in kinds else "int"
    kind = kinds[0] if sign in ("==", "!=") else usual
    if kind in ("list", "map") or (kind, sign) == ("float", "%"):
        _fail(f"{sign} does not apply to a {kind}")
    return kind


def _operate(sign: str, left: Node, right: Node, variables: Mapping[str, Any]) -> Any:
    values = [left(variables), right(variables)]
    kinds = [kind_of(value) for value in values]
    kind = _type_of_operands(sign, kinds)
    if "" not in kinds:
        values = [_convert(value, kind) for value in values]
    if any(isinstance(value, Unknown) for value in values):
        return Unknown("bool" if sign in _TESTS else kind if "" not in kinds else "")
    made = _OPERATORS[sign](*values)
    return (made + 2**63) % 2**64 - 2**63 if type(made) is int else made


def _choose(condition: Node, first: Node, second: Node, variables: Mapping[str, Any]) -> Any:
    is_first = _convert(condition(variables), "bool")
    values = [first(variables), second(variables)]
    kinds = [kind_of(value) for value in values]
    kind = kinds[1] if kinds[0] in ("string", "") else kinds[0]
    if "" not in kinds:
        values = [_convert(value, kind) for value in values]
    if kind in ("list", "map"):
        _fail(f"a condition cannot choose a {kind}")
    return Unknown(kind) if isinstance(is_first, Unknown) else values[not is_first]


def _look_up(name: str, variables: Mapping[str, Any]) -> Any:
    return variables[name] if name in variables else _fail(f"unknown variable accessed: {name}")


_TYPES_OF_KEYS = {"list": "int", "map": "string", "": "any"}


def _index(name: str, key: Node, variables: Mapping[str, Any]) -> Any:
    target = _look_up(name, variables)
    kind = kind_of(target)
    if kind not in _TYPES_OF_KEYS:
        _fail(f"{name} is a {kind}, which has no parts")
    place = _convert(key(variables), _TYPES_OF_KEYS[kind])
    if isinstance(target, Unknown) or isinstance(place, Unknown):
        return Unknown()
    if len({kind_of(item) for item in (target.values() if kind == "map" else target)}) > 1:
        _fail(f"{name} does not have homogenous types")
    if place not in (target if kind == "map" else range(len(target))):
        _fail(f"{name} has no such key")
    return target[place]


def _call(name: str, arguments: list[Node], variables: Mapping[str, Any]) -> Any:
    if name not in _FUNCTIONS:
        _fail(f"unknown function called: {name}")
    kinds, kind, function = _FUNCTIONS[name]
    if len(arguments) != len(kinds):
        _fail(f"{name}: expected {len(kinds)} arguments, got {len(arguments)}")
    values = [_convert(one(variables), needed) for one, needed in zip(arguments, kinds, strict=True)]
    return Unknown(kind) if any(isinstance(value, Unknown) for value in values) else function(*values)


def _match(pattern: str, text: str) -> bool:
    import jsonschema_rs  # whose expressions are those of Go

    options = jsonschema_rs.RegexOptions()
    try:
        return jsonschema_rs.Draft4Validator({"pattern": pattern}, pattern_options=options).is_valid(text)
    except ValueError:
        _fail("regexp.matches: error parsing regexp")


def _write_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True) if value != [] else "null"
    return re.sub("[<>&]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _flatten(between: str, after: str, values: dict[str, Any]) -> Any:
    if any(not isinstance(value, str) for value in values.values()):
        return Unknown("string")
    return after.join(sorted(f"{key}{between}{value}" for key, value in values.items()))


def _truncate(most: int, text: str) -> str:
    return text.encode()[:most].decode(errors="replace") if most >= 0 else _fail("str.truncate crashes")


_FUNCTIONS: dict[str, tuple[tuple[str, ...], str, Callable[..., Any]]] = {
    "time.nano": ((), "string", lambda: Unknown("string")),
    "str.truncate": (("int", "string"), "string", _truncate),
    "str.queryEscape": (("string",), "string", partial(quote_plus, safe="")),
    "regexp.matches": (("string", "string"), "bool", _match),
    "counter.next": ((), "int", lambda: Unknown("int")),
    "rand.base64": (("int",), "string", lambda size: Unknown("string") if size >= 0 else _fail("rand.base64 crashes")),
    "assert": (("bool", "string"), "bool", lambda is_so, _: is_so or _fail("assertion failed")),
    "json.marshal": (("any",), "string", _write_json),
    "map.flatten": (("string", "string", "map"), "string", _flatten),
    "env": (("string",), "string", lambda _: Unknown("string")),
    "config": (("string",), "string", lambda _: Unknown("string")),
}
"""The functions of cloud-service-broker (funcs.go): the types of their arguments and of their values, and these."""
