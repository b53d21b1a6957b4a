"""The table of changes: what each change is called, and how much it hurts."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from osbctl.changes import Level
from osbctl.comparison.catalogs import compare_catalogs
from osbctl.platforms import Platform
from tests.cli.program import osbctl

ROOT = Path(__file__).parents[2]
BASE: dict[str, Any] = {
    "services": [
        {
            "id": "S1", "name": "postgres", "description": "A database.", "bindable": True, "plan_updateable": True,
            "tags": ["sql"], "requires": ["syslog_drain"], "metadata": {"shareable": True},
            "dashboard_client": {"id": "c", "secret": "old-s3cret", "redirect_uri": "https://x"},
            "plans": [
                {"id": "P1", "name": "small", "description": "Small.", "free": True, "maintenance_info": {"version": "1.0.0"}},
                {"id": "P2", "name": "large", "description": "Large.", "free": False, "maximum_polling_duration": 60},
            ],
        },
        {"id": "S2", "name": "redis", "description": "A cache.", "bindable": True, "plans": [{"id": "P3", "name": "one", "description": "One."}]},
    ]
}  # fmt: skip


def service(catalog: Any) -> Any:
    return catalog["services"][0]


def plan(catalog: Any) -> Any:
    return service(catalog)["plans"][0]


CHANGES: list[tuple[str, Callable[[Any], Any], Level]] = [
    ("plan id changed, name kept", lambda c: plan(c).update(id="X"), Level.REFUSED),
    ("plan moved", lambda c: c["services"][1]["plans"].append(service(c)["plans"].pop(0)), Level.REFUSED),
    ("service id changed, plans kept", lambda c: service(c).update(id="X"), Level.REFUSED),
    (
        "names swapped",
        lambda c: (plan(c).update(name="large"), service(c)["plans"][1].update(name="small")),
        Level.REFUSED,
    ),
    (
        "removed name reused",
        lambda c: (service(c)["plans"].pop(0), service(c)["plans"][0].update(name="small")),
        Level.REFUSED,
    ),
    ("catalog emptied", lambda c: c.update(services=[]), Level.REFUSED),
    ("plan renamed", lambda c: plan(c).update(name="tiny"), Level.BREAKING),
    ("service renamed", lambda c: service(c).update(name="pg"), Level.BREAKING),
    ("bindable lost", lambda c: service(c).update(bindable=False), Level.BREAKING),
    ("updateable lost", lambda c: service(c).update(plan_updateable=False), Level.BREAKING),
    ("not shareable", lambda c: service(c)["metadata"].update(shareable=False), Level.BREAKING),
    ("paid now", lambda c: plan(c).update(free=False), Level.BREAKING),
    ("requires less", lambda c: service(c).update(requires=[]), Level.BREAKING),
    ("maintenance version", lambda c: plan(c).update(maintenance_info={"version": "1.1.0"}), Level.RISKY),
    ("polling lowered", lambda c: service(c)["plans"][1].update(maximum_polling_duration=30), Level.RISKY),
    ("tag removed", lambda c: service(c).update(tags=[]), Level.RISKY),
    ("secret changed", lambda c: service(c)["dashboard_client"].update(secret="new-s3cret"), Level.RISKY),
    (
        "plan added",
        lambda c: service(c)["plans"].append({"id": "P9", "name": "huge", "description": "Huge."}),
        Level.SAFE,
    ),
    ("wording", lambda c: service(c).update(description="Other words."), Level.SAFE),
    ("free now", lambda c: service(c)["plans"][1].update(free=True), Level.SAFE),
]


@pytest.mark.parametrize(("edit", "level"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_the_table(edit: Callable[[Any], Any], level: Level) -> None:
    new = copy.deepcopy(BASE)
    edit(new)
    changes = compare_catalogs(BASE, new)
    assert changes
    assert max((change.level for change in changes), key=lambda found: found.rank) is level
    assert "s3cret" not in repr(changes)


def test_a_plan_with_instances_is_refused_where_it_is_removed() -> None:
    new = copy.deepcopy(BASE)
    service(new)["plans"].pop(0)
    only = {"platforms": (Platform.SERVICE_MANAGER,)}
    with_instances = compare_catalogs(BASE, new, **only, instances=frozenset({"P1"}))  # type: ignore[arg-type]
    without = compare_catalogs(BASE, new, **only, instances=frozenset())  # type: ignore[arg-type]
    assert {change.level for change in with_instances} >= {Level.REFUSED}
    assert Level.REFUSED not in {change.level for change in without}


def test_a_redirect_uri_that_names_a_user_stays_hidden() -> None:
    new = copy.deepcopy(BASE)
    service(new)["dashboard_client"]["redirect_uri"] = "https://user:hunter2@x"
    changes = compare_catalogs(BASE, new)
    assert changes
    assert "hunter2" not in repr(changes)


def test_nothing_changed() -> None:
    assert compare_catalogs(BASE, copy.deepcopy(BASE)) == []


def run(tmp_path: Path, new: Any, *options: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "old.json").write_text(json.dumps(BASE, indent=1))
    (tmp_path / "new.json").write_text(json.dumps(new, indent=1))
    return osbctl("diff", "old.json", "new.json", *options, cwd=tmp_path)


def test_the_command(tmp_path: Path) -> None:
    same = run(tmp_path, BASE)
    assert (same.returncode, same.stdout, same.stderr) == (0, "", "")
    new = copy.deepcopy(BASE)
    plan(new).update(id="X")
    done = run(tmp_path, new)
    assert done.returncode == 1
    assert done.stdout.startswith("refused: a platform refuses the update\n  postgres/small: ")
    assert "Plan names must be unique within a service" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("old.json → new.json: ")
    assert run(tmp_path, new, "--fail-on", "never").returncode == 0
    told = json.loads(run(tmp_path, new, "--format", "json").stdout)
    assert told["version"] == 1
    assert told["summary"]["refused"] >= 1


def test_accepted_changes(tmp_path: Path) -> None:
    new = copy.deepcopy(BASE)
    plan(new).update(name="tiny")
    (tmp_path / "allow.toml").write_text(run(tmp_path, new, "--format", "allow").stdout.replace('""', '"agreed"'))
    done = run(tmp_path, new, "--allow", "allow.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    stale = run(tmp_path, BASE, "--allow", "allow.toml")
    assert "matches no change" in stale.stderr


def test_no_breaking_changes_is_said_apart(tmp_path: Path) -> None:
    new = copy.deepcopy(BASE)
    service(new).update(description="Other words.")
    done = run(tmp_path, new)
    assert done.returncode == 0
    assert "no breaking changes, but the catalogs differ" in done.stdout
