"""The broker end to end, in one process: real credentials, real responses, TLS."""

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from osbctl.broker.catalog_app import ServedCatalog
from osbctl.broker.reload import Watcher
from osbctl.broker.serve import Service
from osbctl.broker.tls import load_certificate
from osbctl.catalog import LoadedCatalog
from osbctl.commands import load_catalog as loading
from osbctl.commands.load_catalog import CatalogSource, load, load_in_subprocess
from osbctl.commands.serve import service_factory
from osbctl.credentials import CredentialRecord, make_record, write_record
from osbctl.errors import ConfigError, SourceError
from osbctl.findings import DocumentError
from osbctl.platforms import Platform
from tests.broker.harness import until
from tests.cli.program import osbctl
from tests.deploy.harness import write
from tests.sources.folder.brokerpaks import brokerpak

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", ["/a?b", "/a#b", "/ä", "/%41", "/a b", "/a/../x", "/."])
def test_invalid_base_path_is_refused(path: str) -> None:
    ran = osbctl("serve", "x.json", "--credentials", "missing.json", "--insecure-http", "--base-path", path)
    assert ran.returncode == 2
    assert "--base-path" in ran.stderr
    assert "/brokers/data" in ran.stderr


def test_missing_credentials_file_error_says_how_to_create_it(tmp_path: Path) -> None:
    missing = tmp_path / "c.json"
    ran = osbctl("serve", "catalogs/interface-example.json", "--credentials", str(missing), "--insecure-http", cwd=ROOT)
    assert ran.returncode == 3
    assert f"cannot read {missing}: No such file or directory" in ran.stderr
    assert "osbctl hash-password" in ran.stderr


