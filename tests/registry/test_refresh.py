"""From a broker's answer to what is stored: every way it can go."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from osbctl.client.catalog_client import CatalogResponse
from osbctl.client.connection_options import ConnectionOptions
from osbctl.commands.brokers import Policy
from osbctl.commands.brokers import refresh_broker as refresh
from osbctl.commands.brokers import register_broker as register
from osbctl.errors import SourceError
from osbctl.registry.records import (
    PLACEHOLDER,
    BrokerCatalog,
    OutdatedError,
    RefreshOutcome,
    Registration,
    Remark,
    UnknownBrokerError,
    mask_client_secrets,
)
from osbctl.registry.store import Registry
from tests.registry.make import SMALL, add, body, read, registration, service

NEW = body(service("s", "p", "q"))
EMPTY = body(service("t", "r"))


def giving(content: bytes = SMALL, during: Callable[[], object] = lambda: None) -> Callable[..., Any]:
    """A broker that has one catalog; `during` happens whenever it is asked."""

    def fetch(broker: Registration) -> tuple[CatalogResponse, ConnectionOptions]:
        during()
        return CatalogResponse("x", content), ConnectionOptions()

    return fetch


def fine(body: bytes, broker: Registration, sent: ConnectionOptions) -> BrokerCatalog:
    return read(body)


def faulty(body: bytes, broker: Registration, sent: ConnectionOptions) -> BrokerCatalog:
    return replace(read(body), refused=(Remark("some-rule", "error", "/services/0", f"not on {broker.platform}"),))


def down(broker: Registration) -> NoReturn:
    raise SourceError("https://x: the connection was refused", "check that the broker runs there")


def client(fetch: Callable[..., Any], validate: Callable[..., Any]) -> Any:
    """Stands for the client of registered brokers."""
    return SimpleNamespace(fetch=fetch, validate=validate, find_password_in_stored_catalog=lambda broker, sent: ())


def test_registering_stores_the_catalog(registry: Registry) -> None:
    done = register(registry, registration(), client(giving(NEW), fine))
    assert (done.outcome, registry.broker("db").catalog) == (RefreshOutcome.ADDED, NEW)


def test_a_broker_that_is_refused_or_down_is_not_registered(registry: Registry) -> None:
    done = register(registry, registration(), client(giving(), faulty))
    assert (done.outcome, done.remarks[0].message) == (RefreshOutcome.REFUSED, "not on cloudfoundry")
    with pytest.raises(SourceError, match="the connection was refused"):
        register(registry, registration(), client(down, fine))
    assert registry.names() == []


def test_a_changed_catalog_is_stored_with_what_happened(registry: Registry) -> None:
    add(registry)
    done = refresh(registry, "db", client(giving(NEW), fine), Policy())
    assert (done.outcome, done.action_counts(), registry.broker("db").catalog) == (
        RefreshOutcome.CHANGED, {"created": 1}, NEW,
    )  # fmt: skip
    assert refresh(registry, "db", client(giving(NEW), fine), Policy()).outcome is RefreshOutcome.UNCHANGED
    done = refresh(registry, "db", client(giving(NEW + b"\n"), fine), Policy())
    assert (done.outcome, done.actions, registry.broker("db").catalog) == (RefreshOutcome.CHANGED, (), NEW + b"\n")


@pytest.mark.parametrize("how", ["invalid", "refused by the platform", "down"])
def test_what_fails_leaves_the_stored_catalog_and_says_why(registry: Registry, how: str) -> None:
    add(registry)
    before = registry.broker("db")
    fetch = down if how == "down" else giving(body(service("s2", "p", name="service-s")))
    done = refresh(registry, "db", client(fetch, faulty if how == "invalid" else fine), Policy())
    after = registry.broker("db")
    assert (after.catalog, after.kept) == (before.catalog, before.kept)
    assert after.row.refreshed_at == before.row.refreshed_at
    assert done.outcome is (RefreshOutcome.FAILED if how == "down" else RefreshOutcome.REFUSED)
    assert done.remarks
    assert done.actions == ()


def test_a_dry_run_tells_all_and_writes_nothing(registry: Registry) -> None:
    add(registry)
    before = registry.broker("db")
    for fetch, check, outcome in (
        (giving(), fine, RefreshOutcome.UNCHANGED),
        (giving(NEW), fine, RefreshOutcome.CHANGED),
        (giving(NEW), faulty, RefreshOutcome.REFUSED),
        (down, fine, RefreshOutcome.FAILED),
    ):
        assert refresh(registry, "db", client(fetch, check), Policy(dry_run=True)).outcome is outcome
    assert registry.broker("db") == before


def test_what_was_kept_goes_with_its_last_instance(registry: Registry) -> None:
    add(registry)
    refresh(registry, "db", client(giving(EMPTY), fine), Policy(used_plans=frozenset({"p"})))
    assert registry.broker("db").row.kept_plans == 1
    assert refresh(registry, "db", client(giving(EMPTY), fine), Policy()).outcome is RefreshOutcome.UNCHANGED
    assert registry.broker("db").row.kept_plans == 1
    done = refresh(registry, "db", client(giving(EMPTY), fine), Policy(used_plans=frozenset()))
    assert (done.action_counts(), registry.broker("db").kept) == ({"deleted": 2}, ())


def test_another_writer_in_between_is_seen_and_built_upon(registry: Registry) -> None:
    add(registry)
    others = [body(service("s", "p", "o1")), body(service("s", "p", "o2"))]

    def meanwhile() -> None:
        if others:
            refresh(registry, "db", client(giving(others.pop()), fine), Policy())

    done = refresh(registry, "db", client(giving(NEW, meanwhile), fine), Policy())
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
        refresh(registry, "db", client(giving(NEW, lambda: meanwhile(registry)), fine), Policy())


SECRET = "hunter2-dashboard"


def with_dashboards(secret: str, uri: str = "https://dash.example.com") -> bytes:
    """Three service offerings, each with a dashboard client; `uri` is that of the last."""
    uris = {"a": "https://a.example.com", "b": "https://b.example.com", "s": uri}
    return body(*(
        service(id_, f"{id_}-p", dashboard_client={"id": f"c-{id_}", "secret": f"{secret}-{id_}", "redirect_uri": uri})
        for id_, uri in uris.items()
    ))  # fmt: skip


def test_a_dashboard_clients_secret_is_not_stored(registry: Registry) -> None:
    register(registry, registration(), client(giving(with_dashboards(SECRET)), fine))
    clients = [one["dashboard_client"] for one in registry.broker("db").data["services"]]
    assert [one["secret"] for one in clients] == [PLACEHOLDER] * 3
    assert clients[2] == {"id": "c-s", "secret": PLACEHOLDER, "redirect_uri": "https://dash.example.com"}

    def refreshed(content: bytes, **policy: Any) -> Any:
        return refresh(registry, "db", client(giving(content), fine), Policy(**policy))

    again = refreshed(with_dashboards(SECRET + "2"))
    assert again.outcome is RefreshOutcome.UNCHANGED, "a new secret alone is nothing that is stored"
    moved = refreshed(with_dashboards(SECRET, "https://new.example.com"))
    assert [one.rule for one in moved.remarks] == ["change-dashboard-client"]
    assert refreshed(body(service("t", "q")), used_plans=frozenset({"s-p"})).outcome is RefreshOutcome.CHANGED
    assert SECRET not in repr(registry.broker("db"))


def test_a_catalog_without_secrets_is_stored_to_the_byte() -> None:
    odd = b'{"services": [ {"dashboard_client": null}, 3, {"dashboard_client": {"id": "c"}} ] , "x": 1.0}'
    assert read(odd).storable.body == odd
    assert mask_client_secrets({"services": 1}) == {"services": 1}
    client = {"dashboard_client": {"Secret": SECRET, "id": "c"}, "Dashboard_Client": {"secret": SECRET}}
    assert SECRET not in str(mask_client_secrets({"services": [client, None], "Services": [client]}))
