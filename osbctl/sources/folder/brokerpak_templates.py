"""Find the variables and outputs of a template of OpenTofu.

This is no parser of HCL: it reads the heads of blocks and arguments at the top, and follows brackets, quotes, heredocs
and comments behind them. `tofu validate` says more.
"""

import re
from typing import NamedTuple

_SKIPPED = re.compile(r"(?:\s|#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_HEAD = re.compile(
    r"(?P<kind>[^\W\d][\w-]*)(?P<labels>(?:[ \t]*\"(?:[^\"\\\n]|\\.)*\"|[ \t]+[^\W\d][\w-]*)*)[ \t]*(?P<end>\{|=(?!=))"
)
_LABEL = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|([^\W\d][\w-]*)")
_NO_VALUE = re.compile(r"[ \t]*(?:$|#|//)", re.MULTILINE)
_END_OF_LINE = re.compile(r"(?:[ \t]|/\*.*?\*/)*(?:\r?\n|#|//|\Z)", re.DOTALL)
_INSIDE = re.compile(
    # What is not closed goes on to the end: it is not looked for again.
    r"#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z)|<<-?(?P<end>[A-Za-z_][\w-]*)\r?\n.*?(?:^[ \t]*(?P=end)[ \t]*$|\Z)"
    r"|(?P<bracket>[][(){}\";'`@^\\])|[^][(){}\";'`@^\\#/<\n]+|.",
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(r'(?:[^"\\\n$%]+|\\.|\$\$\{|%%\{|[$%](?!\{))*("|[$%]\{|)')
"""Without a possessive `*+`, which before Python 3.11.5 loses the end of a group with alternatives."""
_PAIRS = {"{": "}", "[": "]", "(": ")", '"': '"'}


class TemplateBlocks(NamedTuple):
    """The labels of the `variable` and `output` blocks of a template."""

    variables: frozenset[str]
    outputs: frozenset[str]


def find_blocks(text: str) -> TemplateBlocks | None:
    """Find the blocks of a template. None if something else stands at the top, or a bracket or quote does not match.

    Blocks end their lines, and those that are found have one label.
    """
    found: dict[str, set[str]] = {"variable": set(), "output": set()}
    at = 0
    while (at := next(_SKIPPED.finditer(text, at)).end()) < len(text):  # a match at `at`, if only of nothing
        head = _HEAD.match(text, at)
        if not head:
            return None
        labels = [quoted or bare for quoted, bare in _LABEL.findall(head["labels"])]
        is_block = head["end"] == "{"
        if not (_is_whole_block if is_block else _is_argument)(head, labels):
            return None
        found.setdefault(head["kind"], set()).update(labels)
        end = _skip_value(text, head.end(), ["}"] if is_block else [])
        if end is None or not _END_OF_LINE.match(text, end):
            return None
        at = end
    return TemplateBlocks(frozenset(found["variable"]), frozenset(found["output"]))


def _is_whole_block(head: re.Match[str], labels: list[str]) -> bool:
    return head["kind"] not in ("variable", "output") or len(labels) == 1


def _is_argument(head: re.Match[str], labels: list[str]) -> bool:
    return not labels and not _NO_VALUE.match(head.string, head.end())


def _skip_value(text: str, at: int, closing: list[str]) -> int | None:
    """The end of a block or value from `at` on. None if it does not end. `closing`: the brackets to come in reverse."""
    is_block = bool(closing)
    while at < len(text) and (closing or not (is_block or text[at] == "\n")):
        match = (_QUOTED if closing[-1:] == ['"'] else _INSIDE).match(text, at)
        assert match
        at = match.end()
        if match.re is _QUOTED:
            if not match[1]:
                return None
            closing[-1:] = [] if match[1] == '"' else ['"', "}"]
        elif bracket := match["bracket"]:
            if bracket in _PAIRS:
                closing.append(_PAIRS[bracket])
            elif not closing or closing.pop() != bracket:
                return None
    return None if closing else at
