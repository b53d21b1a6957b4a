"""`osbctl fix`, as an author calls it."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from tests.case import each
from tests.cli.program import at_terminal, osbctl

TEXT = """services:
- name: a
  id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4
  description: d
  bindable: "yes"  # well
  plans:
  - {id: 1D0E6C3B-8A4F-4E57-9B1C-2D7F5A90E3B4, name: p, description: d}
"""


def test_it_mends_in_place_and_says_what_is_left(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(TEXT)
    file.chmod(0o640)
    done = osbctl("fix", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    assert file.read_text() == TEXT.replace('"yes"', "true")
    assert file.stat().st_mode & 0o777 == 0o640
    assert f"{file}:5:3: fixed: " in done.stderr
    assert "fixed 1, 1 more with --unsafe; 0 left for you" in done.stderr
    assert "fixed 0" in osbctl("fix", str(file)).stderr


def test_a_file_with_a_second_name_is_mended_under_both(tmp_path: Path) -> None:
    file, other = tmp_path / "c.yaml", tmp_path / "other.yaml"
    file.write_text(TEXT)
    other.hardlink_to(file)
    assert osbctl("fix", str(file)).returncode == 0
    assert file.samefile(other)
    assert other.read_text() == TEXT.replace('"yes"', "true")


def test_a_file_with_a_second_name_keeps_its_text_where_the_disk_is_full(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(TEXT)
    (tmp_path / "other.yaml").hardlink_to(file)
    with mock.patch("osbctl.files.os.fsync", side_effect=[OSError(errno.ENOSPC, "No space left on device"), None]):
        done = osbctl("fix", str(file))
    assert (done.returncode, file.read_text()) == (3, TEXT)
    assert "c.yaml: cannot be written: No space left on device" in done.stderr


@each("option", ["--check", "--diff"])
def test_it_writes_nothing_where_it_is_asked_to_look(tmp_path: Path, option: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(TEXT)
    done = osbctl("fix", option, str(file))
    assert done.returncode == 1
    assert file.read_text() == TEXT
    assert ('-  bindable: "yes"  # well\n+  bindable: true  # well\n' in done.stdout) == (option == "--diff")
    file.write_text(TEXT.replace('"yes"', "true"))
    assert osbctl("fix", option, str(file)).returncode == 0


ODD = "\ufeff# K\u00e4se\twith\u00a0a\ttab \u200b\n" + TEXT
LINE_ENDS = {
    "as-it-is.yaml": TEXT,
    "a blank.yaml": ODD,
    "crlf.yaml": ODD.replace("\n", "\r\n"),
    "cr.yaml": ODD.replace("\n", "\r"),
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
    (tmp_path / "changes").write_bytes(done.stdout.encode())
    subprocess.run([*tool, "changes"], cwd=tmp_path, check=True, capture_output=True, timeout=30)
    patched = file.read_bytes()
    file.write_bytes(LINE_ENDS[name].encode())
    osbctl("fix", "--unsafe", name, cwd=tmp_path)
    assert patched == file.read_bytes() != LINE_ENDS[name].encode()


def test_at_a_terminal_the_changes_steer_nothing(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(ODD.replace("\n", "\r").replace("# well", "# \u202e").encode())
    said = at_terminal("stdout", "fix", "--diff", str(file)).screen
    assert "\x1b[32m+" in said and "\\u202e" in said and "\\r" in said
    assert not set("\u202e\u200b") & set(said) and "\r" not in said.replace("\r\n", "")


def test_the_changes_command_no_runner(tmp_path: Path) -> None:
    text = TEXT.replace("description: d\n", "description: |\n    ::error::x\n    ##vso[task.x]y\n")
    (tmp_path / "c.yaml").write_text(text)
    said = osbctl("fix", "--diff", "c.yaml", cwd=tmp_path).stdout
    assert "error" in said and "vso" in said
    assert "::error" not in said and "##vso" not in said


def test_standard_input_goes_to_standard_output() -> None:
    done = osbctl("fix", "-", "--unsafe", stdin=TEXT)
    assert done.returncode == 0
    assert done.stdout == TEXT.replace('"yes"', "true").replace("name: p,", "name: p, free: true,")


def test_a_selected_rule_alone_is_mended() -> None:
    done = osbctl("fix", "-", "--unsafe", "--select", "default-implicit", stdin=TEXT)
    assert '"yes"' in done.stdout and "free: true" in done.stdout


@each(
    "words, code, says",
    [
        (["nosuch.yaml"], 3, "there is no such file"),
        (["HEAD:nosuch.yaml"], 3, ""),
        (["--select", "nosuch", "-"], 2, "nosuch"),
        (["http://localhost/"], 2, "not an address"),
    ],
)
def test_what_cannot_be_mended_is_said(words: list[str], code: int, says: str) -> None:
    done = osbctl("fix", *words)
    assert done.returncode == code
    assert says in done.stderr


def test_an_unreadable_text_is_told_at_its_place() -> None:
    done = osbctl("fix", "-", stdin="services: [")
    assert done.returncode == 1
    assert "<stdin>:1:" in done.stderr and done.stdout == ""


def test_every_other_byte_of_standard_input_comes_out_again() -> None:
    text = "\ufeff" + TEXT.replace("\n", "\r\n").removesuffix("\r\n") + "\t# é\t "
    assert osbctl("fix", "-", stdin=text).stdout == text.replace('"yes"', "true")


@each("option, shown", [("--check", ""), ("--diff", "+  bindable: true  # well\n")])
def test_standard_input_is_looked_at_too(option: str, shown: str) -> None:
    done = osbctl("fix", option, "-", stdin=TEXT)
    assert done.returncode == 1
    assert shown in done.stdout and TEXT not in done.stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_what_may_not_be_written_is_said(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(TEXT)
    tmp_path.chmod(0o500)
    done = osbctl("fix", str(file))
    tmp_path.chmod(0o700)
    assert (done.returncode, file.read_text()) == (3, TEXT)
    assert "cannot be written" in done.stderr


@each("bad, code", [("services: [", 1), (None, 3)])
@each("option", [[], ["--check"]])
def test_a_source_that_cannot_be_read_keeps_no_other_from_being_mended(
    tmp_path: Path, bad: str | None, code: int, option: list[str]
) -> None:
    files = [tmp_path / name for name in ("a.yaml", "bad.yaml", "c.yaml")]
    for file, text in zip(files, (TEXT, bad, TEXT), strict=True):
        if text is not None:
            file.write_text(text)
    done = osbctl("fix", *option, *map(str, files))
    assert done.returncode == code
    assert str(files[1]) in done.stderr
    verb, after = ("would fix", TEXT) if option else ("fixed", TEXT.replace('"yes"', "true"))
    for file in (files[0], files[2]):
        assert file.read_text() == after
        assert f"{file}: {verb} 1" in done.stderr


def test_nothing_is_mended_where_the_call_is_wrong(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "c.yaml").write_text(TEXT)
    (tmp_path / "b/osbctl.toml").write_text('ignore = ["nosuch"]\n')
    done = osbctl("fix", str(tmp_path / "a/c.yaml"), str(tmp_path / "b/c.yaml"))
    assert done.returncode == 3
    assert "nosuch" in done.stderr
    assert (tmp_path / "a/c.yaml").read_text() == TEXT


@each(
    "field, fixed, safe",
    [
        ("tags: sql", 'tags: ["sql"]', True),
        ("tags: two words", 'tags: ["two words"]', False),
        ("tags: sql, relational", 'tags: ["sql", "relational"]', False),
        ("planUpdateable: true", "plan_updateable: true", False),
    ],
)
def test_a_fix_that_may_change_what_was_meant_is_made_only_with_unsafe(
    tmp_path: Path, field: str, fixed: str, safe: bool
) -> None:
    file = tmp_path / "c.yaml"
    faulty = TEXT.replace('bindable: "yes"  # well', f"bindable: true\n  {field}").replace(
        "name: p,", "name: p, free: true,"
    )
    mended = faulty.replace(field, fixed)
    file.write_text(faulty)
    assert osbctl("fix", str(file)).returncode == 0
    assert file.read_text() == (mended if safe else faulty)
    assert osbctl("fix", "--unsafe", str(file)).returncode == 0
    assert file.read_text() == mended


@each("option", ["--check", "--diff"])
def test_what_would_be_fixed_is_counted(tmp_path: Path, option: str) -> None:
    (tmp_path / "c.yaml").write_text(TEXT.replace("name: a", 'name: ""'))
    done = osbctl("fix", option, "c.yaml", cwd=tmp_path)
    assert done.stderr.endswith("c.yaml: would fix 1, 1 more with --unsafe; 1 left for you\n")
    done = osbctl("fix", option, "--unsafe", "c.yaml", cwd=tmp_path)
    assert done.stderr.endswith("c.yaml: would fix 2; 1 left for you\n")


def test_it_says_what_it_does_and_marks_unsafe_edits_of_a_patch(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(TEXT.replace("description: d}", "description: d, metadata: {bullets: x, displayNam: y}}"))
    done = osbctl("fix", "--diff", "--unsafe", str(file))
    assert f"{file}:5:3: would fix: set `bindable: true` [schema-type]\n" in done.stderr
    assert "would fix: rename `displayNam` to `displayName` [field-near-miss]\n" in done.stderr
    assert "would fix: make a list of `bullets` [metadata-type]\n" in done.stderr
    assert "@@ -2,6 +2,6 @@ --unsafe: line 7\n" in done.stdout
    assert "--unsafe" not in osbctl("fix", "--diff", str(file)).stdout
    subprocess.run(
        ["git", "apply", "-p0", "--unsafe-paths", "--check"], input=done.stdout.encode(), cwd="/", check=True
    )


def test_a_clean_file_has_nothing_to_fix(tmp_path: Path) -> None:
    plan = "{id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B5, name: p, description: d, free: true}"
    service = f"id: 6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4, name: a, description: d, bindable: true, plans: [{plan}]"
    (tmp_path / "c.yaml").write_text(f"services: [{{{service}}}]\n")
    assert osbctl("fix", "c.yaml", cwd=tmp_path).stderr == "osbctl: c.yaml: nothing to fix\n"


@each(
    "text, hint",
    [
        ("a: b: c\n", "check the indentation, and quote text that contains a colon"),
        ("services:\n  - name: a\n  id: b\n", "indent it like the keys of the item above"),
    ],
)
def test_a_wrong_indentation_has_a_hint(tmp_path: Path, text: str, hint: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    assert f"hint: {hint}\n" in osbctl("validate", "c.yaml", cwd=tmp_path).stdout
