"""Extras: optional dependencies of commands, and the command that installs them."""

import re
import shlex
import sys

import osbctl


def command_to_install(extra: str) -> str:
    """Command that installs the libraries of `extra`, but not osbctl itself, whose source may be gone."""
    # Imported here because importlib.metadata takes longer than the rest of a short command.
    from importlib import metadata
    from importlib.util import find_spec

    try:
        found = metadata.requires(osbctl.DISTRIBUTION) or []
    except metadata.PackageNotFoundError:  # run from a folder, not installed
        return f"install the extra {extra} of pyproject.toml"
    needed = [line.partition(";")[0].strip() for line in found if re.search(rf"extra == ['\"]{extra}['\"]", line)]
    # Environments created by uv have no pip.
    pip = (
        [sys.executable, "-m", "pip", "install"]
        if find_spec("pip")
        else ["uv", "pip", "install", "--python", sys.executable]
    )
    return shlex.join([*pip, *needed])
