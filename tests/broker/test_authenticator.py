"""The authenticator: correct decisions, no blocking, fair service under floods."""

import hmac
import os
import signal
import subprocess
import sys
import threading
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osbctl.broker.authenticator import (
    BUSY,
    CACHE_SIZE,
    GUESSES,
    MAX_WAIT_SECONDS,
    MAX_WAITING,
    REFUSAL_HALF_LIFE_SECONDS,
    REFUSED,
    REFUSED_SECONDS,
    Authenticator,
    CredentialCheck,
    Decision,
    KnownRecords,
    PasswordJob,
    PasswordQueue,
    RequestOutcome,
)
from osbctl.broker.fairness import KNOWN_CLIENTS, BoundedCache
from osbctl.broker.hashing_process import HashingError, HashingProcess, find_matching_hash
from osbctl.broker.parser import LONGEST_HEADER, parse_basic_auth
from osbctl.broker.proxy import client_prefix, network_prefix, normalize_address
from osbctl.credentials import CredentialRecord, make_record
from tests.broker.harness import PATIENCE, until
from tests.case import case
from tools.soak import cpu_seconds

ROOT = Path(__file__).parents[2]
OLD = make_record("admin", "old-password", rounds=1000, label="old")
NEW = make_record("admin", "new-password", rounds=1000, label="new")
OTHER = make_record("other", "other-password", rounds=2000)
PASSWORDS = {OLD.hash: "old-password", NEW.hash: "new-password", OTHER.hash: "other-password"}


def basic(identity: str, password: str) -> str:
    return "Basic " + b64encode(f"{identity}:{password}".encode()).decode()


def matches(password: str, hashed: str) -> bool:
    """Whether a hash is of a password; it is computed only where it is no dummy and of none of the records above."""
    if hashed in PASSWORDS:
        return PASSWORDS[hashed] == password
    return not hashed.endswith("." * 86) and find_matching_hash(password, [hashed]) == 0


class Hashing(HashingProcess):
    """Answers in the calling thread, records what it was asked, and pauses while `held` is clear."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.passwords: list[str] = []
        self.seconds: list[float] = []
        self.held = threading.Event()
        self.held.set()
        self.error: Exception | None = None

    def find_matching_hash(self, password: str, hashes: Sequence[str], seconds: float) -> int | None:
        self.asked.append(list(hashes))
        self.passwords.append(password)
        self.seconds.append(seconds)
        assert self.held.wait(60)
        if self.error:
            raise self.error
        return next((index for index, hashed in enumerate(hashes) if matches(password, hashed)), None)

    def stop(self) -> None:
        self.held.set()

    def close(self) -> None:
        pass


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """An authenticator with fixed clocks."""

    def __init__(self, *records: CredentialRecord) -> None:
        self.hashing, self.day, self.clock = Hashing(), Clock(), Clock()
        self.authenticator = Authenticator(records, now=self.day, clock=self.clock, hashing=self.hashing)

    def ask(self, header: str | None, address: str = "10.0.0.1") -> Decision:
        """Return the decision, waiting for it if necessary."""
        woken = threading.Event()
        check = self.authenticator.check(header, address, woken.set)
        assert check.decision or woken.wait(PATIENCE)
        assert check.decision
        return check.decision

    def enqueue(self, header: str, address: str) -> CredentialCheck:
        return self.authenticator.check(header, address, lambda: None)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Begin no hash and end none within the block; at its end, work off the queue."""
        self.hashing.held.clear()
        yield
        self.hashing.held.set()
        assert until(lambda: self.authenticator.queue_length == 0)

    @contextmanager
    def begun(self, address: str) -> Iterator[CredentialCheck]:
        """Pause while a wrong password of this client is being hashed."""
        with self.paused():
            check = self.enqueue(basic("admin", "begun"), address)
            assert until(lambda: self.hashing.passwords[-1:] == ["begun"])
            yield check

    def known(self, header: str) -> Decision | None:
        """The cached decision."""
        return self.authenticator._cached_decision(hmac.digest(self.authenticator._key, header.encode(), "sha256"))


@contextmanager
def bench(*records: CredentialRecord) -> Iterator[Bench]:
    one = Bench(*records)
    with closing(one.authenticator):
        yield one


