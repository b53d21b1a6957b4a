"""The order of service: shares of CPU time, new connections, and which connection makes room."""

from collections import Counter
from dataclasses import dataclass, field

import pytest

from osbctl.broker import fairness
from osbctl.broker.fairness import (
    HALF_LIFE_SECONDS,
    NEW_CONNECTION_SECONDS,
    PROVEN_WEIGHT,
    SLICE_SECONDS,
    TURN_SECONDS,
    Client,
    Connections,
    Scheduler,
    Share,
)


class Cpu:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(eq=False)
class Connection:
    """A stand-in for a `Channel`: each step takes `cost` seconds of CPU time."""

    cpu: Cpu
    served: list["Connection"]
    client_name: str = "192.0.2.1"
    cost: float = 0.0001
    steps: int = 1_000_000
    client: Client = field(default_factory=Client)
    share: Share = field(default_factory=lambda: Share(proven=False))
    waits: bool = False
    spent: float = 0.0
    awaits_peer: bool = True
    is_spared: bool = False
    fails: bool = False

    def run_step(self) -> bool:
        self.cpu.now += self.cost
        self.served.append(self)
        if self.fails:
            raise RuntimeError("a fault")
        self.steps -= 1
        return self.steps > 0

    def handle_close(self) -> None:
        self.steps = 0


class Bench:
    """A scheduler with a CPU clock of its own, and connections."""

    def __init__(self, limit: int = 1000, per_client: int = 0) -> None:
        self.cpu, self.served = Cpu(), list[Connection]()
        self.scheduler = Scheduler(self.cpu)
        self.connections = Connections(limit, per_client)

    def open(self, address: str, *, proven: bool = False, cost: float = 0.0001, steps: int = 1_000_000) -> Connection:
        made = Connection(self.cpu, self.served, address, cost, steps, self.connections.find_client(address))
        self.connections.add(made, proven=proven)
        self.scheduler.add(made)
        return made

    def turns(self, number: int) -> None:
        for _ in range(number):
            self.scheduler.run_turn()


def test_turn_ends_in_time() -> None:
    bench = Bench()
    for number in range(50):
        bench.open(f"192.0.2.{number}", cost=0.0003)
    bench.turns(1)
    assert TURN_SECONDS <= bench.cpu.now < TURN_SECONDS + SLICE_SECONDS + 0.0003
    assert not bench.scheduler.is_idle


def test_time_is_shared_by_cost_not_by_requests() -> None:
    """A client whose requests cost a hundred times as much gets a hundredth of them."""
    bench = Bench()
    dear, cheap = bench.open("192.0.2.1", cost=0.01), bench.open("192.0.2.2", cost=0.0001)
    bench.turns(400)
    time = Counter({one: bench.served.count(one) * one.cost for one in (dear, cheap)})
    assert time[dear] == pytest.approx(time[cheap], rel=0.05)


def test_many_connections_do_not_count_more_than_one() -> None:
    bench = Bench()
    crowd = [bench.open("192.0.2.1") for _ in range(200)]
    single = bench.open("192.0.2.2")
    bench.turns(400)
    assert sum(map(bench.served.count, crowd)) == pytest.approx(bench.served.count(single), rel=0.05)


@pytest.mark.parametrize("attackers", [1, 16, 250])
def test_newcomer_is_served_first(attackers: int) -> None:
    bench = Bench()
    for number in range(attackers):
        bench.open(f"10.0.{number}.1", cost=0.0005)
    bench.turns(1000)
    before = len(bench.served)
    newcomer = bench.open("192.0.2.1", steps=5)
    bench.turns(1)
    assert bench.served[before : before + 5] == [newcomer] * 5


def test_correct_password_makes_time_cheap() -> None:
    bench = Bench()
    for number in range(16):
        bench.open(f"10.0.{number}.1")
    proven = bench.open("192.0.2.1", proven=True)
    bench.turns(2000)
    part = bench.served.count(proven) / len(bench.served)
    assert part == pytest.approx(1 / (1 + 16 * PROVEN_WEIGHT), rel=0.1)


def test_new_connection_is_served_among_many_of_its_address() -> None:
    bench = Bench()
    for _ in range(450):
        bench.open("192.0.2.1")
    bench.turns(1000)
    before = len(bench.served)
    newcomer = bench.open("192.0.2.1", steps=20)
    bench.turns(1)
    assert bench.served[before : before + 20] == [newcomer] * 20
    assert 20 * newcomer.cost < NEW_CONNECTION_SECONDS


def test_old_connections_of_one_address_take_turns() -> None:
    bench = Bench()
    crowd = [bench.open("192.0.2.1") for _ in range(10)]
    bench.turns(1000)
    counts = [bench.served.count(one) for one in crowd]
    assert max(counts) - min(counts) <= NEW_CONNECTION_SECONDS / 0.0001 + 1


