"""A fault outside of the catalog in a larger file is text, or a warning, to every command; inside it is an error."""

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from osbctl.commands.load_catalog import CatalogSource, load
from osbctl.editor.open_files import analyse_source, find_source
from osbctl.files import read_bounded
from osbctl.findings import DocumentError
from osbctl.sources import read_bytes
from osbctl.sources.read_bytes import MAX_BYTES
from tests.case import case, each
from tests.cli.program import failure, osbctl
from tests.corpus import EVERY_CASE

PLAN = {"id": "0b54c3a5-2d9b-4ba7-8a4c-6a1c0e1f2a31", "name": "small", "description": "A small one.", "free": True}
SERVICE = {"id": "0b54c3a5-2d9b-4ba7-8a4c-6a1c0e1f2a30", "name": "db", "description": "A database.", "bindable": True}
CATALOG: dict[str, Any] = {"services": [SERVICE | {"plans": [PLAN]}]}
AT = "/broker/catalog"
FAULTS_OF_YAML = {
    "key-not-string": (
        "8080: http", "8080: http, 8443: https", "1.5: x", "true: x", "~: x", "[a, b]: x", "{a: 1}: x", "tag: {{ x }}",
        "a: &n 5, *n : x", "a: &n {b: 1}, *n : x", "? {? [a] : b} : c", "usd: 9,5",
    ),
    "duplicate-key": ("A: 1, A: 2", "A: 1, B: 1, 'A': {c: 2}, A: 3", "a: {b: [{c: 1, c: 2}]}", "a: &a A, A: 1, *a : 2"),
    "unknown-tag": ("a: !Ref x", "a: !foo [1, {b: 2}]", "a: !foo {b: 2}", "a: !!binary aGk=", "!foo a: 1"),
    "number-out-of-range": ("a: .inf", "a: [-.INF, .nan]", "a: 1e400", f"a: {'9' * 5000}", "1e400: x"),
    "recursive-alias": ("a: &a [*a]", "a: &a {b: {c: *a}}", "a: &a {<<: *a}", "a: &a {? *a : 1}"),
    "syntax": (
        "v: @project.version@", "v: [@a@, @b.c-d_e@-x, 'f @g@', @h@]", "@project.name@: x", '"v":@a@', "<<: 5", "<<: [{}, 1]",
    ),
}  # fmt: skip
"""Entries of a mapping, by the rule of their first fault."""
FAULTS_OF_JSON = {
    "duplicate-key": ('"A": 1, "A": 2', '"a": {"b": [{"c": 1, "\\u0063": 2}]}'),
    "number-out-of-range": ('"a": NaN', '"a": [-Infinity, Infinity]', '"a": 1e400', f'"a": {"9" * 5000}'),
    "lone-surrogate": ('"a": "\\ud800"', '"\\udfff": 1'),
}


class Sample(NamedTuple):
    """One fault: its rule, the entries that have it, and the name of the file."""

    rule: str
    entries: str
    name: str

    def file(self, folder: Path, form: str, **parts: Any) -> str:
        """Write a file in this form, and return its path."""
        text = form.replace("FAULT", self.entries)
        for mark, value in {"CATALOG": CATALOG, **parts}.items():
            text = text.replace(mark, value if isinstance(value, str) else json.dumps(value))
        path = folder / self.name
        path.write_text(text)
        return str(path)


SAMPLES = [
    *(Sample(rule, entries, "a.yaml") for rule, rows in FAULTS_OF_YAML.items() for entries in rows),
    *(Sample(rule, entries, name) for rule, rows in FAULTS_OF_JSON.items() for entries in rows for name in ("a.json", "a")),
]  # fmt: skip
FIRST = {(sample.rule, sample.name): sample for sample in reversed(SAMPLES)}.values()
"""One sample of each rule and reader, which `make test` tries in every form; the others in one."""
OUTSIDE = [
    '{"env": {FAULT}, "broker": {"catalog": CATALOG}}', '{"broker": {"catalog": CATALOG}, "env": [{"x": {FAULT}}]}',
    '{FAULT, "broker": {"catalog": CATALOG}}', '{"broker": {FAULT, "catalog": CATALOG}}',
    '{"broker": {"catalog": CATALOG, FAULT}}',
]  # fmt: skip
INSIDE = [
    ('{"env": {}, "broker": {"catalog": {FAULT, "services": SERVICES}}}', AT),
    ('{"env": {}, "broker": {"catalog": {"services": SERVICES, "x": {FAULT}}}}', AT),
    ('{"broker": {"catalog": SERVICES_AND}}', AT),
    ('{FAULT, "services": SERVICES}', ""),
]


