"""Cloud Foundry's database and updates: recorded answers against ours.

`cloudfoundry_database.jsonl` was measured in November 2026: Cloud Controller 3bbba906, all its migrations, its models, catalog and
service manager unchanged, on PostgreSQL 15 and MariaDB 10.11 (Ruby 3.1, Sequel 5.63). The catalogs of a row are worked
in one after the other; after the first, `instances` names the plans that get one. The answer is that to the last.
A service offering is written `[id, name, {plan id: plan name}]`; `null` names a field of it that is null.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from osbctl.changes import Level
from osbctl.commands.diff import add_refusals
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.platforms import Platform
from osbctl.platforms.cloudfoundry.verdict import judge
from osbctl.platforms.verdict import VerdictKind
from tests.comparison.make import catalog, plan, service

ROWS = [
    json.loads(line) for line in Path(__file__).with_name("cloudfoundry_database.jsonl").read_text("utf-8").splitlines()
]
FIRST = [row for row in ROWS if len(row["catalogs"]) == 1]
UPDATES = [row for row in ROWS if len(row["catalogs"]) == 2]
NOT_PREDICTED = {
    "plan names: accents",  # MySQL alone
    "plan names: long s",
    "plan names: final sigma",
    "an emoji in a plan's name",
    "a plan's name of 256 characters",
    "NUL in a plan's name",  # PostgreSQL alone
}


def build_catalog(services: list[Any], **fields: Any) -> dict[str, Any]:
    return catalog(
        *(service(key, name, *(plan(*one, **fields) for one in plans.items())) for key, name, plans in services)
    )


def polling_fields(row: dict[str, Any]) -> dict[str, Any]:
    return {"maximum_polling_duration": row["polling"]} if "polling" in row else {}


def refusing_databases(row: dict[str, Any]) -> set[str]:
    return {database for database in ("postgresql", "mariadb") if row[database] != "accepts"}


@pytest.mark.parametrize("row", FIRST, ids=lambda row: row["what"])
def test_a_first_catalog_is_stored_or_not(row: dict[str, Any]) -> None:
    data = build_catalog(row["catalogs"][0], **polling_fields(row))
    data["services"][0] |= {row["null"]: None} if "null" in row else {}
    kind = judge(data).kind
    if row["what"] in NOT_PREDICTED:
        assert kind is VerdictKind.ACCEPTS
    else:
        assert kind in {VerdictKind(row[database]) for database in refusing_databases(row) or ["postgresql"]}


def test_what_is_not_predicted_is_named() -> None:
    assert {row["what"] for row in FIRST if refusing_databases(row)} > NOT_PREDICTED


MYSQL_ALONE = {"a service's name gets a blank"}
"""PostgreSQL takes it and strips the blank."""


@pytest.mark.parametrize("row", UPDATES, ids=lambda row: row["what"] + ", used" * bool(row["instances"]))
def test_an_update_is_refused_or_not(row: dict[str, Any]) -> None:
    old, new = map(build_catalog, row["catalogs"])
    used = frozenset(row["instances"])
    view = frozenset({Platform.CLOUD_FOUNDRY})
    changes = compare_catalogs(old, new, platforms=view, used_plans=used)
    changes = add_refusals(old, new, changes, view, used=used)
    refused = any(change.level is Level.REFUSED for change in changes)
    told = "postgresql" in refusing_databases(row) if row["what"] in MYSQL_ALONE else bool(refusing_databases(row))
    assert refused == told, [(change.rule, change.level) for change in changes]
