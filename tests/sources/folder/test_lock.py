"""`catalog.lock`: what it remembers, what it says of an id that changes or is used again, and words for a broken one."""

import re
from pathlib import Path
from typing import Any

import pytest

from osbctl.errors import ConfigError
from osbctl.findings import Finding, Severity
from osbctl.sources.folder import compose, read_folder, read_lock
from osbctl.sources.folder.lock import Lock, find_missing_ids, is_lock, parse, update_lock
from osbctl.sources.folder.scaffold import ATTRIBUTES
from osbctl.validation.options import ValidationOptions
from osbctl.validation.pipeline import validate_document
from tests.case import each
from tests.git import commit, git
from tests.sources.folder.test_build import SERVICE, write


def lock_findings(folder: Path, *accepted: str) -> list[str]:
    """The rules of the errors of a build, which writes the lock."""
    document, lock = compose(str(folder), accepted=accepted)
    (folder / "catalog.lock").write_text(lock.text())
    return [note.rule for note in document.notes if note.severity is Severity.ERROR]


def test_the_lock_knows_ids(tmp_path: Path) -> None:
    write(tmp_path, services__postgres=SERVICE)
    assert lock_findings(tmp_path) == []
    assert read_lock(tmp_path).ids == {"postgres": "S1", "postgres/small": "P1"}
    changed = SERVICE.replace("P1", "P2")
    write(tmp_path, services__postgres=changed)
    assert [note.rule for note in compose(str(tmp_path))[0].notes] == ["build-id-changed"]
    assert lock_findings(tmp_path, "postgres/small") == []


def test_swapped_ids_are_an_error(tmp_path: Path) -> None:
    two = SERVICE + "  - {name: large, id: P2, description: L.}\n"
    write(tmp_path, services__postgres=two)
    assert lock_findings(tmp_path) == []
    write(tmp_path, services__postgres=two.replace("P1", "X").replace("P2", "P1").replace("X", "P2"))
    assert set(lock_findings(tmp_path)) == {"build-id-changed", "build-id-reused"}


def test_the_newcomer_is_blamed_for_an_id_twice(tmp_path: Path) -> None:
    write(tmp_path, services__postgres=SERVICE.replace("plans:\n  - {name: small, id: P1, description: Small.}\n", ""))
    write(tmp_path, services__postgres__plans__small="name: small\nid: P1\ndescription: Small.\nfree: true\n")
    assert lock_findings(tmp_path) == []
    write(tmp_path, services__postgres__plans__medium="name: medium\nid: P1\ndescription: Small.\nfree: true\n")
    judgement = validate_document(read_folder(str(tmp_path)), ValidationOptions())
    (finding,) = [f for f in judgement.findings if f.rule == "build-id-reused"]
    assert finding.location
    assert Path(finding.location.source).name == "medium.yaml"
    assert "'postgres/medium' is that of 'postgres/small'" in finding.message


def test_git_merges_the_locks_of_two_branches(tmp_path: Path) -> None:
    write(tmp_path, services__postgres=SERVICE)
    (tmp_path / ATTRIBUTES[0]).write_text(ATTRIBUTES[1])
    assert lock_findings(tmp_path) == []
    commit(tmp_path)
    for branch, id_ in (("one", "P2"), ("two", "P3")):
        git(tmp_path, "checkout", "-b", branch, "main")
        text = f"name: {branch}\nid: {id_}\ndescription: D.\n"
        write(tmp_path, **{f"services__postgres__plans__{branch}": text})
        if branch == "two":  # a rename on one side, next to what the other side has added
            write(tmp_path, services__postgres=SERVICE.replace("small", "tiny"))
        assert lock_findings(tmp_path) == []
        commit(tmp_path)
    git(tmp_path, "merge", "one")
    assert lock_findings(tmp_path) == []
    ids = {"postgres": "S1", "postgres/tiny": "P1", "postgres/one": "P2", "postgres/two": "P3"}
    assert read_lock(tmp_path).ids == ids


# The words, and cases that one file of a lock seldom shows.

HEADER = "# osbctl catalog.lock, version 2"
MERGE = "keep the lines of both sides, not the markers"
DELETE = "keep the line whose id is published, and delete the other"
NO_LINES = ["{", '["a"]', '["a", 1]', '["a", "1", "gone"]', "[" * 100_000, '{"a": 1, "b": 2}']
RESTORE = "restore it from git: without it nothing remembers which ids are published"


@each("text, message, advice", [
    ("", "c.lock: not a lock file", RESTORE),
    ("{", "c.lock: not a lock file", RESTORE),
    (HEADER.replace("2", "3"), "c.lock: a lock file of another version", "use a newer osbctl"),
    *((f"{HEADER}\n{line}", "c.lock:2: not a line of a lock file", RESTORE) for line in NO_LINES),
    ("<<<<<<< HEAD\n" + HEADER, "c.lock:1: there is a merge conflict here", MERGE),
    *((f"{HEADER}\n{mark} x", "c.lock:2: there is a merge conflict here", MERGE)
        for mark in ("<<<<<<<", "|||||||", "=======", ">>>>>>>")),
    (f'{HEADER}\n["a", "1"]\n["a", "1"]\n\n["a", "2"]', "c.lock:5: 'a' has another id in line 2", DELETE),
])  # fmt: skip
def test_the_words_for_a_broken_lock(text: str, message: str, advice: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, "c.lock")
    assert (caught.value.message, caught.value.advice) == (message, advice)


def test_a_folder_with_a_broken_lock_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, services__postgres=SERVICE, lock="{")
    with pytest.raises(ConfigError, match=r"catalog\.lock: not a lock file"):
        read_folder(str(tmp_path))


