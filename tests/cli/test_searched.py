"""Commands that find the catalogs of a folder: what they take, what they say, and what they do with it."""

import glob
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

from osbctl.commands.options import select_catalogs
from osbctl.sources import discovery
from osbctl.sources.yaml_text import dump
from tests import fragments
from tests.case import case
from tests.cli.program import ROOT, at_terminal, failure, osbctl
from tests.comparison.make import catalog, plan, service
from tests.deploy.harness import edit, write
from tests.git import commit, git
from tests.sources.test_discovery import LEFT, TAKEN

GOOD = dump(fragments.catalog())
OTHER = (ROOT / "catalogs/interface-example.json").read_text()
FAULTY = (ROOT / "catalogs/faulty.yaml").read_text()
GITLAB = "image: python\nservices:\n  - name: postgres:16\n"


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("committed")
    files = {"a.yaml": GOOD, "b/broker.json": OTHER, ".gitlab-ci.yml": GITLAB, "compose.yaml": "services: {a: {}}"}
    shutil.copytree(ROOT / "catalogs/source", folder / "my-catalog")
    commit(write(folder, files))
    return folder


@pytest.fixture
def project(committed: Path, tmp_path: Path) -> Path:
    """Two files, a source folder, and files of others, in a repository with one commit."""
    return shutil.copytree(committed, tmp_path, dirs_exist_ok=True)


FOUND = "osbctl: found 3 catalogs: a.yaml, b/broker.json, my-catalog\n"


def test_validate_takes_all_and_says_what(project: Path) -> None:
    for words in ("validate", "validate .", "validate --concise", "validate . --fail-on never"):
        with case(words):
            done = osbctl(*words.split(), cwd=project, code=0)
            assert done.stderr.startswith(FOUND)
            assert "my-catalog: no findings" in done.stdout
            assert "compose" not in done.stdout
    assert osbctl("validate", "-q", cwd=project, code=0).stderr == ""
    for sources, names in (
        ("b a.yaml ./b/broker.json", ["b/broker.json", "a.yaml", "./b/broker.json"]),
        ("a.yaml .", ["a.yaml", "b/broker.json", "my-catalog"]),
    ):
        done = osbctl("validate", *sources.split(), "-f", "json", cwd=project, code=0)
        assert [document["name"] for document in json.loads(done.stdout)["documents"]] == names


def test_a_source_folder_is_one_source_without_a_word(project: Path) -> None:
    assert osbctl("validate", "my-catalog", cwd=project, code=0).stderr == ""
    assert osbctl("validate", cwd=project / "my-catalog", code=0).stdout.startswith(".: no findings")


def test_none_found_is_said_and_no_success(project: Path) -> None:
    none = write(project / "none", {"compose.yaml": "services: {a: {}}"})
    for words in ("validate", "fix", "page", "diff HEAD", "show .", "fix --check .", "validate . -f github"):
        with case(words):
            done = osbctl(*words.split(), cwd=none, code=3)
            assert "there is no catalog in this folder (1 file searched)" in done.stdout + done.stderr
    done = osbctl("validate", "none", "a.yaml", cwd=project, code=3)
    assert "a.yaml: no findings" in done.stdout


def test_many_are_counted(tmp_path: Path) -> None:
    write(tmp_path, {f"{number:02}.json": OTHER for number in range(12)})
    said = osbctl("validate", cwd=tmp_path, code=0).stderr
    assert said.startswith("osbctl: found 12 catalogs: 00.json, 01.json, ")
    assert said.endswith("09.json and 2 more\n")


def test_a_folder_with_one_catalog_is_that_catalog(project: Path) -> None:
    whole = write(project / "whole", {"catalog.yaml": GOOD, "services/x.yaml": "kind: Service\n"})
    assert osbctl("show", str(whole), code=0).stdout == osbctl("show", str(whole / "catalog.yaml"), code=0).stdout
    assert osbctl("diff", "whole", "a.yaml", cwd=project, code=0).stdout == ""
    said = failure("show", ".", cwd=project, code=3)
    assert "there are 4 catalogs here: a.yaml, b/broker.json, my-catalog, whole/catalog.yaml" in said


