"""`osbctl lsp`: a language server for editors."""

from __future__ import annotations

import os
import sys
from typing import Annotated

from typer import Option

from osbctl.errors import OsbctlError
from osbctl.extras import command_to_install


def lsp(
    stdio: Annotated[  # noqa: ARG001  # clients of VS Code add it by themselves
        bool, Option("--stdio", help="Talk over standard input and output, as is always done.")
    ] = False,
) -> int:
    """Serve an editor while a catalog is written: findings as you type, completion, fixes, explanations.

    The editor starts it and talks to it over standard input and output. It reads osbctl.toml as `osbctl validate` does,
    and needs the extra `lsp`.

    \b
    osbctl lsp
    """
    try:
        from osbctl.editor.server import EditorServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise OsbctlError("the language server needs pygls", command_to_install("lsp")) from error

    # The protocol has standard output for itself: whatever else would be printed goes to standard error.
    output, sys.stdout = os.fdopen(os.dup(sys.stdout.fileno()), "wb"), sys.stderr
    return EditorServer().run(sys.stdin.buffer, output)
