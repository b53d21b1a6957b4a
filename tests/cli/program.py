"""Runs osbctl: inside this process where its words and its exit code are the subject, else as a process of its own."""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest import mock

from osbctl import __main__ as program
from osbctl.cli import app, connection
from tests.cli import warm

ROOT = Path(__file__).parents[2]
_build = app.build


@functools.cache
def _built(command: str, colored: bool) -> Any:
    """Typer's command, built once, since building it costs as much as a small command."""
    return _build([command])


def _group(arguments: list[str]) -> Any:
    return _built(arguments[0] if arguments else "", app.use_color("auto", sys.stdout))


def environment(**more: str) -> dict[str, str]:
    """All that a run gets of the environment: the authorities of the machine, which take 30 ms to load, are none here."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "SSL_CERT_FILE": os.devnull, **more}


def osbctl(*words: str, cwd: Path | None = None, stdin: str | bytes = "", **variables: str) -> CompletedProcess[str]:
    """Inside this process, at a tenth of the cost: everything below `main`, with streams that stand in for its three."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    data = stdin.encode() if isinstance(stdin, str) else stdin
    typed = io.TextIOWrapper(io.BytesIO(data), encoding="ascii")  # of no use: what is read here is bytes
    connection._from_stdin.cache_clear()  # what a process reads once
    with (
        mock.patch.dict(os.environ, environment(**variables), clear=True),
        mock.patch.multiple(sys, stdin=typed, stdout=out, stderr=err),
        mock.patch.object(app, "build", _group),
        contextlib.chdir(cwd or Path.cwd()),
    ):
        try:
            code = program._run([*words])
        finally:
            gc.enable()  # commands leave it off: their process ends
    said, told = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return CompletedProcess(words, code, said, told)


def forked(*words: str, cwd: Path | None = None, stdin: str = "", **variables: str) -> CompletedProcess[str]:
    """As `process`, where its start is not the subject (tests/cli/warm.py)."""
    return _started([str(warm.command()), *words], cwd, stdin, variables)


def process(*words: str, cwd: Path | None = None, stdin: str = "", **variables: str) -> CompletedProcess[str]:
    """As a user starts it."""
    return _started([sys.executable, "-m", "osbctl", *words], cwd, stdin, variables)


def _started(command: list[str], cwd: Path | None, stdin: str, variables: dict[str, str]) -> CompletedProcess[str]:
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(**variables),
        cwd=cwd,
        check=False,
    )