def test_password_is_proven_by_one_connection_for_itself() -> None:
    """A guesser on the same address stays where he is; what the client spent before is forgiven."""
    bench = Bench()
    guesser, platform = bench.open("192.0.2.1"), bench.open("192.0.2.1")
    bench.turns(10)
    assert guesser.client.unproven.used.at(bench.scheduler.now) > 0
    bench.connections.prove(platform)
    bench.connections.prove(platform)
    assert (guesser.share.proven, platform.share.proven) == (False, True)
    assert guesser.client.unproven.used.at(0.0) == 0, "not even of the time when the machine started"
    assert list(platform.client.proven.connections) == [platform]
    for one in (guesser, platform):
        bench.connections.remove(one)
    assert bench.connections.all == {}


def test_use_is_forgotten_after_a_while_but_not_with_the_connection() -> None:
    bench = Bench()
    first = bench.open("192.0.2.1", cost=0.01, steps=100)
    bench.turns(200)
    bench.connections.remove(first)
    again = bench.open("192.0.2.1")
    used, now = again.client.unproven.used, bench.scheduler.now
    assert used.at(now) == pytest.approx(1, rel=0.1)
    assert used.at(now + HALF_LIFE_SECONDS) == pytest.approx(used.at(now) / 2)


def test_some_clients_without_a_connection_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is back takes no place among them."""
    monkeypatch.setattr(fairness, "KNOWN_CLIENTS", 2)
    bench = Bench()
    first, second, third, fourth = (bench.open(f"192.0.2.{number}") for number in range(1, 5))
    for one in (second, first):
        bench.connections.remove(one)
    bench.open("192.0.2.1")
    bench.connections.remove(third)
    assert bench.connections.find_client("192.0.2.2") is second.client
    bench.connections.remove(fourth)
    assert bench.connections.find_client("192.0.2.1") is first.client
    assert bench.connections.find_client("192.0.2.2") is not second.client, "forgotten"
    assert bench.connections.find_client("192.0.2.2").unproven.used.at(0.0) == 0


def test_failing_connection_is_closed_and_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    broken, other = bench.open("192.0.2.1"), bench.open("192.0.2.2", steps=1)
    broken.fails = True
    bench.turns(1)
    assert set(bench.served) == {broken, other}
    assert broken.steps == 0
    assert caplog.messages == ["a request failed outside of the application"]
    assert bench.scheduler.is_idle


def test_woken_connection_is_queued_once() -> None:
    bench = Bench()
    one = bench.open("192.0.2.1", steps=1)
    bench.scheduler.wake(one)
    bench.scheduler.wake(one)
    bench.turns(2)
    assert bench.served == [one]
    bench.scheduler.wake(one)
    bench.turns(1)
    assert bench.served == [one, one], "it has rested meanwhile"


def test_slice_ends_before_the_turn() -> None:
    bench = Bench()
    first, second = bench.open("192.0.2.1"), bench.open("192.0.2.2")
    bench.turns(1)
    assert bench.served.index(second) == round(SLICE_SECONDS / first.cost)


def test_oldest_silent_connection_of_the_largest_crowd_makes_room() -> None:
    bench = Bench(limit=6)
    proven = [bench.open("192.0.2.9", proven=True) for _ in range(3)]
    busy, *silent = [bench.open("192.0.2.1") for _ in range(3)]
    bench.open("192.0.2.2")
    busy.awaits_peer = False
    assert bench.connections.choose_eviction() is silent[0]
    for one in silent:
        one.awaits_peer = False
    assert bench.connections.choose_eviction() is busy, "all are busy"
    assert bench.connections.choose_eviction(proven[0].client) is None, "it has no others"


def test_crowd_of_two_is_not_spared_nor_one_that_has_shrunk() -> None:
    bench = Bench()
    crowd = [bench.open("192.0.2.1") for _ in range(3)]
    for one in crowd:
        one.is_spared = True
    bench.connections.remove(crowd[0])
    assert bench.connections.choose_eviction() is crowd[1]
    assert bench.connections.choose_eviction(crowd[1].client) is crowd[1]


def test_single_connections_are_spared_while_young() -> None:
    bench = Bench()
    young, old = bench.open("192.0.2.1"), bench.open("192.0.2.2")
    proven = bench.open("192.0.2.3", proven=True)
    young.is_spared = old.is_spared = True
    assert bench.connections.choose_eviction() is None
    old.is_spared = False
    assert bench.connections.choose_eviction() is old
    for one in (young, old):
        bench.connections.remove(one)
    assert bench.connections.choose_eviction() is proven, "all are proven: the oldest idle one"
    proven.awaits_peer = False
    assert bench.connections.choose_eviction() is None
    bench.connections.remove(proven)
    assert bench.connections.choose_eviction() is None


def test_limit_per_client_counts_both_shares() -> None:
    bench = Bench(per_client=2)
    one = bench.open("192.0.2.1")
    assert not bench.connections.has_reached_limit(one.client)
    bench.open("192.0.2.1", proven=True)
    assert bench.connections.has_reached_limit(one.client)
    assert not bench.connections.has_reached_limit(Client())
    assert not Connections(10).has_reached_limit(one.client), "no limit"
    single = Bench(per_client=1)
    assert single.connections.has_reached_limit(single.open("192.0.2.1").client)
