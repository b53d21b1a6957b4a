"""Find words in code and documentation that readers stumble over: `python tools/check_words.py`.

Exit code 1, with a line for each. Only comments, docstrings and texts of code are searched, never names. Whether a
sentence reads well, and a docstring or commit begins as it should, a reader decides.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
FILES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "DECISIONS.md",
    "SECURITY.md",
    "deploy/README.md",
    "benchmarks/README.md",
)

WORDS = {
    r"(?<!-)nobody|no one": "name the missing thing: no user, no platform, without a reader",
    r"anybody|somebody|someone's own": "name the person or thing: users, another process",
    r"whoever|whosoever": "name the person: anyone who, users, the caller",
    r"newcomers?": "new clients, the later object",
    r"(?:hang|hangs|hung) on": "depends on; `hang` is what a process does",
    r"(?:is|are|was|were|be|being) told|told (?:of|apart)|tells? of": "is reported, reports, distinguishes",
    r"pass(?:es|ed) over": "skip, ignore",
    r"beyond doubt": "certainly",
    r"reckon\w*": "compute, assume, extrapolate",
    r"by itself alone": "alone, on its own",
    r"(?:that|which|it) (?:is|are) (?-i:none)": "say what it is not: not a port, not a line of a lock file",
    r"heeds?|lest|thereby|therein|hitherto": "archaic",
    r"mistook|mistakes for": "confuses with",
    r"works? (?:it|an update|the catalog) in": "applies",
    r"the house|house schema|of a house|rooms": "architecture, user schema, branding, packages: one word meant all",
}
"""Words and phrases that readers stumble over, as regular expressions, with their replacement or the reason."""

FORBIDDEN = re.compile("|".join(rf"(?P<w{number}>\b(?:{word})\b)" for number, word in enumerate(WORDS)), re.IGNORECASE)


def main() -> int:
    found = [*code_violations(), *page_violations()]
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


def code_violations() -> Iterator[str]:
    """Violations in code: comments and docstrings, and in `osbctl/` every text. Tests may quote any word."""
    for folder in ("osbctl", "tools", "tests", "benchmarks"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            name = file.relative_to(ROOT).as_posix()
            if folder == "osbctl":
                found = texts(text)
            else:
                comments = ((line, words) for line, words in texts(text) if words.startswith("#"))
                found = chain(comments, docstrings(ast.parse(text)))
            for line, words in found:
                yield from forbidden(words, name, line)


def texts(module: str) -> Iterator[tuple[int, str]]:
    """Comments, docstrings and other string literals of a module with their first lines."""
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(module).readline):
        if token.type in kinds:
            yield token.start[0], token.string


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Docstrings, also of attributes, with their first lines."""
    for node in ast.walk(tree):
        for statement in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.strip():
                yield statement.lineno, value.value


def page_violations() -> Iterator[str]:
    """Violations in the documentation, generated pages too; fenced blocks are outputs and files."""
    pages = [ROOT / name for name in FILES] + sorted((ROOT / "docs").rglob("*.md"))
    for page in pages:
        text = re.sub(r"(?ms)^ *```.*?^ *```", blank, page.read_text(encoding="utf-8"))
        yield from forbidden(text, page.relative_to(ROOT).as_posix(), 1)


def blank(block: re.Match[str]) -> str:
    """Replace a block by as many empty lines."""
    return "\n" * block[0].count("\n")


def forbidden(text: str, name: str, line: int) -> Iterator[str]:
    for match in FORBIDDEN.finditer(text):
        reason = list(WORDS.values())[int((match.lastgroup or "w0")[1:])]
        yield f"{name}:{line + text.count(chr(10), 0, match.start())}: {' '.join(match[0].split())}: {reason}"


if __name__ == "__main__":
    sys.exit(main())
