"""The manifests: as kustomize makes them, against Kubernetes' own schemas, and against what osbctl takes."""

import base64
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from osbctl.commands.load_catalog import LARGEST, memory_limit
from osbctl.sources.read import read_source
from osbctl.sources.yaml_text import dump
from tests.broker.harness import until
from tests.case import case
from tests.cli.program import osbctl
from tests.deploy.harness import CATALOG, DEPLOY, ROOT, run
from tests.deploy.running import OSBCTL, Program, ask, started

FOLDER = DEPLOY / "kubernetes"
OLDEST, NEWEST = "1.30", "1.37"


def manifests() -> list[dict[str, Any]]:
    files = [file for file in sorted(FOLDER.glob("*.yaml")) if file.name != "kustomization.yaml"]
    return [document for file in files for document in yaml.safe_load_all(file.read_text())]


def built() -> list[dict[str, Any]]:
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed")
    done = run("kubectl", "kustomize", ".", cwd=FOLDER)
    assert (done.returncode, done.stderr) == (0, "")
    return list(yaml.safe_load_all(done.stdout))


def of_kind(kind: str, documents: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = [document for document in documents if document["kind"] == kind]
    return found


POD = of_kind("Deployment", manifests())["spec"]["template"]["spec"]
CONTAINER = POD["containers"][0]
SETTINGS = {entry["name"]: entry["value"] for entry in CONTAINER["env"]}


def test_each_manifest_meets_the_schema_of_kubernetes() -> None:
    for version in (OLDEST, NEWEST):
        for document in manifests():
            with case(version, document["kind"]):
                kubernetes_validate.validate(document, version, strict=True)
    deployment = of_kind("Deployment", manifests())
    deployment["spec"]["template"]["spec"]["containers"][0]["readinesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, NEWEST, strict=True)


def test_kustomize_builds_all_manifests() -> None:
    documents = built()
    assert {document["kind"] for document in documents} == {
        "ConfigMap", "Deployment", "HorizontalPodAutoscaler", "NetworkPolicy", "PodDisruptionBudget", "Service",
    }  # fmt: skip
    for document in documents:
        assert document["metadata"]["namespace"] == "osbctl"
        kubernetes_validate.validate(document, NEWEST, strict=True)
    (catalog,) = [volume["configMap"]["name"] for volume in POD["volumes"] if "configMap" in volume]
    assert of_kind("ConfigMap", documents)["metadata"]["name"] == catalog


def test_everything_selects_the_pods() -> None:
    documents = manifests()
    labels = of_kind("Deployment", documents)["spec"]["template"]["metadata"]["labels"]
    assert of_kind("Service", documents)["spec"]["selector"] == labels
    selectors = {"Deployment": "selector", "PodDisruptionBudget": "selector", "NetworkPolicy": "podSelector"}
    for kind, field in selectors.items():
        assert of_kind(kind, documents)["spec"][field] == {"matchLabels": labels}, kind
    assert of_kind("HorizontalPodAutoscaler", documents)["spec"]["minReplicas"] == 2


def test_the_pod_has_least_privileges() -> None:
    assert POD["securityContext"]["runAsNonRoot"]
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert POD["automountServiceAccountToken"] is False


def test_an_apply_never_touches_the_secret() -> None:
    assert "secret" not in (FOLDER / "kustomization.yaml").read_text().partition("resources:")[2]


def test_the_example_catalog_is_that_of_the_project() -> None:
    assert (FOLDER / "catalog.json").read_bytes() == (ROOT / "catalogs/interface-example.json").read_bytes()


def placed(tmp_path: Path, pair: tuple[Path, Path]) -> dict[str, str]:
    """The settings of the container, with each volume's folder in `tmp_path` and ports that the system gives."""
    folders = {mount["mountPath"]: tmp_path / mount["name"] for mount in CONTAINER["volumeMounts"]}
    settings = dict(SETTINGS)
    for name, value in SETTINGS.items():
        mount, _, file = value.rpartition("/")
        if mount in folders:
            folders[mount].mkdir(exist_ok=True)
            settings[name] = str(folders[mount] / file)
    shutil.copy(FOLDER / "catalog.json", settings["OSBCTL_SOURCE"])
    shutil.copy(pair[0], settings["OSBCTL_TLS_CERT"])
    shutil.copy(pair[1], settings["OSBCTL_TLS_KEY"])
    return settings | {"OSBCTL_PORT": "0", "OSBCTL_ADMIN_LISTEN": "0.0.0.0:0"}


def put_large(settings: dict[str, str]) -> None:
    """Replace the catalog by one of the largest size, which gzip could not make small and no word looks like a template."""
    catalog = Path(settings["OSBCTL_SOURCE"])
    large = json.loads((FOLDER / "catalog.json").read_text())
    text = base64.b64encode(os.urandom((LARGEST - 10_000) * 3 // 4))
    large["services"][0]["description"] = text.translate(bytes.maketrans(b"DEX", b"-!~")).decode()
    catalog.write_text(json.dumps(large))


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, pair: tuple[Path, Path], credentials: Path
) -> Iterator[tuple[Program, dict[str, str]]]:
    """A broker with the settings of the container, and these; it serves the largest catalog."""
    folder = tmp_path_factory.mktemp("pod")
    settings = placed(folder, pair)
    shutil.copy(credentials, settings["OSBCTL_CREDENTIALS"])
    put_large(settings)
    with started([*OSBCTL, "serve"], folder, "credentials: ", **settings) as program:
        yield program, settings


def test_the_settings_start_a_broker_and_the_probes_find_it(broker: tuple[Program, dict[str, str]], trust: Any) -> None:
    program, _ = broker
    # What a Service named osbctl would put into the environment, were it not for enableServiceLinks.
    assert POD["enableServiceLinks"] is False
    ports = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
    assert str(ports["https"]) == SETTINGS["OSBCTL_PORT"]
    assert f"0.0.0.0:{ports['admin']}" == SETTINGS["OSBCTL_ADMIN_LISTEN"]
    assert ask(program.port(), trust)[0] == 200
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = CONTAINER[probe]["httpGet"]
        assert asked["port"] == "admin"
        assert ask(program.port("admin on"), None, "GET", asked["path"])[0] == 200, probe


def peak(pid: int) -> int:
    """The most memory that a process has held at one time, in bytes."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) * 1024


def test_the_memory_limits_hold_when_the_largest_catalog_is_reloaded(
    broker: tuple[Program, dict[str, str]], trust: Any
) -> None:
    """Measured memory of the service and its hashing, and the limit for reading a catalog."""
    program, settings = broker
    put_large(settings)
    assert until(lambda: "reloaded the catalog" in program.log, 60)
    assert len(ask(program.port(), trust)[2]) > LARGEST - 10_000
    children = Path(f"/proc/{program.process.pid}/task/{program.process.pid}/children").read_text().split()
    seen = sum(map(peak, [program.process.pid, *map(int, children)]))
    limits = [
        CONTAINER["resources"]["limits"]["memory"],
        yaml.safe_load((DEPLOY / "cloudfoundry/manifest.yml").read_text())["applications"][0]["memory"],
        *re.findall(r"^MemoryMax=(.+)", (DEPLOY / "systemd/osbctl@.service").read_text(), re.MULTILINE),
    ]
    assert len(limits) == 3
    for limit in limits:
        assert seen + memory_limit(LARGEST) < int(re.fullmatch(r"(\d+)Mi?", limit)[1]) << 20, limit  # type: ignore[index]


def test_the_example_record_is_refused(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    settings = placed(tmp_path, pair)
    record = of_kind("Secret", manifests())["stringData"]["credentials.json"]
    Path(settings["OSBCTL_CREDENTIALS"]).write_text(record)
    done = run(*OSBCTL, "serve", cwd=tmp_path, env={**settings, "PYTHONPATH": str(ROOT)}, code=3)
    assert "credentials.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_commands_of_the_example_make_a_secret_that_works(tmp_path: Path) -> None:
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed")
    lines = [line.lstrip("# ") for line in (FOLDER / "secret-example.yaml").read_text().splitlines()]
    hashing, creating = (next(line for line in lines if line.startswith(word)) for word in ("osbctl hash", "kubectl"))
    password = osbctl(*hashing.split()[1:], "--rounds", "1000", cwd=tmp_path).stdout.strip()
    secret = yaml.safe_load(run(*creating.partition(" | ")[0].split(), cwd=tmp_path, code=0).stdout)
    kubernetes_validate.validate(secret, NEWEST, strict=True)
    example = of_kind("Secret", manifests())
    assert secret["metadata"]["name"] == example["metadata"]["name"]
    assert list(secret["data"]) == list(example["stringData"])
    record = json.loads(base64.b64decode(secret["data"]["credentials.json"]))
    assert record["identity"] == "platform"
    assert password not in json.dumps(record)


def test_two_processes_give_one_catalog_the_same_tags(
    tmp_path: Path, credentials: Path, pair: tuple[Path, Path], trust: Any
) -> None:
    """From JSON and from YAML, written at different times: a balancer may ask either."""
    data = read_source(str(CATALOG)).data
    texts = {"catalog.json": json.dumps(data, indent=4), "catalog.yaml": dump(data)}
    answers = []
    with ExitStack() as stack:
        for number, (name, text) in enumerate(texts.items()):
            folder = tmp_path / name.replace(".", "-")
            folder.mkdir()
            (folder / name).write_text(text)
            os.utime(folder / name, (1_700_000_000 + number, 1_700_000_000 + number))
            options = ["--credentials", str(credentials), "--tls-cert", str(pair[0]), "--tls-key", str(pair[1])]
            # no fork: each has its own hash seed
            command = [*OSBCTL, "serve", str(folder / name), *options, "--port", "0"]
            program = stack.enter_context(started(command, folder, "credentials: "))
            port = program.port()
            answers.append([ask(port, trust, Accept_Encoding=coding) for coding in ("identity", "gzip")])
            assert [ask(port, trust, Accept_Encoding=coding, If_None_Match=answer[1]["etag"])[0]
                    for coding, answer in zip(("identity", "gzip"), answers[0], strict=True)] == [304, 304]  # fmt: skip
    assert [(tag["etag"], body) for _, tag, body in answers[0]] == [(tag["etag"], body) for _, tag, body in answers[1]]
