"""Answers and files without `services`, and registries that have lost theirs: none of them is called well."""

import json
from pathlib import Path
from typing import Any

from tests.case import case, each
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.machine import registered
from tests.cli.program import failure, osbctl
from tests.registry.make import catalog, execute, plan, service

GOOD = catalog(service("s", plan("p", "small")))
NO_CATALOG: list[Any] = [
    {}, {"error": "hunter2-and-more"}, {"services": None}, {"service": GOOD["services"]}, {"catalog": GOOD},
    {"SERVICES": None, "services": None}, {"services": None, "plans": []},
]  # fmt: skip
"""JSON objects that are neither a catalog nor an empty one."""
STILL_CATALOGS: list[Any] = [{"services": []}, {"Services": []}, {"ſervices": []}, {"Services": None, "services": []}]


def put(folder: Path, name: str, value: Any) -> str:
    (folder / name).write_text(json.dumps(value))
    return name


def test_an_answer_without_services_is_no_catalog(tmp_path: Path) -> None:
    file = put(tmp_path, "good.json", GOOD)
    with broker(GOOD) as server:
        for value in NO_CATALOG:
            server.put(value)
            for words in (
                ("fetch", server.url, "-o", "fetched"), ("diff", server.url, file), ("diff", file, server.url),
                ("page", server.url), ("page", file, "--since", server.url),
            ):  # fmt: skip
                with case(value, *words):
                    told = failure(*words, "--user", USER, cwd=tmp_path, code=1, OSBCTL_PASSWORD=PASSWORD)
                    assert "[no-catalog]" in told and f"{server.url}/v2/catalog" in told
                    assert "hunter2" not in told
            told = failure("drift", server.url, file, "--user", USER, cwd=tmp_path, code=3, OSBCTL_PASSWORD=PASSWORD)
            assert "there is no catalog here" in told and "hunter2" not in told
            report = osbctl(
                "diff", server.url, file, "--user", USER, "-f", "json", cwd=tmp_path, code=1, OSBCTL_PASSWORD=PASSWORD
            )
            assert [one["rule"] for one in json.loads(report.stdout)["errors"]] == ["no-catalog"]
        assert not (tmp_path / "fetched").exists()
        for value in STILL_CATALOGS:
            server.put(value)
            with case(value):
                done = osbctl("fetch", server.url, "--user", USER, code=0, OSBCTL_PASSWORD=PASSWORD)
                assert json.loads(done.stdout) == value


def test_a_file_without_services_is_no_catalog(tmp_path: Path) -> None:
    put(tmp_path, "good.json", GOOD)
    (tmp_path / "empty.yaml").write_text("services:\n")
    (tmp_path / "deep.yaml").write_text("spring:\n  catalog:\n    services: ~\n")
    files = [put(tmp_path, f"{n}.json", value) for n, value in enumerate(NO_CATALOG) if "catalog" not in value]
    for file in [*files, "empty.yaml", "deep.yaml"]:
        at = ("--at", "/spring/catalog") if file == "deep.yaml" else ()
        for words in (
            ("diff", file, "good.json"), ("diff", "good.json", file), ("show", file), ("show", "-f", "markdown", file),
            ("show", "-f", "json", file), ("params", file, "s", "p"), ("page", file), ("page", "good.json", "--since", file),
        ):  # fmt: skip
            with case(file, *words):
                assert "[no-catalog]" in failure(*words, *([] if "good.json" in words else at), cwd=tmp_path, code=1)
        for words in (("drift", file, "good.json"), ("drift", "good.json", file, "--stored-as", "catalog")):
            with case(file, *words):
                assert "there is no catalog here" in failure(*words, cwd=tmp_path, code=3)
    for number, value in enumerate(STILL_CATALOGS):
        with case(value):
            osbctl("show", put(tmp_path, f"still-{number}.json", value), cwd=tmp_path, code=0)
    # Kubernetes accepts null: the verdict stays.
    done = json.loads(osbctl("validate", "-f", "json", "empty.yaml", cwd=tmp_path, code=1).stdout)
    assert done["documents"][0]["platforms"]["kubernetes"]["verdict"] == "accepts"