def test_unusable_files_are_an_error_before_the_catalog_is_loaded(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    """Loading a catalog takes longest; it is missing here, too."""
    broken, record = tmp_path / "broken", tmp_path / "record"
    broken.write_text("broken")
    write_record(record, make_record("platform", "right", rounds=1000))
    for files, told in (
        ((record, broken, pair[1]), f"the TLS certificate {broken} and key {pair[1]} cannot be used"),
        ((broken, *pair), f"{broken}:1: neither JSON nor an htpasswd line"),
        ((record, *pair), "missing.json: there is no such file"),
    ):
        options = zip(("--credentials", "--tls-cert", "--tls-key"), map(str, files), strict=True)
        ran = osbctl("serve", "missing.json", *chain(*options), "--port", "0", cwd=tmp_path)
        assert (ran.returncode, told in ran.stderr) == (3, True), (told, ran.stderr)


def test_a_change_during_the_start_is_loaded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """While a large catalog is loaded, seconds may pass."""
    catalog, credentials = tmp_path / "catalog", tmp_path / "credentials"
    catalog.write_bytes(b"one")
    credentials.write_text("one")
    changes = ["two"]

    def load_catalog() -> LoadedCatalog:
        body = catalog.read_bytes()
        for change in changes:
            catalog.write_text(change)
            credentials.write_text(change)
        changes.clear()
        return LoadedCatalog(body, 1, 1)

    def load_credentials() -> list[CredentialRecord]:
        return [make_record("platform", "right", rounds=1000, label=credentials.read_text())]

    service = Service(load_catalog, load_credentials, lambda: [catalog], [credentials])
    watcher = Watcher(service.watched, Counter(), seconds=0.01)
    caplog.set_level("INFO", "osbctl.broker")
    try:
        watcher.start()
        assert until(lambda: service.app.catalog.body == b"two")
        assert until(lambda: service.authenticator._records.unexpired_records("platform", 0)[0].label == "two")
        assert service.summary[-1] == "credentials: one"
        assert until(lambda: "credentials: two" in caplog.messages)
    finally:
        watcher.close()
        service.authenticator.close()


class Held:
    """A service with sources in memory."""

    def __init__(self, **options: Any) -> None:
        self.loaded = LoadedCatalog(b"one", 1, 1)
        self.records = [make_record("u", "p", rounds=1000)]
        self.service = Service(lambda: self.loaded, lambda: self.records, list, [], **options)

    def served(self) -> ServedCatalog:
        return self.service.app.catalog

    def reload(self, body: bytes, services: int = 1) -> ServedCatalog:
        self.loaded = LoadedCatalog(body, services, services)
        watched = self.service.watched[0]
        watched.apply(watched.load())
        return self.served()


@pytest.fixture
def held() -> Iterator[Held]:
    made = Held()
    yield made
    made.service.authenticator.close()


def test_last_modified_increases_with_each_change(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    before = held.served()
    assert held.reload(b"one") is before
    dates = [held.served().modified]
    dates += [held.reload(body).modified for body in (b"two", b"one", b"two")]
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)
    dates.append(held.reload(b"three").modified)
    assert dates == sorted(set(dates))


def test_reload_without_services_is_refused(held: Held) -> None:
    with pytest.raises(ConfigError, match="it has no services"):
        held.reload(b"none", services=0)
    assert held.served().body == b"one"
    held = Held(allow_empty=True)
    assert held.reload(b"none", services=0).body == b"none"
    held.service.authenticator.close()


def test_credentials_that_all_expired_do_not_replace_good_ones(held: Held, caplog: pytest.LogCaptureFixture) -> None:
    _, credentials = held.service.watched
    old = replace(held.records[0], label="old", expires="2020-01-01T00:00:00Z")
    held.records = [old]
    with pytest.raises(ConfigError, match="all of them have expired"):
        credentials.load()
    held.records = [old, make_record("u", "q", rounds=1000)]
    caplog.set_level("INFO", "osbctl.broker")
    credentials.apply(credentials.load())
    assert caplog.messages == ["credentials: old (expired), record 1 (u)"]


def source(folder: Path, text: str, **options: Any) -> CatalogSource:
    file = folder / "catalog.yaml"
    file.write_text(text)
    return CatalogSource(str(file), **options)


def test_catalog_refused_by_a_chosen_platform_is_not_loaded(tmp_path: Path) -> None:
    assert load(source(tmp_path, '{"services": []}')).services == 0
    with pytest.raises(DocumentError, match="at least one service"):
        load_in_subprocess(source(tmp_path, '{"services": []}', platforms=(Platform.CLOUD_FOUNDRY,)))


def test_invalid_catalog_error_has_locations_and_hints(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as caught:
        load_in_subprocess(source(tmp_path, '{"services":\n [{"bindable": "true"}]}'))
    assert str(caught.value.findings[0].location) == f"{tmp_path}/catalog.yaml:2:3"
    assert "write true, without quotes" in {finding.hint for finding in caught.value.findings}


def test_catalog_over_the_size_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="larger than 500 bytes"):
        load_in_subprocess(source(tmp_path, '{"services": []}' + " " * 1000, max_bytes=500))


@pytest.mark.parametrize("text", [
    "a: &a " + "x" * 300 + "\nb: *a\nservices: []\n",
    "a: &a {" + "x" * 300 + ": 1}\nb: *a\nservices: []\n",
    "a: [" + "\xe4," * 110 + "]\nservices: []\n",  # shorter by its characters
])  # fmt: skip
def test_catalog_over_the_size_limit_as_json_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="as JSON the catalog is larger than 500 bytes"):
        load(source(tmp_path, text, max_bytes=500))


def test_yaml_aliases_are_counted_before_expansion(tmp_path: Path) -> None:
    """As JSON it would have 20 GB; generating it would take minutes."""
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 7))
    began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with pytest.raises(ConfigError, match="as JSON the catalog is larger than"):
        load_in_subprocess(source(tmp_path, f"l0: &l0 {'x' * 20_000}\n{levels}services: []\n"))
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began < 10


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a process to RLIMIT_DATA")
def test_catalog_over_the_memory_limit_is_refused(tmp_path: Path) -> None:
    """Short lists need forty times their text; the broker's process must not need memory for them."""
    text = '{"services": [], "x": [' + ",".join(["[" * 90 + "]" * 90] * 16_500) + "]}"
    with pytest.raises(ConfigError, match="takes more than 124 MB of memory") as caught:
        load_in_subprocess(source(tmp_path, text, max_bytes=3_000_000))
    assert "--max-bytes" in caught.value.advice


