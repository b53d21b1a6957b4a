"""A file that is written is on the disk before it takes its name, and the name before the call returns."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from osbctl.files import write_atomically


def test_content_then_name_are_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of a power cut: the order of what is asked of the system."""
    target, calls = tmp_path / "file", []
    target.write_bytes(b"old")
    flush, rename = os.fsync, Path.replace

    def fsync(descriptor: int) -> None:
        place = Path(f"/proc/self/fd/{descriptor}").readlink()
        calls.append(("flush", "folder" if place == tmp_path else place.read_bytes()))
        flush(descriptor)

    def replace(self: Path, to: Path) -> Path:
        calls.append(("rename", target.read_bytes()))  # until then, the old file stands
        return rename(self, to)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    write_atomically(target, b"new")
    assert calls == [("flush", b"new"), ("rename", b"old"), ("flush", "folder")]
    assert target.read_bytes() == b"new"