def test_each_record_of_an_identity_is_accepted_with_its_label() -> None:
    with bench(OLD, NEW, OTHER) as b:
        assert b.ask(basic("admin", "old-password")) == Decision(RequestOutcome.ACCEPTED, "old")
        assert b.ask(basic("admin", "new-password")) == Decision(RequestOutcome.ACCEPTED, "new")
        assert b.ask(basic("other", "other-password")) == Decision(RequestOutcome.ACCEPTED, "record 1")
        assert b.ask(basic("other", "old-password")) == REFUSED
        assert b.ask(basic("nobody", "old-password")) == REFUSED


def test_decisions_are_cached() -> None:
    with bench(OLD) as b:
        for _ in range(5):
            assert b.ask(basic("admin", "old-password")) == Decision(RequestOutcome.ACCEPTED, "old")
            assert b.ask(basic("admin", "wrong")) == REFUSED
        assert len(b.hashing.asked) == 2


@pytest.mark.parametrize("header", [
    *(None, "", "Basic", "Basic ", "Bearer YWRtaW46eA==", "Basic !!!!", "Basic YWRtaW46eA", "Basic " + "A" * 4000),
    *("Basic " + b64encode(data).decode() for data in (b"no colon", b"admin:\xff", b"admin:a\0b", b"admin:a\nb")),
    *("Basic YWRtaW46eA==, Basic YWRtaW46eA==", "Basic YWRtaW46eA==\xe9", "Basic YWRtaW46eA==\ud800"),
    *(basic("admin", impossible) for impossible in ("", "x" * 512)),
])  # fmt: skip
def test_malformed_header_is_refused_without_hashing(header: str | None) -> None:
    with bench(OLD) as b:
        assert b.ask(header) == REFUSED
        assert b.hashing.asked == []


def test_scheme_is_case_insensitive_with_any_spaces_up_to_the_maximum_length() -> None:
    token = basic("admin", "old-password").split()[1]
    for header in (f"basic {token}", f"BASIC {token}", f"Basic   {token}", f"Basic{token:>{LONGEST_HEADER - 5}}"):
        with bench(OLD) as b:
            assert b.ask(header) == Decision(RequestOutcome.ACCEPTED, "old"), header
            assert b.ask(f"Basic{token:>{LONGEST_HEADER - 4}}") == REFUSED


def test_shortest_and_longest_password_are_accepted() -> None:
    passwords = {"1": "x", "511": "x" * 511}
    records = (make_record("admin", password, rounds=1000, label=label) for label, password in passwords.items())
    with bench(*records) as b:
        decided = [b.ask(basic("admin", password)) for password in passwords.values()]
    assert decided == [Decision(RequestOutcome.ACCEPTED, label) for label in passwords]


@pytest.mark.parametrize("short", [8, 1])
def test_known_and_unknown_identities_cost_the_same(short: int) -> None:
    """Hashes, rounds and lengths of salts are equal: htpasswd -5 and mkpasswd make shorter salts than osbctl."""

    def cost(hashes: list[str]) -> tuple[Counter[int], Counter[int]]:
        calls: Counter[int] = Counter()
        found: Counter[int] = Counter()
        for hashed in hashes:
            rounds, length = int(hashed.split("rounds=")[1].split("$")[0]), len(hashed.split("$")[-2])
            assert rounds >= 1000, "the minimum of crypt(3): fewer would be computed as 1,000"
            calls[length] += 1
            found[length] += rounds
        return calls, found

    brief = CredentialRecord("short", "s" * short, f"$6$rounds=3000${'s' * short}${'a' * 85}.")
    with bench(OLD, NEW, OTHER, make_record("third", "x", rounds=1200), brief) as b:
        for identity in ("admin", "other", "third", "short", "nobody"):
            assert b.ask(basic(identity, "wrong")) == REFUSED
    costs = [cost(hashes) for hashes in b.hashing.asked]
    # Of 16 characters, `admin` has two hashes of 1,000 rounds, `other` one of 2,000: two more of 1,000 are added to it.
    assert costs == [({16: 3, short: 2}, {16: 2000 + 2000, short: 3000 + 1000})] * 5


def test_a_record_is_found_by_its_identity_and_hash() -> None:
    known = KnownRecords([OLD, NEW])
    assert [known.find_same_hash(record) for record in (NEW, OTHER)] == [NEW, None]


