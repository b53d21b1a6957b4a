"""Any file or broker gets a sentence and an exit code within seconds, and no terminal escapes."""

import json
import re
import shutil
import time
import unicodedata
from pathlib import Path
from random import Random
from typing import Any

import pytest

from osbctl.sources.read import read_source
from tests.cli.broker_server import PASSWORD, USER, broker
from tests.cli.program import osbctl
from tests.corpus import EVERY_CASE, catalogs
from tests.folders import catalogs_folder
from tests.fragments import changed, places

MOST_SECONDS = 8
"""Of processor time for one run; each takes a few hundredths, so that a slow machine changes nothing."""

WILD = {
    "nothing": b"", "null": b"null", "number": b"3", "text": b'"x"', "list": b"[]", "object": b"{}", "NULs": b"\0\0",
    "no UTF-8": b"\xff\xfe\xfa", "Latin-1": b'{"a": "\xe9"}', "byte order mark": b"\xef\xbb\xbf{}", "tab": b"\tx: 1",
    "deep list": b"[" * 100_000, "deep object": b'{"a":' * 50_000, "closed": b"[" * 500 + b"]" * 500,
    "long integer": b'{"a": ' + b"9" * 5_000 + b"}", "not a number": b"[NaN]", "infinite": b'{"a": 1e999}',
    "surrogate": b'["\\ud800"]', "surrogate for a name": b'{"\\ud800": 1, "services": [{"name": "\\ud800"}]}',
    "escape": b'{"services": [{"name": "\\u001b[2J\\u202e"}]}', "raw C1": b'{"services": [{"name": "\xc2\x9b2J"}]}',
    "same key": b'{"a": 1, "a": 2}', "alias of itself": b"a: &a [*a]\n", "list for a key": b"? [a]\n: b\n",
    "mixed": b'["a", 1, null, {}]', "services": b'{"services": [null, 1, "x", {}, []]}',
    "service": b'{"services": [{"name": 1, "id": [], "plans": {"a": 1}}]}', "findings": b'{"version": 1, "findings": [{}]}',
    "baseline": b'{"version": 1, "findings": [{"fingerprint": [], "places": "x", "source": 1}]}',
    "Cloud Foundry": b'{"resources": [{"guid": 1, "broker_catalog": {"id": {}}, "entity": []}, 3]}',
    "Kubernetes": b'{"kind": "List", "items": [{"spec": 1}, {"spec": {"externalID": []}}, null]}',
    "Service Manager": b'{"service_offerings": [{"id": 1, "plans": [null]}]}',
    "credentials": b'[{"identity": "a", "salt": [], "hash": "$6$x"}]',
}  # fmt: skip
READERS = """validate FILE|validate --together FILE good.json|validate good.json --baseline FILE|validate good.json --schema FILE
validate good.json --baseline FILE --write-baseline|validate --config FILE good.json|show FILE|show -f yaml FILE|show -f markdown FILE
diff FILE good.json|diff good.json FILE|diff good.json good.json --allow FILE|diff good.json good.json --instances FILE
drift FILE good.json|drift good.json FILE --stored-as cloudfoundry|drift good.json FILE --stored-as kubernetes
drift good.json FILE --stored-as service-manager|drift good.json FILE --stored-as korifi|fix --diff --unsafe FILE|split FILE made
page FILE -o made.html|page good.json --since FILE -o made.html|page good.json --logo FILE -o made.html|params FILE postgres small
params good.json postgres small -c @FILE|build FILE|build source --overlay FILE|verify-password FILE a --password-stdin
hash-password a --password-stdin --rounds 1000 --append FILE|brokers list --database FILE"""
OF_CATALOGS = """validate --api-version 2.17 FILE|fix --unsafe --diff FILE|diff good.json FILE|diff FILE good.json -f markdown|show FILE
show -f markdown FILE|page FILE --since good.json --findings -o made.html|params FILE postgres small|split FILE made
drift FILE good.json"""
OF_REGISTRY = """brokers refresh db|brokers refresh db --as korifi|brokers refresh db --as kubernetes|brokers show db
brokers refresh db --as service-manager|brokers show db --format json --version -1|brokers list|drift db"""
VALUES = [
    "null", "true", "-1", "[]", "{}", "[[]]", "[null]", '{"": ""}', "1e308", "1e999", "NaN", "1" + "0" * 400, '"\\ud800"',
    f'"{"9" * 5_000}"', f'"1{"0" * 5_000}"', f'"{"[" * 60_000}"', f'"{"a" * 100_000}"', '"\\u0000"', '"\\u001b[2J\\u202e"',
    '"\x9b2J\u2028"', '"\\n"', '"${x}"', '"((x))"', '"2027-13-45"', '"https://[::1"', '"data:image/png;base64,!!"',
    '{"$ref": "#"}', '{"$ref": "#/a/b"}', '{"$ref": 3}', '{"enum": "abc", "default": 1}', '{"enum": []}', '{"type": []}',
    '{"type": {}}', '{"properties": []}', '{"pattern": "("}', '{"pattern": "(a+)+$"}', '{"required": "a"}', '{"items": 1}',
    '{"allOf": {}}', '{"minimum": "1", "maximum": []}', '{"multipleOf": 0}', '{"$schema": []}', '{"dependencies": [1]}',
]  # fmt: skip
"""As JSON texts: some of them Python would not write."""


