"""The entry point: `osbctl` and `python -m osbctl`.

Errors are one-line messages; tracebacks only with OSBCTL_DEBUG. The exit code tells what kind of end
it was: 0 all well, 1 findings, 2 wrong usage, 3 could not run, 130 interrupted.
"""

from __future__ import annotations

import errno
import gc
import os
import sys

import osbctl

_OUTPUT_FAILS = (errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT, errno.EFBIG)
"""Errors of a failed write to standard output."""


def main() -> None:
    """Run the command line of this process and end it with the exit code."""
    _open_closed_streams()
    if sys.argv[1:2] == ["serve"]:  # it reloads on SIGHUP, whose default action would end it while it starts
        import signal

        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    code = _run(sys.argv[1:])
    gc.freeze()  # else the interpreter, as it ends, looks for garbage in all that was read
    sys.exit(code)


def _open_closed_streams() -> None:
    """Put something that fails in the place of standard input and output where they are closed (`>&-`).

    Else Python has None there, and the next file or socket gets their number, and what is written to them goes there.
    """
    for name, way, mode in (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, way)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, os.fdopen(descriptor, mode))


def _run(arguments: list[str]) -> int:
    try:
        code = _command(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        from osbctl.cli.output import print_stderr

        print_stderr("error: out of memory")
        return 3
    except Exception as error:  # the one net under everything
        return _failed(error)


def _failed(error: Exception) -> int:
    """Say what went wrong, and return the exit code; raises the error itself where a developer asks for it."""
    from osbctl.cli.output import cannot_print, discard_output, print_error, print_stderr
    from osbctl.errors import OsbctlError

    if isinstance(error, BrokenPipeError):
        discard_output()  # the reader of our output has gone (`| head`): nothing is left to be said to it
        return 0
    if isinstance(error, OSError) and error.errno in _OUTPUT_FAILS and error.filename is None:
        error = cannot_print(error)
    if isinstance(error, OsbctlError):
        return print_error(error)
    if os.environ.get("OSBCTL_DEBUG"):
        raise error
    print_stderr(
        f"error: internal error: {type(error).__name__}\n"
        "  hint: this is a bug; run again with OSBCTL_DEBUG=1 and report what it prints"
    )
    return 3


def _command(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        print(f"osbctl {osbctl.__version__}")  # noqa: T201  # the one answer that needs nothing else
        return 0
    command, *words = arguments or [""]
    plain = words and not any(word.startswith("-") and word != "-" for word in words)
    if command == "validate" and plain:
        # The most frequent call by far; it starts in half the time without a parser of options.
        from osbctl.cli.validation_report import Display, run
        from osbctl.cli.variables import variables_of
        from osbctl.tasks.options import Request

        return run(Request(sources=tuple(words), variables_of=variables_of()), Display())
    from osbctl.cli.app import run_app

    return run_app(arguments)


if __name__ == "__main__":
    main()
