"""A refresh and a drift derive each value once: documents, catalogs, what a platform makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from osbctl import secrecy
from osbctl.catalog import Catalog
from osbctl.client.catalog_client import CatalogResponse
from osbctl.client.connection_options import ConnectionOptions
from osbctl.platforms import Platform
from osbctl.platforms.korifi import verdict
from osbctl.registry import secrets
from osbctl.registry.records import RefreshOutcome, Registration
from osbctl.registry.store import Registry
from osbctl.sources import parse
from osbctl.tasks.drift import DriftView, compare_with_stored, registered_catalog, stored_in_registry
from osbctl.tasks.refresh import Policy
from osbctl.tasks.refresh import refresh_broker as refresh
from osbctl.tasks.refresh import register_broker as register
from osbctl.tasks.registered_broker_client import RegisteredBrokerClient
from tests.registry.make import body, plan, registration, service

# The plan's name is no usual one, so that platforms are asked one by one.
OLD, NEW = (
    body(
        service(
            "s",
            plan("p", "ä"),
            description=text,
            dashboard_client={"id": "c", "secret": "a secret", "redirect_uri": "x"},
        )
    )
    for text in ("old", "new")
)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each kind of value is made."""
    counts: Counter[str] = Counter()

    def counted(name: str, place: Any, attribute: str) -> None:
        real: Callable[..., Any] = getattr(place, attribute)

        def call(*args: Any, **more: Any) -> Any:
            counts[name] += not (args and isinstance(args[0], Catalog))
            return real(*args, **more)

        monkeypatch.setattr(place, attribute, call)

    counted("document", parse, "parse_text")
    counted("catalog", Catalog, "of")
    counted("without secrets", secrets, "without_secrets")
    counted("decoded", verdict, "decode")
    return counts


class Password:
    def password_of(self, broker: Registration) -> str:
        return "a password of a broker"


def answering(content: bytes) -> RegisteredBrokerClient:
    class Answering(RegisteredBrokerClient):
        def fetch(self, broker: Registration, etag: str) -> CatalogResponse | None:
            self._sent[broker.name] = self.passwords.password_of(broker)
            return CatalogResponse("https://db.example.com", content, "")

    return Answering(ConnectionOptions(), Password())


def test_a_refresh_makes_each_value_once(tmp_path: Path, made: Counter[str]) -> None:
    with Registry.open(str(tmp_path / "brokers.sqlite")) as registry:
        first, second = answering(OLD), answering(NEW)
        register(registry, registration(platform=Platform.KORIFI), first)
        assert made == {"document": 1, "catalog": 1, "without secrets": 1, "decoded": 1}
        made.clear()
        assert refresh(registry, "db", second, Policy()).outcome is RefreshOutcome.CHANGED
        assert made == {"document": 2, "catalog": 2, "without secrets": 1, "decoded": 1}, "the stored and the new one"
        made.clear()
        assert refresh(registry, "db", second, Policy()).outcome is RefreshOutcome.UNCHANGED
        assert made == {"document": 1, "without secrets": 1, "decoded": 1}, "there is nothing to compare"


def test_a_drift_reads_each_side_once(tmp_path: Path, made: Counter[str]) -> None:
    with Registry.open(str(tmp_path / "brokers.sqlite")) as registry:
        first, second = answering(OLD), answering(NEW)
        register(registry, registration(platform=Platform.KORIFI), first)
        stored = registry.broker("db")
    made.clear()
    now = registered_catalog(stored, second)
    drift = compare_with_stored(stored_in_registry(stored), now, DriftView())
    assert [change.field for change in drift.changes] == ["description"]
    assert (made["document"], made["catalog"]) == (2, 2)


def test_a_dashboard_clients_secret_may_be_the_password() -> None:
    """It is not stored; the same text anywhere else is."""
    word = "a password of a broker"
    client = {"id": "c", "secret": word, "redirect_uri": "x"}
    assert secrecy.places_of((word,), {"services": [{"dashboard_client": client}]}) == []
    for data, place in (
        ({"services": [{"dashboard_client": {**client, "id": word}}]}, "/services/0/dashboard_client/id"),
        ({"services": [{"metadata": {"dashboard_client": client}}]}, "/services/0/metadata/dashboard_client/secret"),
        ({"x": [{"dashboard_client": client}]}, "/x/0/dashboard_client/secret"),
        ({"services": {"x": {"dashboard_client": client}}}, "/services/x/dashboard_client/secret"),
        ({"services": [{word: 1}]}, "/services/0"),
    ):
        assert secrecy.places_of((word,), data) == [place]
    for written in (word.upper(), word.replace(" ", "%20"), word.title().replace("s", "%73")):
        assert secrecy.places_of((word,), {"x": written}) == ["/x"]
