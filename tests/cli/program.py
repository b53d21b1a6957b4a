"""Runs osbctl: inside this process where its words and its exit code are the subject, else as a process of its own."""

import contextlib
import functools
import io
import logging
import os
import pty
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from select import select
from subprocess import CompletedProcess
from typing import Any, NamedTuple
from unittest import mock

from osbctl import __main__ as program
from osbctl.broker.logs import LOGGERS
from osbctl.commands import app, connection
from tests.cli import warm

ROOT = Path(__file__).parents[2]
_build = app.make_command_group


@functools.cache
def _built(command: str) -> Any:
    """Typer's command, built once, since building it costs as much as a small command."""
    return _build(app.find_command([command]))


@functools.cache
def commands() -> dict[str, Any]:
    """Every command and group by its words; the program itself has none."""
    found, waiting = {}, [("", _build(app.COMMANDS))]
    for name, command in waiting:
        found[name] = command
        waiting += [(f"{name} {word}".strip(), one) for word, one in getattr(command, "commands", {}).items()]
    return found


def environment(**more: str) -> dict[str, str]:
    """All that a run gets of the environment: the authorities of the machine, which take 30 ms to load, are none here."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "SSL_CERT_FILE": os.devnull, **more}


@contextlib.contextmanager
def restored_loggers() -> Iterator[None]:
    """Take back what `serve` does to the loggers of the process, which would hide messages from later tests."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(one.handlers[:], one.filters[:], one.propagate, one.level) for one in loggers]
    try:
        yield
    finally:
        for logger, (handlers, filters, propagate, level) in zip(loggers, before, strict=True):
            logger.handlers[:], logger.filters[:], logger.propagate = handlers, filters, propagate
            logger.setLevel(level)


def osbctl(
    *words: str,
    cwd: Path | None = None,
    stdin: str | bytes = "",
    stdout: str | None = "",
    code: int | None = None,
    with_bug: bool = False,
    **variables: str,
) -> CompletedProcess[str]:
    """Inside this process, at a tenth of the cost: everything below `main`, with streams that stand in for its three.

    `stdout` is the name of a file to open as standard output, or None for a closed one; `code` how it must end (None: any).
    `with_bug`: a test has planted one.
    """
    memory, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    data = stdin.encode() if isinstance(stdin, str) else stdin
    typed = io.TextIOWrapper(io.BytesIO(data), encoding="ascii")  # of no use: what is read here is bytes
    connection._read_password_once.cache_clear()  # what a process reads once
    file = Path(stdout).open("w") if stdout else None  # noqa: SIM115
    with (
        mock.patch.dict(os.environ, environment(**variables), clear=True),
        mock.patch.multiple(sys, stdin=typed, stdout=memory if stdout == "" else file, stderr=err),
        mock.patch.object(app, "make_command_group", lambda names: _built("".join(names))),
        contextlib.chdir(cwd or Path.cwd()),
        restored_loggers(),
    ):
        program._replace_closed_streams()
        out = sys.stdout
        ended = program._run_to_exit_code([*words])
        if out is not memory:
            out.close()  # writes the rest, as the end of a process does
    said, told = (stream.buffer.getvalue().decode() for stream in (memory, err))
    done = CompletedProcess(words, ended, said, told)
    return done if with_bug else _ended(done, code)


def failure(*words: str, code: int, **given: Any) -> str:
    """Standard error of a run that ends so and prints nothing."""
    done = osbctl(*words, code=code, **given)
    assert done.stdout == "", f"{words} printed {done.stdout}"
    return done.stderr


def _ended(done: CompletedProcess[str], code: int | None) -> CompletedProcess[str]:
    """Fail where it ended in another way than with `code`, or with a bug."""
    said = f"{done.args}: {done.returncode}\n{done.stdout}{done.stderr}"
    assert code in (None, done.returncode), said
    assert "Traceback" not in said and "internal error" not in said, said
    return done


class Seen(NamedTuple):
    code: int
    screen: str
    stdout: str
    stderr: str


def at_terminal(
    streams: str, *words: str, answers: Iterable[tuple[str, str]] = (), cwd: Path = ROOT, **variables: str
) -> Seen:
    """Run it with a terminal as these of its streams, where each prompt gets its answer; the others are pipes."""
    ours, theirs = pty.openpty()
    ends: Any = {name: theirs if name in streams.split() else subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    try:
        variables = environment(TERM="xterm", **variables)
        running = subprocess.Popen([warm.command(), *words], cwd=cwd, env=variables, **ends)
        screen, answer = b"", ""
        for prompt, answer in answers:
            asked = b""
            while prompt.encode() not in asked:
                assert select([ours], [], [], 20)[0], f"no {prompt!r} after {asked!r}"
                asked += os.read(ours, 1000)
            screen += asked
            os.write(ours, answer.encode())
        try:
            out, err = running.communicate(timeout=15 if answer == "\x03" else 60)
        except subprocess.TimeoutExpired:
            # Python misses an interrupt that comes between its last look and the read: a person presses again.
            os.write(ours, answer.encode())
            out, err = running.communicate(timeout=40)
        os.set_blocking(ours, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                screen += os.read(ours, 10_000)
    finally:
        os.close(ours)
        os.close(theirs)
    return Seen(running.returncode, screen.decode(), (out or b"").decode(), (err or b"").decode())


TAKE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Make standard input the controlling terminal of this session, and go on as another program."""


def at_controlling_terminal(*words: str) -> tuple[int, bytes]:
    """As a user starts it at a terminal, where OpenSSL asks, whatever standard input is; its code, and what it wrote.

    It ends at the first question.
    """
    terminal, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL, "-m", "osbctl", *words],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env=environment(),
    )  # fmt: skip
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while b"pass phrase" not in said and (piece := os.read(terminal, 4096)):
            said += piece
    os.close(terminal)
    return child.wait(60), said


def process(
    *words: str,
    cwd: Path | None = None,
    code: int | None = None,
    program: Sequence[str] = (sys.executable, "-m", "osbctl"),
    stdin: str = "",
    **variables: str,
) -> CompletedProcess[str]:
    """As a user starts it."""
    line, env = [*program, *words], environment(**variables)
    done = subprocess.run(line, input=stdin, capture_output=True, text=True, timeout=60, env=env, cwd=cwd)
    return _ended(done, code)