def test_dummy_hashes_match_no_password() -> None:
    dummy_hashes = KnownRecords([OLD]).dummy_hashes(())
    assert [find_matching_hash(password, dummy_hashes) for password in ("", "x", "old-password")] == [None] * 3
    with bench() as b:
        assert b.ask(basic("admin", "x")) == REFUSED
        b.hashing.find_matching_hash = lambda *_: 0  # type: ignore[method-assign]
        assert b.ask(basic("admin", "fits the decoy")) == REFUSED


def test_expiry_applies_to_cached_headers() -> None:
    with bench(CredentialRecord("admin", OLD.salt, OLD.hash, expires="2027-01-01T00:00:00Z")) as b:
        header = basic("admin", "old-password")
        assert b.ask(header) == Decision(RequestOutcome.ACCEPTED, "record 1")
        b.day.now = 1_798_761_599.0
        assert b.ask(header) == Decision(RequestOutcome.ACCEPTED, "record 1")
        b.day.now += 1
        assert b.known(header) is None
        assert b.ask(header) == REFUSED


@pytest.mark.parametrize("seen_before", [True, False])
def test_correct_password_works_some_time_after_the_clock_is_corrected(seen_before: bool) -> None:
    with bench(CredentialRecord("admin", OLD.salt, OLD.hash, expires="2027-01-01T00:00:00Z")) as b:
        right = basic("admin", "old-password")
        if seen_before:
            assert b.ask(right) == Decision(RequestOutcome.ACCEPTED, "record 1")
        b.day.now += 1e10
        assert b.ask(right) == REFUSED
        b.day.now -= 1e10
        assert b.known(right) == (Decision(RequestOutcome.ACCEPTED, "record 1") if seen_before else REFUSED)
        b.clock.now += REFUSED_SECONDS
        assert b.ask(right) == Decision(RequestOutcome.ACCEPTED, "record 1")


def test_removed_record_fails_at_once_and_others_stay_cached() -> None:
    with bench(OLD, NEW) as b:
        old, new = basic("admin", "old-password"), basic("admin", "new-password")
        assert b.ask(old) == Decision(RequestOutcome.ACCEPTED, "old")
        assert b.ask(new) == Decision(RequestOutcome.ACCEPTED, "new")
        b.authenticator.replace_records([CredentialRecord("admin", NEW.salt, NEW.hash, label="renamed")])
        assert b.known(old) is None
        assert b.known(new) == Decision(RequestOutcome.ACCEPTED, "renamed")
        assert b.ask(old) == REFUSED
        assert len(b.hashing.asked) == 3


def test_refused_header_is_checked_again_with_new_records() -> None:
    with bench(OLD) as b:
        header = basic("admin", "new-password")
        assert b.ask(header) == REFUSED
        b.authenticator.replace_records([OLD, NEW])
        assert b.ask(header) == Decision(RequestOutcome.ACCEPTED, "new")


@pytest.mark.parametrize("password", ["new-password", "old-password"])
def test_records_replaced_during_a_hash_take_effect(password: str) -> None:
    with bench(OLD) as b:
        with b.paused():
            decided = b.enqueue(basic("admin", password), "10.0.0.1")
            assert until(lambda: len(b.hashing.asked) == 1)
            b.authenticator.replace_records([NEW])
        assert until(lambda: decided.decision)
        assert decided.decision == (Decision(RequestOutcome.ACCEPTED, "new") if password == "new-password" else REFUSED)


def test_queue_is_bounded_and_known_headers_skip_it() -> None:
    with bench(OLD) as b:
        good = basic("admin", "old-password")
        assert b.ask(good) == Decision(RequestOutcome.ACCEPTED, "old")
        with b.begun("10.0.1.200") as begun:
            waiting = [b.enqueue(basic("admin", f"guess {n}"), f"10.0.1.{n}") for n in range(MAX_WAITING + 5)]
            assert [one.decision for one in (begun, *waiting)] == [None] + [BUSY] * 6 + [None] * (MAX_WAITING - 1)
            assert b.authenticator.queue_length == MAX_WAITING
            assert b.ask(good, "10.0.1.1") == Decision(RequestOutcome.ACCEPTED, "old")


def test_client_refused_most_makes_room() -> None:
    """Also if it comes last."""
    with bench(OLD) as b:
        refused(b, "10.0.9.9")
        with b.begun("10.0.1.200"):
            worst = b.enqueue(basic("admin", "guess"), "10.0.9.9")
            waiting = [b.enqueue(basic("admin", f"guess {n}"), f"10.0.{n}.1") for n in range(MAX_WAITING - 1)]
            assert [one.decision for one in (worst, *waiting)] == [BUSY] + [None] * (MAX_WAITING - 1)
            assert b.ask(basic("admin", "another guess"), "10.0.9.9") == BUSY