def test_progress_is_shown_at_a_terminal_and_erased(project: Path) -> None:
    seen = at_terminal("stderr", "validate", cwd=project)
    assert "searching 0 of 4 files" in seen.screen
    assert seen.screen.index("searching") < seen.screen.index("\r\x1b[2Kosbctl: found 3")
    assert "searching" not in seen.stdout


def test_fix_edits_what_it_finds_and_nothing_else(project: Path) -> None:
    write(project, {"c.yaml": FAULTY})
    assert "c.yaml: would fix 2" in osbctl("fix", "--check", cwd=project, code=1).stderr
    assert git(project, "status", "--porcelain") == "?? c.yaml"
    config_map = (
        f"kind: ConfigMap\ndata:\n  x.json: {json.dumps(json.dumps(catalog(service('s', 'db', bindable='no'))))}\n"
    )
    write(project, {"d.yaml": config_map})
    done = osbctl("fix", cwd=project, code=0)
    assert done.stderr.startswith("osbctl: found 5 catalogs: a.yaml, ")
    assert "osbctl: d.yaml: osbctl fix edits no text inside a string" in done.stderr
    assert "--at /x" in failure("fix", "--at", "x", cwd=project, code=2)
    assert (project / "d.yaml").read_text() == config_map
    (project / "d.yaml").unlink()
    assert (project / "c.yaml").read_text() != FAULTY
    assert git(project, "status", "--porcelain") == "?? c.yaml"


def test_an_output_never_replaces_what_was_found(project: Path) -> None:
    for words in ("validate -o a.yaml", "page -o b/broker.json", "diff HEAD -o a.yaml"):
        with case(words):
            assert "would be overwritten" in failure(*words.split(), cwd=project, code=2).removeprefix(FOUND)


def test_page_shows_all_and_what_changed(project: Path) -> None:
    osbctl("page", "-o", "page.html", cwd=project, code=0)
    assert all(name in (project / "page.html").read_text() for name in ("postgres", "message-queue"))
    write(project, {"new.yaml": GOOD, "a.yaml": GOOD.replace("name: small", "name: tiny", 1)})
    done = osbctl("page", "--since", "HEAD", "-o", "page.html", cwd=project, code=0)
    assert "new.yaml is new: HEAD has nothing to compare it with" in done.stderr
    assert "a.yaml is new" not in done.stderr
    assert 'renamed from "small" to "tiny"' in (project / "page.html").read_text().replace("&#34;", '"')
    assert "no revision nowhere" in osbctl("page", "--since", "nowhere", cwd=project, code=3).stderr
    done = osbctl("page", "--since", "HEAD", "-o", "page.html", "new.yaml", cwd=project, code=0)
    assert "new.yaml is new" in done.stderr
    git(project, "mv", "-f", "a.yaml", "new.yaml")
    write(project, {"new.yaml": GOOD.replace("name: small", "name: moved", 1)})
    osbctl("page", "--since", "HEAD", "-o", "page.html", "new.yaml", cwd=project, code=0)
    assert "renamed from &#34;small&#34; to &#34;moved&#34;" in (project / "page.html").read_text()


def changes(project: Path, *words: str, code: int, cwd: Path | None = None) -> list[tuple[str, str]]:
    done = osbctl("diff", *words, "-f", "json", cwd=cwd or project, code=code)
    return [
        (change["rule"], ((change["new_location"] or {}).get("source") or change["old_location"]["source"]))
        for change in json.loads(done.stdout)["changes"]
    ]


def test_diff_with_a_revision(project: Path) -> None:
    assert osbctl("diff", "HEAD", cwd=project, code=0).stdout == ""
    write(project, {"a.yaml": GOOD.replace("name: small", "name: tiny", 1)})
    assert changes(project, "HEAD", code=1) == [("change-plan-renamed", "a.yaml")]
    assert changes(project, "main", "a.yaml", code=1) == [("change-plan-renamed", "a.yaml")]
    assert changes(project, "HEAD", "b", code=0) == []
    edit(project / "my-catalog/services/redis.yaml", "name: redis", "name: valkey")
    both = [("change-plan-renamed", "a.yaml"), ("change-service-renamed", "my-catalog/services/redis.yaml")]
    assert sorted(changes(project, "HEAD", code=1)) == both
    assert sorted(changes(project, "HEAD", "..", code=1, cwd=project / "b")) == [
        (rule, f"../{file}") for rule, file in both
    ]
    assert changes(project, "HEAD", code=1, cwd=project / "my-catalog") == [
        ("change-service-renamed", "services/redis.yaml")
    ]
    assert changes(project, "HEAD:my-catalog", "my-catalog", code=1) == [both[1]]
    link = project.parent / "link"  # as /tmp is one on macOS
    link.symlink_to(project)
    for words, cwd in ((link, project), (link, project / "b"), ("../link", project)):
        assert sorted(changes(project, "HEAD", str(words), code=1, cwd=cwd)) == [
            (rule, f"{words}/{file}") for rule, file in both
        ]
    assert changes(project, "HEAD", str(link / "a.yaml"), code=1) == [("change-plan-renamed", str(link / "a.yaml"))]
    osbctl("page", str(link / "a.yaml"), "--since", "HEAD", "-o", "p.html", cwd=project, code=0)
    assert "renamed from" in (project / "p.html").read_text()
    (project / "b/broker.json").unlink()
    assert ("change-catalog-emptied", "b/broker.json") in changes(project, "HEAD", str(link), code=1)


