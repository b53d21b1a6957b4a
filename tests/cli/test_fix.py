"""`osbctl fix`, as an author calls it."""

import errno
import shutil
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from osbctl.sources.document import parse_stream
from tests.case import each
from tests.cli.program import at_terminal, failure, osbctl
from tests.deploy.harness import write

TEXT = """services:
- name: a
  id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
  description: d
  bindable: "yes"  # well
  plans:
  - {id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4, name: p, description: d}
"""
FIXED = TEXT.replace('"yes"', "true")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(TEXT)
    return path


def fix(file: Path, *options: str, code: int = 0) -> str:
    """The messages on a file, which is named as in its folder."""
    return failure("fix", *options, file.name, cwd=file.parent, code=code)


def test_it_mends_in_place_and_says_what_is_left(file: Path) -> None:
    file.chmod(0o640)
    said = fix(file)
    assert file.read_text() == FIXED
    assert file.stat().st_mode & 0o777 == 0o640
    assert "c.yaml:5:3: fixed: " in said
    assert "fixed 1, 1 more with --unsafe; 0 left for you" in said
    assert "fixed 0" in fix(file)
    file.write_text(FIXED.replace("name: p,", "name: p, free: true,"))
    assert fix(file) == "osbctl: c.yaml: nothing to fix\n"


HEAD = "services:\n- name: a\n  id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4\n  description: d\n  bindable: true\n"
PLAN = "  plans:\n  - id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4\n    name: p\n    description: d\n"
FREE = "    free: true\n"
OUTSIDE = "it is outside of the service offerings, where other programs may read it"
SHARED = "the same text is used elsewhere, too"
ANCHORED = "it has an anchor, to which an alias may refer"
COMMENT = "a comment stands behind it, which may be about it"
OBSTACLES = [
    ("shared by an alias", HEAD + "  plan_updateable: &f 'no'\n  x: *f\n" + PLAN + FREE, SHARED),
    ("in an object that is repeated", HEAD + "  metadata: &m {displayName: 5}\n  x: *m\n" + PLAN + FREE, SHARED),
    ("merged from outside", "x-d: &d\n  free: 'no'\n" + HEAD + PLAN + "    <<: *d\n", SHARED),
    ("misspelt in a base", "x-d: &d\n  displayNam: x\n" + HEAD + "  metadata: {<<: *d}\n" + PLAN + FREE, SHARED),
    ("a folded block", HEAD + "  tags: >-\n    one\n" + PLAN + FREE, "it is a block of lines, after `>`"),
    ("a block", HEAD + "  tags: |-\n    one\n" + PLAN + FREE, "it is a block of lines, after `|`"),
    ("a comment behind nothing", HEAD + "  metadata: # todo\n" + PLAN + FREE, COMMENT),
    ("a comment behind the last entry", HEAD + PLAN + FREE + "    metadata: # todo\n", COMMENT),
    ("nothing with an anchor", HEAD + "  metadata: &m\n  z: *m\n" + PLAN + FREE, ANCHORED),
    ("an object with an anchor", HEAD + PLAN.replace("- id", "- &p\n    id"), "the object that it belongs into has an anchor"),
    ("a word of YAML 1.1 outside", "debug: no\n" + HEAD + PLAN + FREE, OUTSIDE),
    ("a key of YAML 1.1 outside", "debug: {on: 1}\n" + HEAD + PLAN + FREE, OUTSIDE),
    ("a number of YAML 1.1 that is merged", "x-d: &d {size: 1_0}\n" + HEAD + "  metadata: *d\n" + PLAN + FREE, OUTSIDE),
    ("a second slip for one field", HEAD + "  planUpdateable: true\n  plan_updatable: true\n" + PLAN + FREE, ""),
]  # fmt: skip


