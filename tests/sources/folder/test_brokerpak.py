"""Brokerpaks: the catalog as cloud-service-broker computes it, each finding at its place in a definition."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from osbctl.paths import Path as ValuePath
from osbctl.paths import get_at, parse_pointer
from osbctl.sources.document import Document
from osbctl.sources.folder import read_folder
from osbctl.sources.read import read_source, read_variables
from osbctl.sources.variables import Variable, parse_variables
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.cli.program import osbctl
from tests.sources.folder.brokerpaks import DATABASE, ENVRC, MANIFEST, PNG, REDIS, brokerpak, commit

SERVICE = "pkg/broker/service_definition.go CatalogEntry"
TO_SERVICE = "pkg/providers/tf/definition.go ToService"
TO_PLAN = "pkg/providers/tf/definition.go ToPlan"
USER_PLANS = "pkg/broker/service_definition.go UserDefinedPlans"
TO_SCHEMA = "pkg/broker/variables.go ToSchema"
SCHEMA = "pkg/broker/variables.go CreateJSONSchema"
UPGRADE = "pkg/brokerpak/registrar.go Register"
CREATE, BIND = "schemas/service_instance/create/parameters", "schemas/service_binding/create/parameters"
NOTHING = object()

FIELDS: list[tuple[str, Any, str, str]] = [
    # where in the catalog, what stands there, the broker's own source, and the place: file:line:column
    ("services/0/name", "acme-cache", "pkg/broker/registry.go GetAllServices: sorted by name", "redis.yml:2:1"),
    ("services/1/id", "b247fcde-8a63-11ea-b945-cb26f061f70f", SERVICE, "database.yml:3:1"),
    ("services/1/name", "acme-database.v1", SERVICE, "database.yml:2:1"),
    ("services/1/description", "A database.", SERVICE, "database.yml:4:1"),
    ("services/1/tags", ["sql", "beta"], SERVICE, "database.yml:10:1"),
    ("services/1/tags/1", "beta", SERVICE, "database.yml:10:13"),
    ("services/0/tags", NOTHING, "brokerapi domain/service_catalog.go: omitempty", "redis.yml:1:1"),
    ("services/1/bindable", True, TO_SERVICE, "database.yml:1:1"),
    ("services/1/bindings_retrievable", True, SERVICE, "database.yml:1:1"),
    ("services/1/instances_retrievable", True, SERVICE, "database.yml:1:1"),
    ("services/1/plan_updateable", True, TO_SERVICE, "database.yml:11:1"),
    ("services/0/plan_updateable", False, TO_SERVICE, "redis.yml:1:1"),
    ("services/1/metadata/displayName", "Acme Database", SERVICE, "database.yml:5:1"),
    ("services/1/metadata/longDescription", "A database.", SERVICE, "database.yml:4:1"),
    ("services/1/metadata/providerDisplayName", "Acme", SERVICE, "database.yml:8:1"),
    (
        "services/0/metadata/providerDisplayName",
        NOTHING,
        "brokerapi domain/service_metadata.go: omitempty",
        "redis.yml:1:1",
    ),
    ("services/1/metadata/documentationUrl", "https://acme.example/docs", SERVICE, "database.yml:7:1"),
    ("services/1/metadata/supportUrl", "https://acme.example/support", SERVICE, "database.yml:9:1"),
    (
        "services/1/metadata/imageUrl",
        f"data:image/png;base64,{b64encode(PNG).decode()}",
        "internal/serviceimage",
        "database.yml:6:1",
    ),
    ("services/0/metadata/imageUrl", "https://acme.example/cache.png", "internal/serviceimage", "redis.yml:6:1"),
    ("services/0/metadata/shareable", True, "pkg/server/cf_sharing.go", "redis.yml:1:1"),
    ("services/1/plans/0/id", "5b45de36-cb90-11ec-a755-77f8be95a49d", TO_PLAN, "database.yml:14:3"),
    ("services/1/plans/0/name", "small", TO_PLAN, "database.yml:13:3"),
    ("services/1/plans/0/description", "Small.", TO_PLAN, "database.yml:15:3"),
    ("services/1/plans/0/free", True, TO_PLAN, "database.yml:18:3"),
    ("services/1/plans/0/metadata/displayName", "Small one", TO_PLAN, "database.yml:16:3"),
    ("services/1/plans/0/metadata/bullets", ["1 GB"], TO_PLAN, "database.yml:17:3"),
    ("services/1/plans/0/properties", NOTHING, "pkg/broker/catalog.go ToPlain", "database.yml:19:3"),
    ("services/1/plans/0/maintenance_info/version", "1.11.8", UPGRADE, "manifest.yml:9:3"),
    ("services/0/plans/0/name", "tiny", USER_PLANS, ".envrc:7:40"),
    ("services/0/plans/0/description", "", USER_PLANS, ".envrc:7:39"),
    ("services/0/plans/0/free", NOTHING, f"{USER_PLANS}; brokerapi: Free *bool, omitempty", ".envrc:7:39"),
    ("services/0/plans/0/node", NOTHING, f"{USER_PLANS}: a service property", ".envrc:7:98"),
    ("services/0/plans/0/metadata", NOTHING, USER_PLANS, ".envrc:7:39"),
    ("services/0/plans/1/id", "d20c5cf2-29e1-11ed-93da-1f3a67a06903", f"{USER_PLANS}: guid", ".envrc:8:17"),
    ("services/0/plans/1/free", False, USER_PLANS, ".envrc:8:63"),
    ("services/0/plans/1/metadata", {"costs": []}, USER_PLANS, ".envrc:8:76"),
    ("services/0/plans/0/maintenance_info/version", "1.11.8", USER_PLANS, "manifest.yml:9:3"),
    (f"services/1/plans/0/{CREATE}/$schema", "http://json-schema.org/draft-04/schema#", SCHEMA, "database.yml:23:3"),
    (f"services/1/plans/0/{CREATE}/required", ["db_name.id"], SCHEMA, "database.yml:23:3"),
    (f"services/0/plans/0/{CREATE}/properties", {}, SCHEMA, "redis.yml:1:1"),
    (f"services/0/plans/0/{CREATE}/required", NOTHING, SCHEMA, "redis.yml:1:1"),
    (
        "services/1/plans/0/schemas/service_instance/update",
        {"parameters": None},
        "createSchemas; brokerapi Schema",
        "database.yml:20:1",
    ),
    (f"services/1/plans/0/{CREATE}/properties/db_name.id/title", "A title of its own", TO_SCHEMA, "database.yml:31:34"),
    (f"services/1/plans/0/{CREATE}/properties/db_name.id/maxLength", 64, TO_SCHEMA, "database.yml:31:19"),
    (f"services/1/plans/0/{CREATE}/properties/db_name.id/type", "string", TO_SCHEMA, "database.yml:26:5"),
    (f"services/1/plans/0/{CREATE}/properties/db_name.id/default", NOTHING, TO_SCHEMA, "database.yml:28:5"),
    (
        f"services/1/plans/0/{CREATE}/properties/db_name.id/description",
        'The name. If you do not specify this field, it will be generated by the template "db-${request.instance_id}"',
        TO_SCHEMA,
        "database.yml:27:5",
    ),
    (f"services/1/plans/0/{CREATE}/properties/db_name.id/prohibitUpdate", True, TO_SCHEMA, "database.yml:29:5"),
    (
        f"services/1/plans/0/{CREATE}/properties/db_name.id/tf_attribute",
        "aws_db.main.name",
        TO_SCHEMA,
        "database.yml:30:5",
    ),
    (f"services/1/plans/0/{CREATE}/properties/jdbc-url/title", "JDBC URL", "fieldNameToLabel", "database.yml:32:5"),
    (f"services/1/plans/0/{CREATE}/properties/jdbc-url/type", ["string", "null"], TO_SCHEMA, "database.yml:34:5"),
    (f"services/1/plans/0/{CREATE}/properties/jdbc-url/enum", [None, "L", "m"], TO_SCHEMA, "database.yml:37:5"),
    (f"services/1/plans/0/{CREATE}/properties/jdbc-url/default", "l", TO_SCHEMA, "database.yml:36:5"),
    (f"services/1/plans/0/{BIND}/properties/role/default", "  ", TO_SCHEMA, "database.yml:40:58"),
]
"""Sources without a repository are files of cloud-service-broker at 759f73e4."""


def read(folder: Path, env: str = ".envrc") -> Document:
    return read_source(str(folder), variables_of=lambda _: read_variables(str(folder / env)) if env else {})


def place(document: Document, path: ValuePath) -> str:
    there = document.locate([path])[path]
    return f"{Path(there.source).name}:{there.line}:{there.column}"


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return read(brokerpak(tmp_path_factory.mktemp("pak") / "pak"))


@pytest.mark.parametrize(("where", "value", "source", "at"), FIELDS, ids=[row[0] for row in FIELDS])
def test_each_field_is_what_the_broker_answers(
    computed: Document, where: str, value: Any, source: str, at: str
) -> None:
    path = tuple(int(step) if step.isdigit() else step for step in parse_pointer(f"/{where}"))
    assert get_at(computed.data, path, NOTHING) == value, source
    assert place(computed, path) == at


def test_the_text_of_an_upgrade(computed: Document) -> None:
    told = get_at(computed.data, ("services", 1, "plans", 0, "maintenance_info", "description"))
    assert told.startswith("This upgrade provides support for OpenTofu version: 1.11.8. The upgrade")  # registrar.go


def test_the_report_says_which_variables_were_used(tmp_path: Path) -> None:
    brokerpak(tmp_path / "pak")
    (tmp_path / "osbctl.toml").write_text('[[per-path]]\npaths = ["pak"]\nenv = "pak/.envrc"\n')
    done = osbctl("show", "pak", cwd=tmp_path, GSB_COMPATIBILITY_ENABLE_CATALOG_SCHEMAS="false")
    assert done.stdout.count("\n") == 4
    said = "; without parameter schemas (GSB_COMPATIBILITY_ENABLE_CATALOG_SCHEMAS is not true)\n"
    assert done.stderr.startswith("osbctl: pak: read as a brokerpak; GSB_COMPATIBILITY_ENABLE_BETA_SERVICES, GSB_COMP")
    assert "pak/.envrc; GSB_COMPATIBILITY_ENABLE_CATALOG_SCHEMAS from the environment" in done.stderr
    assert done.stderr.endswith(said)
    # --env wins over the environment, which wins over the configuration.
    assert said not in osbctl("show", "pak", "--env", "pak/.envrc", cwd=tmp_path).stderr
    assert "1.11.8" not in done.stderr  # values may be secret


def test_a_service_that_the_broker_does_not_offer_is_left_out(tmp_path: Path) -> None:
    folder = brokerpak(tmp_path / "pak", envrc=ENVRC.replace("BETA_SERVICES=true", "BETA_SERVICES=no"))
    document = read(folder)
    assert [service["name"] for service in document.data["services"]] == ["acme-cache"]
    assert document.read_as.endswith("without acme-database.v1, which is tagged beta")


def findings(folder: Path, env: str = ".envrc") -> list[str]:
    found = validate_document(read(folder, env), ValidationOptions()).findings
    return [
        f"{Path(one.location.source).name}:{one.location.line}:{one.location.column} {one.rule}: {one.message}"
        for one in found
        if one.location
    ]


REFUSED = {
    "a name": ("database", ("acme-database.v1", "acme_database"), "database.yml:2:1", "name must be made of letters"),
    "an id": ("database", ("id: b247fcde-", "id: x247fcde-"), "database.yml:3:1", "id must be a UUID"),
    "a plan's id": ("database", ("id: 5b45de36-", "id: 5b45de3-"), "database.yml:14:3", "id must be a UUID"),
    "a picture": ("database", ("images/logo.png", "images/no.png"), "database.yml:6:1", "there is no such file"),
    "no picture": ("database", ("images/logo.png", "manifest.yml"), "database.yml:6:1", "is neither a JPEG nor a PNG"),
    "plans that are no list": (
        "database",
        ("plans:\n- name", "plans:\n  name"),
        "database.yml:12:1",
        "service 'acme-database.v1' has no plan",
    ),
    "a plan without id": ("envrc", ("guid", "gui"), ".envrc:8:3", "id must be a UUID"),
    "no list": ("envrc", ("PLANS='[", "PLANS='"), ".envrc:7:109", "text after the end"),
    "a text": ("envrc", ("PLANS='[{", "PLANS='3' #"), ".envrc:7:38", "is not a list of plans"),
    "no plan": (
        "envrc",
        (ENVRC, "GSB_COMPATIBILITY_ENABLE_BETA_SERVICES=1"),
        "redis.yml:1:1",
        "service 'acme-cache' has no plan",
    ),
}


@pytest.mark.parametrize(("file", "slip", "at", "message"), REFUSED.values(), ids=REFUSED)
def test_what_the_broker_refuses_at_its_start(
    tmp_path: Path, file: str, slip: tuple[str, str], at: str, message: str
) -> None:
    text = {"database": DATABASE, "envrc": ENVRC, "manifest": MANIFEST}[file]
    assert slip[0] in text
    found = findings(brokerpak(tmp_path / "pak", **{file: text.replace(*slip, 1)}))
    assert any(one.startswith(f"{at} ") and message in one for one in found), found
    assert not any("plans must not be empty" in one for one in found)  # said once
    sound = findings(brokerpak(tmp_path / "sound"))
    assert not any(message in one for one in sound)


def test_ids_that_come_twice_across_definitions(tmp_path: Path) -> None:
    twice = DATABASE.replace("5b45de36-cb90-11ec-a755-77f8be95a49d", "7400cd8f-5f98-4457-8de0-03232ec12f62")
    found = findings(brokerpak(tmp_path / "pak", database=twice))
    assert [one for one in found if "id-duplicate" in one and one.startswith("database.yml:14:3")]


def test_a_default_that_its_own_schema_refuses(tmp_path: Path) -> None:
    found = findings(brokerpak(tmp_path / "pak"))
    assert [one.partition(" ")[0] for one in found if "parameters-default" in one] == [
        "database.yml:36:5",
        "database.yml:40:58",
    ]
    assert not [one for one in found if "placeholder" in one or "null-object" in one]


def test_a_field_that_the_broker_does_not_read(tmp_path: Path) -> None:
    cost = DATABASE.replace("  free: true\n", "  free: true\n  metadata: {costs: []}\n")
    found = [one for one in findings(brokerpak(tmp_path / "pak", database=cost)) if "field-unread" in one]
    assert [one.partition(" ")[0] for one in found] == ["database.yml:19:3"]


def test_a_definition_that_is_not_there(tmp_path: Path) -> None:
    folder = brokerpak(tmp_path / "pak", manifest=MANIFEST.replace("redis.yml", "cache.yml"))
    done = osbctl("validate", "pak", "--concise", "--quiet", cwd=tmp_path)
    assert done.stdout.startswith("pak/manifest.yml:13:3: error: pak/cache.yml: there is no such file")
    assert done.returncode == 1
    outside = brokerpak(tmp_path / "other", manifest=MANIFEST.replace("redis.yml", "../pak/redis.yml"))
    assert "leads out of the source folder" in osbctl("validate", str(outside)).stdout
    assert folder.is_dir()


def test_a_value_that_only_a_shell_knows(tmp_path: Path) -> None:
    folder = brokerpak(tmp_path / "pak", envrc="export GSB_SERVICE_ACME_CACHE_PLANS=$(cat plans.json)\n")
    done = osbctl("show", "pak", "--env", "pak/.envrc", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "a shell computes the value of GSB_SERVICE_ACME_CACHE_PLANS\n  hint: let the shell do so" in done.stderr
    assert osbctl("show", "pak", "--env", str(folder), cwd=tmp_path).returncode == 3


@pytest.mark.parametrize(
    ("line", "value", "column"),
    [
        ("A=x", "x", 3),
        ("  export A=x # y", "x", 12),
        ("A='x y'", "x y", 4),
        ('A="x \\"y\\" \\$z"', 'x "y" $z', 4),
        ("A=", "", 3),
        ("A=1\nA='2'", "2", 4),
        ("# A=1\nif x; then\nA=2; fi", "2", 3),
    ],
)
def test_assignments(line: str, value: str, column: int) -> None:
    found = parse_variables(line, ".env")["A"]
    assert found.value == value
    assert not found.computed
    assert len(found.text) - len(found.text.lstrip()) == found.text.count("\n") + column - 1 or not value


@pytest.mark.parametrize("line", ["A=$B", 'A="${B}"', "A=`b`", "A=$(b)", "A='x'$(b)"])
def test_a_shell_is_never_run(line: str) -> None:
    assert parse_variables(line, ".env")["A"].computed


def test_a_brokerpak_in_a_revision(tmp_path: Path) -> None:
    folder = brokerpak(tmp_path / "pak")
    commit(tmp_path)
    (folder / "redis.yml").write_text(REDIS.replace("A cache.", "A fast cache."))
    for cwd, old, new in ((tmp_path, "HEAD:pak", "pak"), (folder, "HEAD:.", "."), (folder / "images", "HEAD:..", "..")):
        done = osbctl("diff", old, new, "--env", str(folder / ".envrc"), "--format", "json", cwd=cwd)
        assert [change["rule"] for change in json.loads(done.stdout)["changes"]] == ["change-wording"] * 2
        assert f"{old}/redis.yml" in done.stdout
    page = osbctl("page", "pak", "--since", "HEAD", "--env", "pak/.envrc", cwd=tmp_path)
    assert page.returncode == 0
    assert "A fast cache." in page.stdout
    done = osbctl("show", "HEAD:pak/images", cwd=tmp_path)
    assert "this is a folder in that revision" in done.stderr


def test_build_prints_what_the_broker_answers(tmp_path: Path) -> None:
    brokerpak(tmp_path / "pak", database=DATABASE.replace('"  "', "admin").replace("default: l\n", "default: L\n"))
    plans = ENVRC.replace('"node"', '"description": "Tiny.", "node"').replace('"free":false', '"description": "Big."')
    (tmp_path / "env").write_text(plans)
    done = osbctl("build", "pak", "--env", "env", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        json.loads(done.stdout)
        == read_folder(str(tmp_path / "pak"), variables_of=lambda _: read_variables(str(tmp_path / "env"))).data
    )
    assert osbctl("build", "pak", "--env", "env", "-o", "c.json", cwd=tmp_path).stderr.endswith(
        "osbctl: wrote c.json\n"
    )
    assert osbctl("build", "pak", "--env", "env", "-o", "c.json", "--check", cwd=tmp_path).returncode == 0
    assert osbctl("drift", "pak", "c.json", "--env", "env", cwd=tmp_path).returncode == 0
    assert "Cores" not in osbctl("params", "pak", "acme-database.v1", "small", "--env", "env", cwd=tmp_path).stdout
    assert not (tmp_path / "pak" / "catalog.lock").exists()
    assert osbctl("build", "pak", "--env", "env", "-o", "pak/catalog.json", cwd=tmp_path).returncode == 0
    assert osbctl("build", "pak", "--env", "env", "-o", "pak/redis.yml", cwd=tmp_path).returncode == 2
    assert osbctl("build", "pak", "--set", "A=b", cwd=tmp_path).returncode == 2


def test_fix_edits_a_definition_where_the_place_is_one_to_one(tmp_path: Path) -> None:
    slip = DATABASE.replace("tags: [sql, beta]", "tags: sql")
    folder = brokerpak(tmp_path / "pak", database=slip)
    done = osbctl("fix", "pak", "--env", "pak/.envrc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (folder / "definitions" / "database.yml").read_text() == slip.replace("tags: sql", 'tags: ["sql"]')
    bad = ENVRC.replace('"metadata":{"costs":[]}', '"metadata":{"display_name":"x"}')
    (folder / ".envrc").write_text(bad)
    done = osbctl("fix", "pak", "--unsafe", "--env", "pak/.envrc", cwd=tmp_path)
    assert "not fixed: unknown field 'display_name'" in done.stderr
    assert "the value is computed, so there is no text to edit" in done.stderr
    assert (folder / ".envrc").read_text() == bad


def test_a_variable_of_the_environment_is_its_own_place(tmp_path: Path) -> None:
    brokerpak(tmp_path / "pak")
    plans = re.search(r"'(.*?)'", ENVRC, re.DOTALL)
    assert plans
    done = osbctl("validate", "pak", "--concise", "--quiet", cwd=tmp_path, GSB_SERVICE_ACME_CACHE_PLANS=plans[1])
    assert "GSB_SERVICE_ACME_CACHE_PLANS:1:2: error: service 'acme-cache': plan 'tiny': description" in done.stdout
    assert Variable("A", "x").source == "the environment"
