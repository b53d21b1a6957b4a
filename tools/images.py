"""Pictures of a terminal for the README: runs a command at a pseudo-terminal, and draws its output with rich.

The pictures use the reader's fonts and load nothing.
"""

import fcntl
import io
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

ROOT = Path(__file__).parent.parent
PICTURES = {
    "show.svg": ("osbctl show catalogs/interface-example.json", 150),
    "validate.svg": ("osbctl validate --select schema-type --select plan-name-duplicate catalogs/faulty.yaml", 120),
}
"""The pictures by name: the command, and the width of its terminal in columns."""
THEME = TerminalTheme(
    (12, 12, 12),  # so dark that what is dim on it can be read (WCAG 2, 1.4.3)
    tuple(SVG_EXPORT_THEME.foreground_color),
    [tuple(SVG_EXPORT_THEME.ansi_colors[number]) for number in range(8)],
    [tuple(SVG_EXPORT_THEME.ansi_colors[number]) for number in range(8, 16)],
)
FONT = "ui-monospace, 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
PICTURE = f"""<svg class="rich-terminal" viewBox="0 0 {{width}} {{height}}" xmlns="http://www.w3.org/2000/svg">
<style>
.{{unique_id}}-matrix {{{{ font-family: {FONT}; font-size: {{char_height}}px; line-height: {{line_height}}px; }}}}
{{styles}}
</style>
<defs>
<clipPath id="{{unique_id}}-clip-terminal">
<rect x="0" y="0" width="{{terminal_width}}" height="{{terminal_height}}" />
</clipPath>
{{lines}}
</defs>
{{chrome}}
<g transform="translate({{terminal_x}}, {{terminal_y}})" clip-path="url(#{{unique_id}}-clip-terminal)">
{{backgrounds}}
<g class="{{unique_id}}-matrix">
{{matrix}}
</g>
</g>
</svg>
"""


def shown(command: str, columns: int) -> str:
    """Output of `command` at a terminal of `columns`, with colours."""
    words = [sys.executable, "-m", *shlex.split(command)]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    return at_terminal(words, columns, ROOT, environment)


def at_terminal(words: list[str], columns: int, folder: Path, environment: dict[str, str]) -> str:
    """Output of a command at a terminal of `columns`."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
    with subprocess.Popen(words, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        told = b""
        while part := read(ours):
            told += part
    os.close(ours)
    return told.decode().replace("\r\n", "\n")


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other end has gone
        return b""


def picture(name: str) -> str:
    """The SVG of PICTURES[name]."""
    command, columns = PICTURES[name]
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(f"$ {command}\n{shown(command, columns).rstrip()}"), soft_wrap=False)
    unique = name.removesuffix(".svg")
    drawn = console.export_svg(title="", theme=THEME, code_format=PICTURE, unique_id=unique)
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"
