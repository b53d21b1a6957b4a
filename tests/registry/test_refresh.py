"""From a broker's answer to what is stored: every way it can go."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from osbctl.client.catalog_client import CatalogResponse
from osbctl.errors import SourceError
from osbctl.platforms import Platform
from osbctl.registry.errors import OutdatedError, UnknownBrokerError
from osbctl.registry.records import (
    PLACEHOLDER,
    BrokerCatalog,
    RefreshOutcome,
    Registration,
    Remark,
    without_client_secrets,
)
from osbctl.registry.store import Registry
from osbctl.tasks.refresh import Policy
from osbctl.tasks.refresh import refresh_broker as refresh
from osbctl.tasks.refresh import register_broker as register
from tests.registry.make import SMALL, add, body, plan, read, registration, service, tag

NEW = body(service("s", "p", "q"))
EMPTY = body(service("t", "r"))


class Broker:
    """Stands for a broker that has one catalog, and remembers the tags that it was asked with."""

    def __init__(self, content: bytes = SMALL, during: Callable[[], None] | None = None) -> None:
        self.content, self.asked, self.during = content, [], during

    def fetch(self, broker: Registration, etag: str) -> CatalogResponse | None:
        self.asked: list[str] = [*self.asked, etag]
        if self.during:
            self.during()
        return None if etag == tag(self.content) else CatalogResponse("x", self.content, tag(self.content))


def fine(body: bytes, broker: Registration) -> BrokerCatalog:
    return read(body)


def faulty(body: bytes, broker: Registration) -> BrokerCatalog:
    return replace(read(body), refused=(Remark("some-rule", "error", "/services/0", f"not on {broker.platform}"),))


def down(broker: Registration, etag: str) -> CatalogResponse | None:
    raise SourceError("https://x: the connection was refused", "check that the broker runs there")


def client(fetch: Callable[..., Any], validate: Callable[..., Any]) -> Any:
    """Stands for the client of registered brokers."""
    return SimpleNamespace(fetch=fetch, validate=validate)


def test_registering_stores_the_catalog_with_its_tag(registry: Registry) -> None:
    done = register(registry, registration(), client(Broker(NEW).fetch, fine))
    broker = registry.broker("db")
    assert (done.outcome, broker.catalog, broker.row.etag) == (RefreshOutcome.ADDED, NEW, tag(NEW))


def test_a_broker_that_is_refused_or_down_is_not_registered(registry: Registry) -> None:
    done = register(registry, registration(), client(Broker().fetch, faulty))
    assert (done.outcome, done.remarks[0].message) == (RefreshOutcome.REFUSED, "not on cloudfoundry")
    with pytest.raises(SourceError, match="the connection was refused"):
        register(registry, registration(), client(down, fine))
    assert registry.names() == []


def test_an_unchanged_catalog_costs_a_304_and_is_looked_at_again(registry: Registry) -> None:
    add(registry)
    broker = Broker()
    assert refresh(registry, "db", client(broker.fetch, fine), Policy()).outcome is RefreshOutcome.UNCHANGED
    done = refresh(registry, "db", client(broker.fetch, faulty), Policy())  # stored when less was known of it
    assert (done.outcome, done.remarks[0].rule) == (RefreshOutcome.REFUSED, "some-rule")
    assert broker.asked == [tag(SMALL)] * 2
    assert registry.broker("db").catalog == SMALL


@pytest.mark.parametrize(
    ("new", "outcome"),
    [(EMPTY, RefreshOutcome.CHANGED), (body(service("s", plan("q", "plan-p"))), RefreshOutcome.REFUSED)],
)
def test_a_secret_of_the_catalog_before_is_hidden(registry: Registry, new: bytes, outcome: RefreshOutcome) -> None:
    """A name that contains the password, stored by an older version, is removed, or a refusal quotes it."""
    add(registry)

    def knowing(body: bytes, broker: Registration) -> BrokerCatalog:
        return replace(read(body), secrets=("service-s",))

    done = refresh(registry, "db", client(Broker(new).fetch, knowing), Policy())
    assert (done.outcome, "service-s" in str(done), "***" in str(done)) == (outcome, False, True)


def test_a_changed_catalog_is_stored_with_what_happened(registry: Registry) -> None:
    add(registry)
    done = refresh(registry, "db", client(Broker(NEW).fetch, fine), Policy())
    broker = registry.broker("db")
    assert (done.outcome, done.counts(), broker.catalog, broker.row.etag) == (
        RefreshOutcome.CHANGED, {"created": 1}, NEW, tag(NEW),
    )  # fmt: skip
    assert refresh(registry, "db", client(Broker(NEW).fetch, fine), Policy()).outcome is RefreshOutcome.UNCHANGED


def test_a_broker_without_tags_is_compared_by_bytes(registry: Registry) -> None:
    add(registry)
    for content, outcome in ((SMALL, RefreshOutcome.UNCHANGED), (SMALL + b"\n", RefreshOutcome.CHANGED)):
        answer = CatalogResponse("x", content, "")
        done = refresh(registry, "db", client(lambda *_, answer=answer: answer, fine), Policy())
        broker = registry.broker("db")
        assert (done.outcome, done.actions, broker.row.etag, broker.catalog) == (outcome, (), "", content)


@pytest.mark.parametrize("how", ["invalid", "refused by the platform", "down"])
def test_what_fails_leaves_the_stored_catalog_and_says_why(registry: Registry, how: str) -> None:
    add(registry)
    before = registry.broker("db")
    moved = body(service("s2", "p", name="service-s"))
    fetch = down if how == "down" else Broker(moved).fetch
    done = refresh(registry, "db", client(fetch, faulty if how == "invalid" else fine), Policy())
    after = registry.broker("db")
    assert (after.catalog, after.kept, after.row.etag) == (before.catalog, before.kept, before.row.etag)
    assert after.row.refreshed_at == before.row.refreshed_at
    assert done.outcome is (RefreshOutcome.FAILED if how == "down" else RefreshOutcome.REFUSED)
    assert done.remarks
    assert done.actions == ()


def test_a_dry_run_tells_all_and_writes_nothing(registry: Registry) -> None:
    add(registry)
    before = registry.broker("db")
    for fetch, check, outcome in (
        (Broker().fetch, fine, RefreshOutcome.UNCHANGED),
        (Broker(NEW).fetch, fine, RefreshOutcome.CHANGED),
        (Broker(NEW).fetch, faulty, RefreshOutcome.REFUSED),
        (down, fine, RefreshOutcome.FAILED),
    ):
        assert refresh(registry, "db", client(fetch, check), Policy(dry_run=True)).outcome is outcome
    assert registry.broker("db") == before


def test_the_platform_of_the_row_counts_unless_another_is_named(registry: Registry) -> None:
    add(registry, platform=Platform.KORIFI)
    plain = refresh(registry, "db", client(Broker(EMPTY).fetch, fine), Policy(dry_run=True))
    other = Policy(Platform.SERVICE_MANAGER, frozenset({"p"}), dry_run=True)
    asked = refresh(registry, "db", client(Broker(EMPTY).fetch, fine), other)
    assert (plain.platform, plain.outcome) == (Platform.KORIFI, RefreshOutcome.CHANGED)
    assert (asked.platform, asked.outcome) == (Platform.SERVICE_MANAGER, RefreshOutcome.REFUSED)
    unchanged = refresh(registry, "db", client(Broker().fetch, faulty), Policy(Platform.KUBERNETES))
    assert (unchanged.outcome, unchanged.remarks[0].message) == (RefreshOutcome.REFUSED, "not on kubernetes")


def test_what_was_kept_goes_with_its_last_instance_at_a_304(registry: Registry) -> None:
    add(registry)
    refresh(registry, "db", client(Broker(EMPTY).fetch, fine), Policy(instances=frozenset({"p"})))
    assert registry.row("db").kept_plans == 1
    assert refresh(registry, "db", client(Broker(EMPTY).fetch, fine), Policy()).outcome is RefreshOutcome.UNCHANGED
    assert registry.row("db").kept_plans == 1
    done = refresh(registry, "db", client(Broker(EMPTY).fetch, fine), Policy(instances=frozenset()))
    assert (done.counts(), registry.broker("db").kept) == ({"deleted": 2}, ())


def test_another_writer_in_between_is_seen_and_built_upon(registry: Registry) -> None:
    add(registry)
    others = [body(service("s", "p", "o1")), body(service("s", "p", "o2"))]

    def meanwhile() -> None:
        if others:
            refresh(registry, "db", client(Broker(others.pop()).fetch, fine), Policy())

    broker = Broker(NEW, meanwhile)
    done = refresh(registry, "db", client(broker.fetch, fine), Policy())
    assert len(broker.asked) == 3
    assert [action.plan for action in done.actions] == ["plan-q", "plan-o1"]
    assert registry.broker("db").catalog == NEW


@pytest.mark.parametrize(("meanwhile", "error"), [
    (lambda registry: refresh(registry, "db", client(down, fine), Policy()), OutdatedError),
    (lambda registry: registry.remove("db"), UnknownBrokerError),
])  # fmt: skip
def test_a_writer_that_never_rests_or_removes_it(
    registry: Registry, meanwhile: Callable[[Registry], object], error: type[Exception]
) -> None:
    add(registry)
    with pytest.raises(error):
        refresh(registry, "db", client(Broker(NEW, lambda: meanwhile(registry)).fetch, fine), Policy())


SECRET = "hunter2-dashboard"


def with_dashboard(secret: str, uri: str = "https://dash.example.com") -> bytes:
    return body(service("s", "p", dashboard_client={"id": "c", "secret": secret, "redirect_uri": uri}))


def test_a_dashboard_clients_secret_is_not_stored(registry: Registry) -> None:
    register(registry, registration(), client(Broker(with_dashboard(SECRET)).fetch, fine))
    dashboard = registry.broker("db").data["services"][0]["dashboard_client"]
    assert dashboard == {"id": "c", "secret": PLACEHOLDER, "redirect_uri": "https://dash.example.com"}

    def refreshed(content: bytes, **policy: Any) -> Any:
        return refresh(registry, "db", client(Broker(content).fetch, fine), Policy(**policy))

    again = refreshed(with_dashboard(SECRET + "2"))
    assert again.outcome is RefreshOutcome.UNCHANGED, "a new secret alone is nothing that is stored"
    moved = refreshed(with_dashboard(SECRET, "https://new.example.com"))
    assert [one.rule for one in moved.remarks] == ["change-dashboard-client"]
    gone = refreshed(body(service("t", "q")), instances=frozenset("p"))
    assert gone.outcome is RefreshOutcome.CHANGED
    assert SECRET not in repr(registry.broker("db"))


def test_a_catalog_without_secrets_is_stored_to_the_byte() -> None:
    odd = b'{"services": [ {"dashboard_client": null}, 3, {"dashboard_client": {"id": "c"}} ] , "x": 1.0}'
    assert read(odd).storable.body == odd
    assert without_client_secrets({"services": 1}) == {"services": 1}
