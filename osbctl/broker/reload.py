"""Files that may change while the broker runs: noticed, loaded, swapped in; a bad new one is kept out."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from osbctl.broker.shared_state import Stats
from osbctl.errors import OsbctlError

_log = logging.getLogger("osbctl.broker")
T = TypeVar("T")

Branding: TypeAlias = tuple[tuple[int, ...] | None, ...]
"""Result of stat for each file, links followed; None: it is missing."""

FINDINGS_LOGGED = 20

HELD_LOOKS = 12


@dataclass(frozen=True)
class WatchedFiles(Generic[T]):
    """Files that make one value together.

    `name` is for the log. `paths()` lists the files now. `load()` reads and checks them; what it
    raises keeps the old value. `apply(value)` swaps one reference; it must not fail. `secrets` are
    those that should be their owner's alone. `loss(value)` says what is lost where that is most of what is there now:
    perhaps the file is still being written.
    """

    name: str
    paths: Callable[[], Sequence[Path]]
    load: Callable[[], T]
    apply: Callable[[T], None]
    secrets: Sequence[Path] = ()
    loss: Callable[[T], str] = lambda _: ""

    def look(self) -> Branding:
        try:
            return tuple(_stat(path) for path in self.paths())
        except OSError:
            return (None,)

    def warn_of_others(self) -> None:
        """Log the secrets that other users may read or change, or the group may change. They are served from all the
        same: how a platform mounts them is not always its user's choice."""
        for path in self.secrets:
            mode = (_stat(path) or (0,))[0]
            if mode & 0o027:
                advice = f"chmod 640 {path}"
                _log.warning("other users may read or change %s (mode %04o): %s", path, mode & 0o777, advice)


def _stat(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mode, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class Watcher:
    """A thread that looks at the files every `seconds`, and at once when asked to (SIGHUP).

    A change counts when two looks agree: a file that is being written is not read. The look before
    reading is the one that is remembered, so what changes during the reading is read again. A change that loses most
    of what is there counts when it stays the same for `HELD_LOOKS` more.
    `also` is called at each look.
    """

    def __init__(
        self,
        watched: Sequence[WatchedFiles[Any]],
        stats: Stats,
        also: Callable[[], None] | None = None,
        *,
        seconds: float = 0.4,
    ) -> None:
        self._watched, self._stats, self._also, self._seconds = watched, stats, also, seconds
        self._now = threading.Event()
        self._ended = False
        self._applied = [item.look() for item in watched]
        self._seen = list(self._applied)
        self._held: list[tuple[Branding, float]] = [((), 0.0)] * len(watched)
        """The largest loss while the file is unchanged, and its end (monotonic time)."""
        self._thread = threading.Thread(target=self._run, name="reload", daemon=True)

    def start(self) -> None:
        for item in self._watched:
            item.warn_of_others()
        self._thread.start()

    def reload_now(self) -> None:
        """Load everything again, changed or not. From any thread."""
        self._now.set()

    def close(self) -> None:
        self._ended = True
        self._now.set()
        if self._thread.is_alive():  # it is not where the start failed
            self._thread.join(5)

    def _run(self) -> None:
        while True:
            asked = self._now.wait(self._seconds)
            if self._ended:
                return
            self._now.clear()
            if self._also:
                self._also()
            for index, item in enumerate(self._watched):
                self._check(index, item, asked)

    def _check(self, index: int, item: WatchedFiles[Any], asked: bool) -> None:
        look, now = item.look(), time.monotonic()
        settled = look != self._applied[index] and look == self._seen[index]
        self._seen[index] = look
        held, until = self._held[index]
        if asked or (settled and (look != held or now >= until)):
            if self._reload(item, sure=asked or look == held):
                self._applied[index] = look
            else:
                self._held[index] = look, now + HELD_LOOKS * self._seconds

    def _reload(self, item: WatchedFiles[Any], *, sure: bool) -> bool:
        """Load and apply; False where it is to be looked at again, since it loses most and is not `sure`."""
        result = "failed"
        try:
            value = item.load()
            loss = "" if sure else item.loss(value)
            if loss:
                _log.warning("the %s would lose most, %s: waiting for the end of a write", item.name, loss)
                return False
            item.apply(value)
            result = "ok"
            _log.info("reloaded the %s", item.name)
            item.warn_of_others()
        except OsbctlError as error:
            _log.error("cannot reload the %s, the old version stays in use: %s", item.name, error.message)
            for finding in getattr(error, "findings", ())[:FINDINGS_LOGGED]:
                where = f"{finding.location}: " if finding.location else ""
                _log.error("%s%s [%s]", where, finding.message, finding.rule)
        except Exception:
            _log.exception("cannot reload the %s, the old version stays in use", item.name)
        self._stats.reloads[item.name, result] += 1
        return True
