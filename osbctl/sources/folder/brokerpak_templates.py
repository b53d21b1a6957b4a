"""Find the variables and outputs of a template of OpenTofu.

This is no parser of HCL: it follows brackets, quotes, heredocs and comments, so that it knows which blocks stand at the
top. `pak build` says more.
"""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<skipped>#[^\n]*|//[^\n]*|/\*.*?\*/|<<-?(?P<end>[A-Za-z_][\w-]*)\r?\n.*?^[ \t]*(?P=end)[ \t]*$)"
    r"|\n|(?P<block>(?:variable|output)[ \t]+(?:\"(?P<quoted>[^\"\\\n$%]*)\"|(?P<bare>[\w-]+))[ \t]*(?=\{))"
    r"|(?P<bracket>[][(){}\"])|[\w-]+|[^][(){}\"\w\n#/<-]+|.",
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(r'(?:\\.|\$\$\{|%%\{|(?![$%]\{)[^"\\\n])*+("|[$%]\{|)')
_PAIRS = {"{": "}", "[": "]", "(": ")"}


class TemplateBlocks(NamedTuple):
    """The labels of the `variable` and `output` blocks of a template."""

    variables: frozenset[str]
    outputs: frozenset[str]


def find_blocks(text: str) -> TemplateBlocks | None:
    """Find the blocks of a template; None if its brackets or quotes do not match."""
    found: dict[str, set[str]] = {"variable": set(), "output": set()}
    closing: list[str] = []  # the brackets and quotes to come, the innermost last
    at = 0
    while at < len(text):
        match = (_QUOTED if closing[-1:] == ['"'] else _TOKEN).match(text, at)
        assert match
        at = match.end()
        if match.re is _QUOTED:
            if not match[1]:
                return None
            closing[-1:] = [] if match[1] == '"' else ['"', "}"]
        elif match["block"] and not closing:
            found[match["block"].split()[0].partition('"')[0]].add(match["quoted"] or match["bare"])
        elif bracket := match["bracket"]:
            if bracket in '"{[(':
                closing.append(_PAIRS.get(bracket, '"'))
            elif not closing or closing.pop() != bracket:
                return None
    return None if closing else TemplateBlocks(frozenset(found["variable"]), frozenset(found["output"]))
