"""The Cloud Foundry app: its command, run with the environment that the platform gives."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import yaml

import osbctl
from tests.deploy.harness import CATALOG, DEPLOY, run, shellcheck, shim
from tests.deploy.running import ask, free_port, started

FOLDER = DEPLOY / "cloudfoundry"
(APP,) = yaml.safe_load((FOLDER / "manifest.yml").read_text())["applications"]


@pytest.fixture
def app(tmp_path: Path) -> Path:
    shutil.copytree(FOLDER, tmp_path / "app")
    command = f"import json, yaml; print(json.dumps(yaml.safe_load(open({str(CATALOG)!r}))))"
    (tmp_path / "app/catalog.json").write_text(run(sys.executable, "-c", command, cwd=tmp_path).stdout)
    shim(tmp_path / "bin/osbctl")
    (tmp_path / "tmp").mkdir()
    return tmp_path


def environment(app: Path, credentials: Path, port: int) -> dict[str, str]:
    record = {"records": json.loads(credentials.read_text())}
    services = {"user-provided": [{"name": "osbctl-credentials", "credentials": record}]}
    given = {"PORT": str(port), "TMPDIR": str(app / "tmp"), "VCAP_SERVICES": json.dumps(services)}
    return {**APP["env"], **given, "PATH": f"{app}/bin:{Path(sys.executable).parent}:/usr/bin:/bin"}


def test_the_router_gets_the_catalog_only_over_https(app: Path, credentials: Path) -> None:
    port = free_port()
    command = ["sh", "-c", APP["command"]]
    with started(command, app, "credentials: ", cwd=app / "app", **environment(app, credentials, port)) as program:
        assert ask(port, None, X_Forwarded_Proto="https")[0] == 200
        assert ask(port, None, X_Forwarded_Proto="https", Authorization=None)[0] == 401
        assert ask(port, None, X_Forwarded_Proto="http")[0] == 403
        assert ask(port, None)[0] == 403
        assert "$6$" not in program.log
    assert (app / "tmp/credentials.json").stat().st_mode & 0o777 == 0o600


def test_a_missing_service_is_a_clear_error(app: Path, credentials: Path) -> None:
    given = {**environment(app, credentials, free_port()), "VCAP_SERVICES": "{}"}
    done = run("sh", "-c", APP["command"], cwd=app / "app", env=given)
    assert (done.returncode, done.stderr) == (1, "osbctl-credentials is not bound\n")


def test_the_app_asks_for_this_version_and_for_what_it_reads() -> None:
    # The wheel beside it, or the index where pyproject.toml names one: tests/release installs from either.
    assert osbctl.__version__ in (FOLDER / "requirements.txt").read_text()
    assert APP["services"] == ["osbctl-credentials"]
    assert APP["env"]["OSBCTL_SOURCE"] == "catalog.json"
    shellcheck(FOLDER / "start.sh")
