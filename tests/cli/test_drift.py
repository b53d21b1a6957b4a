"""`osbctl drift` as a whole: files, addresses, names in the registry, every format, and every way to fail."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from osbctl.platforms import Platform
from osbctl.reports.changes import BROKER_FORMATS, DiffFormat
from osbctl.sources.exports import StoredAs
from osbctl.sources.yaml_text import dump
from tests.case import case
from tests.cli import program
from tests.cli.broker_server import Answer, listening
from tests.cli.machine import registered
from tests.comparison.make import catalog, plan, service
from tests.drift.make import CATALOG, with_field
from tests.platforms.known import KNOWN
from tests.reports.standards import checked_json
from tests.sources.exports.make import export_as

SECRET = "hunter2-and-more"
Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def osbctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in a folder of its own, with a registry of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int | None = None, **variables: str) -> CompletedProcess[str]:
        done = program.osbctl(*words, code=code, OSBCTL_DATABASE="brokers.sqlite", **variables)
        assert SECRET not in done.stdout + done.stderr
        return done

    return run


def write(platform: Platform, catalog: dict[str, Any] = CATALOG, ending: str = "json") -> list[str]:
    names = []
    for number, file in enumerate(export_as(platform, catalog)):
        names.append(f"export-{number}.{ending}")
        Path(names[-1]).write_text(dump(file) if ending == "yaml" else json.dumps(file, indent=2))
    return names


def silent(done: CompletedProcess[str]) -> bool:
    return done.stdout == "" and done.stderr == f"osbctl: {done.args[1]}: same\n"


def put(catalog: dict[str, Any], name: str = "catalog.json") -> str:
    Path(name).write_text(json.dumps(catalog, indent=2))
    return name


def test_nothing_is_said_where_nothing_drifts(osbctl: Run) -> None:
    for platform in KNOWN:
        for ending in ("json", "yaml"):
            done = osbctl("drift", put(CATALOG), *write(platform, ending=ending), code=0)
            assert done.stdout == "", (platform, ending)
            assert done.stderr.startswith(f"osbctl: not compared, as {platform.label} does not store or show it")
            assert "dashboard_client of 1 service offering" in done.stderr


@pytest.mark.parametrize("platform", KNOWN)
def test_one_finding_in_every_format(osbctl: Run, platform: Platform) -> None:
    sources = (put(with_field("name", "base", of_plan=False)), *write(platform))
    for form in DiffFormat:
        done = osbctl("drift", *sources, "--format", form, code=1)
        assert "change-service-renamed" in done.stdout, form
        if form is DiffFormat.JSON:
            report = checked_json(done.stdout, "diff-1")
            (change,) = report["changes"]
            assert change["message"] == 'renamed from "db" to "base"'
            assert [effect["platform"] for effect in change["effects"]] == [platform]
            assert change["old_location"]["source"] == "export-0.json"
            assert change["new_location"] == {"source": "catalog.json", "line": 5, "column": 7}
            assert report["notes"] == [line.removeprefix("osbctl: ") for line in done.stderr.splitlines()]
        if form is DiffFormat.MARKDOWN:
            assert "- platform `" in done.stdout
        if form is DiffFormat.TEXT:
            assert "5:7\n" in done.stdout


def test_a_broker_whose_answer_the_platform_would_refuse(osbctl: Run) -> None:
    broker = with_field("tags", "sql", of_plan=False)
    done = osbctl("drift", put(broker), *write(Platform.CLOUD_FOUNDRY), "--format", "json")
    assert "change-now-refused" in {change["rule"] for change in json.loads(done.stdout)["changes"]}


def test_instances_say_what_becomes_of_a_plan(osbctl: Run) -> None:
    broker = copy.deepcopy(CATALOG)
    del broker["services"][0]["plans"][1]
    call = "drift", put(broker), *write(Platform.SERVICE_MANAGER)
    assert "breaking:" in osbctl(*call).stdout
    for ids, code, told in (
        ("p2\n", 1, "refused:"),
        ("small\nP2\n", 3, "none of the 2 ids in plans.txt is a plan of either catalog"),
    ):
        Path("plans.txt").write_text(ids)
        done = osbctl(*call, "--instances", "plans.txt", code=code)
        assert told in done.stdout + done.stderr
        assert ("plans.txt" in done.stderr) == (code == 3)


def test_a_side_that_cannot_be_read_leaves_no_empty_report(osbctl: Run) -> None:
    Path("broken.json").write_text("{")
    address = f"http://u:{SECRET}@127.0.0.1:9/"
    for form in (DiffFormat.JSON, DiffFormat.MARKDOWN, DiffFormat.GITLAB):
        assert "broken.json" in osbctl("drift", put(CATALOG), "broken.json", "--format", form, code=3).stdout
        osbctl("drift", address, put(CATALOG), "--format", form, "-o", "report", code=3)
        text = Path("report").read_text()
        assert "cannot-open" in text, form
        assert SECRET not in text
        if form is DiffFormat.JSON:
            checked_json(text, "diff-1")


def test_an_ordinary_catalog_is_stored(osbctl: Run) -> None:
    put(CATALOG, "stored.json")
    assert silent(osbctl("drift", put(CATALOG), "stored.json", code=0))
    free = put(with_field("free", False, of_plan=True))
    done = osbctl("drift", free, "stored.json", "--stored-as", "catalog", code=1)
    assert "free changed from true to false" in done.stdout
    assert re.search("Korifi.*: shows it as paid", done.stdout)
    one = osbctl("drift", "catalog.json", "stored.json", "--platform", "korifi", code=0)
    assert "Cloud Foundry" not in one.stdout


EXPORT = ["catalog.json", "export-0.json", "export-1.json"]
UNHAPPY: dict[str, tuple[list[str], int, str]] = {
    "no words": ([], 2, "name a broker"),
    "one word": (["catalog.json"], 2, "no registered broker 'catalog.json', and no STORED is named"),
    "an address alone": ([f"https://u:{SECRET}@x.example"], 2, "no registered broker at an address"),
    "twice standard input": (["-", "-"], 2, "standard input can be read only once"),
    "a password and a source": (["http://127.0.0.1:9", "-", "--password-stdin"], 2, "input can be read only once"),
    "no such file": (["catalog.json", "nowhere.json"], 3, "nowhere.json: there is no such file"),
    "no such broker file": (["nowhere.json", "catalog.json"], 3, "nowhere.json: there is no such file"),
    "not an export": (["catalog.json", "other.json"], 3, "neither a catalog nor an export"),
    "not that export": (["catalog.json", "catalog.json", "--stored-as", "kubernetes"], 3, "not an export of Kubern"),
    "broken JSON": (["catalog.json", "broken.json"], 3, "broken.json:1:"),
    "a broken catalog": (["broken.json", "catalog.json"], 3, "broken.json:1:"),
    "an empty export": (["catalog.json", "nothing.json"], 3, "it holds no service offering\n  hint: export it again: "),
    "an empty list": (["catalog.json", "list.json"], 3, "list.json:1:1: the document is an array, not an object"),
    "a list of scalars": (["catalog.json", "scalars.json"], 3, "scalars.json:1:1"),
    "half an export": (["catalog.json", "export-0.json"], 3, "it holds no plan"),
    "a word that is none": (["catalog.json", "catalog.json", "--stored-as", "heroku"], 2, "heroku"),
    "another platform": ([*EXPORT, "-p", "kubernetes"], 2, "this is an export of Cloud Foundry"),
    "a broker that is not in it": ([*EXPORT, "--stored-broker", "b"], 3, "the export holds nothing of a broker b"),
    "a list that was cut": (["catalog.json", "cut.json"], 3, "the list was cut: it holds 1 of 3 service offerings"),
    "and its hint": (["catalog.json", "cut.json"], 3, "--chunk-size=0"),
    "a resource of Korifi": (["catalog.json", "korifi.json"], 3, "is one of Korifi's CFServiceOfferings"),
    "and what to do": (["catalog.json", "korifi.json"], 3, "cf curl"),
    "pods": (["catalog.json", "pods.json"], 3, "it holds no service offering"),
    "all and one": (["x", "--all"], 2, "--all covers every registered broker"),
    "all in one document": (["--all", "--format", "sarif"], 2, "--all has no format sarif"),
    "all with a user": (["--all", "--user", "u"], 2, "a user of its own"),
    "nobody there": (["http://127.0.0.1:9/", "catalog.json"], 3, "the connection was refused"),
}


def test_unhappy_ends(osbctl: Run) -> None:
    put(CATALOG)
    put({"a": 1}, "other.json")
    Path("broken.json").write_text('{"resources": [')
    put({"resources": []}, "nothing.json")
    Path("list.json").write_text("[]")
    Path("scalars.json").write_text("[3]")
    items = [{"metadata": {"name": "a"}, "spec": {"externalID": "s", "externalName": "db"}}]
    cut = {"metadata": {"continue": "abc", "remainingItemCount": 2}, "items": items}
    put({"kind": "ClusterServiceClassList", **cut}, "cut.json")
    for name, kind in (("korifi.json", "CFServiceOffering"), ("pods.json", "Pod")):
        put({"kind": "List", "items": [{"kind": kind}]}, name)
    write(Platform.CLOUD_FOUNDRY)
    for name, (arguments, code, told) in UNHAPPY.items():
        with case(name):
            done = osbctl("drift", *arguments, code=code)
            assert (done.stdout, told in done.stderr) == ("", True)
            assert not Path("brokers.sqlite").exists()  # a wrong word makes no database


class Brokers:
    """Brokers at one address, each at a path of its own."""

    url: str

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}

    def answer(self, method: str, path: str, headers: Any, _: bytes) -> Answer:
        body = self.answers.get(path.split("/")[1], b"")
        return 200 if body else 503, {}, body

    def put(self, name: str, catalog: dict[str, Any]) -> str:
        self.answers[name] = json.dumps(catalog).encode()
        return f"{self.url}/{name}"


@pytest.fixture(scope="module")
def one_server() -> Iterator[Brokers]:
    made = Brokers()
    with listening(made.answer) as made.url:
        yield made


@pytest.fixture
def brokers(one_server: Brokers) -> Brokers:
    one_server.answers.clear()
    return one_server


GUID = "5F0E4A0A-1D0C-4C25-8B7E-0C8D2E0C6A0"
SMALL = plan(f"{GUID}2", "small", free=True)
GOOD = catalog(service(f"{GUID}1", "db", SMALL))
DEARER = catalog(service(f"{GUID}1", "db", {**SMALL, "free": False}))


def test_a_broker_at_an_address(osbctl: Run, brokers: Brokers) -> None:
    url = brokers.put("data", CATALOG)
    call = "drift", url, *write(Platform.CLOUD_FOUNDRY), "--user", "u"
    osbctl(*call, code=0, OSBCTL_PASSWORD=SECRET)
    brokers.put("data", with_field("free", False, of_plan=True))
    *_, last = osbctl(*call, code=1, OSBCTL_PASSWORD=SECRET).stdout.splitlines()
    assert last.startswith(f"export-0.json, export-1.json → {url}/v2/catalog: ")


def test_names_in_the_registry(osbctl: Run, brokers: Brokers) -> None:
    osbctl("brokers", "add", "data", brokers.put("data", GOOD), "--as", "kubernetes", code=0)
    assert silent(osbctl("drift", "data", code=0))
    brokers.put("data", DEARER)
    shown = osbctl("drift", "data", "--fail-on", "any", code=1).stdout
    assert shown.splitlines()[-1].startswith("data (stored) → ")
    assert "Kubernetes Service Catalog: shows it as paid" in shown
    assert "Cloud Foundry" not in shown
    osbctl("drift", "data", put(DEARER, "dearer.json"), code=3)  # with STORED, it is an address or a source
    osbctl("drift", "data", "--user", "u", code=2)
    put(DEARER, "data")
    assert "data (stored)" in osbctl("drift", "data").stdout  # without STORED, it can only be a name


def test_a_secret_is_neither_stored_nor_drift(osbctl: Run, brokers: Brokers, tmp_path: Path) -> None:
    client = {"id": "c", "secret": SECRET, "redirect_uri": "https://dash.example.com"}
    with_client = {"services": [{**GOOD["services"][0], "dashboard_client": client}]}
    osbctl("brokers", "add", "data", brokers.put("data", with_client), code=0)
    done = osbctl("drift", "data", "--fail-on", "any", code=0)
    assert done.stdout == ""
    left_out = "secrets of dashboard clients are not stored, so they are not compared"
    assert done.stderr == f"osbctl: {left_out}\nosbctl: data: same\n"
    client["redirect_uri"] = "https://other.example.com"
    brokers.put("data", with_client)
    assert "redirect_uri" in osbctl("drift", "data", "--fail-on", "any").stdout
    osbctl("brokers", "refresh", "data", code=0)
    osbctl("brokers", "show", "data", "--format", "json")
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("brokers.sqlite*"))
    assert b"other.example.com" in stored
    assert SECRET.encode() not in stored


def test_a_kept_plan_is_named_and_holds_its_name(osbctl: Run, brokers: Brokers) -> None:
    larger = catalog(service(f"{GUID}1", "db", SMALL, plan(f"{GUID}3", "large", free=True)))
    osbctl("brokers", "add", "data", brokers.put("data", larger))
    brokers.put("data", GOOD)
    Path("plans.txt").write_text(f"{GUID}3")
    osbctl("brokers", "refresh", "data", "--instances", "plans.txt", code=0)
    done = osbctl("drift", "data", code=0)
    assert done.stdout == ""
    kept = "osbctl: not compared, as the platform keeps them though the catalog does not have them: db/large\n"
    assert done.stderr == f"{kept}osbctl: data: same\n"
    again = catalog(service(f"{GUID}1", "db", SMALL, plan(f"{GUID}4", "large", free=True)))
    brokers.put("data", again)
    words = f'its name is that of "large" (id "{GUID}3"), which the platform keeps'
    assert words in osbctl("drift", "data", code=1).stdout
    assert words not in osbctl("drift", "data", "-p", "service-manager", code=0).stdout
    services, plans = export_as(Platform.CLOUD_FOUNDRY, larger)
    plans["resources"][1]["available"] = False
    assert words in osbctl("drift", put(again), put(services, "s.json"), put(plans, "p.json"), code=1).stdout


def test_a_kept_service_whose_plans_have_instances_holds_its_name(osbctl: Run) -> None:
    old, new = (service(f"s{n}", "mq", plan(f"p{n}", "small")) for n in "23")
    services, plans = export_as(Platform.CLOUD_FOUNDRY, catalog(GOOD["services"][0], old))
    services["resources"][1]["available"] = plans["resources"][1]["available"] = False
    files = put(services, "services.json"), put(plans, "plans.json")
    call = "drift", put(catalog(GOOD["services"][0], new)), *files
    assert 'Services with names ["mq"] already exist' in osbctl(*call, code=1).stdout
    Path("plans.txt").write_text(f"{GUID}2")
    assert "refused" not in osbctl(*call, "--instances", "plans.txt", code=0).stdout


def test_an_id_of_another_registered_broker(osbctl: Run, brokers: Brokers) -> None:
    osbctl("brokers", "add", "one", brokers.put("one", GOOD), "--as", "kubernetes", code=0)
    mine = catalog(service(f"{GUID}5", "mq", plan(f"{GUID}6", "small", free=True)))
    osbctl("brokers", "add", "two", brokers.put("two", mine), "--as", "kubernetes", code=0)
    brokers.put("two", catalog(mine["services"][0], GOOD["services"][0]))
    for call in (["two"], ["--all"]):
        said = osbctl("drift", *call, code=1).stdout
        assert 'already exists for Broker "one"' in said
        assert "an id of it is taken by another broker" in said
    assert "already exists" in osbctl("brokers", "refresh", "two", code=1).stdout


def test_blanks_that_the_platform_removes_are_no_drift(osbctl: Run, brokers: Brokers) -> None:
    osbctl("brokers", "add", "data", brokers.put("data", GOOD), code=0)
    blank = catalog(service(f"{GUID}1", "db ", {**SMALL, "name": "small\n"}))
    brokers.put("data", blank)
    osbctl("drift", "data", "--fail-on", "any", code=0)
    osbctl("drift", put(blank), *write(Platform.CLOUD_FOUNDRY, GOOD), "--fail-on", "any", code=0)
    osbctl("drift", put(blank), *write(Platform.SERVICE_MANAGER, GOOD), "--fail-on", "any", code=1)


@pytest.fixture(scope="module")
def with_four(one_server: Brokers) -> bytes:
    """A database with four registered brokers, whose catalog is `GOOD`."""
    return registered(("calm", "dear", "down", "odd"), GOOD, f"{one_server.url}/{{}}")


@pytest.fixture
def several(osbctl: Run, brokers: Brokers, with_four: bytes) -> Brokers:
    """Four registered brokers: one is the same, one drifts, one is down, one talks nonsense."""
    Path("brokers.sqlite").write_bytes(with_four)
    brokers.put("calm", GOOD)
    brokers.put("dear", DEARER)
    brokers.answers["odd"] = b'{"services": ['
    return brokers


@pytest.mark.parametrize("jobs", ["1", "8"])
def test_all_brokers_and_a_dead_one_does_not_stop_the_rest(osbctl: Run, several: Brokers, jobs: str) -> None:
    done = osbctl("drift", "--all", "--jobs", jobs, code=3)
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[-5:]}
    assert rows["NAME"] == ["RESULT", "REFUSED", "BREAKING", "RISKY", "SAFE", "ACCEPTED"]
    assert rows["calm"] == ["same", *"00000"]
    assert rows["dear"] == ["drift", *"01000"]
    assert rows["down"] == rows["odd"] == ["failed", *"-----"]
    assert "free changed from true to false" in done.stdout
    assert "osbctl: down: " in done.stderr
    assert "status 503" in done.stderr
    assert "osbctl: odd: " in done.stderr
    osbctl("drift", "odd", code=3)  # an answer that cannot be read is no drift
    osbctl("drift", f"{several.url}/odd", put(GOOD), code=3)


def test_all_brokers_exit_codes_and_accepted_drift(osbctl: Run, several: Brokers) -> None:
    Path("allow.toml").write_text('[[allow]]\nrule = "change-plan-id"\nobject = "of-down"\nreason = "agreed"\n')
    assert "matches no change" not in osbctl("drift", "--all", "--allow", "allow.toml", code=3).stderr
    osbctl("brokers", "remove", "down", code=0)
    several.put("dear", GOOD)
    several.put("odd", DEARER)  # the entry is for the last of three
    osbctl("drift", "--all", code=1)
    osbctl("drift", "--all", "--fail-on", "refused", code=0)
    entry = '[[allow]]\nrule = "{}"\nobject = "db/small"\nreason = "agreed"\n'
    Path("allow.toml").write_text(entry.format("change-free-to-paid") + entry.format("change-plan-id"))
    done = osbctl("drift", "--all", "--allow", "allow.toml", code=0)
    assert done.stdout.splitlines()[-1].split() == ["odd", "drift", *"00001"]
    assert done.stderr == "osbctl: allow change-plan-id of db/small matches no change: remove it\n"
    several.put("odd", GOOD)
    osbctl("drift", "--all", code=0)


def test_all_brokers_are_down(osbctl: Run, several: Brokers) -> None:
    several.answers.clear()
    for form in BROKER_FORMATS:
        assert osbctl("drift", "--all", "--format", form, code=3).stderr.count("status 503") == 4, form


def test_a_progress_bar_at_a_terminal_alone(osbctl: Run, several: Brokers) -> None:
    seen = program.at_terminal("stderr", "drift", "--all", cwd=Path.cwd(), OSBCTL_DATABASE="brokers.sqlite")
    assert "checking" not in seen.stdout
    assert "checking" in seen.screen
    assert "checking" not in osbctl("drift", "--all").stderr


def test_all_brokers_in_every_format(osbctl: Run, several: Brokers) -> None:
    texts = {}
    for form in BROKER_FORMATS:
        assert osbctl("drift", "--all", "--format", form, "-o", "report", code=3).stdout == "", form
        texts[form] = Path("report").read_text()
        assert "change-free-to-paid" in texts[form], form
        if form in (DiffFormat.MARKDOWN, DiffFormat.GITHUB):
            assert "status 503" in texts[form]
    found = {one["name"]: one for one in checked_json(texts[DiffFormat.JSON], "drift-all-1")["brokers"]}
    assert list(found) == ["calm", "dear", "down", "odd"]
    assert found["calm"]["report"]["same"] is True
    checked_json(json.dumps(found["dear"]["report"]), "diff-1")
    assert [change["rule"] for change in found["dear"]["report"]["changes"]] == ["change-free-to-paid"]
    assert found["down"]["report"] is None
    assert "503" in found["down"]["error"]


def test_a_missing_password_is_one_broker_s_failure(osbctl: Run, several: Brokers) -> None:
    for name in ("down", "odd", "dear"):
        osbctl("brokers", "remove", name)
    password = {"OSBCTL_BROKER_LOCKED_PASSWORD": SECRET}
    osbctl("brokers", "add", "locked", several.put("locked", GOOD), "--user", "u", code=0, **password)
    osbctl("drift", "--all", code=0, **password)
    assert "locked: there is no password for u" in osbctl("drift", "--all", code=3).stderr


def test_stored_as_knows_every_platform() -> None:
    assert {one.value for one in StoredAs} == {one.value for one in Platform} | {"catalog"}
