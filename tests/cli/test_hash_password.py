"""hash-password and verify-password, as an operator or a script runs them."""

import itertools
import json
import os
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

import pytest

from osbctl.credentials import (
    format_records,
    make_record,
    parse_credentials,
    password_matches,
    read_credentials,
    write_record,
)
from tests.case import each
from tests.cli import warm
from tests.cli.program import ROOT, at_terminal, failure, osbctl, process

SECRET = "known-pass-Wörd"
CTRL_C, CTRL_D = "\x03", "\x04"


def run(*arguments: str | Path, stdin: str | bytes = "", code: int = 0) -> CompletedProcess[str]:
    return osbctl(*map(str, arguments), stdin=stdin, COLUMNS="120", code=code)


def hashed(*words: str | Path, code: int = 0) -> CompletedProcess[str]:
    """A record of `admin` with the known password, hashed quickly."""
    return run("hash-password", "admin", "--password-stdin", "--rounds", "1000", *words, stdin=SECRET, code=code)


def generated(*words: str | Path, code: int = 0) -> CompletedProcess[str]:
    return run("hash-password", "admin", "--generate", "--rounds", "1000", *words, code=code)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with one record."""
    write_record(tmp_path / "c.json", make_record("admin", "first", rounds=1000))
    return tmp_path / "c.json"


def test_the_record_goes_to_standard_output_without_the_password() -> None:
    words = ("hash-password", "admin", "--password-stdin", "--rounds", "1000")
    ran = process(*words, stdin=SECRET + "\n", PYTHONIOENCODING="ascii:strict", code=0)
    (record,) = parse_credentials(ran.stdout)
    assert list(json.loads(ran.stdout)) == ["identity", "salt", "hash"]
    assert password_matches(record, SECRET)
    assert SECRET not in ran.stdout + ran.stderr
    assert "1000 rounds" in ran.stderr
    assert password_matches(parse_credentials(hashed("-o", "-").stdout)[0], SECRET)


def test_the_librarys_rounds_are_the_default_and_no_warning() -> None:
    with mock.patch(
        "passlib.handlers.sha2_crypt._raw_sha2_crypt", return_value=85 * "x" + "."
    ):  # it takes half a second
        ran = run("hash-password", "admin", "--password-stdin", stdin=SECRET)
    assert ran.stdout.count("$6$rounds=656000$") == 1
    assert ran.stderr == ""


def test_a_generated_password_is_shown_once_beside_the_record() -> None:
    ran = generated("--label", "autumn")
    (record,) = parse_credentials(ran.stdout)
    password = ran.stderr.splitlines()[0].rpartition(": ")[2]
    assert len(password) == 32
    assert password_matches(record, password)
    assert password not in ran.stdout
    assert record.label == "autumn"


def test_with_a_file_the_generated_password_is_the_whole_output(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    ran = generated("-o", path)
    (record,) = read_credentials(path)
    assert password_matches(record, ran.stdout.strip())
    assert ran.stdout.strip() not in ran.stderr
    assert "warning" not in ran.stderr, "few rounds protect a random password"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_appending_rotates_a_password(path: Path) -> None:
    ran = hashed("--append", path, "--label", "second", "--expires", "2099-01-01T00:00:00Z")
    assert ran.stdout == ""
    assert "holds 2 records" in ran.stderr
    first, second = read_credentials(path)
    assert password_matches(first, "first")
    assert password_matches(second, SECRET)
    assert (second.label, second.expires) == ("second", "2099-01-01T00:00:00Z")


@each("before, told", [
    ("", "holds 1 record"), ("\n", "holds 1 record"), ("[]", "holds 1 record"), ("# mine\n", "is an htpasswd file"),
    ("mine", "neither JSON nor"), ("{}", "identity is missing"),
])  # fmt: skip
def test_a_file_without_a_record_is_appended_to(tmp_path: Path, before: str, told: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(before)
    is_empty = told.startswith("holds")
    assert told in hashed("--append", path, code=0 if is_empty else 3).stderr
    assert (path.read_text() == before) == (not is_empty)


@each("option", [["-o"], ["--append"], ["--force", "-o"]])
def test_links_in_a_circle_are_told(tmp_path: Path, option: list[str]) -> None:
    for name, target in (("a", "b"), ("b", "a")):
        (tmp_path / name).symlink_to(target)
    for path in (tmp_path / "a", tmp_path / "a/c.json"):
        assert "cannot be written: Too many levels" in hashed(*option, path, code=3).stderr


def test_a_file_that_append_makes_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    for mode in (None, 0o644):
        if mode:
            path.chmod(mode)
        hashed("--append", path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, mode


def test_the_password_is_included_only_when_asked_and_with_a_warning() -> None:
    ran = hashed("--include-password")
    assert json.loads(ran.stdout)["password"] == SECRET
    assert "in clear" in ran.stderr
    assert SECRET not in ran.stderr


@each("arguments, stdin, says", [
    (("admin", "--password-stdin", "--generate"), "x", "cannot be combined"),
    (("admin", "--generate", "-o", "a", "--append", "b"), "", "cannot be combined"),
    (("admin", "--generate", "--append", "a", "--force"), "", "--force is for -o"),
    (("admin",), "x", "there is no terminal to ask for the password\n  hint: use --password-stdin\n"),
    (("admin", "--password-stdin"), "", "error: the password is empty\n"),
    (("admin", "--password-stdin"), "\n", "empty"),
    (("admin", "--password-stdin"), f"{SECRET}\n{SECRET}\n", "control character"),
    (("admin", "--password-stdin"), SECRET * 100, "longer than 511"),
    (("admin", "--password-stdin"), "x" * 8192, "longer than 511"),
    (("admin", "--password-stdin"), "x" * 8193, "more than 8192 bytes"),
    (("admin", "--password-stdin"), b"\xff\xfe", "error: the password on standard input is not UTF-8 text\n"),
    (("a:b", "--password-stdin"), SECRET, "colon"),
    (("", "--password-stdin"), SECRET, "the identity is empty"),
    (("admin", "--password-stdin", "--rounds", "10"), SECRET, "10 rounds"),
    (("admin", "--password-stdin", "--rounds", "1000", "--expires", "soon"), SECRET, "RFC 3339"),
    (
        ("admin", "--generate", "--expires", "2020-01-31T00:00:00Z", "-o", "c"),
        "",
        "0-01-31T00:00:00Z is in the past",
    ),
    ((), "", "IDENTITY"),
    (("admin", SECRET[:5]), "", "unexpected"),
])  # fmt: skip
def test_what_makes_no_sense_ends_with_2_and_a_sentence(
    tmp_path: Path, arguments: Sequence[str], stdin: str | bytes, says: str
) -> None:
    told = failure("hash-password", *arguments, stdin=stdin, cwd=tmp_path, code=2)
    assert [*tmp_path.iterdir()] == []
    assert says in told
    assert SECRET not in told


def test_a_file_that_cannot_be_written_ends_with_3_and_shows_no_password(tmp_path: Path) -> None:
    ran = generated("-o", tmp_path / "none/c.json", code=3)
    assert ran.stdout == ""
    assert "cannot be written" in ran.stderr


@each("option", [["--force", "-o"], ["--append"]])
@each("full", [True, False])
def test_a_password_that_cannot_be_shown_leaves_the_old_record(path: Path, option: list[str], full: bool) -> None:
    """Otherwise the new password would be lost. `full`: a full device, else a pipe without a reader."""
    before = path.read_bytes()
    reading, writing = os.pipe()
    os.close(reading)
    command = [warm.command(), "hash-password", "admin", "--generate", "--rounds", "1000", *option, path]
    with open("/dev/full", "wb") if full else os.fdopen(writing, "wb") as output:  # noqa: PTH123
        ran = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=60)
    if full:
        os.close(writing)
    assert ran.returncode == 3
    assert "standard output cannot be written" in ran.stderr
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@each("words, stream", [("", 2), ("-o", 1), ("--append", 1)])
@each("discarded", [True, False])
def test_a_password_that_would_be_lost_makes_no_record(path: Path, words: str, stream: int, discarded: bool) -> None:
    """With `discarded`, what is printed goes to /dev/null, else the stream is closed."""
    before = path.read_bytes()
    options = f"{words} {path}" + " --force" * (words == "-o") if words else ""
    target = f"{stream}>{'/dev/null' if discarded else '&-'}"
    line = f"{warm.command()} hash-password admin --generate --rounds 1000 {options} {target}"
    ran = subprocess.run(["sh", "-c", line], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert stream == 2 or "the password would be lost" in ran.stderr
    assert path.read_bytes() == before
    # A record that holds the password can be read later.
    ran = subprocess.run(["sh", "-c", line.replace(target, f"--include-password {stream}>/dev/null")], check=False)
    assert ran.returncode == 0


def at_a_terminal(*answers: str) -> tuple[int, str, str]:
    """Run hash-password with a terminal as standard input; what it shows there, and its output."""
    prompts = ("Password of admin: ", "Repeat the password: ")
    lines = (answer if answer in (CTRL_C, CTRL_D) else f"{answer}\n" for answer in answers)
    typed = zip(prompts, lines)  # noqa: B905
    seen = at_terminal("stdin stderr", "hash-password", "admin", "--rounds", "1000", answers=typed)
    return seen.code, seen.screen, seen.stdout


def test_at_a_terminal_it_asks_twice_and_shows_nothing() -> None:
    for second in ("typed-secret", "typo-secret"):
        code, shown, out = at_a_terminal("typed-secret", second)
        agree = second == "typed-secret"
        assert (code == 0, "differ" not in shown) == (agree, agree)
        assert "secret" not in shown
        assert password_matches(parse_credentials(out)[0], "typed-secret") if agree else out == "", second


@each("answers", [(CTRL_C,), ("typed-secret", CTRL_C), (CTRL_D,)])
def test_an_interrupt_or_an_end_of_input_at_the_prompt(answers: tuple[str, ...]) -> None:
    code, shown, out = at_a_terminal(*answers)
    assert (code, out) == (130 if CTRL_C in answers else 2, "")
    assert "Traceback" not in shown
    assert (": no password was given" in shown) == (answers == (CTRL_D,))


def test_records_that_stand_are_not_replaced_in_silence(path: Path) -> None:
    before = path.read_bytes()
    ran = generated("-o", path, code=3)
    assert ran.stdout == ""
    assert "--append" in ran.stderr
    assert "--force" in ran.stderr
    assert path.read_bytes() == before
    password = generated("-o", path, "--force").stdout.strip()
    (record,) = read_credentials(path)
    assert password_matches(record, password)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    old = make_record("admin", "old", rounds=1000, label="2020", expires="2020-01-01T00:00:00Z")
    new = make_record("admin", SECRET, rounds=1000, label="new")
    (tmp_path / "c\x1b.json").write_text(f"[{format_records(old)}, {format_records(new)}]")
    return tmp_path / "c\x1b.json"


@each("identity, password, code, says", [
    ("admin", SECRET + "\n", 0, "matches 'new'"),
    ("admin", SECRET + "\n", 0, "warning: the hash of new has 1000 rounds"),
    ("admin", SECRET + "\r\n", 0, "matches 'new'"),
    *(
        ("admin", word, 1, "(2 tried)")
        for word in ("wrong", f" {SECRET}", f"{SECRET} \n", f"{SECRET}\n\n", f"{SECRET}\t")
    ),
    ("admin", "old", 1, "expired at 2020-01-01T00:00:00Z"),
    ("nobody", SECRET, 1, "has no record of 'nobody'"),
])  # fmt: skip
def test_verify_password(file: Path, identity: str, password: str, code: int, says: str) -> None:
    ran = run("verify-password", file, identity, "--password-stdin", stdin=password, code=code)
    assert says in ran.stdout + ran.stderr
    assert SECRET not in ran.stdout + ran.stderr and "\x1b" not in ran.stderr, "nor the escape in the file's name"


@each("order", [*itertools.permutations((2020, 2098, 2099)), *itertools.permutations((2020, None, 2099))])
def test_of_several_records_that_match_the_longest_valid_is_named(tmp_path: Path, order: Sequence[int | None]) -> None:
    expiries = {str(year): f"{year}-01-01T00:00:00Z" if year else None for year in order}
    records = [make_record("admin", SECRET, rounds=1000, label=year, expires=at) for year, at in expiries.items()]
    (tmp_path / "c.json").write_text(format_records(records))
    ran = run("verify-password", tmp_path / "c.json", "admin", "--password-stdin", stdin=SECRET, code=0)
    assert f"the password matches '{None if None in order else 2099}'\n" in ran.stdout


def test_verify_password_with_an_unreadable_file_ends_with_3(tmp_path: Path) -> None:
    run("verify-password", tmp_path / "none", "admin", "--password-stdin", stdin="x", code=3)
    (tmp_path / "bad").write_text("admin:plain-text-secret")
    ran = run("verify-password", tmp_path / "bad", "admin", "--password-stdin", stdin="x", code=3)
    assert "plain-text-secret" not in ran.stdout + ran.stderr
