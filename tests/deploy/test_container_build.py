"""The image, really built by buildah and run as its user: `make test-container`, since it takes minutes.

The base is made here of Debian's packages, as one may want where no registry is trusted or reached.
"""

import json
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.harness import until
from tests.deploy.harness import DEPLOY, ROOT, run
from tests.deploy.running import ask, free_port, started

NEEDED = ("buildah", "debootstrap")
BASE = "localhost/osbctl-test-base"
USER = 10001

pytestmark = [
    pytest.mark.container,
    pytest.mark.skipif(os.getuid() != 0, reason="only root can make a base image"),
    *(pytest.mark.skipif(not shutil.which(name), reason=f"{name} is not installed") for name in NEEDED),
]


def buildah(*arguments: str | Path, seconds: float = 600) -> str:
    command = ["buildah", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return (done.stdout + done.stderr).strip()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Debian's own Python in an image."""
    root = tmp_path_factory.mktemp("base") / "root"
    made = run("debootstrap", "--variant=minbase", "--include=python3-venv,ca-certificates", "stable", root, cwd=ROOT, timeout=600)  # fmt: skip
    if made.returncode:
        pytest.skip(f"no base could be made: {made.stdout[-200:]}")
    (root / "usr/bin/python").symlink_to("python3")
    container = buildah("from", "scratch")
    buildah("add", "--quiet", container, root, "/")
    buildah("commit", "--quiet", container, BASE)
    buildah("rm", container)
    yield BASE
    buildah("rmi", "--force", BASE)


def build(base: str, form: str) -> tuple[str, str]:
    """The name of an image in that format, and what buildah said."""
    # This machine's settings of pip (a private index, a certificate) apply to the build, too.
    files = [path for path in ("/etc/pip.conf", "/etc/ssl/certs") if Path(path).exists()]
    volumes = [part for path in files for part in ("--volume", f"{path}:{path}:ro")]
    told = [part for name in os.environ if name.startswith("PIP_") for part in ("--env", f"{name}={os.environ[name]}")]
    name = f"localhost/osbctl-test-{form}"
    said = buildah(
        *("bud", "--isolation", "chroot", "--format", form, "--build-arg", f"BASE={base}", "--tag", name),
        *("--file", DEPLOY / "Containerfile", *volumes, *told, ROOT),
    )
    return name, said


@pytest.fixture(scope="module")
def image(base: str) -> Iterator[str]:
    name, _ = build(base, "docker")
    yield name
    buildah("rmi", "--force", name)


def settings(image: str) -> dict[str, object]:
    found = json.loads(buildah("inspect", "--type", "image", image))["Docker"]["config"]
    assert isinstance(found, dict)
    return found


def test_the_docker_format_has_the_health_check_and_the_oci_format_has_not(base: str, image: str) -> None:
    assert settings(image)["User"] == f"{USER}:{USER}"
    assert "readyz" in str(settings(image)["Healthcheck"])
    other, said = build(base, "oci")  # its steps are those of the other one, kept by buildah
    assert "HEALTHCHECK is not supported for OCI" in said
    assert not settings(other).get("Healthcheck")
    buildah("rmi", "--force", other)


def test_it_serves_as_its_user_and_its_health_check_passes(
    image: str, tmp_path: Path, credentials: Path, pair: tuple[Path, Path], trust: ssl.SSLContext
) -> None:
    catalog, secrets = tmp_path / "catalog", tmp_path / "secrets"
    for folder in (catalog, secrets):
        folder.mkdir()
    (catalog / "catalog.json").write_text((ROOT / "catalogs/interface-example.json").read_text())
    for file, name in ((credentials, "credentials.json"), (pair[0], "tls.crt"), (pair[1], "tls.key")):
        shutil.copy(file, secrets / name)
    for path in (secrets, *secrets.iterdir()):
        os.chown(path, USER, USER)
        path.chmod(0o750 if path.is_dir() else 0o640)
    port, admin = free_port(), free_port()
    container = buildah("from", image)
    inside = ["run", "--isolation", "chroot", "--volume", f"{catalog}:/catalog:ro", "--volume", f"{secrets}:/run/secrets:ro"]  # fmt: skip
    told = {
        "OSBCTL_TLS_CERT": "/run/secrets/tls.crt",
        "OSBCTL_TLS_KEY": "/run/secrets/tls.key",
        "OSBCTL_PORT": str(port),
        "OSBCTL_ADMIN_LISTEN": f"127.0.0.1:{admin}",
    }
    inside += [part for name, value in told.items() for part in ("--env", f"{name}={value}")]
    config = settings(image)
    check = re.sub("9090", str(admin), json.dumps(config["Healthcheck"]["Test"][1:]))  # type: ignore[index]
    command = ["buildah", *inside, container, "--", *config["Entrypoint"], *config["Cmd"]]  # type: ignore[misc]
    try:
        with started(command, tmp_path, "credentials: ", code=None):
            assert ask(port, trust)[0] == 200
            assert buildah("run", "--isolation", "chroot", container, "--", "id", "-u") == str(USER)
            assert until(lambda: buildah("run", "--isolation", "chroot", container, "--", *json.loads(check)) == "")
    finally:
        buildah("rm", container)
