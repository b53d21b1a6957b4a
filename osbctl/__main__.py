"""The entry point: `osbctl` and `python -m osbctl`.

Whatever happens, a user reads a sentence, never a traceback, and the exit code tells what kind of end
it was: 0 all well, 1 findings, 2 wrong usage, 3 could not run, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys

import osbctl


def main() -> None:
    """Run the command line of this process and end it with the exit code."""
    _open_standard()
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        print(f"osbctl {osbctl.__version__}")  # noqa: T201  # the one answer that needs nothing else
        sys.exit(0)
    code = _run(arguments)
    gc.freeze()  # else the interpreter, as it ends, looks for garbage in all that was read
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    from osbctl.errors import DocumentError, OsbctlError

    try:
        return _command(arguments)
    except DocumentError as error:
        from osbctl.reports.text_report import told

        _say(told(error.findings).rstrip("\n"))
        return error.exit_code
    except OsbctlError as error:
        _say(f"osbctl: {error.message}" + (f"\n  hint: {error.advice}" if error.advice else ""))
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing is left to be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        _say("osbctl: out of memory")
        return 3
    except Exception as error:  # the one net under everything
        if os.environ.get("OSBCTL_DEBUG"):
            raise
        _say(
            f"osbctl: internal error: {type(error).__name__}\n"
            "  hint: this is a bug; run again with OSBCTL_DEBUG=1 and report what it prints"
        )
        return 3


def _command(arguments: list[str]) -> int:
    if arguments[:1] == ["validate"] and _plain(arguments[1:]):
        # The most frequent call by far; it starts in half the time without a parser of options.
        from osbctl.cli.validation_run import Request, execute

        return execute(Request(sources=tuple(arguments[1:])))
    from osbctl.cli.app import run_app

    return run_app(arguments)


def _open_standard() -> None:
    """Give standard input, output and error a descriptor where they are closed (`>&-`).

    Else the next file or socket gets their number, and what is written to them goes there.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _plain(arguments: list[str]) -> bool:
    return bool(arguments) and not any(word.startswith("-") and word != "-" for word in arguments)


def _say(text: str) -> None:
    from osbctl.text import safe

    print("\n".join(safe(line) for line in text.split("\n")), file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
