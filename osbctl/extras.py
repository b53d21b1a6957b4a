"""Extras: optional dependencies of commands, and the command that installs them."""

from __future__ import annotations

import re
import shlex
import sys


def command_to_install(extra: str) -> str:
    """The command that adds what `extra` of pyproject.toml names, wherever osbctl itself came from.

    It names the libraries, not osbctl: a clone or a wheel may be gone, and an index may have another's osbctl.
    """
    # Imported here: importlib.metadata takes longer than the rest of a short command.
    from importlib import metadata
    from importlib.util import find_spec

    import osbctl

    try:
        found = metadata.requires(osbctl.DISTRIBUTION) or []
    except metadata.PackageNotFoundError:  # run from a folder, without having been installed
        return f"install the extra {extra} of pyproject.toml"
    needed = [line.partition(";")[0].strip() for line in found if re.search(rf"extra == ['\"]{extra}['\"]", line)]
    # An environment that uv has made has no pip of its own.
    pip = (
        [sys.executable, "-m", "pip", "install"]
        if find_spec("pip")
        else ["uv", "pip", "install", "--python", sys.executable]
    )
    return shlex.join([*pip, *needed])
