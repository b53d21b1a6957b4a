"""Hashes of the programs that operators have verify here, and ours verify there."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from osbctl.credentials.file import parse_credentials
from osbctl.credentials.record import CredentialRecord, make_record, parse_hash, password_matches

PASSWORDS = ["simple", "with space: and colon", "Grüße-🔑", "x" * 120, "$6$'\"\\"]


def run(*command: str, text: str) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode().strip()


def record(hashed: str) -> CredentialRecord:
    return CredentialRecord("admin", parse_hash(hashed).salt, hashed)


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize(
    "command",
    [
        ("openssl", "passwd", "-6", "-stdin"),
        ("mkpasswd", "-m", "sha-512", "--stdin"),
        ("mkpasswd", "-m", "sha-512", "-R", "1234", "--stdin"),
    ],
    ids=" ".join,
)
def test_their_hash_verifies_here(command: tuple[str, ...], password: str) -> None:
    found = record(run(*command, text=password + "\n"))
    assert password_matches(found, password)
    assert not password_matches(found, password + "x")


@pytest.mark.parametrize("password", PASSWORDS)
def test_an_htpasswd_file_verifies_here(password: str) -> None:
    (found,) = parse_credentials(run("htpasswd", "-n", "-i", "-5", "admin", text=password + "\n"))
    assert found.identity == "admin"
    assert password_matches(found, password)


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("rounds", [1000, 5000])
def test_our_hash_verifies_with_crypt(password: str, rounds: int) -> None:
    ours = make_record("admin", password, rounds=rounds).hash
    script = "chomp(my $p = <STDIN>); print crypt($p, $ARGV[0])"
    assert run("perl", "-e", script, ours, text=password + "\n") == ours


@pytest.mark.parametrize("password", PASSWORDS)
def test_our_hash_verifies_with_openssl(password: str) -> None:
    ours = make_record("admin", password, rounds=5000)
    theirs = run("openssl", "passwd", "-6", "-salt", ours.salt, "-stdin", text=password + "\n")
    # 5,000 rounds may be written out or left out; openssl leaves them out.
    assert theirs == ours.hash.replace("rounds=5000$", "")
