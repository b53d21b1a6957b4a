"""A judge of secrets: a marked value of each kind at each secret place, through each command and each format.

The mark may be where the output is the catalog: standard output of `build`, `fetch`, `fix`, `split`, `brokers show` and
`show -f json`, and files that they write. It must be nowhere else: no report, page, note, error, baseline or log.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from osbctl.editor.open_files import analyse_source
from osbctl.reports import Format
from osbctl.reports.changes import DiffFormat
from tests.case import case
from tests.cli.broker_server import PASSWORD, USER, FakeBroker, broker
from tests.cli.program import commands, osbctl
from tests.corpus import EVERY_CASE
from tests.secrets.catalogs import (
    ANYTHING,
    CLIENT_SECRETS,
    IN_TEXTS,
    PLACES,
    as_yaml,
    catalog_of,
    clean_catalog,
    found_places,
    in_string,
)

KINDS = [*dict.fromkeys([*ANYTHING, *IN_TEXTS])]


class Run(NamedTuple):
    """Words of a command; `{service}` and `{plan}` make a run for each offering. `prints_catalog`: its output is one."""

    words: str
    prints_catalog: bool = False


PLATFORMS = ("cloudfoundry", "kubernetes", "korifi", "service-manager")


def runs() -> Iterator[Run]:
    for form in Format:
        yield Run(f"validate catalog.yaml catalog.json -f {form}")
    yield Run("validate catalog.json --concise --color always")
    yield Run("validate catalog.json clean.json --schema house.json --together -f json")
    yield Run("validate catalog.json --write-baseline --baseline baseline.json")
    yield Run("validate source")
    yield Run("validate map.json --at /data/c")
    yield Run("validate beside.json")
    yield Run("show map.json --at /data/c")
    for platform in PLATFORMS:
        yield Run(f"validate catalog.yaml -p {platform} --api-version 2.17")
    for form in DiffFormat:
        yield Run(f"diff clean.json catalog.yaml -f {form} -o report")
        yield Run(f"diff catalog.json clean.json -f {form}")
        yield Run(f"drift catalog.json clean.json -f {form}")
    yield Run("diff catalog.json changed.json")
    yield Run("show catalog.json")
    yield Run("show catalog.yaml --color always")
    yield Run("show catalog.json -f markdown")
    yield Run("show catalog.json -f json", prints_catalog=True)
    yield Run("show catalog.json -f yaml", prints_catalog=True)
    yield Run("show catalog.json -s {service}")
    for purpose in ("create", "update", "bind"):
        yield Run(f"params catalog.json {{service}} {{plan}} --for {purpose}")
    yield Run("params catalog.json {service} {plan} -f json")
    yield Run("params catalog.json {service} {plan} -c {request} -f json")
    yield Run("page catalog.json -o page.html")
    yield Run("page catalog.yaml --findings -o page.html")
    yield Run("page catalog.json --since clean.json -o page.html")
    yield Run("page clean.json --since catalog.json -o page.html")
    yield Run("fix catalog.yaml --check")
    yield Run("fix catalog.json --unsafe --diff", prints_catalog=True)
    yield Run("build source", prints_catalog=True)
    yield Run("build source --check", prints_catalog=True)
    yield Run("split catalog.json other")
    yield Run("serve invalid.json --credentials none.json --insecure-http --port 0")
    for form in Format:
        yield Run(f"check URL --user platform -f {form}")
    yield Run("fetch URL --user platform", prints_catalog=True)
    yield Run("diff URL clean.json --user platform")
    yield Run("page URL --user platform -o page.html")
    for platform in PLATFORMS:
        yield Run(f"brokers add {platform} URL --user platform --as {platform} --database registry.sqlite")
    yield Run("drift --all -f json --database registry.sqlite")
    yield Run("drift clean --database registry.sqlite")
    yield Run("brokers refresh --dry-run --database registry.sqlite")
    yield Run("brokers refresh --database registry.sqlite")
    yield Run("brokers list -f json --database registry.sqlite")
    yield Run("brokers show clean --database registry.sqlite", prints_catalog=True)


WITHOUT_CATALOG = {"init", "new", "schema", "rules", "lsp", "hash-password", "verify-password", "brokers remove"}
"""Commands that read no catalog, or print nothing of one. The editor has a test below."""

_SERVICE = {"required": ["x"], "additionalProperties": {"type": ["null", "array"]}}
HOUSE = {"properties": {"services": {"items": _SERVICE}}}
"""A user schema that refuses nearly every value."""


class Desk:
    """A folder with the files of one catalog, and a broker that serves it."""

    def __init__(self, folder: Path, server: FakeBroker, kinds: dict[str, str]) -> None:
        """A catalog of these places, each with the kind of its value."""
        self.folder, self.server = folder, server
        self.catalog, clean = catalog_of(kinds), clean_catalog(kinds)
        changed = json.loads(json.dumps(self.catalog).replace("mark", "mark2"))
        invalid = {"services": [*self.catalog["services"], {}]}
        files = {"catalog": self.catalog, "clean": clean, "changed": changed, "invalid": invalid, "house": HOUSE}
        for name, data in files.items():
            (folder / f"{name}.json").write_text(json.dumps(data, indent=1))
        (folder / "catalog.yaml").write_text(as_yaml(self.catalog))
        (folder / "map.json").write_text(in_string(self.catalog))
        (folder / "beside.json").write_text(in_string(self.catalog)[:-1] + ',"services":[{"plans":3}]}')
        osbctl("split", "catalog.json", "source", cwd=folder)
        server.put(clean)
        self.run(["brokers", "add", "clean", server.url, "--user", USER, "--database", "registry.sqlite"])
        server.put(self.catalog)

    def run(self, words: list[str]) -> Any:
        names = (name.upper().replace("-", "_") for name in (*PLATFORMS, "clean"))
        passwords = {f"OSBCTL_BROKER_{name}_PASSWORD": PASSWORD for name in names}
        return osbctl(*words, cwd=self.folder, OSBCTL_PASSWORD=PASSWORD, **passwords)

    def outputs(self, run: Run) -> Iterator[bytes]:
        """The texts that a run prints, and the reports that it writes."""
        for words in self.commands(run.words):
            done = self.run(words)
            yield done.stderr.encode()
            if not run.prints_catalog:
                yield done.stdout.encode()
        for file in ("report", "page.html", "baseline.json"):
            if (self.folder / file).exists():
                yield (self.folder / file).read_bytes()
                (self.folder / file).unlink()

    def commands(self, words: str) -> Iterator[list[str]]:
        line = words.replace("URL", self.server.url).split()
        if "{service}" not in line:
            yield line
            return
        for service in self.catalog["services"]:
            plan = (service.get("plans") or [{}])[0]
            request = json.dumps(some_request(plan))
            filled = {"{service}": clean_word(service), "{plan}": clean_word(plan), "{request}": request}
            yield [filled.get(word, word) for word in line]

    def leaks(self, chosen: list[Run]) -> list[str]:
        """A line for each run that shows a mark."""
        found = []
        for run in chosen:
            with case(run.words):
                places = {place for output in self.outputs(run) for place in found_places(output)}
                found += [f"{run.words}: {', '.join(sorted(places))}"] if places else []
        return found


def clean_word(thing: Any) -> str:
    """The name of an offering or a plan, or its id where the name holds a mark."""
    words = [thing.get(key) for key in ("name", "id")]
    return next((word for word in words if isinstance(word, str) and "mark" not in word), "x")


def some_request(plan: dict[str, Any]) -> dict[str, Any]:
    """A request whose every parameter is wrong."""
    try:
        properties = plan["schemas"]["service_instance"]["create"]["parameters"]["properties"]
    except KeyError:
        properties = {}
    return {name: ["no"] for name in properties}


def of_one_kind(kind: str) -> dict[str, str]:
    """Every place that can hold this kind."""
    return {name: kind for name, place in PLACES.items() if kind in place.kinds}


PARTS = range(8)
"""The sample: each run and each place is in one part, with another kind than its neighbours."""


def sample(part: int) -> tuple[dict[str, str], list[Run]]:
    """The kinds of the places of a part, and its runs."""
    kinds = {}
    for number, (name, place) in enumerate(PLACES.items()):
        if number % len(PARTS) == part:
            kinds[name] = [*place.kinds][(number // len(PARTS)) % len(place.kinds)]
    return kinds, [run for number, run in enumerate(runs()) if number % len(PARTS) == part]


def test_every_command_that_reads_a_catalog_is_run() -> None:
    names = {name for name, command in commands().items() if not hasattr(command, "commands")}
    run = {name for name in names if any(run.words.startswith(f"{name} ") for run in runs())}
    assert run == names - WITHOUT_CATALOG


def test_each_run_each_place_and_each_kind_is_in_the_sample() -> None:
    parts = [sample(part) for part in PARTS]
    assert sorted(run for _, chosen in parts for run in chosen) == sorted(runs())
    assert {name for kinds, _ in parts for name in kinds} == PLACES.keys()
    assert {kind for kinds, _ in parts for kind in kinds.values()} == {*KINDS}


@pytest.mark.parametrize("part", PARTS)
def test_no_command_shows_a_secret_of_a_catalog(part: int, tmp_path: Path) -> None:
    """Each command, format, place and kind; `make test-every-case` tries all of them with one another."""
    check_catalog(tmp_path, *sample(part))


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS if EVERY_CASE else [])
def test_no_command_shows_a_secret_of_any_kind(kind: str, tmp_path: Path) -> None:
    check_catalog(tmp_path, of_one_kind(kind), [*runs()])


def check_catalog(tmp_path: Path, kinds: dict[str, str], chosen: list[Run]) -> None:
    with broker({}) as server:
        found = Desk(tmp_path, server, kinds).leaks(chosen)
    stored = {place for file in tmp_path.glob("registry.sqlite*") for place in found_places(file.read_bytes())}
    found += [f"database: {place}" for place in stored & CLIENT_SECRETS]
    for source in (tmp_path / "catalog.yaml", tmp_path / "catalog.json"):
        analysis = analyse_source(str(source), {str(source): source.read_text()})
        told = [(f.message, f.advice, f.platform_messages) for f in analysis.findings]
        found += [f"editor: {place}" for place in found_places(repr((told, analysis.verdicts)).encode())]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.fuzz
@pytest.mark.parametrize("place", PLACES if EVERY_CASE else [])
def test_no_command_shows_a_secret_at_one_place(place: str, tmp_path: Path) -> None:
    """As above, where no other finding can take the place of the one that shows it."""
    with broker({}) as server:
        for kind in PLACES[place].kinds:
            (tmp_path / kind).mkdir()
            with case(kind):
                found = Desk(tmp_path / kind, server, {place: kind}).leaks([*runs()])
                assert not found, "\n" + "\n".join(found)


ADDRESSES = [
    "https://u:12/{}@host",
    "https://u:{}@broker.example.com",
    "https://u:1/{}?x#y@broker.example.com:8443/v2/catalog",
    "postgresql://admin:{}@db/x",
    "https://broker.example.com/?token={}",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_command_shows_the_password_of_an_address(address: str, tmp_path: Path) -> None:
    """Also where it is taken for a file."""
    (tmp_path / "a.json").write_text(json.dumps(clean_catalog(["client"])))
    word = address.format("qz000mark")
    for command in (
        "validate", "show", "fix", "build", "diff a.json", "drift a.json", "fetch", "check", "page -o p.html", "page a.json --since",
        "params", "split", "serve --credentials none.json --insecure-http", "brokers add x", "validate --schema",
        "validate a.json --baseline", "validate a.json --config", "drift --all --database", "diff a.json a.json --allow",
    ):  # fmt: skip
        words = [*command.split(), word]
        words += {"params": ["a", "b"], "split": ["x"]}.get(command, [])
        with case(command):
            done = osbctl(*words, cwd=tmp_path, OSBCTL_PASSWORD="x")
            assert "qz000mark" not in done.stdout + done.stderr, done.stderr


BROKEN = {
    "a doubled key": "services:\n- name: a\n  dashboard_client:\n    secret: {0}\n    secret: {0}\n",
    "an open quote": 'services:\n- name: a\n  password: "{0}\n',
    "an open bracket": "services:\n- name: a\n  credentials: [{{a: {0}, b: {0}\n",
    "in JSON": '{{"services": [{{"name": "a", "dashboard_client": {{"secret": "{0}",, "id": "a"}}}}]}}',
    "a string of JSON": '{{"services": [{{"apiKey": "{0}"\n "b": 1}}]}}',
    "a tab": "services:\n- name: a\n  apiKey: |\n    -----BEGIN\n\t{0}\n",
    "a tag": "services:\n- name: a\n  apiKey: !secret {0}\n",
    "lines": 'services:\n- name: a\n  private_key: "-----BEGIN\n    {0}\n    {0}" x\n',
    "a block": "services:\n- name: a\n  private_key: |\n    -----BEGIN\n    {0}\n   {0}: [\n",
    "a key that is none": "services:\n- name: a\n  private_key:\n    {0}\n    b: c\n",
    "a string": 'env: {{C: "{{\\"services\\":[{{\\"dashboard_client\\":{{\\"secret\\":\\"{0}\\",\\"secret\\":\\"{0}\\"}}}}]}}"}}\n',
    "a string that is no JSON": 'env: {{C: "{{\\"services\\":[{{\\"plans\\":[],\\"apiKey\\":\\"{0}\\" \\"{0}\\"}}]}}"}}\n',
    "a string with codes": 'env: {{C: "{{\\x22services\\x22:[{{\\x22plans\\x22:[],\\x22apiKey\\x22:\\x22{0}\\x22,}}]}}"}}\n',
    "an address": "services:\n- name: a\n  url: [https://u:{0}@x.example.com/?sig={0}\n",
}


@pytest.mark.fuzz
@pytest.mark.parametrize("fault", BROKEN)
def test_no_command_shows_a_secret_of_a_file_that_cannot_be_read(fault: str, tmp_path: Path) -> None:
    text = BROKEN[fault].format("qz000mark")
    (tmp_path / "good.json").write_text(json.dumps(clean_catalog(["client"])))
    (tmp_path / "catalog.yaml").write_text(text)
    words = [f"validate catalog.yaml -f {form}" for form in Format]
    words += [f"diff catalog.yaml good.json -f {form}" for form in DiffFormat]
    words += ["show catalog.yaml", "page catalog.yaml -o p.html", "fix catalog.yaml", "split catalog.yaml x"]
    words += ["drift catalog.yaml good.json"]
    for line in words if EVERY_CASE else words[[*BROKEN].index(fault) % 2 :: 2]:
        with case(line):
            done = osbctl(*line.split(), cwd=tmp_path)
            assert "qz000mark" not in done.stdout + done.stderr, done.stdout + done.stderr
