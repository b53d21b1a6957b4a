"""For `make mutants`: what a test starts must not look for the settings of the mutation run.

While mutmut learns which test reaches which function, each process that has its variable in the environment reads
`[tool.mutmut]` from the current folder and fails where there is none. What a test starts runs in a folder of its own,
so it starts without the variable in that phase.
"""

from __future__ import annotations

import os
import subprocess
from typing import Any

_init = subprocess.Popen.__init__


def _without_the_phase(self: Any, *args: Any, env: Any = None, **options: Any) -> None:
    if os.environ.get("MUTANT_UNDER_TEST") == "stats":
        env = {**(os.environ if env is None else env)}
        env.pop("MUTANT_UNDER_TEST", None)
    _init(self, *args, env=env, **options)


subprocess.Popen.__init__ = _without_the_phase  # type: ignore[method-assign]