@each("what, text, why", OBSTACLES)
def test_validate_counts_only_what_fix_can_do_and_fix_names_the_obstacle(
    tmp_path: Path, what: str, text: str, why: str
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(text)
    for words, stdin in (("c.yaml", ""), ("-", text)):
        told = osbctl("validate", words, cwd=tmp_path, stdin=stdin).stdout
        assert told.count("(fixable") == (not why), (what, told)
        assert "`osbctl fix" not in told or not why
    if why:
        assert "would fix 0; 1 left for you" in fix(file, "--check")
        assert f": {why}" in fix(file, "--check", "--unsafe")


def test_a_safe_fix_that_needs_an_unsafe_one_is_counted_with_that(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(HEAD + "  tags: &t one\n" + PLAN + FREE + "    metadata: {bullets: *t}\n")
    assert osbctl("validate", "c.yaml", cwd=tmp_path).stdout.endswith("\n2 fixable with `osbctl fix --unsafe`\n")
    assert fix(file, "--check") == "osbctl: c.yaml: would fix 0, 2 more with --unsafe; 0 left for you\n"
    assert "fixed 2; 0 left for you" in fix(file, "--unsafe")


def test_texts_that_are_shared_cost_no_further_reading(tmp_path: Path) -> None:
    shared = "".join(f"    f{n}: &f{n} {{displayName: {n}}}\n    g{n}: *f{n}\n" for n in range(300))
    plans = "".join(PLAN.partition("plans:\n")[2] + FREE + f"    metadata: *f{n}\n" for n in range(300))
    (tmp_path / "c.yaml").write_text(HEAD + "  x:\n" + shared + "  plans:\n" + plans)
    with mock.patch("osbctl.commands.fix.parse_stream", wraps=parse_stream) as read:
        told = osbctl("validate", "c.yaml", cwd=tmp_path).stdout
    assert "displayName must be a string" in told and "(fixable" not in told
    assert read.call_count <= 2


@each("option, shown", [("--check", ""), ("--diff", '-  bindable: "yes"  # well\n+  bindable: true  # well\n')])
def test_it_writes_nothing_where_it_is_asked_to_look(tmp_path: Path, option: str, shown: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(TEXT)
    for name, stdin in (("c.yaml", ""), ("-", TEXT)):
        done = osbctl("fix", option, name, cwd=tmp_path, stdin=stdin, code=1)
        assert shown in done.stdout and ("bindable" in done.stdout) == bool(shown)
        assert TEXT not in done.stdout
        assert file.read_text() == TEXT
    file.write_text(FIXED)
    osbctl("fix", option, str(file), code=0)
    file.write_text(TEXT.replace("name: a", 'name: ""'))
    counted = osbctl("fix", option, "c.yaml", cwd=tmp_path).stderr
    assert counted.endswith("c.yaml: would fix 1, 1 more with --unsafe; 1 left for you\n")
    counted = osbctl("fix", option, "--unsafe", "c.yaml", cwd=tmp_path).stderr
    assert counted.endswith("c.yaml: would fix 2; 1 left for you\n")


ODD = "\ufeff# K\u00e4se\twith\u00a0a\ttab \u200b\n" + TEXT
LINE_ENDS = {
    "as-it-is.yaml": TEXT,
    "a blank.yaml": ODD,
    "crlf.yaml": ODD.replace("\n", "\r\n"),
    "cr.yaml": ODD.replace("\n", "\r"),
    'quo"ted \t\\ \nname.yaml': TEXT,
    "\udcff.yaml": TEXT,
    "no-end.yaml": ODD.replace("description: d\n", "description: 'a\u2028b'\n").removesuffix("\n"),
}


@pytest.mark.parametrize("tool", [["patch", "--binary", "-p0", "-i"], ["git", "apply", "-p0"]])
@each("name", LINE_ENDS)
def test_the_changes_are_a_patch(tmp_path: Path, name: str, tool: list[str]) -> None:
    if not shutil.which(tool[0]):
        pytest.skip(f"{tool[0]} is not installed")
    file = tmp_path / name
    file.write_bytes(LINE_ENDS[name].encode())
    done = osbctl("fix", "--unsafe", "--diff", f"./{name}", cwd=tmp_path)
    (tmp_path / "link.yaml").symlink_to(file)  # no tool patches one
    for same in (str(file), "link.yaml"):
        assert osbctl("fix", "--unsafe", "--diff", same, cwd=tmp_path).stdout == done.stdout
    (tmp_path / "changes").write_bytes(done.stdout.encode())
    subprocess.run([*tool, "changes"], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    patched = file.read_bytes()
    file.write_bytes(LINE_ENDS[name].encode())
    osbctl("fix", "--unsafe", name, cwd=tmp_path)
    assert patched == file.read_bytes() != LINE_ENDS[name].encode()


def test_at_a_terminal_the_changes_steer_nothing(file: Path) -> None:
    file.write_bytes(ODD.replace("\n", "\r").replace("# well", "# \u202e").encode())
    said = at_terminal("stdout", "fix", "--diff", str(file)).screen
    assert "\x1b[32m+" in said and "\\u202e" in said and "\\r" in said
    assert not set("\u202e\u200b") & set(said) and "\r" not in said.replace("\r\n", "")


def test_the_changes_command_no_runner() -> None:
    text = TEXT.replace("description: d\n", "description: |\n    ::error::x\n    ##vso[task.x]y\n")
    said = osbctl("fix", "--diff", "-", stdin=text).stdout
    assert "error" in said and "vso" in said
    assert "::error" not in said and "##vso" not in said


def test_standard_input_goes_to_standard_output() -> None:
    unsafe = FIXED.replace("name: p,", "name: p, free: true,")
    assert osbctl("fix", "-", "--unsafe", stdin=TEXT, code=0).stdout == unsafe
    selected = osbctl("fix", "-", "--unsafe", "--select", "default-implicit", stdin=TEXT).stdout
    assert selected == unsafe.replace("bindable: true", 'bindable: "yes"')
    every_byte = "\ufeff" + TEXT.replace("\n", "\r\n").removesuffix("\r\n") + "\t# é\t "
    assert osbctl("fix", "-", stdin=every_byte).stdout == every_byte.replace('"yes"', "true")


@each("words, code, says", [
    (["nosuch.yaml"], 3, "there is no such file"),
    (["HEAD:nosuch.yaml"], 3, ""),
    (["--select", "nosuch", "-"], 2, "nosuch"),
    (["http://localhost/"], 2, "not an address"),
    (["-"], 1, "<stdin>:1:"),
])  # fmt: skip
def test_what_cannot_be_mended_is_said(words: list[str], code: int, says: str) -> None:
    assert says in failure("fix", *words, stdin="services: [", code=code)


def test_a_disk_that_is_full_leaves_the_old_text(file: Path) -> None:
    with mock.patch("osbctl.files.os.fsync", side_effect=OSError(errno.ENOSPC, "No space left on device")):
        assert "c.yaml: cannot be written: No space left on device" in fix(file, code=3)
    assert file.read_text() == TEXT


@each("bad, code", [("services: [", 1), (None, 3)])
@each("option", [[], ["--check"]])
def test_a_source_that_cannot_be_read_keeps_no_other_from_being_mended(
    tmp_path: Path, bad: str | None, code: int, option: list[str]
) -> None:
    for name, text in (("a", TEXT), ("bad", bad), ("c", TEXT)):
        if text is not None:
            (tmp_path / f"{name}.yaml").write_text(text)
    said = osbctl("fix", *option, "a.yaml", "bad.yaml", "c.yaml", cwd=tmp_path, code=code).stderr
    assert "bad.yaml" in said
    verb, after = ("would fix", TEXT) if option else ("fixed", FIXED)
    for name in ("a.yaml", "c.yaml"):
        assert (tmp_path / name).read_text() == after
        assert f"{name}: {verb} 1" in said


def test_nothing_is_mended_where_the_call_is_wrong(tmp_path: Path) -> None:
    write(tmp_path, {"a/c.yaml": TEXT, "b/c.yaml": TEXT, "b/osbctl.toml": 'ignore = ["nosuch"]\n'})
    assert "nosuch" in osbctl("fix", "a/c.yaml", "b/c.yaml", cwd=tmp_path, code=3).stderr
    assert (tmp_path / "a/c.yaml").read_text() == TEXT


def test_it_says_what_it_does(file: Path) -> None:
    text = TEXT.replace("description: d}", "description: d, metadata: {bullets: x, displayNam: y}}")
    file.write_text(text.replace("  plans:", "  tags: 'pwd=hun, b'\n  plans:"))
    done = osbctl("fix", "--diff", "--unsafe", str(file))
    assert 'would fix: set `tags: ["pwd=***", "b"]`' in done.stderr
    assert f"{file}:5:3: would fix: set `bindable: true` [schema-type]\n" in done.stderr
    assert "would fix: rename `displayNam` to `displayName` [field-near-miss]\n" in done.stderr
    assert "would fix: make a list of `bullets` [metadata-type]\n" in done.stderr
    command = ["git", "apply", "-p0", "--unsafe-paths", "--check"]
    subprocess.run(command, input=done.stdout.encode(), cwd="/", check=True)


def test_a_group_that_is_fixed_in_part_names_the_edited_places(tmp_path: Path) -> None:
    """Neither the alias, whose text is elsewhere, nor the number of all plans is said of the edit."""
    plan = "      - {{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B{0}, name: p{0}, description: P{0}.}}\n"
    head = "services:\n  - id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B0\n    name: db\n    description: D.\n    bindable: true\n"
    text = "x: &x " + plan.format(1).strip(" -") + head + "    plans:\n      - *x\n" + plan.format(2) + plan.format(3)
    (tmp_path / "c.yaml").write_text(text)
    said = osbctl("fix", "--unsafe", "--check", "c.yaml", cwd=tmp_path, code=1).stderr
    assert "c.yaml:9:9: would fix: set `free: true` (also at 10:9) [default-implicit]" in said
    assert "c.yaml:8:9: not fixed: plan 'p1' does not set `free`" in said
    (tmp_path / "c.yaml").write_text(text.replace(plan.format(3), ""))
    said = osbctl("fix", "--unsafe", "--check", "c.yaml", cwd=tmp_path, code=1).stderr
    assert "c.yaml:9:9: would fix: set `free: true` [default-implicit]" in said
