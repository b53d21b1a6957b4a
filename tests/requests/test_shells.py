"""A word comes out of each shell as it went in, or is not written at all."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.requests.shells import Shell, UnquotableError, quoted

WORDS = [
    "postgres", "db.small", "a/b:c", "two words", "it's", 'say "hi"', "$(id)", "`id`", "${HOME}", "%PATH%", "!!", "a;b", "a&b",
    "a|b", "<x>", "*", "~root", "#no", "a\\", "a\\b", "ünïcode", "‘curly’", "a=b", "@splat", "{a,b}", "^caret", "a,b", "(x)", "1.0",
]  # fmt: skip
NEVER = ["", "-x", "--version", "a\nb", "a\tb", "\x1b[31m", "a\u202eb", "zero\u200bwidth", "nul\0"]


def powershell(line: str) -> str:
    """The one word of a line by PowerShell's rules of quoting: nothing is replaced within single quotes."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]*", line):
        return line
    assert line[0] == line[-1] == "'"
    inner = line[1:-1]
    word = re.sub("(['‘’‚‛])['‘’‚‛]", r"\1", inner)
    assert not re.search("['‘’‚‛]", re.sub("(['‘’‚‛])['‘’‚‛]", "", inner)), "a quote stands alone"
    assert '"' not in word and not word.endswith("\\")  # lost on the way to a program, up to 7.2
    return word


def cmd(line: str) -> str:
    """The one word of a line by the rules of cmd and of CommandLineToArgvW."""
    assert not set(line) & set("%!\n")
    word, quotes, at = "", False, 0
    while at < len(line):
        found = re.compile(r'(\\*)"').match(line, at)
        if found:
            word += "\\" * (len(found[1]) // 2)
            if len(found[1]) % 2:
                word += '"'
            else:
                quotes = not quotes
            at = found.end()
            continue
        assert quotes or line[at] not in " &|<>^();,="
        word += line[at]
        at += 1
    assert not quotes
    return word


@pytest.mark.parametrize("word", WORDS)
def test_bash_reads_the_same_word(word: str) -> None:
    line = f"printf '%s' {quoted(word, Shell.BASH)}"
    ran = subprocess.run(["bash", "-c", line], capture_output=True, timeout=10, check=True)
    assert ran.stdout.decode() == word


@given(st.text(max_size=12) | st.sampled_from(WORDS))
def test_powershell_and_cmd_read_the_same_word(word: str) -> None:
    for shell, reads in ((Shell.POWERSHELL, powershell), (Shell.CMD, cmd)):
        try:
            line = quoted(word, shell)
        except UnquotableError:
            continue
        assert reads(line) == word


@pytest.mark.parametrize("word", NEVER)
@pytest.mark.parametrize("shell", Shell)
def test_what_a_tool_or_a_reader_would_take_for_something_else_is_not_written(word: str, shell: Shell) -> None:
    with pytest.raises(UnquotableError):
        quoted(word, shell)


@pytest.mark.parametrize(
    ("shell", "word"), [("powershell", 'a"b'), ("powershell", "a b\\"), ("cmd", "50%"), ("cmd", "a!"), ("cmd", 'a"')]
)
def test_what_one_shell_cannot_carry_is_refused_there(shell: str, word: str) -> None:
    with pytest.raises(UnquotableError):
        quoted(word, Shell(shell))
    assert quoted(word, Shell.BASH)


def test_a_plain_word_needs_no_quotes_and_most_others_get_a_command() -> None:
    assert {quoted("db.small-1", shell) for shell in Shell} == {"db.small-1"}
    assert quoted("it's", Shell.POWERSHELL) == "'it''s'"
    assert quoted("a\\", Shell.CMD) == '"a\\\\"'
