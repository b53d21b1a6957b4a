"""The entry point: `osbctl` and `python -m osbctl`.

Errors are one-line messages; tracebacks only with OSBCTL_DEBUG. Exit codes: 0 success, 1 findings, 2 wrong usage,
3 failed run, 130 interrupted.
"""

import gc
import os
import sys

import osbctl


def main() -> None:
    """Run the command line and exit."""
    # A run is short: collecting garbage would take a tenth of it. `serve` and `lsp` collect theirs.
    gc.disable()
    _replace_closed_streams()
    if os.name == "nt":
        _use_utf8_and_ansi()
    if os.environ.get("OSBCTL_DEBUG"):
        from osbctl.errors import raise_bugs

        raise_bugs()
    if sys.argv[1:2] == ["serve"]:
        import signal

        if hangup := getattr(signal, "SIGHUP", None):  # it means reload; during the start it would kill the process
            signal.signal(hangup, signal.SIG_IGN)
    code = _run_to_exit_code(sys.argv[1:])
    gc.freeze()  # otherwise a last collection at exit traverses all parsed data
    sys.exit(code)


def _replace_closed_streams() -> None:
    """Replace closed standard streams (`>&-`) by descriptors on which reads or writes fail.

    Otherwise the next file or socket gets their number, and receives text meant for the streams.
    """
    for name, flags, mode in (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, os.fdopen(descriptor, mode))


def _use_utf8_and_ansi() -> None:
    """On Windows write what other systems get, UTF-8 with LF, and let the console understand colours."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]  # both are text files
    if sys.stdout.isatty() or sys.stderr.isatty():
        os.system("")  # noqa: S605  # the shell turns on ANSI sequences, which older consoles have off


def _run_to_exit_code(arguments: list[str]) -> int:
    try:
        code = _dispatch_command(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        from osbctl.commands.output import print_stderr

        print_stderr("error: out of memory")
        return 3
    except Exception as error:  # the last resort
        return _report_failure(error)


def _report_failure(error: Exception) -> int:
    """Print the error and return the exit code; with OSBCTL_DEBUG, raise an internal error."""
    from osbctl.commands.output import discard_output, handle_output_error, print_error
    from osbctl.errors import OsbctlError, is_output_failure, unexpected_error

    if isinstance(error, BrokenPipeError):
        discard_output()  # the reader of our output has closed it (`| head`)
        return 0
    if isinstance(error, OSError) and is_output_failure(error):
        error = handle_output_error(error)
    if not isinstance(error, OsbctlError) and os.environ.get("OSBCTL_DEBUG"):
        raise error
    return print_error(error if isinstance(error, OsbctlError) else unexpected_error(error))


def _dispatch_command(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        print(f"osbctl {osbctl.__version__}")  # noqa: T201  # without loading anything else
        return 0
    command, *sources = arguments or [""]
    without_options = not any(source.startswith("-") and source != "-" for source in sources)
    if command == "validate" and without_options:
        # The most frequent call: without options, Typer need not be loaded, which halves the start.
        from osbctl.commands.settings import ValidationSettings
        from osbctl.commands.validate import validate

        return validate(ValidationSettings(tuple(sources)))
    from osbctl.commands.app import run_app

    return run_app(arguments)


if __name__ == "__main__":
    main()
