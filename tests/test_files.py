"""Files are replaced whole and durably; what is no file stays what it is."""

import contextlib
import errno
import os
import re
import select
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from osbctl.errors import SourceError
from osbctl.files import check_regular_file, read_bounded, write_file

OLD, NEW = b"old" * 1000, b"new"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.json"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


def test_a_file_is_replaced_not_written_over(file: Path) -> None:
    before = file.with_name("hard-link")
    before.hardlink_to(file)
    with file.open("rb") as reader:
        write_file(file, NEW)
        assert reader.read() == OLD
    assert (file.read_bytes(), before.read_bytes()) == (NEW, OLD)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert sorted(path.name for path in file.parent.iterdir()) == ["a.json", "hard-link"]


def test_a_file_that_is_protected_from_writing_stays() -> None:
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as folder:  # where another user gets to, too
        file = Path(folder) / "a.json"
        file.write_bytes(OLD)
        if user == 0:  # whom no mode keeps from anything
            Path(folder).chmod(0o777)
            os.chown(file, 65534, -1)
            os.seteuid(65534)
        try:
            file.chmod(0o444)
            with pytest.raises(SourceError, match="cannot be written: Permission denied"):
                write_file(file, NEW)
            assert file.read_bytes() == OLD
            file.chmod(0o644)
            write_file(file, NEW)
            assert file.read_bytes() == NEW
        finally:
            os.seteuid(user)


def test_data_is_flushed_before_the_rename_and_the_rename_before_return(file: Path) -> None:
    steps = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        kind = "folder" if stat.S_ISDIR(status.st_mode) else "file"
        steps.append((kind, status.st_size if kind == "file" else status.st_ino, file.read_bytes()))
        real(descriptor)

    with mock.patch.object(os, "fsync", fsync):
        write_file(file, NEW)
    assert steps == [("file", len(NEW), OLD), ("folder", file.parent.stat().st_ino, NEW)]


@pytest.mark.parametrize("cleaned", [True, False])
def test_a_write_that_fails_leaves_the_old_file(file: Path, cleaned: bool) -> None:
    """A cleanup that fails, too, does not hide the error."""
    unlink = os.unlink if cleaned else mock.Mock(side_effect=PermissionError(13, "Permission denied"))
    full = mock.Mock(side_effect=OSError(28, "No space left on device"))
    with mock.patch.multiple(os, fsync=full, unlink=unlink), pytest.raises(SourceError, match="No space left"):
        write_file(file, NEW)
    assert file.read_bytes() == OLD
    assert (len([*file.parent.iterdir()]) == 1) is cleaned


def test_the_temporary_file_is_hidden_in_the_same_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename from another file system is none, and a pattern such as `*.json` is not to find it."""
    seen = []
    real = os.replace
    monkeypatch.setattr(os, "replace", lambda new, old: (seen.append(Path(new)), real(new, old)))
    monkeypatch.chdir("/")
    write_file(file, NEW)
    assert [(path.parent, path.name[:8]) for path in seen] == [(file.parent, ".a.json.")]


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of a clock that goes on by them alone."""
    pauses: list[float] = []
    monkeypatch.setattr("osbctl.files.time", SimpleNamespace(monotonic=lambda: sum(pauses), sleep=pauses.append))
    return pauses


IN_USE = "it is write-protected, or another program has it open"
DENIED = PermissionError(errno.EACCES, "Permission denied")


@pytest.mark.parametrize(
    ("windows", "answers", "waited", "told"),
    [(True, [DENIED] * 3 + [None], 0.15, ""), (True, DENIED, 5, IN_USE), (False, DENIED, 0, DENIED.strerror)],
)
def test_windows_waits_until_no_other_program_has_the_file_open(
    file: Path, slept: list[float], windows: bool, answers: Any, waited: float, told: str
) -> None:
    system = mock.patch("osbctl.files.RESTRICTS_ACCESS", not windows)
    ends = pytest.raises(SourceError, match=f"cannot be written: {told}$") if told else contextlib.nullcontext()
    with system, mock.patch.object(os, "replace", side_effect=answers), ends:
        write_file(file, NEW)
    assert waited <= sum(slept) <= waited * 1.02