def refused(b: Bench, *addresses: str) -> None:
    for number, address in enumerate(addresses):
        assert b.ask(basic("admin", f"wrong {number}"), address) == REFUSED


@pytest.mark.parametrize("network", ["10.0.1.{}", "2001:db8:0:{:x}::1"])
def test_new_client_precedes_guessers_of_one_network(network: str) -> None:
    """80 guessers in one network: the begun hash is finished, then the new client's."""
    with bench(OLD) as b:
        refused(b, network.format(250))
        with b.begun(network.format(99)):
            guesses = [b.enqueue(basic("admin", f"{n}"), network.format(n)) for n in range(80)]
            clients = [b.enqueue(basic("admin", "old-password"), f"10.0.2.{n}") for n in range(10)]
            assert not any(one.decision for one in (*guesses, *clients))
        assert {one.decision for one in clients} == {Decision(RequestOutcome.ACCEPTED, "old")}
        assert b.hashing.passwords.index("old-password") == 2


def test_begun_hash_is_not_displaced() -> None:
    others = [f"10.0.1.{n}" for n in range(MAX_WAITING)]
    with bench(OLD) as b:
        refused(b, "10.0.0.1", "10.0.0.1", *others)
        with b.begun("10.0.0.1") as begun:
            waiting = [b.enqueue(basic("admin", f"of {address}"), address) for address in others[1:]]
            client = b.enqueue(basic("admin", "old-password"), "10.0.0.2")
            assert (begun.decision, [one.decision for one in waiting].count(BUSY)) == (None, 1)
        assert (begun.decision, client.decision) == (REFUSED, Decision(RequestOutcome.ACCEPTED, "old"))


@pytest.mark.parametrize("attackers", [2, 8, 64])
def test_new_client_precedes_refused_clients(attackers: int) -> None:
    """Each has ten connections and was refused once: the begun hash is finished, then the new client's."""
    with bench(OLD) as b:
        addresses = [f"10.0.{n}.1" for n in range(attackers)]
        refused(b, *addresses)
        with b.begun(addresses[0]):
            guesses = [b.enqueue(basic("nobody", f"{n} of {one}"), one) for n in range(10) for one in addresses]
            decided = b.enqueue(basic("admin", "old-password"), "10.1.0.1")
            assert b.authenticator.queue_length == min(MAX_WAITING, attackers * 10 + 2)
            busy = attackers * 10 + 2 - b.authenticator.queue_length
            assert [one.decision for one in guesses].count(BUSY) == busy, "those that made room were told"
        assert decided.decision == Decision(RequestOutcome.ACCEPTED, "old")
        assert b.hashing.passwords.index("old-password") == attackers + 1


def test_identities_of_one_address_do_not_share_a_limit() -> None:
    """A guesser on the platform's address (NAT, a balancer) uses up the guesses of his identities."""
    with bench(OLD, OTHER) as b:
        for number in range(15):
            assert b.ask(basic("guessed", f"guess {number}")) == (REFUSED if number < GUESSES else BUSY)
        assert b.ask(basic("admin", "old-password")) == Decision(RequestOutcome.ACCEPTED, "old")


def test_correct_passwords_are_no_guesses() -> None:
    """A platform may send each request with another spelling of the header, which is not in the cache."""
    with bench(OLD) as b:
        token = basic("admin", "old-password").split()[1]
        for number in range(1, 3 * GUESSES):
            assert b.ask(f"Basic{' ' * number}{token}") == Decision(RequestOutcome.ACCEPTED, "old")


