"""Runs the commands of a documentation page like a reader, and updates their outputs.

Each page runs in an empty folder, with `osbctl` of this checkout on PATH. Markers say what to do
with the fenced block after them:

    <!-- walk -->              run each line that begins with `$ `; its output replaces the following lines
    <!-- walk(1) -->           the same; the last command exits with 1
    <!-- walk(terminal) -->    the same, at a terminal
    <!-- walk(serve) -->       start the only command, wait until it serves, and stop it at the end of the page
    <!-- walk(broker) -->      the same; its log is not shown
    <!-- file: PATH -->        write the block to PATH

Parts that differ between runs (ids, times, secrets, ports) are kept as they are in the page.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^( *)<!-- (?:walk(?:\((\w+)\))?|file: (\S+)) -->\n *```\w+\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
PORT = "8443"
CHANGING = [
    (re.compile(r"\b[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b"), "GUID"),
    (re.compile(r"\b[0-9A-F]{8}(-[0-9A-F]{4}){2}-(?!\w)|\b[0-9A-F]{4}-[0-9A-F]{12}\b"), "GUID"),  # folded in a table
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?( UTC)?"), "TIME"),
    (re.compile(r"\$6\$[^\"\s]+"), "HASH"),
    (re.compile(r"(?m)^[\w-]{32}$"), "SECRET"),
    (re.compile(r"\b[0-9a-f]{7,64}\b"), "DIGEST"),
    (re.compile(r"\d+(\.\d+)? ?ms\b"), "DURATION"),
]
SHIM = '#!/bin/sh\nPYTHONPATH={root} exec {python} -m osbctl "$@"\n'


class WalkError(Exception):
    """A command of the page ended with an unexpected exit code."""


@dataclass
class Walk:
    """A running page: its folder, environment and broker."""

    folder: Path
    environment: dict[str, str]
    port: str
    brokers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def run(self, command: str, code: int) -> str:
        done = subprocess.run(
            ["bash", "-c", command.replace(PORT, self.port)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        if done.returncode != code:
            raise WalkError(f"{command}: ended with {done.returncode}, not {code}:\n{done.stdout}")
        return self.told(done.stdout)

    def at_terminal(self, command: str) -> str:
        from tools.images import at_terminal

        environment = {**self.environment, "TERM": "xterm", "COLUMNS": "120"}
        output = at_terminal(["bash", "-c", command], 120, self.folder, environment)
        return self.told("".join(line.rstrip() + "\n" for line in output.splitlines()))

    def serve(self, command: str) -> str:
        log = self.folder / ".log"
        with log.open("wb") as stream:
            words = ["bash", "-c", "exec " + command.replace(PORT, self.port)]
            broker = subprocess.Popen(words, cwd=self.folder, env=self.environment, stderr=stream, stdout=stream)
        self.brokers.append(broker)
        end = time.monotonic() + 30
        while "credentials:" not in log.read_text(encoding="utf-8"):
            if broker.poll() is not None or time.monotonic() > end:
                raise WalkError(f"{command}: does not serve:\n{log.read_text(encoding='utf-8')}")
            time.sleep(0.05)
        return self.told(log.read_text(encoding="utf-8"))

    def told(self, output: str) -> str:
        return output.replace(self.port, PORT).replace(str(self.folder), "/home/you/broker")

    def block(self, kind: str | None, text: str) -> str:
        """Run the commands of a block and update their outputs."""
        commands = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
        made = []
        for number, command in enumerate(commands, 1):
            code = int(kind) if kind and kind.isdigit() and number == len(commands) else 0
            ways = {"serve": self.serve, "broker": self.serve, "terminal": self.at_terminal}
            output = ways[kind](command) if kind in ways else self.run(command, code)
            output = "" if kind == "broker" else output
            made.append(f"$ {command}\n{output}" + ("" if output.endswith("\n") or not output else "\n"))
        return "".join(made)


def walked(page: str) -> str:
    """Update all blocks of a page. Raises WalkError if a command ends with an unexpected exit code."""
    if not BLOCK.search(page):
        return page
    with tempfile.TemporaryDirectory() as scratch:
        walk = start(Path(scratch))

        def one(match: re.Match[str]) -> str:
            margin, kind, file, text = match.groups()
            told = textwrap.dedent(text)
            if file:
                place = walk.folder / file
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(told, encoding="utf-8")
                return match[0]
            made = walk.block(kind, told)
            return match[0] if steady(made) == steady(told) else match[0].replace(text, textwrap.indent(made, margin))

        try:
            return BLOCK.sub(one, page)
        finally:
            for broker in walk.brokers:
                broker.terminate()
                broker.wait(timeout=30)


def start(scratch: Path) -> Walk:
    shim = scratch / "bin" / "osbctl"
    shim.parent.mkdir()
    shim.write_text(SHIM.format(root=ROOT, python=sys.executable), encoding="utf-8")
    shim.chmod(0o755)
    folder = scratch / "broker"
    folder.mkdir()
    environment = {
        "PATH": f"{shim.parent}:{os.environ['PATH']}",
        "HOME": str(scratch),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "You", f"GIT_{role}_EMAIL": "you@example.com"}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    return Walk(folder, environment, port)


def steady(text: str) -> str:
    """`text` without parts that differ between runs."""
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return text