def test_windows_opens_no_folder_and_macos_polls_no_device(
    file: Path, monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    monkeypatch.setattr(os, "read", mock.Mock(side_effect=[BlockingIOError, b"a", b""]))
    monkeypatch.setattr("osbctl.files.WRITER_WAIT", 0.06)
    assert (read_bounded("/dev/null", 9), slept) == (b"a", [0.05])
    monkeypatch.setattr(os, "open", mock.Mock(side_effect=DENIED))
    for path, told in ((file.parent, f"[Errno 21] Is a directory: '{file.parent}'"), (file, str(DENIED))):
        with pytest.raises(OSError, match=re.escape(told) + "$"):
            read_bounded(path, 9)


@pytest.mark.parametrize(
    ("name", "mode", "want"), [("new", None, 0o640), ("new", 0o600, 0o600), ("a.json", 0o600, 0o600)]
)
def test_a_file_has_the_mode_asked_for_or_the_umasks(file: Path, name: str, mode: int | None, want: int) -> None:
    before = os.umask(0o026)
    try:
        write_file(file.with_name(name), NEW, mode)
        assert os.umask(before) == 0o026
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.with_name(name).stat().st_mode) == want


@pytest.mark.parametrize(("most", "length"), [(len(OLD) - 2, len(OLD) - 1), (len(OLD), len(OLD)), (0, 1)])
def test_reading_stops_one_byte_over_the_limit(file: Path, most: int, length: int) -> None:
    assert read_bounded(file, most) == OLD[:length]


def test_no_more_memory_is_taken_than_asked_for_and_a_file_may_not_tell_its_size(file: Path) -> None:
    os.truncate(file, 64 << 20)
    tracemalloc.start()
    assert read_bounded(file, 0) == OLD[:1]
    assert tracemalloc.get_traced_memory()[1] < 3 << 19
    tracemalloc.stop()
    command = Path("/proc/self/cmdline").read_bytes()
    assert [read_bounded("/proc/self/cmdline", most) for most in (1 << 20, 2)] == [command, command[:3]]


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


@contextlib.contextmanager
def fed(fifo: Path, *chunks: bytes) -> Iterator[None]:
    """Feed these to the FIFO, one every 50 ms; without chunks it gets no writer."""

    def feed() -> None:
        with contextlib.suppress(BrokenPipeError), fifo.open("wb", buffering=0) as writer:
            for chunk in chunks:
                time.sleep(0.05)
                writer.write(chunk)

    thread = threading.Thread(target=feed if chunks else int)
    thread.start()
    yield
    thread.join(60)


@pytest.mark.parametrize(
    ("chunks", "most", "read"),
    [
        ((b"a" * 70_000, b"b", b"c"), 100_000, b"a" * 70_000 + b"bc"),
        ((b"12345", b"67890", b"!"), 10, b"1234567890!"),
        ((b"12345", b"67890", b"!"), 9, b"1234567890"),
    ],
    ids=["whole", "one byte over the limit", "more over the limit"],
)
def test_a_fifo_is_read_to_its_end_or_over_the_limit(
    fifo: Path, chunks: tuple[bytes, ...], most: int, read: bytes
) -> None:
    with fed(fifo, *chunks):
        assert read_bounded(fifo, most) == read


@pytest.mark.parametrize("chunks", [(), (b"x",) * 40], ids=["without a writer", "with a slow one"])
def test_a_fifo_that_does_not_end_has_a_timeout(
    fifo: Path, monkeypatch: pytest.MonkeyPatch, chunks: tuple[bytes, ...]
) -> None:
    monkeypatch.setattr("osbctl.files.WRITER_WAIT", 0.2)
    with fed(fifo, *chunks), pytest.raises(OSError, match=r"it did not end within 0\.2 seconds") as error:
        read_bounded(fifo, 1000)
    assert error.value.errno == errno.ETIMEDOUT


def test_a_terminal_is_waited_for() -> None:
    ours, theirs = os.openpty()
    try:
        thread = threading.Timer(0.05, os.write, (ours, b"typed\n\x04"))
        thread.start()
        assert read_bounded(os.ttyname(theirs), 100) == b"typed\n"
        thread.join(60)
    finally:
        os.close(ours)
        os.close(theirs)


def test_check_regular(file: Path, fifo: Path) -> None:
    check_regular_file(file)
    with pytest.raises(OSError, match="it is not a regular file") as error:
        check_regular_file(fifo)
    assert (error.value.errno, error.value.strerror) == (errno.EINVAL, "it is not a regular file")


