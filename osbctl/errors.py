"""Exceptions that end a run, with their exit codes. Faults *in* a document are values (`osbctl.findings.Finding`).

OsbctlError             3  base class
├── UsageError          2  invalid command line
├── SourceError         3  a source cannot be opened: missing, forbidden, no such revision
│   └── OutputError     3  standard output cannot be written
├── RegistryError       3  the database of registered brokers cannot be used
├── ConfigError         3  osbctl.toml, pyproject.toml, a user schema or an option file is invalid
├── InternalError       3  a bug of osbctl: an unexpected exception
└── DocumentError       1  a document cannot be parsed, or is not valid (in `osbctl.findings`)
"""

from typing import ClassVar


class OsbctlError(Exception):
    """Base of exceptions that a command reports: what happened (`message`) and what to do (`advice`, may be empty).

    Secrets in the message are redacted, such as the password in an address that was taken for a file.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, advice: str = "") -> None:
        from osbctl.redaction import redact_text  # most runs have no error

        self.message = redact_text(message)
        super().__init__(self.message)
        self.advice = advice


def error_sentence(error: OsbctlError) -> str:
    """The message of an error with its advice in brackets, on one line."""
    return error.message + (f" ({error.advice})" if error.advice else "")


class UsageError(OsbctlError):
    """The command line is invalid."""

    exit_code = 2


class SourceError(OsbctlError):
    """A source cannot be opened: a missing file, no permission, no such revision."""


class OutputError(SourceError):
    """Standard output cannot be written: this ends the run, whatever it is about."""


class ConfigError(OsbctlError):
    """A configuration file, a user schema or an option file is invalid."""


class RegistryError(OsbctlError):
    """The database of registered brokers cannot be used: missing, locked, full, damaged, or made by a newer osbctl."""


class InternalError(OsbctlError):
    """A bug of osbctl: an unexpected exception. Its text is not shown, since it may quote a secret."""

    def __init__(self, cause: BaseException) -> None:
        advice = "this is a bug; run again with OSBCTL_DEBUG=1 and report what it prints"
        super().__init__(f"internal error: {type(cause).__name__}", advice)


def command_to_install(extra: str) -> str:
    """Command that installs the libraries of `extra`, but not osbctl itself, whose source may be gone."""
    # Imported here because importlib.metadata takes longer than the rest of a short command.
    import re
    import shlex
    import sys
    from importlib import metadata
    from importlib.util import find_spec

    from osbctl import DISTRIBUTION

    try:
        found = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:  # run from a folder, not installed
        return f"install the extra {extra} of pyproject.toml"
    needed = [line.partition(";")[0].strip() for line in found if re.search(rf"extra == ['\"]{extra}['\"]", line)]
    # Environments created by uv have no pip.
    pip = (
        [sys.executable, "-m", "pip", "install"]
        if find_spec("pip")
        else ["uv", "pip", "install", "--python", sys.executable]
    )
    return shlex.join([*pip, *needed])
