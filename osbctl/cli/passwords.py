"""How commands come by a password: from the terminal, or from standard input."""

from __future__ import annotations

import sys

from osbctl.errors import UsageError


def ask_password(prompt: str) -> str:
    """Ask at the terminal, without echo. Raises UsageError where there is none, or it ends; Ctrl-C ends the command."""
    import getpass

    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask for the password", "use --password-stdin")
    try:
        return getpass.getpass(prompt)
    except EOFError:
        raise UsageError("no password was given") from None


def read_password() -> str:
    """The password on standard input, without one last line end. Raises UsageError where it is not UTF-8."""
    raw = sys.stdin.buffer.read(4096)
    try:
        return raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise UsageError("the password on standard input is not UTF-8 text") from None
