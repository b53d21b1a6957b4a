"""The gate lets in who may, makes nobody wait, and holds against floods."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from base64 import b64encode
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osbctl.broker.basic import Given, parse_basic
from osbctl.broker.gate import REFUSED, REMEMBERED, WAITING, Decision, Gate, Outcome
from osbctl.broker.hashing import HashingError, HashingProcess
from osbctl.broker.hashing_worker import first_match
from osbctl.broker.records import KnownRecords
from osbctl.broker.throttle import Buckets, Remembered
from osbctl.credentials import CredentialRecord, make_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).parents[2]
OLD = make_record("admin", "old-password", rounds=1000, label="old")
NEW = make_record("admin", "new-password", rounds=1000, label="new")
OTHER = make_record("other", "other-password", rounds=2000)


def basic(identity: str, password: str) -> str:
    return "Basic " + b64encode(f"{identity}:{password}".encode()).decode()


class Hashing(HashingProcess):
    """The same work in the calling thread, counted, and held up while `held` is clear."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.held = threading.Event()
        self.held.set()
        self.fails = False

    def first_match(self, password: str, hashes: Sequence[str]) -> int | None:
        self.asked.append(list(hashes))
        assert self.held.wait(20)
        if self.fails:
            raise HashingError("the hashing process died")
        return first_match(password, list(hashes))

    def close(self) -> None:
        self.held.set()


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Bench:
    def __init__(self, *records: CredentialRecord) -> None:
        self.hashing, self.clock = Hashing(), Clock()
        self.buckets = Buckets(clock=self.clock)
        self.gate = Gate(records, now=self.clock, buckets=self.buckets, hashing=self.hashing)

    def ask(self, header: str | None, address: str = "10.0.0.1") -> Decision | None:
        """Ask as a server does, and wait for the resumption where the request is parked."""
        done = threading.Event()
        if not self.gate.admit(header, address, done.set):
            assert done.wait(20)
        return self.gate.decide(header)

    def park(self, header: str, address: str) -> bool:
        return not self.gate.admit(header, address, lambda: None)


@contextmanager
def bench(*records: CredentialRecord) -> Iterator[Bench]:
    one = Bench(*records)
    try:
        yield one
    finally:
        one.gate.close()


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)


def test_each_record_of_an_identity_opens_and_is_known_by_its_label() -> None:
    with bench(OLD, NEW, OTHER) as b:
        assert b.ask(basic("admin", "old-password")) == Decision(Outcome.ACCEPTED, "old")
        assert b.ask(basic("admin", "new-password")) == Decision(Outcome.ACCEPTED, "new")
        assert b.ask(basic("other", "other-password")) == Decision(Outcome.ACCEPTED, "record 1")
        assert b.ask(basic("other", "old-password")) == REFUSED
        assert b.ask(basic("nobody", "old-password")) == REFUSED


def test_what_was_decided_once_is_not_worked_out_again() -> None:
    with bench(OLD) as b:
        for _ in range(5):
            assert b.ask(basic("admin", "old-password")) == Decision(Outcome.ACCEPTED, "old")
            assert b.ask(basic("admin", "wrong")) == REFUSED
        assert len(b.hashing.asked) == 2


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Basic",
        "Basic ",
        "Bearer YWRtaW46eA==",
        "Basic !!!!",
        "Basic YWRtaW46eA",
        "Basic " + b64encode(b"no colon").decode(),
        "Basic " + b64encode(b"admin:\xff").decode(),
        "Basic " + b64encode(b"admin:a\0b").decode(),
        "Basic " + b64encode(b"admin:a\nb").decode(),
        "Basic YWRtaW46eA==, Basic YWRtaW46eA==",
        "Basic YWRtaW46eA==\xe9",
        "Basic " + "A" * 4000,
    ],
)
def test_a_malformed_header_is_refused_without_any_work(header: str | None) -> None:
    with bench(OLD) as b:
        assert b.gate.decide(header) == REFUSED
        assert b.ask(header) == REFUSED
        assert b.hashing.asked == []


