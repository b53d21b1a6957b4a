"""A run inside the process of the tests leaves no trace in it."""

import gc
import logging
import os
import signal
import sys
import warnings
from pathlib import Path

from tests.case import each
from tests.cli.program import osbctl
from tests.folders import catalogs_folder

GOOD = str(catalogs_folder() / "interface-example.json")


def state() -> dict[str, object]:
    """Resources that a process has only once."""
    umask = os.umask(0o077)
    os.umask(umask)
    return {
        "environment": dict(os.environ),
        "folder": Path.cwd(),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)],
        "umask": umask,
        "handlers": [*logging.getLogger().handlers, *logging.getLogger("osbctl.broker").handlers],
        "filters": [*warnings.filters],
        "descriptors": len([*Path("/proc/self/fd").iterdir()]),
    }


@each("words", [
    ("validate", GOOD),
    ("diff", GOOD, GOOD),
    ("page", GOOD),
    ("fix", "-"),
    ("validate", "gone.yaml"),
    ("brokers", "add", "x", "http://127.0.0.1:1", "--database", "x.sqlite"),
    ("--nosuch",),
])  # fmt: skip
def test_it_leaves_the_process_as_it_was(words: tuple[str, ...], tmp_path: Path) -> None:
    osbctl(*words, cwd=tmp_path, stdin=Path(GOOD).read_text())  # loads what it needs
    before = state()
    osbctl(*words, cwd=tmp_path, stdin=Path(GOOD).read_text(), NO_COLOR="1")
    assert state() == before


@each("words", [("serve", GOOD, "--credentials", "gone.json"), ("lsp",)])
def test_a_command_that_stays_collects_its_garbage(words: tuple[str, ...]) -> None:
    gc.disable()  # as the program does at its start
    try:
        osbctl(*words, stdout=os.devnull)
        assert gc.isenabled()
    finally:
        gc.enable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # `lsp` leaves a stream for the end of its process
        gc.collect()