@pytest.mark.parametrize("allowed", [True, False])
def test_owner_and_group_stay_but_not_those_of_a_secret(
    file: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    fchown = mock.Mock(side_effect=None if allowed else PermissionError)
    monkeypatch.setattr(os, "fchown", fchown)
    write_file(file, NEW, 0o600)
    assert fchown.mock_calls == [], "whoever put a file there before does not get it"
    write_file(file, NEW)
    assert [call.args[1:] for call in fchown.mock_calls] == [(-1, file.stat().st_gid), (file.stat().st_uid, -1)]


def test_a_symbolic_link_is_followed(file: Path) -> None:
    link = file.with_name("link")
    link.symlink_to(file.name)
    write_file(link, NEW)
    assert link.is_symlink()
    assert file.read_bytes() == NEW


@pytest.mark.parametrize("name", ["fifo", "link"])
def test_a_fifo_stays_one_and_its_reader_gets_all(fifo: Path, name: str) -> None:
    fifo.with_name("link").symlink_to("fifo")
    target = fifo.with_name(name)
    data = os.urandom(300_000)
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    writer = threading.Thread(target=write_file, args=(target, data))
    writer.start()
    assert select.select([descriptor], [], [], 10)[0]
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "rb") as reader:
        assert reader.read() == data
    writer.join(60)
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_fifo_without_a_reader(fifo: Path) -> None:
    with pytest.raises(SourceError, match=r"/fifo: cannot be written: no program reads from it$"):
        write_file(fifo, NEW)


def device(folder: Path, name: str, minor: int) -> Path:
    """A device that may be broken: one of our own where we could harm the machine's."""
    if os.geteuid() != 0:
        return Path("/dev", name)
    path = folder / name
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        path.write_bytes(b"")
    except OSError:
        pytest.skip("devices cannot be made here")
    return path


def test_a_device_stays_one_and_may_refuse_as_a_folder_does(tmp_path: Path) -> None:
    null = device(tmp_path, "null", 3)
    before = null.stat()
    write_file(null, NEW)
    after = null.stat()
    assert (after.st_ino, after.st_rdev, after.st_mode) == (before.st_ino, before.st_rdev, before.st_mode)
    with pytest.raises(SourceError, match="No space left"):
        write_file(device(tmp_path, "full", 7), NEW)
    with pytest.raises(SourceError, match="directory"):
        write_file(tmp_path, NEW)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("to", ["a file", "a pipe", "a socket"])
def test_a_descriptor_of_this_process_is_written_to(tmp_path: Path, name: str, to: str) -> None:
    """As the shell would with `>>`: behind what stands there, and the file is not replaced."""
    command = [sys.executable, "-c", f"from osbctl.files import write_file; write_file({name!r}, b'new')"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}

    def run(stdout: Any) -> bytes:
        return subprocess.run(command, stdout=stdout, cwd=tmp_path, check=True, timeout=60, env=environment).stdout

    if to == "a file":
        (tmp_path / "log").write_bytes(b"old ")
        with (tmp_path / "log").open("ab") as log:
            run(log)
        assert (tmp_path / "log").read_bytes() == b"old new"
    elif to == "a pipe":
        assert run(subprocess.PIPE) == b"new"
    else:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            run(theirs)
            assert ours.recv(10) == b"new"


def test_a_descriptor_is_shared_not_opened_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with (tmp_path / "log").open("ab", buffering=0) as log:
        log.write(b"old ")
        for folder in ("/dev/fd", "/proc/self/fd"):
            write_file(Path(f"{folder}/{log.fileno()}"), b"new ")
    assert (tmp_path / "log").read_bytes() == b"old new new "
    write_file(Path("/dev/stdout"), b"new")
    assert capfd.readouterr().out == "new"


def test_the_kernels_protection_of_links_holds(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`protected_symlinks`: the kernel refuses to follow the link of another user in a shared folder."""
    link = file.with_name("link")
    link.symlink_to(file.name)
    real = os.stat

    def refuse(path: str, **options: bool) -> os.stat_result:
        if os.fspath(path) == str(link) and options.get("follow_symlinks", True):
            raise PermissionError(13, "Permission denied")
        return real(path, **options)

    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(SourceError, match="Permission denied"):
        write_file(link, NEW)
    assert file.read_bytes() == OLD