@pytest.mark.parametrize("header", ["basic {}", "BASIC {}", "Basic   {}"])
def test_the_scheme_has_no_case_and_any_spaces(header: str) -> None:
    with bench(OLD) as b:
        decision = b.ask(header.format(basic("admin", "old-password").split()[1]))
        assert decision == Decision(Outcome.ACCEPTED, "old")


@pytest.mark.parametrize("password", ["", "x" * 512])
def test_a_password_that_no_record_can_have_is_refused(password: str) -> None:
    with bench(OLD) as b:
        assert b.ask(basic("admin", password)) == REFUSED


def test_unknown_known_and_rotated_identities_cost_the_same_rounds() -> None:
    def rounds(hashed: str) -> int:
        return CredentialRecord("x", "." * 16 if "$.$" in hashed else hashed.split("$")[-2], hashed).rounds

    with bench(OLD, NEW, OTHER, make_record("third", "x", rounds=1200)) as b:
        for identity in ("admin", "other", "third", "nobody"):
            assert b.ask(basic(identity, "wrong")) == REFUSED
    costs = [sum(rounds(hashed) for hashed in hashes) for hashes in b.hashing.asked]
    assert costs[0] == costs[1] == costs[3] == 2000
    assert costs[2] == 1200 + 1000, "the missing rounds, but never fewer than crypt(3) can do"


def test_no_decoy_opens() -> None:
    known = KnownRecords([OLD])
    decoys = known.decoys(())
    assert [first_match(password, decoys) for password in ("", "x", "old-password")] == [None] * 3
    with bench() as b:
        assert b.ask(basic("admin", "x")) == REFUSED


def test_expiry_counts_for_remembered_headers_too() -> None:
    with bench(CredentialRecord("admin", OLD.salt, OLD.hash, expires="2027-01-01T00:00:00Z")) as b:
        header = basic("admin", "old-password")
        assert b.ask(header) == Decision(Outcome.ACCEPTED, "record 1")
        b.clock.now = 1_798_761_599.0
        assert b.ask(header) == Decision(Outcome.ACCEPTED, "record 1")
        b.clock.now += 1
        assert b.gate.decide(header) is None
        assert b.ask(header) == REFUSED


def test_a_record_that_is_gone_fails_at_once_and_the_others_stay() -> None:
    with bench(OLD, NEW) as b:
        old, new = basic("admin", "old-password"), basic("admin", "new-password")
        assert b.ask(old) == Decision(Outcome.ACCEPTED, "old")
        assert b.ask(new) == Decision(Outcome.ACCEPTED, "new")
        b.gate.renew([CredentialRecord("admin", NEW.salt, NEW.hash, label="renamed")])
        assert b.gate.decide(old) is None
        assert b.gate.decide(new) == Decision(Outcome.ACCEPTED, "renamed")
        assert b.ask(old) == REFUSED
        assert len(b.hashing.asked) == 3


def test_what_was_refused_may_try_again_with_new_records() -> None:
    with bench(OLD) as b:
        header = basic("admin", "new-password")
        assert b.ask(header) == REFUSED
        b.gate.renew([OLD, NEW])
        assert b.ask(header) == Decision(Outcome.ACCEPTED, "new")


@pytest.mark.parametrize(("first", "then", "password"), [(OLD, NEW, "new-password"), (OLD, NEW, "old-password")])
def test_records_that_change_in_the_middle_of_a_hash_count(
    first: CredentialRecord, then: CredentialRecord, password: str
) -> None:
    with bench(first) as b:
        header, done = basic("admin", password), threading.Event()
        b.hashing.held.clear()
        assert not b.gate.admit(header, "10.0.0.1", done.set)
        wait_until(lambda: len(b.hashing.asked) == 1)
        b.gate.renew([then])
        b.hashing.held.set()
        assert done.wait(20)
        expected = Decision(Outcome.ACCEPTED, "new") if password == "new-password" else REFUSED
        assert b.gate.decide(header) == expected


