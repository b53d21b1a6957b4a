"""The exceptions of a run.

What is wrong *inside* a document is a value (`osbctl.findings.Finding`); what keeps a run
from doing its work is one of these:

    OsbctlError             3  the run could not do its work
    ├── UsageError          2  the command line asks for something that makes no sense
    ├── SourceError         3  a source cannot be opened: missing, forbidden, no such revision
    ├── RegistryError       3  the database of registered brokers cannot be used
    ├── ConfigError         3  osbctl.toml, pyproject.toml, a user schema or an option file is wrong
    └── DocumentError       1  a source was opened, but what it holds cannot be read (it stands in `osbctl.findings`)

The number is the exit code of a command that ends with it.
"""

from __future__ import annotations

from typing import ClassVar


class OsbctlError(Exception):
    """The base of all exceptions that a command reports in one sentence.

    `message` says what happened, `advice` (may be empty) what to do about it.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class UsageError(OsbctlError):
    """The command line asks for something that makes no sense."""

    exit_code = 2


class SourceError(OsbctlError):
    """A source cannot be opened: a missing file, no permission, no such revision."""


class ConfigError(OsbctlError):
    """A configuration file, a user schema or an option file is wrong."""


class RegistryError(OsbctlError):
    """The database of registered brokers cannot be used: missing, locked, full, damaged, or made by a newer osbctl."""