@pytest.mark.parametrize("identity", ["guessed", "guessed {}"])
def test_guesser_of_other_identities_delays_no_right_password(identity: str) -> None:
    """With a new identity each time, too: that one hash that has begun ends is all that the platform waits for."""
    with bench(OLD, OTHER) as b, b.paused():
        b.enqueue(basic("guessed", "begun"), "10.0.0.1")
        assert until(lambda: b.hashing.passwords == ["begun"])
        for number in range(2 * MAX_WAITING):
            b.enqueue(basic(identity.format(number), f"guess {number}"), "10.0.0.1")
        platform = b.enqueue(basic("admin", "old-password"), "10.0.0.1")
        for number in range(MAX_WAITING // 2):
            b.enqueue(basic(identity.format(-number), f"later guess {number}"), "10.0.0.1")
    assert platform.decision == Decision(RequestOutcome.ACCEPTED, "old")
    assert b.hashing.passwords[1] == "old-password"


def test_wrong_password_is_tried_early_only_once() -> None:
    """A guess at an identity that has a record delays a right password by one early hash."""
    with bench(OLD, OTHER) as b, b.paused():
        b.enqueue(basic("nobody", "begun"), "10.0.0.1")
        assert until(lambda: b.hashing.passwords == ["begun"])
        for name, password in (("x", "1"), ("y", "2"), ("z", "3"), ("admin", "guess"), ("other", "other-password")):
            b.enqueue(basic(name, password), "10.0.0.1")
    assert b.hashing.passwords[:4] == ["begun", "guess", "1", "other-password"]


def order_of_refusals(b: Bench, identity: str) -> tuple[list[str], list[str]]:
    """Passwords in the order of hashes and of refusals, of three guesses, the second at `identity`."""
    refused: list[str] = []
    with b.paused():
        for name, password in (("x", "first"), ("x", "second"), (identity, "third"), ("x", "fourth")):
            b.authenticator.check(basic(name, password), "10.0.0.1", partial(refused.append, password))
            assert until(lambda: b.hashing.passwords == ["first"])
    return b.hashing.passwords, refused


def test_refusals_do_not_depend_on_records() -> None:
    """A wrong password is tried early only if its identity has a record, but is refused in turn, after as many hashes."""
    with bench(OLD) as known, bench(OLD) as unknown:
        tried, refused = order_of_refusals(known, "admin")
        assert tried == ["first", "third", "second", "third", "third", "fourth"]
        dummies, same = order_of_refusals(unknown, "nobody")
        assert dummies == tried
        assert refused == same == ["first", "second", "third", "fourth"]
        assert [len(hashes) for hashes in known.hashing.asked] == [len(hashes) for hashes in unknown.hashing.asked]


def test_failure_of_an_early_hash_is_busy() -> None:
    with bench(OLD) as b:
        with b.paused():
            checks = [b.enqueue(basic("admin", f"{n}"), "10.0.0.1") for n in range(3)]
            b.hashing.error = HashingError("it died")
        assert [one.decision for one in checks] == [BUSY] * 3
        assert b.authenticator.thread.is_alive()


def test_queue_order_is_accepted_then_least_refused() -> None:
    with bench(OLD, OTHER) as b:
        assert b.ask(basic("other", "other-password"), "10.0.0.1") == Decision(RequestOutcome.ACCEPTED, "record 1")
        refused(b, "10.0.0.3", "10.0.0.4", "10.0.0.4")
        with b.begun("10.0.0.9"):
            for address in ("10.0.0.4", "10.0.0.3", "10.0.0.2", "10.0.0.1"):
                b.enqueue(basic("nobody", f"of {address}"), address)
        in_turn = b.hashing.passwords[-7::2]  # before each, a dummy hash
        assert in_turn == [f"of 10.0.0.{n}" for n in (1, 2, 3, 4)]


def test_waiting_request_is_answered_as_busy_after_the_maximum() -> None:
    with bench(OLD) as b:
        with b.begun("10.0.0.1"):
            decided = b.enqueue(basic("admin", "late"), "10.0.0.2")
            b.clock.now += MAX_WAIT_SECONDS + 1
        assert decided.decision == BUSY
        assert b.hashing.passwords == ["begun"]


def test_a_hash_to_be_done_again_with_new_records_waits_no_longer_than_others() -> None:
    with bench(OLD) as b:
        with b.begun("10.0.0.1") as begun:
            b.authenticator.replace_records([NEW])
            b.clock.now += MAX_WAIT_SECONDS + 1
        assert begun.decision == BUSY
        assert b.ask(basic("admin", "new-password")) == Decision(RequestOutcome.ACCEPTED, "new")


@pytest.mark.parametrize(("rounds", "seconds"), [(1000, 10.02), (2_000_000, 30.01), (5_000_000, 60.01)])
def test_time_limit_of_a_hash_depends_on_its_rounds(rounds: int, seconds: float) -> None:
    with bench(CredentialRecord("admin", "saltsalt", slow_hash(rounds))) as b:
        b.hashing.error = HashingError("it died")
        b.ask(basic("admin", "x"))
        assert b.hashing.seconds[0] == pytest.approx(seconds, abs=1e-6)


def test_equal_headers_share_one_hash() -> None:
    with bench(OLD) as b:
        with b.paused():
            decided = [b.enqueue(basic("admin", "old-password"), f"10.0.0.{n}") for n in range(50)]
        assert {one.decision for one in decided} == {Decision(RequestOutcome.ACCEPTED, "old")}
        assert len(b.hashing.asked) == 1


def test_guessing_address_is_throttled_and_others_are_not() -> None:
    with bench(OLD) as b:
        assert [b.ask(basic("admin", f"guess {n}")) for n in range(15)] == [REFUSED] * 10 + [BUSY] * 5
        assert b.ask(basic("admin", "old-password"), "10.0.0.2") == Decision(RequestOutcome.ACCEPTED, "old")
        # Verified for another client, and so cached: the guesser's limit does not apply.
        assert b.ask(basic("admin", "old-password")) == Decision(RequestOutcome.ACCEPTED, "old")
        b.clock.now += 1
        assert [b.ask(basic("admin", f"more {n}")) for n in range(3)] == [REFUSED, REFUSED, BUSY]
        b.clock.now += 3600  # not more than at first, however long it has waited
        assert [b.ask(basic("admin", f"then {n}")) for n in range(11)] == [REFUSED] * 10 + [BUSY]


@pytest.mark.parametrize(("told", "address", "client"), [
    ("10.0.0.1", "10.0.0.1", "10.0.0.1"),
    ("::ffff:10.0.0.1", "10.0.0.1", "10.0.0.1"),
    ("::ffff:a00:2", "10.0.0.2", "10.0.0.2"),
    ("2001:DB8::1", "2001:db8::1", "2001:db8::/64"),
    ("2001:db8:0:0:8000::1", "2001:db8::8000:0:0:1", "2001:db8::/64"),
    ("2001:db8:0:1::1", "2001:db8:0:1::1", "2001:db8:0:1::/64"),
    ("fe80::1%eth0", "fe80::1", "fe80::/64"),
])  # fmt: skip
def test_client_of(told: str, address: str, client: str) -> None:
    assert (normalize_address(told), client_prefix(address)) == (address, client)


@pytest.mark.parametrize(("client", "network"), [
    ("10.0.0.1", "10.0.0.0/24"),
    ("10.0.1.255", "10.0.1.0/24"),
    ("2001:db8::/64", "2001:db8::/48"),
    ("2001:db8:0:ffff::/64", "2001:db8::/48"),
    ("2001:db8:1:1::/64", "2001:db8:1::/48"),
    ("unix", ".0/24"),
])  # fmt: skip
def test_network_of(client: str, network: str) -> None:
    assert network_prefix(client) == network


@pytest.mark.parametrize("told", ["", "x", "10.0.0.1:80", "1%2"])
def test_plain_address_refuses_invalid_text(told: str) -> None:
    with pytest.raises(ValueError, match=r"address|octet|colon|expected"):
        normalize_address(told)


def test_caches_are_bounded() -> None:
    remembered: BoundedCache[int] = BoundedCache(2)
    for key in (b"a", b"b", b"a", b"c"):
        remembered.put(key, 0)
    assert (remembered.get(b"a"), list(remembered)) == (0, [b"a", b"c"]), "a read changes no order"
    assert CACHE_SIZE == 4096
    queue = PasswordQueue(Clock())
    for number in range(KNOWN_CLIENTS + 1):
        assert all(queue.take_guess(str(number), "admin") for _ in range(GUESSES if number < 2 else 1))
    assert not queue.take_guess("1", "admin")
    assert queue.take_guess("0", "admin"), "forgotten"


def test_refusals_are_forgotten_slowly() -> None:
    clock = Clock()
    queue = PasswordQueue(clock)
    job = PasswordJob(identity="admin", client="10.0.0.1")
    queue.record_result(job, accepted=False)
    queue.record_result(job, accepted=False)
    usage = queue._usage("10.0.0.1")
    assert usage.at(clock.now) == 2
    assert usage.at(clock.now + 60) == pytest.approx(1)
    queue.record_result(job, accepted=True)
    assert usage.at(clock.now) == -1, "a refusal that follows is forgiven, too"
    assert queue._usage("10.0.0.0/24").at(clock.now) == 2


def queue_of(*identities: str, client: str = "10.0.0.1") -> tuple[PasswordQueue, list[PasswordJob]]:
    """A queue with one guess of this client at each identity, all of which have records."""
    queue, jobs = PasswordQueue(Clock()), []
    for name in identities:
        assert queue.take_guess(client, name)
        jobs.append(PasswordJob(digest=name.encode(), identity=name, client=client, is_known=True))
        queue.add(jobs[-1])
    return queue, jobs


def test_of_one_client_the_identity_that_it_guessed_least_is_tried_first() -> None:
    """A correct password forgives the guesses at its identity, while another password for it still waits."""
    queue, (_, forgiven) = queue_of("guessed", "forgiven")
    queue.record_result(PasswordJob(identity="forgiven", client="10.0.0.1"), accepted=True)
    assert queue.choose() == (forgiven, True)


def test_of_new_clients_that_of_a_network_without_refusals_is_first() -> None:
    clock = Clock()
    queue = PasswordQueue(clock)
    queue.record_result(PasswordJob(client="10.0.0.1"), accepted=False)
    clock.now += REFUSAL_HALF_LIFE_SECONDS
    neighbour, stranger = (PasswordJob(digest=name.encode(), client=name) for name in ("10.0.0.2", "10.0.1.2"))
    for job in (neighbour, stranger):
        queue.add(job)
    assert queue.choose()[0] is stranger


@pytest.mark.parametrize("error", [HashingError("it died"), OSError("none can start"), RuntimeError("unforeseen")])
def test_hashing_failure_is_busy_until_it_works_again(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    with bench(OLD) as b:
        b.hashing.error = error
        assert b.ask(basic("admin", "old-password")) == BUSY
        assert b.ask(basic("admin", "another"), "10.0.0.2") == BUSY
        b.hashing.error = None
        assert b.ask(basic("admin", "old-password")) == Decision(RequestOutcome.ACCEPTED, "old")
    assert caplog.messages == [f"passwords cannot be checked: {error}"] * 2
    assert [bool(one.exc_info) for one in caplog.records] == [isinstance(error, RuntimeError)] * 2, "with a traceback"


def test_failing_callback_does_not_affect_others(caplog: pytest.LogCaptureFixture) -> None:
    with bench(OLD) as b:

        def broken() -> None:
            raise RuntimeError("the connection is gone")

        assert b.authenticator.check(basic("admin", "x"), "10.0.0.1", broken).decision is None
        assert b.ask(basic("admin", "old-password")) == Decision(RequestOutcome.ACCEPTED, "old")
    assert caplog.messages == ["a waiting request could not be resumed"]


def test_close_answers_waiting_requests() -> None:
    with bench(OLD) as b:
        assert b.authenticator.thread.daemon, "one that is not closed does not block the exit"
        b.hashing.held.clear()
        decided = [b.enqueue(basic("admin", f"{n}"), f"10.0.0.{n}") for n in range(5)]
        b.authenticator.close()
        assert [one.decision for one in decided] in ([REFUSED, *[BUSY] * 4], [BUSY] * 5)
        assert b.ask(basic("admin", "late")) == BUSY


printable = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=40)


@pytest.mark.fuzz
@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: "Basic " + b64encode(raw).decode()))
def test_parse_basic_never_raises(header: str) -> None:
    found = parse_basic_auth(header)
    assert found is None or ":" not in found[0]