def test_the_queue_is_bounded_and_nobody_known_waits_for_it() -> None:
    with bench(OLD) as b:
        good = basic("admin", "old-password")
        assert b.ask(good) == Decision(Outcome.ACCEPTED, "old")
        b.hashing.held.clear()
        parked = [b.park(basic("admin", f"guess {n}"), f"10.0.1.{n}") for n in range(WAITING + 5)]
        assert parked == [True] * WAITING + [False] * 5
        assert b.gate.waiting == WAITING
        assert b.gate.decide(basic("admin", "guess 20")) is None
        assert b.gate.admit(good, "10.0.1.1", lambda: None)
        assert b.gate.decide(good) == Decision(Outcome.ACCEPTED, "old")
        b.hashing.held.set()
        wait_until(lambda: b.gate.waiting == 0)


def test_the_same_header_is_worked_out_once_for_all_who_wait() -> None:
    with bench(OLD) as b:
        b.hashing.held.clear()
        resumed: list[int] = []
        for n in range(50):
            assert not b.gate.admit(basic("admin", "old-password"), "10.0.0.1", lambda n=n: resumed.append(n))
        b.hashing.held.set()
        wait_until(lambda: len(resumed) == 50)
        assert sorted(resumed) == list(range(50))
        assert len(b.hashing.asked) == 1


def test_an_address_that_guesses_is_throttled_and_others_are_not() -> None:
    with bench(OLD) as b:
        allowed = [b.ask(basic("admin", f"guess {n}")) for n in range(15)]
        assert allowed == [REFUSED] * 10 + [None] * 5
        assert b.ask(basic("admin", "old-password"), "10.0.0.2") == Decision(Outcome.ACCEPTED, "old")
        # Verified by somebody else: known, so it is not held against the guesser's address.
        assert b.ask(basic("admin", "old-password")) == Decision(Outcome.ACCEPTED, "old")
        b.clock.now += 1
        assert [b.ask(basic("admin", f"more {n}")) for n in range(3)] == [REFUSED, REFUSED, None]


def test_an_ipv6_client_is_counted_by_its_64() -> None:
    clock = Clock()
    buckets = Buckets(burst=2, clock=clock)
    assert [buckets.take(f"2001:db8::{n}") for n in (1, 2, 3)] == [True, True, False]
    assert buckets.take("2001:db8:0:1::1")
    assert [buckets.take(f"::ffff:10.0.0.{n}") for n in (1, 1, 1, 2)] == [True, True, False, True]
    assert not buckets.take("10.0.0.1")
    assert [buckets.take("fe80::1%eth0"), buckets.take("not an address:"), buckets.take("unix")] == [True] * 3


def test_memories_are_bounded() -> None:
    buckets = Buckets(burst=1, limit=3, clock=Clock())
    assert all(buckets.take(str(n)) for n in range(10))
    assert buckets.take("0"), "forgotten, as seven came after it"
    assert not buckets.take("9")
    remembered: Remembered[int] = Remembered(2)
    for key in (b"a", b"b", b"a", b"c"):
        remembered.put(key, 0)
    assert list(remembered) == [b"a", b"c"]
    assert REMEMBERED == 4096


def test_a_failed_hash_is_no_decision_and_the_gate_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with bench(OLD) as b:
        b.hashing.fails = True
        assert b.ask(basic("admin", "old-password")) is None
        b.hashing.fails = False
        assert b.ask(basic("admin", "old-password")) == Decision(Outcome.ACCEPTED, "old")
    assert "a password could not be checked" in caplog.text
    assert "old-password" not in caplog.text


def test_a_resumption_that_fails_harms_nobody_else() -> None:
    with bench(OLD) as b:

        def broken() -> None:
            raise RuntimeError("the connection is gone")

        assert not b.gate.admit(basic("admin", "x"), "10.0.0.1", broken)
        assert b.ask(basic("admin", "old-password")) == Decision(Outcome.ACCEPTED, "old")