def test_a_removed_part_of_a_source_folder_is_counted_once(project: Path) -> None:
    part = project / "my-catalog/services/redis.yaml"
    shutil.rmtree(part.with_suffix(""))
    part.write_text(
        part.read_text().split("plans:")[0] + "bindable: true\nplans: [{id: p, name: p, description: P.}]\n"
    )
    commit(project)
    edit(project / "my-catalog/catalog.yaml", r"(?m)^.*\bredis\b.*\n", "")
    part.unlink()
    assert [rule for rule, _ in changes(project, "HEAD", code=1)].count("change-service-removed") == 1


def test_diff_compares_with_the_same_path_and_not_with_that_of_the_top(project: Path) -> None:
    write(project, {"b/a.yaml": OTHER})
    commit(project)
    assert changes(project, "HEAD", code=0, cwd=project / "b") == []
    assert changes(project, "HEAD", "a.yaml", code=0, cwd=project / "b") == []


def test_a_hook_of_a_worktree_may_go_into_a_folder(project: Path, tmp_path: Path) -> None:
    """Git sets GIT_DIR for it, with which the working folder counts as the top."""
    tree = tmp_path / "tree"
    git(project, "worktree", "add", "--quiet", str(tree))
    write(tree, {"b/broker.json": OTHER.replace('"bindable": true', '"bindable": false')})
    for place in (tree / "b", tree):
        hook = {"GIT_DIR": git(tree, "rev-parse", "--absolute-git-dir"), "GIT_PREFIX": ""}
        done = osbctl("diff", "HEAD", cwd=place, code=1, **hook)
        assert "change-bindable-withdrawn" in done.stdout and "is new" not in done.stdout


def test_diff_names_what_is_new_and_does_not_lose_what_is_gone(project: Path) -> None:
    write(project, {"new.yaml": GOOD})
    done = osbctl("diff", "HEAD", cwd=project, code=0)
    assert "new.yaml is new: there is nothing to compare it with" in done.stdout
    assert "`new.yaml` is new" in osbctl("diff", "HEAD", "-f", "markdown", cwd=project, code=0).stdout
    assert json.loads(osbctl("diff", "HEAD", "-f", "json", cwd=project).stdout)["new_catalogs"] == ["new.yaml"]
    assert "new.yaml is new" in osbctl("diff", "HEAD", "new.yaml", cwd=project, code=0).stdout
    assert "postgres" in osbctl("diff", "HEAD", "new.yaml", "-f", "html", cwd=project, code=0).stdout
    (project / "b/broker.json").unlink()
    assert "the catalog is empty" in osbctl("diff", "HEAD", "b", "-f", "html", cwd=project, code=1).stdout
    gone = {(f"change-{what}", "b/broker.json") for what in ("catalog-emptied", "service-removed")}
    assert gone <= {*changes(project, "HEAD", code=1)}
    git(project, "mv", "a.yaml", "moved.yaml")
    write(project, {"b/broker.json": OTHER})
    assert changes(project, "HEAD", code=0) == []
    done = osbctl("diff", "HEAD", cwd=project, code=0)
    assert "moved.yaml is new" not in done.stdout
    git(project, "mv", "moved.yaml", "b/moved.yaml")
    write(project, {"b/moved.yaml": GOOD.replace("name: small", "name: tiny", 1)})
    for words, cwd in (("b/moved.yaml", "."), ("b", "."), ("moved.yaml", "b"), ("", "b"), (str(project / "b"), "b")):
        with case(words, cwd):
            found = changes(project, "HEAD", *words.split(), code=1, cwd=project / cwd)
            assert [rule for rule, _ in found] == ["change-plan-renamed"]


