"""Registered brokers as people see them at a terminal."""

import pytest

from osbctl.platforms import Platform
from osbctl.registry.records import BrokerRow, RefreshOutcome
from osbctl.registry.text import broker_table

AT = "2026-11-22T05:12:33Z"


def row(platform: Platform) -> BrokerRow:
    return BrokerRow(
        name="observability", url="https://observability.services.example.com/broker", username="platform",
        api_version="2.14", platform=platform, id=1, etag="", services=1, plans=1_200, kept_plans=2,
        registered_at=AT, refreshed_at=AT, outcome=RefreshOutcome.UNCHANGED, revision=1,
    )  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("platform", Platform)
def test_the_table_of_brokers_squeezes_nothing_out(platform: Platform, width: int) -> None:
    shown = broker_table([row(platform)], width, colored=False)
    assert max(map(len, shown.splitlines())) <= width
    for text in ("observability", platform.label, AT, "unchanged", "1 service", "1,200 plans", "2 kept", "as platform"):
        assert f" {text} " in shown
    if width >= 80:
        assert "https://observability.services" in shown