def commands(table: str, file: str = "wild.json") -> list[list[str]]:
    return [line.split() for line in table.replace("FILE", file).replace("\n", "|").split("|")]


@pytest.fixture(scope="module")
def shipped() -> Any:
    return read_source(str(catalogs_folder() / "data-services.yaml")).data


@pytest.fixture
def good(shipped: Any, tmp_path: Path) -> Any:
    """The shipped catalog with parameters, which is good.json in the test's folder."""
    (tmp_path / "good.json").write_text(json.dumps(shipped))
    (tmp_path / "source").symlink_to(catalogs_folder() / "source")
    return shipped


def endures(folder: Path, *words: str, **variables: str) -> None:
    shutil.rmtree(folder / "made", ignore_errors=True)
    began = time.process_time()
    ran = osbctl(*words, cwd=folder, stdin="x", **variables)
    said, case = ran.stdout + ran.stderr, f"{' '.join(words)}, in {folder}: {ran.stderr!a}"
    assert ran.returncode in (0, 1, 2, 3), case
    assert not {mark for mark in {*said} - {*"\n\t\u200d"} if unicodedata.category(mark) in ("Cc", "Cf")}, case
    assert time.process_time() - began < MOST_SECONDS, case


def mutated(whole: Any, random: Random) -> str:
    """`whole` as JSON, with one of the values at some of its places."""
    for _ in range(random.randint(1, 4)):
        whole = changed(whole, random.choice(places(whole)[1:]), "@value@")
    return re.sub('"@value@"', lambda _: random.choice(VALUES), json.dumps(whole))


@pytest.mark.fuzz
@pytest.mark.parametrize("name", WILD)
def test_no_file_is_too_wild(name: str, good: Any, tmp_path: Path) -> None:
    every = [(file, words) for file in ("wild.json", "wild.yaml") for words in commands(READERS, file)]
    for file, words in every if EVERY_CASE else Random(name).sample(every, 4):
        (tmp_path / file).write_bytes(WILD[name])
        endures(tmp_path, *words)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(16 if EVERY_CASE else 1))
def test_no_value_in_a_catalog_is_too_wild(seed: int, good: Any, tmp_path: Path) -> None:
    random = Random(seed)
    example = read_source(str(catalogs_folder() / "interface-example.json")).data
    for number in range(120 if EVERY_CASE else 5):
        real = random.choice(catalogs()) if EVERY_CASE and number % 3 == 0 and catalogs() else None
        whole = read_source(str(real)).data if real else random.choice([good, example])
        (tmp_path / "wild.json").write_text(mutated(whole, random))
        for words in commands(OF_CATALOGS):
            endures(tmp_path, *words)


@pytest.mark.fuzz
def test_no_broker_is_too_wild(good: Any, tmp_path: Path) -> None:
    random, known = Random(3), {"OSBCTL_BROKER_DB_PASSWORD": PASSWORD, "OSBCTL_PASSWORD": PASSWORD}
    with broker(good) as server:
        endures(tmp_path, "brokers", "add", "db", server.url, "--user", USER, "--database", "r.sqlite", **known)
        bodies = [*WILD.values(), *(mutated(good, random).encode() for _ in range(120))]
        for server.body in bodies if EVERY_CASE else random.sample(bodies, 2):
            for words in commands(OF_REGISTRY):
                endures(tmp_path, *words, "--database", "r.sqlite", **known)
            endures(tmp_path, "check", server.url, "--user", USER, **known)
