"""The options that several commands share, each said once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from osbctl.platforms import ApiVersion as ApiVersion
from osbctl.sources.limits import MAX_DEPTH, Limits


class Color(StrEnum):
    """When to colour what is printed."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


_SOURCE = "A JSON or YAML file, a source folder, - for standard input, or REV:path for a file in git."

Sources = Annotated[list[str], typer.Argument(metavar="SOURCE...", help=_SOURCE, show_default=False)]
Source = Annotated[str, typer.Argument(metavar="SOURCE", help=_SOURCE, show_default=False)]
At = Annotated[
    str, typer.Option("--at", metavar="POINTER", help="JSON pointer of the catalog inside a larger document.")
]
StdinFilename = Annotated[
    str | None, typer.Option("--stdin-filename", metavar="NAME", help="What reports call standard input.")
]
ColorChoice = Annotated[Color, typer.Option("--color", help="When to colour the output; NO_COLOR is respected.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the report there instead of printing it."),
]
Config = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="Read this configuration, not the closest one.")
]
MaxBytes = Annotated[int, typer.Option("--max-bytes", min=1, help="The largest source that is read, in bytes.")]
MaxDepth = Annotated[int, typer.Option("--max-depth", min=1, max=MAX_DEPTH, help="The deepest nesting that is read.")]
MaxNodes = Annotated[
    int, typer.Option("--max-nodes", min=1, help="The most values in a document, YAML aliases expanded.")
]

LIMITS = Limits()
"""The defaults of the three limits above."""
