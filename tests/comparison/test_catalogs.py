"""`osbctl diff` between two catalogs: its report, formats and accepted changes."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

from osbctl.comparison.catalogs import compare_catalogs
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


def test_a_redirect_uri_that_names_a_user_stays_hidden() -> None:
    new = copy.deepcopy(BASE)
    service(new)["dashboard_client"]["redirect_uri"] = "https://user:hunter2@x"
    changes = compare_catalogs(BASE, new)
    assert changes
    assert "hunter2" not in repr(changes)


def test_plans_of_one_id_in_another_order_keep_their_names() -> None:
    old = copy.deepcopy(BASE)
    service(old)["plans"] = [{"id": "P1", "name": name, "description": name} for name in ("a", "b", "c")]
    new = copy.deepcopy(old)
    service(new)["plans"].reverse()
    assert [change.message for change in compare_catalogs(old, new)] == ["the plans changed order"]


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