def tried(forms: list[Any], sample: Sample) -> list[Any]:
    """The forms in which a sample is tried."""
    return forms if EVERY_CASE or sample in FIRST else [forms[SAMPLES.index(sample) % len(forms)]]


def findings(*words: str, code: int) -> list[tuple[str, str]]:
    """The severity and rule of each finding of `validate`."""
    (document,) = json.loads(osbctl("validate", "-f", "json", *words, code=code).stdout)["documents"]
    return [(one["severity"], one["rule"]) for one in document["findings"]]


@pytest.mark.fuzz
def test_outside_it_is_text_or_a_warning(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(json.dumps(CATALOG))
    good = str(tmp_path / "good.json")
    table = osbctl("show", good, code=0).stdout
    for sample in SAMPLES:
        for form in tried(OUTSIDE, sample):
            file = sample.file(tmp_path, form)
            with case(Path(file).read_text()[:300]):
                for at in [(), ("--at", AT)][OUTSIDE.index(form) % 2 :]:
                    found = findings(file, *at, code=0)
                    assert found == [("warning", "duplicate-key")] * found.count(("warning", "duplicate-key"))
                    assert bool(found) is (sample.rule == "duplicate-key")
        with case(Path(file).read_text()[:300]):
            for at in tried([(), ("--at", AT)], sample):
                assert osbctl("show", file, *at, code=0).stdout == table
            others = tried(["page", "diff"], sample)
            if "page" in others:
                assert "0 services" not in osbctl("page", file, "--at", AT, code=0).stdout
            if "diff" in others:
                assert json.loads(osbctl("diff", good, file, "-f", "json", code=0).stdout)["changes"] == []
            assert load(CatalogSource(file, AT)).services == 1
            text = Path(file).read_text()
            assert find_source(file, text) == file
            analysed = analyse_source(file, {file: text})
            assert analysed.document is not None
            assert {finding.rule for finding in analysed.findings} <= {"duplicate-key"}


@pytest.mark.fuzz
def test_fix_edits_the_catalog_and_leaves_the_fault(tmp_path: Path) -> None:
    wrong = json.dumps(CATALOG).replace('"bindable": true', '"bindable": "true"')
    assert wrong != json.dumps(CATALOG)
    for sample in SAMPLES:
        for form in tried(OUTSIDE[:2], sample):
            file = Path(sample.file(tmp_path, form, CATALOG=wrong))
            text = file.read_text()
            with case(text[:300]):
                osbctl("fix", str(file), "--at", AT, code=0)
                assert file.read_text() == text.replace('"true"', "true")


@pytest.mark.fuzz
def test_inside_it_is_an_error(tmp_path: Path) -> None:
    services = json.dumps(CATALOG["services"])
    deep = json.dumps({"services": [CATALOG["services"][0] | {"metadata": {"DEEP": 1}}]}).replace('"DEEP": 1', "FAULT")
    (tmp_path / "good.json").write_text(json.dumps(CATALOG))
    for sample in SAMPLES:
        for form, at in tried(INSIDE, sample):
            file = sample.file(tmp_path, form.replace("SERVICES_AND", deep), SERVICES=services)
            with case(Path(file).read_text()[:300]):
                for words in (("--at", at), ()) if at else ((),):
                    assert ("error", sample.rule) in findings(file, *words, code=1)
        where = ("--at", AT)
        file = sample.file(tmp_path, INSIDE[1][0], SERVICES=services)
        with case(Path(file).read_text()[:300]):
            for command in tried([("show",), ("page",), ("diff", str(tmp_path / "good.json"))], sample):
                assert f"[{sample.rule}]" in failure(*command, file, code=1)
            before = Path(file).read_text()
            assert f"[{sample.rule}]" in osbctl("fix", file, *where, code=1).stderr
            assert Path(file).read_text() == before
            try:
                load(CatalogSource(file, AT))
                raise AssertionError
            except DocumentError as error:
                assert error.findings[0].rule == sample.rule
            analysed = analyse_source(file, {file: before})
            assert analysed.document is None
            assert sample.rule in {finding.rule for finding in analysed.findings}


def written(folder: Path, text: str, name: str = "a.yaml") -> str:
    (folder / name).write_text(text.replace("CATALOG", json.dumps(CATALOG)))
    return str(folder / name)


def test_a_repeated_key_on_the_way_to_the_catalog_is_an_error(tmp_path: Path) -> None:
    for name in ("a.json", "a.yaml"):
        for text in (
            '{"broker": 5, "broker": {"catalog": CATALOG}}',
            '{"broker": {"catalog": CATALOG}, "broker": 5}',
            '{"broker": {"catalog": CATALOG}, "broker": {"catalog": CATALOG}}',
            '{"broker": {"x": 1, "catalog": CATALOG, "catalog": CATALOG}}',
            '{"broker": {"catalog": {}, "y": {}, "catalog": CATALOG, "catalog": CATALOG}}',
        ):
            file = written(tmp_path, text, name)
            for at in ((), ("--at", "/broker")):
                with case(text, *at):
                    assert ("error", "duplicate-key") in findings(file, *at, code=1)
                    assert "appears twice" in failure("show", file, *at, code=1)


def test_other_faults_on_the_way_are_text(tmp_path: Path) -> None:
    for text, at in {
        "8080: {catalog: CATALOG}": "/8080/catalog",
        "true: {~: CATALOG}": "/true/~0",
        "broker: !Foo {catalog: CATALOG}": "/broker/catalog",
        "@artifact@: {catalog: CATALOG}": "/@artifact@/catalog",
        "- 8080: x\n  8443: y\n  catalog: CATALOG": "/0/catalog",
        "- a: x\n  a: y\n  catalog: CATALOG": "/0/catalog",  # the item begins where its first key does
        "a: {1: x}\nb:\n  CATALOG": "/b",
        "b: CATALOG\n1: x": "/b",
        "x: &x {1: 2, c: CATALOG}\ny: *x": "/y/c",
        "x: &x {1: 2, c: CATALOG}\ny: {<<: *x}": "/y/c",
    }.items():
        file = written(tmp_path, text)
        for words in ((), ("--at", at)):
            with case(text, *words):
                assert all(severity == "warning" for severity, _ in findings(file, *words, code=0))


def test_a_catalog_behind_a_collection_as_key_has_no_place(tmp_path: Path) -> None:
    assert findings(written(tmp_path, "? [a]\n: CATALOG"), code=1) == [("error", "key-not-string")]


def test_what_is_brought_in_by_an_alias_is_inside(tmp_path: Path) -> None:
    services = json.dumps(CATALOG["services"])
    for fault, rule in {
        "{1: x}": "key-not-string", "{a: {b: !t 1}}": "unknown-tag", "[.inf]": "number-out-of-range",
        ".inf": "number-out-of-range", "!t x": "unknown-tag", "{a: 1, a: 2}": "duplicate-key", "@x@": "syntax",
    }.items():  # fmt: skip
        uses = "{services: SERVICES, x: *f}", "{services: SERVICES, x: [{y: *f}]}", "{<<: {x: *f}, services: SERVICES}"
        for use in uses:
            for others in ("", "g: &g [1: 2]\n"):
                text = f"{others}f: &f {fault}\nbroker: {{catalog: {use}}}\n".replace("SERVICES", services)
                with case(text[:200]):
                    assert findings(written(tmp_path, text), "--at", AT, code=1) == [("error", rule)]
        through = f"f: &f {fault}\ng: &g {{h: *f}}\nbroker: {{catalog: {{services: {services}, x: *g}}}}\n"
        assert findings(written(tmp_path, through), "--at", AT, code=1) == [("error", rule)]
    rules = {"{1: x, b: 2}": "key-not-string", "{b: !t 2}": "unknown-tag", "{b: 1, b: 2}": "duplicate-key"}
    for merged, rule in rules.items():
        for use in ("<<: *f", "<<: [*f]", "<<: {<<: *f}"):
            text = f"f: &f {merged}\nbroker: {{catalog: {{{use}, services: {services}}}}}\n"
            with case(text[:200]):
                assert findings(written(tmp_path, text), "--at", AT, code=1) == [("error", rule)]


def test_in_a_string_and_in_a_stream(tmp_path: Path) -> None:
    block = "  a.yaml: |\n    env: {1: 2, A: 1, A: 2}\n    v: @x@\n    catalog: CATALOG\n"
    for text, at, repeated in (
        (f"1: x\nA: 1\nA: 2\ndata:\n{block}", "/data/a.yaml/catalog", [(3, 1), (6, 23)]),
        ("1: x\n---\n2: x\nA: 1\nA: 2\nv: @x@\ncatalog: CATALOG\n", "/1/catalog", [(5, 1)]),
    ):
        file = written(tmp_path, text)
        for words in ((), ("--at", at)):
            with case(text, *words):
                (document,) = json.loads(osbctl("validate", "-f", "json", file, *words, code=0).stdout)["documents"]
                places = [(one["location"]["line"], one["location"]["column"]) for one in document["findings"]]
                assert places == repeated
    for inside in ("1: x, services: []", "services: [], A: 1, A: 2", "services: [], v: @x@"):
        text = f"data:\n  a.yaml: |\n    catalog:\n      {{{inside}, plans: [], id: a, name: b, bindable: true}}\n"
        with case(text):
            (document,) = json.loads(osbctl("validate", "-f", "json", written(tmp_path, text), code=1).stdout)[
                "documents"
            ]
            assert document["findings"][0]["location"]["line"] == 4
    for text in ("data: {A: 1, A: |-\n  x\n}", "data:\n  a: 1\n  a: |\n    services: [{plans: []}]\n"):
        assert "duplicate-key" in failure("show", written(tmp_path, text), code=1)


def test_comments_and_baselines_work_beside_faults(tmp_path: Path) -> None:
    entry = "env: {A: 1, A: 2, 8080: x, v: @a.b@}"
    for comment in ("", "  # osbctl: ignore[duplicate-key]"):
        file = written(tmp_path, f"{entry}{comment}\nbroker:\n  catalog: CATALOG\n")
        assert findings(file, "--at", AT, code=0) == [("warning", "duplicate-key")] * (not comment)
    wrong = json.dumps(CATALOG).replace('"bindable": true', '"bindable": "true"')
    for comment, code in (("", 1), ("  # osbctl: ignore[schema-type]", 0)):
        file = written(tmp_path, f"{entry}\nbroker:\n  catalog: {wrong}{comment}\n")
        assert (("error", "schema-type") in findings(file, code=code)) is (code == 1)
    file = written(tmp_path, f"{entry}\nbroker:\n  catalog: CATALOG\n")
    baseline = tmp_path / "baseline.json"
    osbctl("validate", file, "--baseline", str(baseline), "--write-baseline", code=0)
    assert baseline.exists()
    written(tmp_path, f"x: {{}}\n{entry}\nbroker:\n  catalog: CATALOG\n")
    assert findings(file, "--baseline", str(baseline), code=0) == []


def test_secrets_in_a_repeated_line_are_masked(tmp_path: Path) -> None:
    file = written(
        tmp_path, "env: {PASSWORD: hunter2-and-more, PASSWORD: hunter2-and-less}\nbroker: {catalog: CATALOG}\n"
    )
    for form in ("text", "json", "sarif", "html"):
        assert "hunter2" not in osbctl("validate", file, "-f", form, code=0).stdout


@pytest.fixture
def files_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time would go into the zeros of a large file, which has one name in all folders."""
    monkeypatch.setattr(read_bytes, "read_bounded", functools.cache(read_bounded))


@each("words, advice", [
    ("validate big.yaml", True), ("diff big.yaml big.yaml", True), ("page big.yaml", True), ("drift big.yaml big.yaml", True),
    ("show big.yaml", False), ("fix big.yaml", False), ("params big.yaml s p", False), ("split big.yaml new", False),
    ("params small.yaml db small -c @big.yaml", False),
])  # fmt: skip
def test_a_source_that_is_too_large_is_told_with_the_option_of_the_command(
    files_read_once: None, tmp_path: Path, words: str, advice: bool
) -> None:
    (tmp_path / "small.yaml").write_text(json.dumps(CATALOG))
    with (tmp_path / "big.yaml").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    done = osbctl(*words.split(), cwd=tmp_path)
    assert "the source is larger than" in done.stdout + done.stderr
    assert ("--max-bytes" in done.stdout + done.stderr) is advice
