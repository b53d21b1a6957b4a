"""Reloads files that change while the broker runs; a faulty new version is rejected."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from osbctl.errors import OsbctlError

_log = logging.getLogger("osbctl.broker")
T = TypeVar("T")

FileStamp: TypeAlias = tuple[tuple[int, ...] | None, ...]
"""Result of stat for each file, links followed. None if it is missing."""

FINDINGS_LOGGED = 20  # of a faulty version, at most


@dataclass
class WatchedFiles(Generic[T]):
    """Files from which one value is loaded. Create it before the first loading, so that a change during that is read.

    `name` is for the log. `paths()` lists the files now. `load()` reads and checks them; if it raises, the old value
    stays. `apply(value)` swaps one reference and must not fail. Files in `secrets` should be private to their owner.
    `loaded` is the stamp from before the last loading, `seen` that of the last check.
    """

    name: str
    paths: Callable[[], Sequence[Path]]
    load: Callable[[], T]
    apply: Callable[[T], None]
    secrets: Sequence[Path] = ()
    loaded: FileStamp = field(init=False)
    seen: FileStamp = field(init=False)

    def __post_init__(self) -> None:
        self.loaded = self.seen = self.stamp()

    def stamp(self) -> FileStamp:
        """Stat the files, to notice a change; never raises."""
        try:
            return tuple(_stamp_file(path) for path in self.paths())
        except OSError:
            return (None,)

    def warn_of_exposed_secrets(self) -> None:
        """Warn of exposed secrets. They are used: the mode of a mounted file is not always the user's choice."""
        for path in self.secrets:
            mode = (_stamp_file(path) or (0,))[0]
            if mode & 0o027:
                advice = f"chmod 640 {path}"
                _log.warning("other users may read or change %s (mode %04o): %s", path, mode & 0o777, advice)


def _stamp_file(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mode, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class Watcher:
    """A thread that checks the files every `seconds`, and reloads them on request (SIGHUP).

    A change counts once two checks agree, so that a file is not read while it is written. A change during the reading
    is read again. `tasks` are called at each check, `reloads` counts by name and result.
    """

    def __init__(
        self,
        watched: Sequence[WatchedFiles[Any]],
        reloads: Counter[tuple[str, str]],
        tasks: Sequence[Callable[[], None]] = (),
        *,
        seconds: float = 1.0,
    ) -> None:
        self._watched, self._reloads, self._tasks, self._seconds = watched, reloads, tasks, seconds
        self._asked = False
        self._end = threading.Event()
        self.thread = threading.Thread(target=self._watch_until_closed, name="reload", daemon=True)

    def start(self) -> None:
        for item in self._watched:
            item.warn_of_exposed_secrets()
        self.thread.start()

    def reload_now(self) -> None:
        """Reload everything at the next check, changed or not. From any thread or signal handler: it takes no lock."""
        self._asked = True

    def close(self) -> None:
        self._end.set()
        if self.thread.is_alive():  # it was never started if the start of the broker failed
            self.thread.join(5)

    def _watch_until_closed(self) -> None:
        while not self._end.wait(self._seconds):
            forced = self._asked
            if forced:  # a request that arrives now is served by the same reload
                self._asked = False
            try:
                for task in self._tasks:
                    task()
                for item in self._watched:
                    self._reload_if_changed(item, forced)
            except Exception:  # the thread must survive: without it, nothing is reloaded
                _log.exception("the files could not be checked for changes")

    def _reload_if_changed(self, item: WatchedFiles[Any], forced: bool) -> None:
        """Reload files of which two checks show the same change, or all if `forced`."""
        stamp = item.stamp()
        settled = stamp != item.loaded and stamp == item.seen
        item.seen = stamp
        if forced or settled:
            self._reload(item)
            item.loaded = stamp

    def _reload(self, item: WatchedFiles[Any]) -> None:
        result = "failed"
        try:
            item.apply(item.load())
            result = "ok"
            _log.info("reloaded the %s", item.name)
            item.warn_of_exposed_secrets()
        except OsbctlError as error:
            findings = getattr(error, "findings", ())
            rule = f" [{findings[0].rule}]" if findings else ""  # the message is that of the first
            text = f"{error.message}{rule}{_format_hint(error.advice)}"
            _log.error("cannot reload the %s, the old version stays in use: %s", item.name, text)
            for finding in findings[1:FINDINGS_LOGGED]:
                where = f"{finding.location}: " if finding.location else ""
                _log.error("%s%s [%s]%s", where, finding.message, finding.rule, _format_hint(finding.advice))
        except Exception:
            _log.exception("cannot reload the %s, the old version stays in use", item.name)
        self._reloads[item.name, result] += 1


def _format_hint(hint: str) -> str:
    return f"; hint: {hint}" if hint else ""
