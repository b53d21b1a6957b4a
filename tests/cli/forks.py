"""Runs many command lines fast: one process that has loaded everything, a fork of it for each.

A line of JSON asks, `{"words", "cwd", "stdin", "stdout", "seconds"}`; a line of JSON answers, `{"code", "said"}`, with code
None where the command was still running after its seconds.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import tempfile
import time
from typing import Any, NoReturn

import osbctl


def main() -> None:
    """Answer until standard input ends."""
    for module in pkgutil.walk_packages(osbctl.__path__, "osbctl."):
        if "migrations" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from osbctl import files

    gc.collect()
    gc.freeze()  # else a collection in a child writes to, and so copies, the pages of all that was loaded
    files.WRITER_WAIT = files.READER_WAIT = 0.05
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            _be(asked, said.fileno())
        code = _ended(child, time.monotonic() + asked["seconds"])
        said.seek(0)
        return {"code": code, "said": said.read().decode("utf-8", "replace")}


def _ended(child: int, end: float) -> int | None:
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _be(asked: dict[str, Any], said: int) -> NoReturn:
    """Be a new osbctl: the three streams as Python opens them, and closed as Python closes them."""
    code: Any = 70
    try:
        os.setsid()
        os.chdir(asked["cwd"])
        os.dup2(os.open("stdin", os.O_RDONLY) if asked["stdin"] else os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 2)
        if asked["stdout"] == "closed":
            os.close(1)
        else:
            os.dup2(os.open("/dev/full", os.O_WRONLY) if asked["stdout"] == "full" else said, 1)
        sys.stdin, sys.stderr = open(0, closefd=False), open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        sys.stdout = None if asked["stdout"] == "closed" else open(1, "w", closefd=False)  # type: ignore[assignment]  # noqa: SIM115
        sys.argv = ["osbctl", *asked["words"]]
        from osbctl.__main__ import main as run

        try:
            run()
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
        code = 120
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
