"""`osbctl fix` over real, mutated and generated catalogs: samples in `make test`, all of them under `make fuzz`."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from random import Random
from typing import Any

import pytest

from osbctl.commands.fix import fix_bytes, fix_source, write_fixed_files
from osbctl.errors import UsageError
from osbctl.findings import DocumentError
from osbctl.sources.catalogs import parse_catalog
from osbctl.sources.document import parse_document
from osbctl.sources.folder import read_folder
from osbctl.sources.folder.scaffold import check_splittable, split_catalog
from osbctl.sources.read_bytes import MAX_DEPTH
from osbctl.validation.pipeline import validate_document
from tests.case import case
from tests.corpus import CORPUS, EVERY_CASE, catalogs, needs_corpus
from tests.deploy.harness import write
from tests.fixes.generated import catalog, text
from tests.fixes.promises import FULL, PLAIN, check, check_marks, check_no_new_findings, differences, is_fix

MUTATED = ("cloudfoundry-mutations", "cloudfoundry-probes-2")
CHUNKS = range(20 if EVERY_CASE else 1)
"""Each is a test of its own, so that they run side by side."""


def sample(number: int, whole: Iterable[int]) -> Iterator[int]:
    """One chunk of all, or the first few."""
    every = list(whole)
    return iter(every[number :: len(CHUNKS)] if EVERY_CASE else every)


def count_changed(texts: Iterable[tuple[int, str, bytes]]) -> int:
    """Hold each text to the promises, some with all that may be mended, and for all platforms; how many were changed."""
    changed = 0
    for number, name, data in texts:
        random = Random(number)
        try:
            unsafe, options = random.random() < 0.6, random.choice([PLAIN, FULL])
            changed += bool(check(name, data, unsafe=unsafe, options=options))
        except DocumentError:
            continue
        except AssertionError as error:
            raise AssertionError(f"text {number} ({name}): {error}") from error
    return changed


@needs_corpus
@pytest.mark.fuzz
def test_real_catalogs() -> None:
    whole = catalogs() if EVERY_CASE else catalogs()[::5]
    ways = ((unsafe, options) for unsafe in (False, True) for options in (PLAIN, FULL))
    mended = 0
    for unsafe, options in ways if EVERY_CASE else [(True, PLAIN)]:
        for file in whole:
            try:
                mended += bool(check(file.name, file.read_bytes(), unsafe=unsafe, options=options))
            except DocumentError:
                continue
    assert mended >= (100 if EVERY_CASE else 8)


def mutated_catalogs() -> Iterator[Any]:
    assert CORPUS
    for name in MUTATED:
        with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                with suppress(RecursionError):  # a few probes are nested too deeply to be read
                    found = json.loads(line).get("catalog")
                    lines_of_it = json.dumps(found, indent=1).split("\n")
                    if found is not None and max(len(one) - len(one.lstrip(" ")) for one in lines_of_it) < MAX_DEPTH:
                        yield found


@needs_corpus
@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", CHUNKS)
def test_mutated_catalogs(chunk: int) -> None:
    found = list(zip(range(10**6 if EVERY_CASE else 20), mutated_catalogs(), strict=False))
    assert not EVERY_CASE or len(found) >= 2_000
    picked = [found[number] for number in sample(chunk, range(len(found)))]
    assert count_changed((number, *text(Random(number), one)) for number, one in picked) > len(picked) // 10


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", CHUNKS)
def test_generated_catalogs(chunk: int) -> None:
    picked = list(sample(chunk, range(5_000 if EVERY_CASE else 30)))
    made = ((number, *text(random, catalog(random))) for number in picked for random in [Random(number)])
    assert count_changed(made) > len(picked) // 2


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", CHUNKS)
def test_validate_calls_fixable_what_fix_fixes(chunk: int) -> None:
    said = 0
    for number in sample(chunk, range(5_000 if EVERY_CASE else 20)):
        random = Random(number)
        name, data = text(random, catalog(random))
        with suppress(DocumentError), case(number):
            document = parse_document(data, name)
            said += check_marks(name, document, lambda unsafe, of=(name, data): fix_bytes(*of, PLAIN, unsafe=unsafe))
    assert said > 50


@pytest.mark.fuzz
@pytest.mark.parametrize("at", ["/broker", "/spring/cloud/openservicebroker/catalog"])
def test_validate_calls_fixable_what_fix_fixes_below_another_key(at: str) -> None:
    said = 0
    for number in range(2_000 if EVERY_CASE else 200):
        random = Random(number)
        name, data = text(random, catalog(random))
        if name.endswith("json") or any(mark in data for mark in (b"\r", b"\xef\xbb\xbf", b"---", b"%", b"...")):
            continue
        *above, last = at[1:].split("/")
        lines = [f"{' ' * level}{key}:" for level, key in enumerate(above)] + [f"{' ' * len(above)}{last}: &c"]
        lines += [" " * 9 + line for line in data.decode().split("\n")]
        whole = "\n".join([*lines, random.choice(["", "again: *c"]), ""])
        with suppress(DocumentError), case(number):
            document = parse_catalog(whole, name, at=at, allow_nested=False)
            fix = partial(fix_bytes, name, whole.encode(), PLAIN, at=at)
            said += check_marks(name, document, lambda unsafe, fix=fix: fix(unsafe=unsafe), at)
    assert said > 15


@pytest.mark.fuzz
def test_generated_source_folders(tmp_path: Path) -> None:
    mended = 0
    for number in range(300 if EVERY_CASE else 12):
        random = Random(number)
        folder = tmp_path / str(number)
        try:
            data = catalog(random)
            check_splittable(parse_document(json.dumps(data).encode(), "c.json"))
            write(folder, dict(split_catalog(data)))
            mended += check_folder(folder, random.random() < 0.6)
        except (DocumentError, UsageError):  # a service without a name, say
            continue
    assert mended >= (100 if EVERY_CASE else 3)


def check_folder(folder: Path, unsafe: bool) -> bool:
    """Mend a source folder and hold it to the promises; whether anything was mended."""
    before = read_folder(str(folder))
    check_marks(str(folder), before, lambda unsafe: fix_source(str(folder), PLAIN, unsafe=unsafe))
    found = fix_source(str(folder), PLAIN, unsafe=unsafe)
    write_fixed_files(found)
    after = read_folder(str(folder))
    made = [(finding, fix) for finding in found.fixed for fix in finding.fixes]
    fixes = {fix.path: fix for _, fix in made}
    renamed = {(*fix.path[:-1], fix.value): fix.path for _, fix in made if fix.action == "rename"}
    for path, old, new in differences(before.data, after.data):
        if old is None and path in renamed:  # a null goes, and an entry of another name takes its place
            old = reduce(getitem, renamed[path], before.data)
            if type(old) is type(new) and old == new:
                continue
        assert is_fix(path, old, new, fixes), f"{path}: {old!r} became {new!r}"
    check_no_new_findings(validate_document(before, PLAIN).findings, found.remaining, made)
    assert not fix_source(str(folder), PLAIN, unsafe=unsafe).changed_files
    return bool(found.changed_files)


@pytest.mark.parametrize("break_it", [
    lambda new: new.replace(b"description: d", b"description: e"),
    lambda new: new.replace(b"# well", b"#well"),
    lambda new: new.replace(b"\r\n", b"\n"),
    lambda new: new.removeprefix(b"\xef\xbb\xbf"),
    lambda new: new.replace(b"id: a", b'id: "a"'),
    lambda new: new + b"\n",
])  # fmt: skip
def test_a_broken_promise_is_seen(break_it: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """The check checks: each of these edits is one that `fix` must not make."""
    from osbctl.commands import fix as task

    made = task.Pass.changed_files
    monkeypatch.setattr(
        task.Pass, "changed_files", lambda step: {name: break_it(new) for name, new in made(step).items()}
    )
    whole = (
        b"\xef\xbb\xbfservices:\r\n- id: a\r\n  description: d\r\n  name: n # well\r\n  bindable: 'yes'\r\n  plans: []"
    )
    monkeypatch.setattr(task, "_find_working_pass", without_check(task._find_working_pass))
    with pytest.raises(AssertionError):
        check("c.yaml", whole, unsafe=False)


def without_check(possible: Any) -> Any:
    """`_find_working_pass` without its own check of the result."""

    def find_pass(document: Any, files: Any, wanted: Any, read: Any, failed: Any) -> Any:
        from osbctl.fixes import Pass

        step = Pass(document, files)
        step.make_edits(wanted)
        return (step, read(files | step.changed_files())) if step.fixes_by_edit else None

    return find_pass