@pytest.mark.fuzz
@given(printable, printable)
def test_parse_basic_reads_encoded_credentials(identity: str, password: str) -> None:
    identity = identity.replace(":", "")
    assert parse_basic_auth(basic(identity, password)) == (identity, password)


@pytest.fixture(scope="module")
def process() -> Iterator[HashingProcess]:
    with closing(HashingProcess()) as one:
        yield one


def test_first_match_returns_the_matching_index(process: HashingProcess) -> None:
    assert process.find_matching_hash("new-password", [OLD.hash, NEW.hash], 20) == 1
    assert process.find_matching_hash("wrong", [OLD.hash, NEW.hash], 20) is None
    assert process.find_matching_hash(" new-password ", [NEW.hash], 20) is None
    assert process.find_matching_hash("Grüße", [make_record("a", "Grüße", rounds=1000).hash], 20) == 0


def test_hashing_process_has_no_secrets_or_sockets(process: HashingProcess) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("no /proc here")
    process.find_matching_hash("new-password", [NEW.hash], 20)
    assert Path(f"/proc/{process._child.pid}/cmdline").read_bytes().endswith(b"-m\0osbctl.broker.hashing_process\0")
    targets = [str(each.readlink()) for each in Path(f"/proc/{process._child.pid}/fd").iterdir()]
    assert not [target for target in targets if target.startswith("socket:")]


