"""Records are made, checked, read and written as the rules say, and keep their secrets."""

import fcntl
import hmac
import json
import os
import re
import shutil
import stat
import subprocess
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl import credentials
from osbctl.broker.hashing_process import find_matching_hash
from osbctl.credentials import (
    CredentialRecord,
    format_records,
    generate_password,
    make_record,
    parse_credentials,
    password_matches,
    read_credentials,
    write_record,
)
from osbctl.errors import ConfigError, SourceError
from tests.case import case, each
from tests.cli.program import ROOT, osbctl
from tests.folders import schemas_folder

PASSWORD = "hunter2-Grüße-🔑"
RECORD = make_record("admin", PASSWORD, rounds=1000)
HASH = RECORD.hash
append_record = partial(write_record, append=True)
SCHEMA = json.loads((schemas_folder() / "credentials.json").read_text("utf-8"))


def raw(**changes: object) -> dict[str, object]:
    return {"identity": "admin", "salt": RECORD.salt, "hash": HASH, **changes}


def test_a_record_fits_its_password_and_no_other() -> None:
    assert password_matches(RECORD, PASSWORD)
    assert [other for other in (PASSWORD + "x", "", "x" * 5000) if password_matches(RECORD, other)] == []
    assert not password_matches(make_record("admin", "caf\u00e9", rounds=1000), "cafe\u0301"), (
        "Unicode is hashed as it is given"
    )
    longest = ":" + "x" * 510
    assert password_matches(make_record("admin", longest, rounds=1000), longest)


def test_hashes_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bool] = []

    def compare(left: str, right: str) -> bool:
        compared.append(hmac.compare_digest(left, right))
        return compared[-1]

    monkeypatch.setattr("passlib.utils.handlers.consteq", compare)
    record = make_record("platform", "right", rounds=1000)
    assert [password_matches(record, password) for password in ("right", "wrong")] == [True, False] == compared
    assert [find_matching_hash(password, [record.hash]) for password in ("right", "wrong")] == [0, None]
    assert compared == [True, False] * 2


def test_each_record_has_its_own_salt_and_the_rounds_asked_for() -> None:
    assert make_record("admin", PASSWORD, rounds=1000).salt != RECORD.salt
    assert HASH.startswith(f"$6$rounds=1000${RECORD.salt}$")
    assert RECORD.rounds == 1000


def test_generated_passwords_hold_192_bits_of_url_safe_text() -> None:
    passwords = {generate_password() for _ in range(100)}
    assert len(passwords) == 100
    assert [one for one in passwords if not re.fullmatch("[A-Za-z0-9_-]{32}", one)] == []


