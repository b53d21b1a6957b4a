"""osbctl with a clock that is ahead of the machine's by the seconds in the file `CLOCK`: a test moves it on."""

import os
import time
from pathlib import Path

from osbctl.__main__ import main

__all__ = ["main"]
_machine_clock = time.time
_ahead = Path(os.environ["CLOCK"])

time.time = lambda: _machine_clock() + float(_ahead.read_text())