def test_the_closest_configuration_counts(tmp_path: Path) -> None:
    (tmp_path / "osbctl.toml").write_text('ignore = ["schema-*"]\n')
    (tmp_path / "below").mkdir()
    text = '{"services": [{"id": "7", "name": "n", "bindable": true, "plans": []}]}'
    assert load_in_subprocess(source(tmp_path / "below", text)).services == 1


def test_a_brokerpak_is_read_with_the_variables_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pak = CatalogSource(str(brokerpak(tmp_path / "pak")))
    plan = '[{"name": "tiny", "id": "7400cd8f-5f98-4457-8de0-03232ec12f62", "description": "T."}]'
    monkeypatch.setenv("GSB_SERVICE_ACME_CACHE_PLANS", plan)
    assert "GSB_SERVICE_ACME_CACHE_PLANS from the environment" in load_in_subprocess(pak).read_as


def test_only_parts_of_a_source_folder_are_watched(tmp_path: Path) -> None:
    """The log of the broker may be among them: each line would cause a reload, and each reload a line."""
    files = ("catalog.yaml", "catalog.lock", "services/a.json", "serve.log", ".git/config.json")
    write(tmp_path, dict.fromkeys(files, ""))
    made: Any = service_factory(CatalogSource(str(tmp_path)), tmp_path, "", "2.0", 412, allow_empty=False)
    names = [str(path.relative_to(tmp_path)) for path in made.keywords["catalog_paths"]()]
    assert names == ["catalog.lock", "catalog.yaml", "services/a.json"]


def test_a_linked_folder_the_configuration_and_its_files_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Kubernetes mounts a ConfigMap. Links to other places, and in a circle, are not followed."""
    folder = tmp_path / "catalog"
    files = ("..data/services/a.yaml", "catalog.yaml", "../other/b.yaml", "../broker.env")
    write(folder, dict.fromkeys(files, ""))
    for link, target in (("services", "..data/services"), ("other", "../other"), ("..data/services/c", "../..")):
        (folder / link).symlink_to(target)
    config = tmp_path / "osbctl.toml"
    config.write_text('extends = "base.toml"\nenv = "broker.env"\nschema = ["house.schema"]\n')
    (tmp_path / "base.toml").write_text("")
    source = CatalogSource(str(folder), config=str(config))
    made: Any = service_factory(source, tmp_path, "", "2.0", 412, allow_empty=False)
    names = [os.path.relpath(path, folder) for path in made.keywords["catalog_paths"]()]
    beside = ["../base.toml", "../broker.env", "../house.schema", "../osbctl.toml"]
    assert names == ["catalog.yaml", "services/a.yaml", *beside]
    monkeypatch.setattr("osbctl.commands.serve.load", lambda _: LoadedCatalog(b"{}", 0, 0))
    made = service_factory(source._replace(source="-"), tmp_path, "", "2.0", 412, allow_empty=False)
    assert not made.keywords["catalog_paths"](), "what was read once is not judged again"


@pytest.mark.parametrize("line", ["hello", "7", "[1]"])
def test_loading_process_that_prints_is_an_error(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"print({line!r}, flush=True)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match="printed a line that is not its reply") as caught:
        load_in_subprocess(source(tmp_path, '{"services": []}'))
    assert caught.value.advice == "does a module sitecustomize print something?"


def test_loading_has_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child has its own timeout, so that it ends even without its parent."""
    fifo = tmp_path / "catalog.json"
    os.mkfifo(fifo)
    monkeypatch.setattr(loading, "SECONDS", 1)
    with pytest.raises(ConfigError, match="took longer than 1 second"):
        load_in_subprocess(CatalogSource(str(fifo)))


def test_fifo_is_refused_at_once(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    made: Any = service_factory(CatalogSource(str(fifo)), fifo, "", "2.0", 412, allow_empty=False)
    for read in (
        made.keywords["read_catalog"],
        made.keywords["read_records"],
        lambda: load_certificate(fifo, pair[1]),
        lambda: load_certificate(pair[0], fifo),
    ):
        with pytest.raises((SourceError, ConfigError), match="is not a regular file"):
            read()