def test_what_is_not_a_list_is_nothing_to_compare_with(tmp_path: Path) -> None:
    """Else all of the new catalog would be an addition, which is safe."""
    put(tmp_path, "good.json", GOOD)
    with broker(GOOD) as server:
        for services in (5, "x", {}, {"s": GOOD["services"][0]}, True):
            file = put(tmp_path, "old.json", {"services": services})
            server.put({"services": services})
            calls = (
                ("diff", file, "good.json"),
                ("diff", server.url, "good.json"),
                ("page", "good.json", "--since", file),
            )
            for words in calls:
                user = ("--user", USER) if server.url in words else ()
                with case(services, *words):
                    told = failure(*words, *user, cwd=tmp_path, code=1, OSBCTL_PASSWORD=PASSWORD)
                    assert "there is no catalog here: `services` is not a list" in told
            with case(services):
                failure("drift", "good.json", file, "--stored-as", "catalog", cwd=tmp_path, code=3)
                osbctl("diff", "good.json", file, cwd=tmp_path, code=1)
    osbctl("diff", put(tmp_path, "old.json", {"services": []}), "good.json", cwd=tmp_path, code=0)


def test_a_registered_broker_without_services_is_a_failure_of_that_broker(tmp_path: Path) -> None:
    file = tmp_path / "brokers.sqlite"
    variables = {"OSBCTL_DATABASE": str(file), "OSBCTL_BROKER_NEW_PASSWORD": PASSWORD}
    variables |= {f"OSBCTL_BROKER_{name}_PASSWORD": PASSWORD for name in "AB"}
    with broker(GOOD) as server:
        server.answer = lambda headers: (200, server.body)  # type: ignore[method-assign]
        file.write_bytes(registered(("a", "b"), GOOD, server.url, USER))
        for value in NO_CATALOG:
            server.put(value)
            with case(value):
                done = osbctl("brokers", "refresh", code=3, **variables)
                assert done.stdout.count("not fetched: ") == 2 and "hunter2" not in done.stdout + done.stderr
                failure("brokers", "add", "new", server.url, "--user", USER, code=3, **variables)
                failure("drift", "a", code=3, **variables)
                done = osbctl("drift", "--all", "-f", "json", code=3, **variables)
                assert "there is no catalog here" in done.stdout and "hunter2" not in done.stdout


@each(
    "statement",
    ["'{}'", "'{\"services\": null}'", "'{\"services\": []}'", f"'{json.dumps({'services': GOOD['services'] * 2})}'"],
)
def test_a_stored_catalog_that_its_row_contradicts_is_not_compared(tmp_path: Path, statement: str) -> None:
    file = tmp_path / "brokers.sqlite"
    variables = {"OSBCTL_DATABASE": str(file), "OSBCTL_BROKER_A_PASSWORD": PASSWORD}
    with broker(GOOD) as server:
        file.write_bytes(registered(("a",), GOOD, server.url, USER))
        execute(file, f"UPDATE osbctl_brokers_2 SET catalog = CAST({statement} AS BLOB)")
        for words in (("drift", "a"), ("drift", "--all"), ("brokers", "refresh"), ("brokers", "show", "a")):
            with case(*words):
                done = osbctl(*words, code=3, **variables)
                assert "remove the broker, and add it again" in done.stdout + done.stderr


def test_an_emptied_registry_is_not_well(tmp_path: Path) -> None:
    file = tmp_path / "brokers.sqlite"
    file.write_bytes(registered((), GOOD, ""))
    for words in ("drift --all", "drift --all -f json", "brokers refresh", "brokers refresh -q"):
        with case(words):
            assert "no broker is registered in this database" in failure(
                *words.split(), code=3, OSBCTL_DATABASE=str(file)
            )
    listed = osbctl("brokers", "list", code=0, OSBCTL_DATABASE=str(file)).stdout
    assert listed == "NAME  PLATFORM  SERVICES  PLANS  REFRESHED  RESULT  ADDRESS\n"
