"""The Containerfile: linted, and its steps run by hand. `test_container_build.py` builds it, in minutes."""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.broker.harness import until
from tests.deploy.harness import CATALOG, DEPLOY, ROOT, run
from tests.deploy.running import ask, free_port, started

FILE = DEPLOY / "Containerfile"
TEXT = FILE.read_text().replace("\\\n", "")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^ *{name} +(.*)$", TEXT, re.MULTILINE)


def test_hadolint_passes() -> None:
    done = run(Path(sys.executable).with_name("hadolint"), "--no-color", FILE, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "")


def test_it_runs_as_an_unprivileged_user() -> None:
    assert instructions("USER") == ["10001:10001"]
    assert TEXT.rindex("USER") > TEXT.rindex("COPY")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Content of /opt/osbctl after the first stage, made by its own RUN line from the copied files."""
    folder = tmp_path_factory.mktemp("image")
    for line in instructions("COPY"):
        *names, target = [word for word in line.split() if not word.startswith("--")]
        for name in names if not line.startswith("--from") else ():
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, folder)
    for line in instructions("RUN"):
        script = line.replace("/opt/osbctl", f"{folder}/opt").replace("python -m venv", f"{sys.executable} -m venv")
        run("sh", "-e", "-c", script, cwd=folder, timeout=120, code=0)
    return folder


@pytest.mark.release
def test_the_image_serves_on_a_read_only_root_and_its_health_check_passes(
    image: Path, tmp_path: Path, credentials: Path, pair: tuple[Path, Path], trust: Any
) -> None:
    settings = dict(pair.split("=", 1) for line in instructions("ENV") for pair in shlex.split(line))
    port, admin = free_port(), free_port()
    settings = {name: value for name, value in settings.items() if name.startswith(("OSBCTL_", "PYTHON"))} | {
        "OSBCTL_SOURCE": str(CATALOG),
        "OSBCTL_CREDENTIALS": str(credentials),
        "OSBCTL_TLS_CERT": str(pair[0]),
        "OSBCTL_TLS_KEY": str(pair[1]),
        "OSBCTL_PORT": str(port),
        "OSBCTL_ADMIN_LISTEN": f"127.0.0.1:{admin}",
    }
    command = [part for name in ("ENTRYPOINT", "CMD") for part in json.loads(instructions(name)[-1])]
    command = [part.replace("/opt/osbctl", f"{image}/opt") for part in command]
    with started([*read_only(tmp_path), *command], tmp_path, "credentials: ", cwd=tmp_path, **settings, PYTHONPATH=""):
        assert ask(port, trust)[0] == 200
        health = json.loads(re.findall(r"HEALTHCHECK .*CMD (\[.*\])", TEXT)[0])
        check = [part.replace("/opt/osbctl", f"{image}/opt").replace(":9090/", f":{admin}/") for part in health]
        assert until(lambda: run(*check, cwd=tmp_path).returncode == 0)
        assert run(*[part.replace(f":{admin}/", f":{free_port()}/") for part in check], cwd=tmp_path).returncode != 0


def read_only(folder: Path) -> list[str]:
    """A prefix that runs a command where nothing can be written, as far as this machine allows."""
    script = 'mount --bind / / && mount -o remount,bind,ro / && ! touch "$0/x" 2> /dev/null && exec "$@"'
    prefix = ["unshare", "--mount", "sh", "-c", script, str(folder)]
    allowed = os.getuid() == 0 and shutil.which("unshare") and run(*prefix, "true", cwd=folder).returncode == 0
    return prefix if allowed else []
