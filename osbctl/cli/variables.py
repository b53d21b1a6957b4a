"""The variables of the broker of a brokerpak: of a file, of the environment, of a file that the configuration names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from osbctl.sources.variables import Variables, VariablesOf


def variables_of(env: str | None = None, config: str | None = None) -> VariablesOf:
    """The variables that hold for a source: those of the file `env` win, then those of the environment.

    `config` is the configuration file, None the closest one.
    """

    from osbctl.sources.read import read_variables

    given = read_variables(env) if env else {}

    def found(source: str) -> Variables:
        from osbctl.config import load_config
        from osbctl.sources.variables import Variable
        from osbctl.tasks.options import config_of

        named = config_of(source, config=load_config(config) if config else None).env
        ours = {name: Variable(name, value) for name, value in os.environ.items()}
        return (read_variables(named) if named else {}) | ours | given

    return found
