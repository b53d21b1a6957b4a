"""Hashes of the programs that operators have verify here, and ours verify there."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from osbctl.credentials.file import parse_credentials
from osbctl.credentials.record import make_record, password_matches

PASSWORDS = ["simple", "with space: and colon", "Grüße-🔑", "x" * 120, "$6$'\"\\"]


def run(*command: str, text: str) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.mark.parametrize(
    "command",
    [
        ("openssl", "passwd", "-6", "-stdin"),
        ("mkpasswd", "-m", "sha-512", "--stdin"),
        ("mkpasswd", "-m", "sha-512", "-R", "1234", "--stdin"),
        ("htpasswd", "-n", "-i", "-5", "admin"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("password", PASSWORDS)
def test_their_hash_verifies_here(command: tuple[str, ...], password: str) -> None:
    line = run(*command, text=password + "\n")
    (found,) = parse_credentials(line if line.startswith("admin:") else f"admin:{line}")
    assert found.identity == "admin"
    assert password_matches(found, password)
    assert not password_matches(found, password + "x")


@pytest.mark.parametrize("password", PASSWORDS)
def test_our_hash_verifies_with_openssl_and_crypt(password: str) -> None:
    ours = make_record("admin", password, rounds=5000)
    theirs = run("openssl", "passwd", "-6", "-salt", ours.salt, "-stdin", text=password + "\n")
    # 5,000 rounds may be written out or left out; openssl leaves them out.
    assert theirs == ours.hash.replace("rounds=5000$", "")
    script = "chomp(my $p = <STDIN>); print crypt($p, $ARGV[0])"
    for record in (ours, make_record("admin", password, rounds=1000)):
        assert run("perl", "-e", script, record.hash, text=password + "\n") == record.hash