@pytest.mark.parametrize(("identity", "password", "says"), [
    ("admin", "", "the password is empty"),
    ("admin", "a\nb", "control character"),
    ("admin", "a\0b", "control character"),
    ("admin", "a\x7fb", "control character"),
    ("admin", "x" * 512, "longer than 511 bytes"),
    ("admin", "é" * 256, "longer than 511 bytes"),
    ("admin", "\ud800", "UTF-8"),
    ("", "x", "the identity is empty"),
    ("a:b", "x", "colon"),
    ("a\tb", "x", "control character"),
    ("x" * 512, "x", "longer"),
])  # fmt: skip
def test_identities_and_passwords_unfit_for_basic_are_refused(identity: str, password: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        make_record(identity, password, rounds=1000)


def test_a_record_without_a_label_is_known_by_its_number() -> None:
    found = parse_credentials(json.dumps([raw(), {**raw(), "label": "spring"}, raw()]))
    assert [record.public_name for record in found] == ["record 1", "spring", "record 3"]
    found = parse_credentials(f"# a comment\n\nadmin:{HASH}\nother:{HASH}\n")
    assert [record.public_name for record in found] == ["record 1", "record 2"]


@pytest.mark.parametrize("rounds", [999, 0, -1, 5_000_001])
def test_rounds_are_bounded(rounds: int) -> None:
    with pytest.raises(ConfigError, match="rounds"):
        make_record("admin", "x", rounds=rounds)


def test_a_too_expensive_record_is_refused_with_its_cost(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(format_records(RECORD).replace("=1000$", "=10000000$"))
    ran = osbctl("serve", "catalogs/interface-example.json", "--credentials", str(path), "--insecure-http", cwd=ROOT)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert f"{path}: 10000000 rounds take about 10 seconds: the maximum is 5000000\n" in ran.stderr


def test_records_and_their_errors_show_no_secret() -> None:
    record = make_record("admin", "top-secret-pw", rounds=1000, include_password=True)
    shown = [repr(record), str(record), f"{record}", repr([record])]
    for changes in ({"salt": "other"}, {"expires": "soon"}, {"label": ""}, {"hash": record.hash + "x"}):
        text = json.dumps({**json.loads(format_records(record)), **changes})
        for broken in (text, text[:-1], "[" + text, text.replace('"identity"', '"Identity"')):
            with pytest.raises(ConfigError) as caught:
                parse_credentials(broken)
            shown += ["".join(traceback.format_exception(caught.value)), caught.value.advice]
    secret = record.hash.rpartition("$")[2]
    assert not [text for text in shown if "top-secret-pw" in text or secret in text or record.salt in text]


def test_one_record_a_list_and_htpasswd_are_read() -> None:
    assert parse_credentials(json.dumps(raw())) == (RECORD,)
    rotated = parse_credentials(json.dumps([raw(label="old", expires="2027-01-31T00:00:00Z"), raw(label="new")]))
    assert [record.display_name for record in rotated] == ["old", "new"]
    assert parse_credentials(f"# users\r\n\r\nadmin:{HASH}\r\n") == (RECORD,)


# the salts are random, and workers of one run must agree on the names
@pytest.mark.parametrize(("text", "says"), [
    ("", "no credential record"),
    ("[]", "no credential record"),
    ("{", ":1:2: not JSON"),
    ("[" * 100_000, "nested too deeply"),
    ("[" + "9" * 5_000 + "]", "a number is too long"),
    ("[1]", "record 1: not an object"),
    (json.dumps(raw(expire="2027-01-31T00:00:00Z")), "unknown field 'expire'"),
    (json.dumps(raw(label=3)), "label is not a string"),
    (json.dumps(raw(password=None)), "password is not a string"),
    (json.dumps({"identity": "admin"}), "salt is missing"),
    (json.dumps(raw(salt="abc")), "the salt is not the salt of the hash"),
    (json.dumps([raw(), raw(hash="$6$x$y")]), "record 2: the hash is not a salted SHA-512 hash"),
    (json.dumps(raw(hash=HASH.replace("=1000$", "=999$"))), "999 rounds"),
    (json.dumps(raw(hash=HASH[:-1] + "z")), "the hash is no"),
    (json.dumps(raw(expires="2027-01-31")), "RFC 3339"),
    (json.dumps(raw(expires="2027-01-31T00:00:00")), "RFC 3339"),
    (json.dumps(raw(expires="2027-02-30T00:00:00Z")), "RFC 3339"),
    (json.dumps(raw(label="a\nb")), "printable"),
    ('{"identity": "a", "identity": "b"}', "the same field twice"),
    ("a:$apr1$x$y", ":1: only salted SHA-512"),
    (f"ok:{HASH}\nb:{{SHA}}xx=", ":2: only salted SHA-512"),
    ("a:$2y$05$abc", "no other hash"),
    ("a:geheim", "plain text"),
    ("a:$6$broken", ":1: the hash is no"),
    (f":{HASH}", ":1: the identity is empty"),
    ("nonsense", ":1: neither JSON nor"),
], ids=count())  # fmt: skip
def test_an_invalid_credentials_file_is_refused_with_its_location(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as refused:
        parse_credentials(text, "creds")
    assert refused.value.__cause__ is None, "the error of JSON would hold the whole text"


def test_the_hint_names_the_command_that_makes_records() -> None:
    for text in ("services:\n- id: a\n", "nonsense"):
        with pytest.raises(ConfigError) as refused:
            parse_credentials(text)
        assert refused.value.advice.startswith("create records with `osbctl hash-password`")


@each("text, seconds", [
    ("1970-01-01T00:00:10Z", 10),
    ("1970-01-01t01:00:10+01:00", 10),
    ("1970-01-01 00:00:10.5z", 10.5),
])  # fmt: skip
def test_expiry_is_parsed(text: str, seconds: float) -> None:
    assert CredentialRecord("a", RECORD.salt, HASH, expires=text).expires_at == seconds
    assert RECORD.expires_at == float("inf")


def test_files_are_read_with_a_byte_order_mark_or_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        read_credentials(tmp_path / "none")
    with pytest.raises(SourceError, match="directory"):
        read_credentials(tmp_path)
    (tmp_path / "latin").write_bytes(b"\xff\xff\xff")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_credentials(tmp_path / "latin")
    (tmp_path / "large").write_bytes(b" " * (1 << 20) + b"x")
    with pytest.raises(ConfigError, match="larger"):
        read_credentials(tmp_path / "large")
    path = tmp_path / "c.json"
    path.write_text(format_records(RECORD), "utf-8-sig")
    assert read_credentials(path) == (RECORD,)


def test_a_written_file_is_private_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text("old")
    path.chmod(0o644)
    write_record(path, RECORD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_credentials(path) == (RECORD,)
    assert [each.name for each in tmp_path.iterdir()] == ["c.json"]


def test_a_symbolic_link_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real" / "c.json")
    for write in (write_record, append_record):
        write(link, RECORD)
        assert link.is_symlink()
    assert read_credentials(tmp_path / "real" / "c.json") == (RECORD, RECORD)


def test_a_device_or_a_missing_folder_is_not_written(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(SourceError, match="regular"):
        append_record(fifo, RECORD)
    with pytest.raises(SourceError, match="No such file"):
        write_record(tmp_path / "none" / "c.json", RECORD)


def test_appending_keeps_the_others_also_when_many_append(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write_record(path, RECORD)
    records = [CredentialRecord(f"user-{n}", RECORD.salt, HASH) for n in range(20)]
    with ThreadPoolExecutor(len(records)) as pool:
        list(pool.map(append_record, [path] * len(records), records))
    found = read_credentials(path)
    assert found[0] == RECORD
    assert set(found[1:]) == set(records)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_lock_has_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "LOCK_SECONDS", 0.2)
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        with pytest.raises(SourceError, match="held the lock"):
            write_record(tmp_path / "c.json", RECORD)
        assert list(tmp_path.iterdir()) == []
    finally:
        os.close(folder)
    write_record(tmp_path / "c.json", RECORD)


def test_appending_starts_a_list_and_leaves_htpasswd_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    assert append_record(path, RECORD) == 1
    assert json.loads(path.read_text("utf-8")) == [raw()]
    htpasswd = tmp_path / "htpasswd"
    htpasswd.write_text(f"admin:{HASH}\n")
    with pytest.raises(ConfigError, match="htpasswd"):
        append_record(htpasswd, RECORD)
    assert htpasswd.read_text() == f"admin:{HASH}\n"


GOOD = [
    json.loads(format_records(RECORD)),
    [raw(label="new", expires="2027-01-31T00:00:00Z", password="x"), raw()],
    raw(hash=HASH.replace("=1000$", "=5000000$")),
]
BAD = [
    *([], raw(extra="x"), raw(identity="a:b"), raw(identity="a\nb"), raw(hash="$5$x$y"), raw(expires="2027-01-31")),
    *(raw(hash=HASH.replace("=1000$", f"={rounds}$")) for rounds in (999, 5_000_001)),
    {"identity": "admin", "hash": HASH},
]


def test_the_schema_says_what_the_reader_says() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert [data for data in (*GOOD, *BAD) if jsonschema.Draft7Validator(SCHEMA).is_valid(data)] == GOOD
    for data in GOOD:
        parse_credentials(json.dumps(data))
    for data in BAD:
        with case(data), pytest.raises(ConfigError):
            parse_credentials(json.dumps(data))
    properties = SCHEMA["definitions"]["record"]["properties"]
    assert (*properties, "number") == tuple(CredentialRecord.__dataclass_fields__)
    assert all(part["title"] and part["description"] for part in properties.values())


@pytest.mark.fuzz
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_credentials(text)


# Hashes of the programs that operators have verify here, and ours verify there.


PASSWORDS = ["simple", "with space: and colon", "Grüße-🔑", "x" * 120, "$6$'\"\\"]


def run(*command: str, text: str) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout.decode().strip()


@pytest.mark.parametrize("command", [
    ("openssl", "passwd", "-6", "-stdin"),
    ("mkpasswd", "-m", "sha-512", "--stdin"),
    ("mkpasswd", "-m", "sha-512", "-R", "1234", "--stdin"),
    ("htpasswd", "-n", "-i", "-5", "admin"),
], ids=" ".join)  # fmt: skip
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