def test_process_that_takes_too_long_is_replaced() -> None:
    with closing(HashingProcess()) as process:
        pid = process._child.pid
        with pytest.raises(HashingError, match="took more than 0 seconds for a password"):
            process.find_matching_hash("right", [slow_hash(5_000_000)], 0.2)
        assert process.find_matching_hash("new-password", [NEW.hash], 20) == 0
        assert process._child.pid != pid


def slow_hash(rounds: int) -> str:
    return f"$6$rounds={rounds}$saltsalt${'a' * 85}."


def test_hashing_process_error_contains_no_secret(process: HashingProcess) -> None:
    with pytest.raises(HashingError) as caught:
        process.find_matching_hash("top-secret\0", ["$6$nonsense"], 20)
    assert "top-secret" not in str(caught.value)
    with pytest.raises(HashingError, match=r"the hashing process failed: UnicodeEncodeError$"):
        process.find_matching_hash("top-secret\ud800", [NEW.hash], 20)  # the error's own text would hold it
    assert process.find_matching_hash("new-password", [NEW.hash], 20) == 0


def test_stray_line_of_the_hashing_process_is_not_an_answer(tmp_path: Path) -> None:
    """A module `sitecustomize` that prints: a number must not count as the index of a hash that matches."""
    on, here = tmp_path / "on", str(tmp_path)
    guard = f"'osbctl.broker.hashing_process' in sys.orig_argv and os.path.exists({str(on)!r})"
    (tmp_path / "sitecustomize.py").write_text(
        f"import os, sys\nif {guard}: print(open({str(on)!r}).read(), flush=True)\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(here)
        with closing(HashingProcess()) as process:
            assert process.find_matching_hash("new-password", [OLD.hash, NEW.hash], 20) == 1
            for line in ("hello", "0", "[1, null, 0]", "[9, null, 0]", "{}", ""):
                on.write_text(line)
                process._kill_and_reap_child()
                with case(line), pytest.raises(HashingError, match="not an answer"):
                    process.find_matching_hash("new-password", [OLD.hash, NEW.hash], 20)
            on.unlink()
            process._kill_and_reap_child()
            assert process.find_matching_hash("new-password", [OLD.hash, NEW.hash], 20) == 1


def test_killed_hashing_process_is_restarted() -> None:
    with closing(HashingProcess()) as process:
        before = process._child.pid
        os.kill(before, signal.SIGKILL)
        assert process.find_matching_hash("new-password", [NEW.hash], 20) == 0
        assert process._child.pid != before
        before = process._child.pid
        for stop in (signal.SIGTERM, signal.SIGINT):
            os.kill(process._child.pid, stop)
            assert process.find_matching_hash("new-password", [NEW.hash], 20) == 0
        assert process._child.pid == before, "signals to stop are for the parent"
    with pytest.raises(HashingError):
        process.find_matching_hash("x", [NEW.hash], 20)


def test_real_process_is_ended_during_a_hash(caplog: pytest.LogCaptureFixture) -> None:
    authenticator = Authenticator([NEW, CredentialRecord("slow", "saltsalt", slow_hash(5_000_000))])
    right = authenticator.check(basic("admin", "new-password"), "10.0.0.1", lambda: None)
    assert until(lambda: right.decision == Decision(RequestOutcome.ACCEPTED, "new"))
    slow = authenticator.check(basic("slow", "x"), "10.0.0.1", lambda: None)
    child = authenticator._hashing._child
    before = cpu_seconds(child.pid)
    assert until(lambda: cpu_seconds(child.pid) > before + 0.05)
    authenticator.close()
    assert child.returncode == -signal.SIGKILL  # with the hash, the answer would be a refusal
    assert slow.decision == BUSY
    assert caplog.messages == []


def test_hashing_process_ends_with_a_killed_parent() -> None:
    if not Path("/proc/self").exists():
        pytest.skip("no /proc here")
    make = "from osbctl.broker.hashing_process import HashingProcess as H; p = H()"
    script = f"{make}; print(p._child.pid, flush=True); input()"
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

    assert until(gone)
