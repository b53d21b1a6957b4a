"""Language server for catalogs in an editor, and `osbctl lsp`, which runs it."""

import gc
import os
import signal
import sys
from typing import Annotated

from osbctl.commands.options import Option
from osbctl.commands.output import print_stderr
from osbctl.commands.settings import variables_lookup
from osbctl.errors import OsbctlError, command_to_install


def lsp(
    stdio: Annotated[bool, Option("No effect: some editors pass it.")] = False,  # noqa: ARG001
) -> int:
    """Run the language server: findings, completion, fixes and explanations in your editor.

    The editor starts it, and talks to it over standard input and output. It reads osbctl.toml as osbctl validate does,
    and needs the extra lsp.

    \b
    osbctl lsp
    """
    try:
        from osbctl.editor.server import EditorServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise OsbctlError("the language server needs pygls", command_to_install("lsp")) from error

    gc.enable()
    if sys.stdin.isatty():
        print_stderr("osbctl lsp: waiting for an editor; Ctrl-C ends it")
    # A thread of pygls waits for input and cannot be interrupted: a normal exit would wait for it.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    # Standard output belongs to the protocol; other output goes to standard error.
    output, sys.stdout = os.fdopen(os.dup(sys.stdout.fileno()), "wb"), sys.stderr
    return EditorServer(variables_lookup()).run(sys.stdin.buffer, output)