def test_diff_does_not_lose_a_catalog_that_is_not_found_any_more(project: Path) -> None:
    gone = {"change-service-removed", "change-catalog-emptied"}
    for text, place, wanted in (
        ("services: []", "", gone), ("a: b", "", {"no-catalog"}), ("", "", {"empty-document"}), ("a: {{ b }}", "", {"key-not-string"}),
        (GOOD.encode("utf-16"), "", {"encoding"}), ("", "b/broker.json", {"change-service-removed", "change-service-added"}),
        ("", "nowhere", {"cannot-open"}), (GOOD, "tests/a.yaml", gone), (GOOD, "vendor/a.txt", set()), (GOOD, "my-catalog/a.txt", gone),
    ):  # fmt: skip
        with case(text, place):
            (project / "a.yaml").unlink()
            if text and place:
                write(project, {place: GOOD})
            elif place:
                (project / "a.yaml").symlink_to(place)
            else:
                (project / "a.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
            git(project, "add", "--all")
            report = json.loads(osbctl("diff", "HEAD", "-f", "json", "--exclude", "tests", cwd=project).stdout)
            assert {one["rule"] for one in report["changes"] + report.get("errors", [])} == wanted
            git(project, "reset", "--quiet", "--hard")
    for name in ("changed", "removed"):
        commit(write(project / name, {"x.json": OTHER}))
    commit(project)
    commit(write(project / "changed", {"x.json": GOOD}))
    git(project, "rm", "-rqf", "--cached", "removed")
    shutil.rmtree(project / "removed")
    assert osbctl("diff", "HEAD", cwd=project, code=0).stdout == ""
    (project / ".git/index").write_text("damaged")
    assert "git cannot compare HEAD" in osbctl("diff", "HEAD", cwd=project, code=3).stderr


def test_diff_follows_a_source_folder_that_is_moved_or_gone(project: Path) -> None:
    (project / "a").mkdir()
    git(project, "mv", "my-catalog", "a/my new")
    assert changes(project, "HEAD", code=0) == []
    assert osbctl("diff", "HEAD", cwd=project, code=0).stdout == ""
    edit(project / "a/my new/catalog.yaml", r"services: \[postgres, redis\]", "services: [redis]")
    git(project, "rm", "-qf", "a/my new/services/postgres.yaml")
    assert changes(project, "HEAD", code=1) == [("change-service-removed", "a/my new/catalog.yaml")]
    git(project, "rm", "-rqf", "a")
    assert "redis: removed, with 2 plans" in osbctl("diff", "HEAD", cwd=project, code=1).stdout
    assert sum(rule == "change-catalog-emptied" for rule, _ in changes(project, "HEAD", code=1)) == 1
    git(project, "rm", "-qf", "a.yaml", "b/broker.json")
    assert sum(rule == "change-catalog-emptied" for rule, _ in changes(project, "HEAD", code=1)) == 3
    git(project, "commit", "-qm", "none")
    assert "there is no catalog in this folder" in osbctl("diff", "HEAD", cwd=project, code=3).stderr


def test_diff_follows_links_of_the_clone(project: Path) -> None:
    (project / "deep").mkdir()
    links = {"link.json": "b/broker.json", "deep/link": "../b", "folder": "my-catalog", "nowhere.yaml": "/nowhere"}
    for name, target in links.items():
        (project / name).symlink_to(target)
    commit(project)
    for name in ("link.json", "deep/link/broker.json", "deep/link", "folder"):
        assert osbctl("diff", "HEAD", name, cwd=project, code=0).stdout == "", name
    assert osbctl("diff", "HEAD:deep/link/broker.json", "link.json", cwd=project, code=0).stdout == ""
    assert "no nowhere.yaml in HEAD" in failure("diff", "HEAD:nowhere.yaml", "a.yaml", cwd=project, code=3)
    write(project, {"b/broker.json": OTHER.replace('"bindable": true', '"bindable": false')})
    assert ("change-bindable-withdrawn", "deep/link/broker.json") in changes(project, "HEAD", "deep/link", code=1)


def test_diff_shows_the_rest_where_one_cannot_be_read(project: Path) -> None:
    write(project, {"a.yaml": GOOD.replace("name: small", "name: tiny", 1), "b/broker.json": OTHER[:-20]})
    for kind in ("text", "json", "markdown", "github", "gitlab", "sarif", "junit"):
        with case(kind):
            done = osbctl("diff", "HEAD", "-f", kind, cwd=project, code=1)
            assert "b/broker.json:" in done.stderr
            assert "tiny" in done.stdout
            assert kind == "text" or "broker.json" in done.stdout
    assert "not all catalogs could be compared" in osbctl("diff", "HEAD", cwd=project, code=1).stdout


def test_diff_counts_instances_of_all_catalogs_together(project: Path) -> None:
    write(project, {"x.json": json.dumps(catalog(service("s1", "db", plan("p1", "small")))), "ids.txt": "p1\n"})
    commit(project)
    write(project, {"x.json": json.dumps(catalog(service("s1", "db", plan("p2", "other"))))})
    assert (
        "refused"
        in osbctl("diff", "HEAD", "--instances", "ids.txt", "-p", "service-manager", cwd=project, code=1).stdout
    )
    write(project, {"ids.txt": "nothing-of-these\n"})
    assert "ids.txt" in failure("diff", "HEAD", "--instances", "ids.txt", cwd=project, code=3).removeprefix(
        "osbctl: found"
    )


def test_a_revision_needs_a_file_of_the_clone(project: Path) -> None:
    outside = write(project.parent, {"other.yaml": GOOD}) / "other.yaml"
    git(write(project, {"nested/c.yaml": GOOD}) / "nested", "init", "--quiet")
    for name in (
        "-",
        "HEAD:a.yaml",
        "http://localhost:1",
        "broker:data",
        str(outside),
        "../other.yaml",
        "..",
        "nested/c.yaml",
    ):
        for words in (f"diff main {name}", f"diff main {name} -f json", f"page --since main a.yaml {name} -o p.html"):
            with case(words):
                said = osbctl(*words.split(), cwd=project, code=2)
                assert "so git has no revision of it" in said.stderr and said.stdout == ""
    assert "no such file" in osbctl("diff", "main", "nothere.yaml", cwd=project, code=3).stderr
    (project / "deep").mkdir()
    assert osbctl("diff", "main", "../a.yaml", cwd=project / "deep", code=0).stderr == ""


def test_one_argument_of_diff_that_is_no_revision(project: Path) -> None:
    for words in (("", "a.yaml"), ("a.yaml", "")):  # a variable of a shell that is not set
        assert "there is no such file" in failure("diff", *words, cwd=project, code=3)
    for word in ("nowhere", "a.yaml", "HEAD:a.yaml", "-", "--no-such"):
        with case(word):
            said = osbctl("diff", word, cwd=project, code=2).stderr
            assert "is not a revision of git" in said or "--no-such" in said
    (project / "main").mkdir()
    assert "hint: osbctl diff main^0 compares with the revision" in failure("diff", "main", cwd=project, code=2)
    assert osbctl("diff", "main^0", cwd=project, code=0).stdout == ""
    (project / "main").rmdir()
    for words in ("diff HEAD main", "page a.yaml main --since HEAD"):
        assert "hint: name a file in each: HEAD:FILE main:FILE" in failure(*words.split(), cwd=project, code=2)
    assert "several" in failure("diff", "HEAD", "-f", "html", cwd=project, code=2).removeprefix(FOUND)
    outside = project.parent / "outside"
    outside.mkdir()
    assert "is not a revision of git" in failure("diff", "HEAD", cwd=outside, code=2)


def test_a_hook_checks_the_sources_of_changed_files(project: Path) -> None:
    write(project, TAKEN | LEFT | {"vendor/catalog.json": OTHER, "manifest.yml": "applications: []"})
    names = (*TAKEN, *LEFT, "vendor/catalog.json", "my-catalog/services/redis.yaml", "my-catalog/catalog.yaml")
    done = osbctl("validate", "--catalogs-only", *names, "-f", "json", cwd=project)
    assert [document["name"] for document in json.loads(done.stdout)["documents"]] == [*TAKEN, "my-catalog"]
    done = osbctl("validate", "--catalogs-only", *LEFT, cwd=project, code=0)
    assert done.stdout == done.stderr == ""
    for words, wanted in (
        ("my-catalog b nothere.yaml", ["my-catalog", "b/broker.json"]), ("- a.yaml", ["<stdin>", "a.yaml"]),
        ("HEAD:my-catalog HEAD:a.yaml HEAD:nothere.yaml", ["HEAD:my-catalog", "HEAD:a.yaml"]),
        ("a.yaml b/broker.json --exclude b", ["a.yaml"]), ("", ["a.yaml", "b/broker.json", "my-catalog"]),
    ):  # fmt: skip
        with case(words):
            git(project, "clean", "-qfd")
            done = osbctl("validate", "--catalogs-only", *words.split(), "-f", "json", cwd=project, stdin=GOOD, code=0)
            assert [document["name"] for document in json.loads(done.stdout)["documents"]] == wanted


def test_a_hook_is_given_files_whose_names_begin_with_a_dash(project: Path) -> None:
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    write(project, {"-o.yaml": GOOD, "--help": OTHER})
    words = [*shlex.split(hook["entry"])[1:], *hook["args"], "-o.yaml", "--help", "a.yaml"]
    done = osbctl(*words, cwd=project, code=0)
    assert all(f"{name}: no findings" in done.stdout for name in words[-3:])


def test_a_hook_looks_at_a_folder_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(discovery, "is_source_folder", asked.append)
    parts = [f"my-catalog/services/{name}.yaml" for name in ("postgres", "redis", "third")]
    select_catalogs([str(project / name) for name in parts])
    assert len(asked) == len(set(asked)) == 4


def test_the_hook_is_asked_about_every_file_that_may_be_a_catalog() -> None:
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    assert all(re.search(hook["files"], name) for name in (*TAKEN, "my-catalog/services/redis.yaml"))
    assert not re.search(hook["files"], "docs/catalog.md")


def test_what_is_excluded(project: Path) -> None:
    write(project, {"tests/bad/c.yaml": FAULTY, "tests/d.json": OTHER, "e[1]/x.json": OTHER})
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "more")
    for patterns, left in (
        (("tests",), 4), (("tests/",), 4), (("./tests/*",), 4), (("*.json",), 3), (("tests/bad", "e[[]1]"), 4), (("d.json",), 6),
        (("my-catalog",), 5), (("my-catalog/services",), 6), (("*/x.json", "a.*"), 4),
    ):  # fmt: skip
        with case(patterns):
            words = [word for pattern in patterns for word in ("--exclude", pattern)]
            assert f"found {left} catalogs" in osbctl("validate", *words, cwd=project).stderr
            assert f"found {left} catalogs" in osbctl("fix", "--check", *words, cwd=project).stderr
            assert f"found {left} catalogs" in osbctl("validate", str(project), *words, cwd=project).stderr
    whole, bad = str(project), glob.escape(str(project / "tests/bad"))
    for folder, searched, pattern, left in (
        (".", ".", bad, 5), (".", ".", f"{bad}/../*.json", 5), ("b", "..", "../tests", 4), ("b", "..", bad, 5), ("b", "../b/..", "*.yaml", 4),
        ("b", whole, "../tests/bad/*", 5), ("tests", whole, "bad", 5), ("tests", "../../" + project.name, bad, 5),
    ):  # fmt: skip
        with case(folder, searched, pattern):
            words = (searched, "--exclude", pattern)
            assert f"found {left} catalogs" in osbctl("validate", *words, cwd=project / folder).stderr
    (project / "tests/d.json").unlink()
    assert changes(project, "HEAD", "--exclude", "tests", code=0) == []
    assert changes(project, "HEAD", "tests", "--exclude", "tests/d.json", code=0) == []
    assert changes(project, "HEAD", code=1)
    osbctl("page", "--exclude", "tests", "-o", "p.html", cwd=project, code=0)
    write(project / "one", {"c.yaml": FAULTY})
    for words in ("validate one", "fix one", "page one", "diff HEAD one"):
        assert "--exclude leaves no catalog" in failure(*words.split(), "--exclude", "one/*", cwd=project, code=3)
    assert (project / "one/c.yaml").read_text() == FAULTY
    osbctl("validate", "one", "a.yaml", "--exclude", "one", cwd=project, code=0)
