"""Check the file of -o: a command must not overwrite its inputs, nor files that cannot be generated again."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from osbctl.config import NAMES, load_config
from osbctl.credentials import LARGEST, parse_credentials
from osbctl.errors import OsbctlError, UsageError
from osbctl.files import read_bounded
from osbctl.sources.folder import LOCK
from osbctl.sources.folder.lock import is_lock
from osbctl.sources.folder.source_tree import SUFFIXES
from osbctl.sources.parse import decode_utf8, parse_text
from osbctl.sources.read_bytes import MAX_BYTES

CATALOG, CREDENTIALS = "a catalog", "credentials"


def check_output(output: Path | str | None, inputs: Iterable[Path | str | None], *, replaces: str = "") -> None:
    """Raise UsageError if writing `output` would destroy a file that cannot be generated again.

    That is one of `inputs`, a file of a source folder among them, and a file that holds a catalog, credentials, a lock
    or the configuration; `replaces` (`CATALOG` or `CREDENTIALS`) is what the command itself writes.
    """
    if output is None or str(output) == "-":
        return
    if str(output) in ("", "."):
        raise UsageError("-o needs a file name", "name a file, or leave the option out")
    for input_path in inputs:
        if input_path:
            _check_not_input(output, input_path)
    kind = _protected_file_kind(output) if os.path.isfile(output) else ""  # noqa: PTH113
    if kind and kind != replaces:
        raise UsageError(f"{output} holds {kind}, and would be overwritten", "name another file, or remove it first")


def _check_not_input(output: Path | str, input_path: Path | str) -> None:
    if os.path.isfile(output) and os.path.isfile(input_path) and os.path.samefile(output, input_path):  # noqa: PTH113, PTH121
        raise UsageError(f"{output} is an input of this command, and would be overwritten", "name another file")
    if not os.path.isdir(input_path) or os.path.isdir(output):  # noqa: PTH112
        return
    file = Path(os.path.realpath(output))
    is_source = file.suffix.lower() in SUFFIXES or file.name == LOCK
    if is_source and file.is_relative_to(os.path.realpath(input_path)):
        advice = "write it outside of the folder: the next build would read it as part of the catalog"
        raise UsageError(f"{output} is in the source folder {input_path}", advice)


def _protected_file_kind(file: Path | str) -> str:
    """The kind of a file that must not be lost, as a message names it; empty for any other file."""
    if os.path.basename(file) in NAMES:  # noqa: PTH119
        return "a configuration"
    try:
        text = decode_utf8(read_bounded(file, MAX_BYTES), str(file))
    except (OSError, OsbctlError):
        return ""
    if is_lock(text):
        return "a lock of ids"
    if str(file).endswith(".toml") and text.strip():
        with suppress(OsbctlError):  # which another may extend; a file of accepted changes has other keys
            load_config(str(file))
            return "a configuration"
    with suppress(OsbctlError):
        if len(text) <= LARGEST and parse_credentials(text):
            return CREDENTIALS
    if text.startswith("<") or "services" not in text:  # most files need no parsing
        return ""
    with suppress(OsbctlError):
        if isinstance(parse_text(text, str(file)).data.get("services"), list):
            return CATALOG
    return ""