def test_a_lock_is_written_as_it_is_read() -> None:
    lock = Lock({"b": "2", "a/ä": "1"})
    assert lock.text().splitlines() == [
        "# osbctl catalog.lock, version 2",
        "# Which id belongs to which name. Commit it. In a merge keep the lines of both sides: each stands for itself.",
        '["a/ä", "1"]',
        '["b", "2"]',
    ]
    assert parse(lock.text(), "x") == parse(lock.text().replace("\n", "\r\n"), "x") == lock
    assert is_lock(lock.text())
    assert is_lock("# osbctl catalog.lock, version 9")
    assert not is_lock("# osbctl")


def catalog(**services: Any) -> dict[str, Any]:
    """`name="id"`, or `name=("id", {plan: id})`."""
    made = []
    for name, given in services.items():
        id_, plans = given if isinstance(given, tuple) else (given, {})
        made.append({"name": name, "id": id_, "plans": [{"name": plan, "id": one} for plan, one in plans.items()]})
    return {"services": made}


def told(found: list[Finding]) -> list[tuple[str, str, tuple[Any, ...], str]]:
    assert {finding.severity for finding in found} <= {Severity.ERROR}
    return [(finding.rule, finding.message, finding.path, finding.hint) for finding in found]


def test_an_id_that_changes() -> None:
    lock = Lock({"a": "1", "a/p": "2"})
    changed = catalog(a=("8", {"p": "9"}))
    after, found = update_lock(lock, changed)
    assert told(found) == [
        ("build-id-changed", "the id of service 'a' has changed; it was '1'", ("services", 0, "id"),
         "restore the old id, or accept the new one: `osbctl build --accept-id-change a`"),
        ("build-id-changed", "the id of plan 'a/p' has changed; it was '2'", ("services", 0, "plans", 0, "id"),
         "restore the old id, or accept the new one: `osbctl build --accept-id-change a/p`"),
    ]  # fmt: skip
    assert found[0].refused_by_text.startswith("refused as an update by Cloud Foundry")
    assert after == Lock({"a": "8", "a/p": "9"})
    for accepted, refused in ([], ["a", "a/p"]), (["a"], ["a/p"]), (["a/p"], ["a"]), (["a", "a/p"], []):
        after, found = update_lock(lock, changed, accepted)
        assert after == Lock({"a": "8", "a/p": "9"})
        assert [finding.message.split("'")[1] for finding in found] == refused, accepted


@each("before, after, owner", [
    (Lock({"a": "1"}), catalog(b="1"), ""),  # renamed
    (Lock({"a": "1"}), catalog(a="1", b="1"), "is that of 'a', as catalog.lock knows"),
    (Lock({"a": "1", "a/p": "2"}), catalog(a=("1", {"q": "2"})), ""),
    (Lock({"a": "1", "a/p": "2"}), catalog(b=("1", {"q": "2"})), ""),  # with its service
    (Lock({"a": "1", "a/p": "2"}), catalog(b=("1", {"p": "2"})), ""),
    (Lock({"a": "1", "a/p": "2"}), catalog(a=("1", {}), b=("3", {"p": "2"})), "was that of 'a/p'"),  # it moved
    (Lock({"a": "1", "a/p": "2"}), catalog(a="1", b="2"), "was that of 'a/p'"),
    (Lock({"a": "1"}), catalog(b=("3", {"p": "1"})), "was that of 'a'"),
    (Lock({"old": "1", "new": "1"}), catalog(new="1"), ""),  # after a merge
    (Lock({"new": "1", "old": "1"}), catalog(new="1"), ""),
    (Lock({"s": "9", "old": "8", "s/p": "1", "old/p": "1"}), catalog(s=("9", {"p": "1"}), old="8"), ""),
    (Lock({"x": "7", "x/y": "8", "x/y/p": "1"}), catalog(**{"x": "7", "x/y": ("8", {"q": "1"})}), ""),
])  # fmt: skip
def test_an_id_that_is_used_again(before: Lock, after: dict[str, Any], owner: str) -> None:
    _, found = update_lock(before, after)
    if not owner:
        assert found == []
        return
    ((rule, message, path, hint),) = told(found)
    name = message.split("'")[1]
    assert (rule, message) == ("build-id-reused", f"the id of '{name}' {owner}")
    assert path[-1] == "id"
    assert hint == f"give '{name}' an id of its own"


def test_names_that_went_stay_remembered() -> None:
    lock = Lock({"a": "1", "a/p": "2", "gone": "3"})
    assert update_lock(lock, catalog(a=("1", {})))[0] == lock
    assert update_lock(lock, catalog(b=("1", {"p": "2"})))[0] == Lock({"gone": "3", "b": "1", "b/p": "2"})
    nameless = {"services": [{"name": "", "id": "1"}, {"name": "a", "id": 5}, {"id": "x"}, 7]}
    assert update_lock(Lock(), nameless) == (Lock(), [])


def test_a_missing_id_has_a_fresh_one_to_paste() -> None:
    data = {"services": [{"name": "a", "plans": [{"name": "p", "id": ""}, {}, {"name": "q"}]}, {"id": None}]}
    found = list(find_missing_ids(data))
    assert [(f.rule, f.severity, f.message, f.path) for f in found] == [
        ("build-id-missing", Severity.ERROR, "service 'a' has no id", ("services", 0, "id")),
        ("build-id-missing", Severity.ERROR, "plan 2 has no id", ("services", 0, "plans", 1, "id")),
        ("build-id-missing", Severity.ERROR, "plan 'q' has no id", ("services", 0, "plans", 2, "id")),
    ]
    hints = [finding.hint for finding in found]
    assert len(set(hints)) == 3
    for hint in hints:
        assert re.fullmatch(r"paste a fresh one: id: [0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", hint)