def test_closing_resumes_who_waits() -> None:
    with bench(OLD) as b:
        b.hashing.held.clear()
        resumed: list[int] = []
        for n in range(5):
            assert not b.gate.admit(basic("admin", f"{n}"), "10.0.0.1", lambda n=n: resumed.append(n))
        b.gate.close()
        assert sorted(resumed) == list(range(5))
        assert b.gate.admit(basic("admin", "late"), "10.0.0.1", lambda: None)


printable = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=40)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: "Basic " + b64encode(raw).decode()))
def test_any_header_is_parsed_or_refused(header: str) -> None:
    found = parse_basic(header)
    assert found is None or ":" not in found.identity


@settings(deadline=None, max_examples=100)
@given(printable, printable)
def test_what_a_client_encodes_is_parsed(identity: str, password: str) -> None:
    identity = identity.replace(":", "")
    assert parse_basic(basic(identity, password)) == Given(identity, password)


@pytest.fixture(scope="module")
def process() -> Iterator[HashingProcess]:
    one = HashingProcess()
    yield one
    one.close()


def test_the_process_finds_what_fits(process: HashingProcess) -> None:
    assert process.first_match("new-password", [OLD.hash, NEW.hash]) == 1
    assert process.first_match("wrong", [OLD.hash, NEW.hash]) is None
    assert process.first_match("Grüße", [make_record("a", "Grüße", rounds=1000).hash]) == 0


def test_the_process_shows_no_secret_and_holds_no_socket(process: HashingProcess) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("no /proc here")
    process.first_match("new-password", [NEW.hash])
    command = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    assert command.endswith(b"-m\0osbctl.broker.hashing_worker\0")
    targets = [str(each.readlink()) for each in Path(f"/proc/{process.pid}/fd").iterdir()]
    assert not [target for target in targets if target.startswith("socket:")]


def test_a_mistake_in_the_process_names_no_secret(process: HashingProcess) -> None:
    with pytest.raises(HashingError) as caught:
        process.first_match("top-secret\0", ["$6$nonsense"])
    assert "top-secret" not in str(caught.value)
    assert process.first_match("new-password", [NEW.hash]) == 0


def test_a_killed_process_is_started_again() -> None:
    process = HashingProcess()
    try:
        os.kill(process.pid, signal.SIGKILL)
        before = process.pid
        assert process.first_match("new-password", [NEW.hash]) == 0
        assert process.pid != before
        os.kill(process.pid, signal.SIGTERM)
        assert process.first_match("new-password", [NEW.hash]) == 0
    finally:
        process.close()
    with pytest.raises(HashingError):
        process.first_match("x", [NEW.hash])


def test_the_gate_works_with_the_real_process_and_ends_it_in_mid_hash() -> None:
    slow = f"$6$rounds=9999999$saltsalt${'a' * 85}."
    gate = Gate([NEW, CredentialRecord("slow", "saltsalt", slow)])
    done, late = threading.Event(), threading.Event()
    assert not gate.admit(basic("admin", "new-password"), "10.0.0.1", done.set)
    assert done.wait(20)
    assert gate.decide(basic("admin", "new-password")) == Decision(Outcome.ACCEPTED, "new")
    assert not gate.admit(basic("slow", "x"), "10.0.0.1", late.set)
    time.sleep(0.2)
    start = time.monotonic()
    gate.close()
    assert time.monotonic() - start < 2
    assert late.is_set()
    assert gate.decide(basic("slow", "x")) is None


def test_the_process_does_not_outlive_a_killed_parent() -> None:
    if not Path("/proc/self").exists():
        pytest.skip("no /proc here")
    script = "from osbctl.broker.hashing import HashingProcess as H; p = H(); print(p.pid, flush=True); input()"
    parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert parent.stdin and parent.stdout
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()

    def gone() -> bool:
        try:
            return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except FileNotFoundError:
            return True

    wait_until(gone, 10)
