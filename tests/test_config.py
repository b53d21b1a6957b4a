"""Configuration: found upwards, read strictly, refused with a sentence."""

from pathlib import Path

import pytest

from osbctl.config import KEYS, find_config, load_config
from osbctl.errors import ConfigError
from tests.case import each
from tests.deploy.harness import write

FULL = """
extends = "base.toml"
api-version = "2.16"
platform = ["cloudfoundry"]
fail-on = "warning"
select = ["a"]
ignore = ["b"]
schema = ["house.json"]
env = ".envrc"

[[ignore-at]]
rule = "c"
service = "s"
plan = "p"
reason = "because"

[severity]
"spec" = "info"

[[per-path]]
paths = ["test/*"]
ignore = ["d"]
severity = {e = "error"}
env = "b/.env"

[page]
title = "t"
logo = "l.svg"
accent = "#00aa77"
"""


def test_every_key_is_read(tmp_path: Path) -> None:
    file = tmp_path / "osbctl.toml"
    file.write_text(FULL)
    (tmp_path / "base.toml").write_text("")
    whole = {
        "origin": str(file),
        "api_version": "2.16",
        "platform": ("cloudfoundry",),
        "fail_on": "warning",
        "select": ("a",),
        "ignore": ("b",),
        "schema": (str(tmp_path / "house.json"),),
        "ignore_at": (("c", "s", "p"),),
        "severity": {"spec": "info"},
        "env": str(tmp_path / ".envrc"),
        "page": {"title": "t", "logo": str(tmp_path / "l.svg"), "accent": "#00aa77"},
    }
    config = load_config(str(file))
    assert {name: value for name, value in config._asdict().items() if name != "layers"} == whole
    beside = config.for_file(str(tmp_path / "test" / "c.yaml"))
    assert (beside.ignore, beside.env) == (("b", "d"), str(tmp_path / "b" / ".env"))
    assert beside.severity == {"spec": "info", "e": "error"}
    assert all(key in FULL for key in KEYS)


def test_the_closest_file_wins(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "osbctl.toml").write_text('fail-on = "never"')
    assert find_config(str(deep)).fail_on == "never"
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.osbctl]\nfail-on = "info"')
    assert find_config(str(deep)).fail_on == "info"
    for text in ('[project]\nname = "not osbctl, but it names it"', "tool = 'osbctl'", "[[tool]]\nosbctl = 1"):
        (deep / "pyproject.toml").write_text(text)
        assert find_config(str(deep)).fail_on == "info", text


@each("text, told", [
    ("fail_on = 'error'", "unknown key 'fail_on'"),
    ("page = 'x'", "page must be a table of strings"),
    ("page.colour = 'x'", "page: unknown key 'colour'"),
    ("fail-on = 3", "fail-on must be a string"),
    ("platform = 'cloudfoundry'", "platform must be a list"),
    ("platform = [1]", "platform must be a list of strings"),
    ("select = []\nx = 1 2", "not valid TOML: Expected newline or end of document after a statement (at line 2, "),
    ("x = " + "[" * 100_000, "nested too deeply"),
    ("x = " + "9" * 5_000, "not valid TOML: Exceeds the limit"),
    ("a = '\udcff'", "not valid TOML: it is not UTF-8"),
    ("[[ignore-at]]\nrule = 'a'", "ignore-at: each needs `rule`, and `service` or `plan`"),
    ("[[ignore-at]]\nrule = 'a'\nplan = 1", "ignore-at: plan must be a string"),
    ("ignore-at = [{rule = 'a', path = 'b'}]", "ignore-at: unknown key 'path'"),
    ("ignore-at = [1]", "ignore-at must be a list of tables"),
    ("severity = 1", "severity must be a table of strings"),
    ("severity.x = 1", "severity must be a table of strings"),
    ("[[per-path]]\nignore = ['a']", "per-path: an entry has no `paths`"),
    ("[[per-path]]\npaths = ['a']\nschema = ['b']", "per-path: unknown key 'schema'"),
])  # fmt: skip
def test_configuration_errors(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "osbctl.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError) as caught:
        load_config(str(file))
    assert caught.value.message.startswith(f"{file}: {told}")
    assert caught.value.advice == ("save the file as UTF-8" if "UTF-8" in told else caught.value.advice)


def test_a_named_configuration_may_have_any_name_and_must_be_there(tmp_path: Path) -> None:
    file = tmp_path / "strict.toml"
    with pytest.raises(ConfigError, match="there is no such file"):
        load_config(str(file))
    file.write_text("fail-on = 'info'")
    assert load_config(str(file)).fail_on == "info"


def test_an_unreadable_configuration_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "osbctl.toml").symlink_to("/proc/self/mem")
    with pytest.raises(ConfigError, match=r"osbctl\.toml: cannot be read: Input/output error"):
        find_config(str(tmp_path))


def test_settings_of_a_path_add_to_those_of_all(tmp_path: Path) -> None:
    file = tmp_path / "osbctl.toml"
    file.write_text(
        "api-version = '2.13'\nignore = ['a']\nseverity = {s = 'info', t = 'info'}\n"
        "[[per-path]]\npaths = ['old/*', 'x.yaml']\nignore = ['b']\nseverity = {t = 'error'}\n"
        "[[per-path]]\npaths = ['old/new/*']\napi-version = '2.17'\n"
    )
    config = load_config(str(file))
    assert config.for_file(str(tmp_path / "y.yaml")) == config
    old = config.for_file(str(tmp_path / "old/c.yaml"))
    assert (old.api_version, old.ignore, old.severity) == ("2.13", ("a", "b"), {"s": "info", "t": "error"})
    assert config.for_file(str(tmp_path / "old/new/c.yaml")).api_version == "2.17"
    assert config.for_file(str(tmp_path / "deep/x.yaml")).ignore == ("a", "b")
    file.write_text(
        "select = ['a']\nplatform = ['korifi']\n[[per-path]]\npaths = ['x.yaml']\nselect = []\nplatform = []\n"
    )
    found = load_config(str(file)).for_file(str(tmp_path / "x.yaml"))
    assert (found.select, found.platform) == ((), ()), "an empty list takes back one of all files"
    file.write_text("[[per-path]]\npaths = ['./x.yaml', './old/*']\nignore = ['b']\n")
    (tmp_path / "old").mkdir()  # a source folder
    (tmp_path / "older").mkdir()
    config = load_config(str(file))
    names = ("x.yaml", "old/c.yaml", "old", "deep/x.yaml", "older", "old.yaml")
    assert [bool(config.for_file(str(tmp_path / name)).ignore) for name in names] == [True] * 3 + [False] * 3


def test_a_file_adds_to_the_one_that_it_extends(tmp_path: Path) -> None:
    """Paths are those of the file that names them; what a file says wins over all that it extends."""
    base = (
        "api-version = '2.13'\nplatform = ['korifi']\nfail-on = 'info'\nenv = 'b.env'\nselect = ['x']\n"
        "ignore = ['a']\nschema = ['s.json']\nseverity = {s = 'info', t = 'info'}\n"
        "ignore-at = [{rule = 'r', plan = 'p'}]\npage = {title = 'T', logo = 'l.png'}\n"
        "[[per-path]]\npaths = ['old/*']\nignore = ['o']\nfail-on = 'never'\napi-version = '2.17'\n"
    )
    nested = (
        "extends = '../shared/base.toml'\nplatform = ['kubernetes']\nfail-on = 'warning'\nselect = []\nignore = ['b']\n"
        "schema = ['own.json']\nseverity = {t = 'error'}\nignore-at = [{rule = 'q', service = 's'}]\n"
        "page.accent = '#123'\n[[per-path]]\npaths = ['x/*']\nignore = ['c']\n"
    )
    write(tmp_path, {"top.toml": base, "shared/base.toml": "extends = '../top.toml'", "a/osbctl.toml": nested})
    config = find_config(str(tmp_path / "a"))
    assert (config.api_version, config.platform, config.fail_on) == ("2.13", ("kubernetes",), "warning")
    assert (config.select, config.ignore, config.severity) == ((), ("a", "b"), {"s": "info", "t": "error"})
    assert config.schema == (str(tmp_path / "s.json"), str(tmp_path / "a/own.json"))
    assert (config.env, config.ignore_at) == (str(tmp_path / "b.env"), (("r", None, "p"), ("q", "s", None)))
    assert config.page == {"title": "T", "logo": str(tmp_path / "l.png"), "accent": "#123"}
    old = config.for_file(str(tmp_path / "a/old/c.yaml"))
    assert (old.ignore, old.fail_on, old.api_version) == (("a", "o", "b"), "warning", "2.17")
    assert config.for_file(str(tmp_path / "a/x/c.yaml")).ignore == ("a", "b", "c")
    assert config.for_file(str(tmp_path / "a/c.yaml")) == config
    assert config.origin_of("severity", "info") == config.origin_of("ignore", "a") == str(tmp_path / "top.toml")
    assert config.origin_of("severity", "error") == config.origin_of("ignore_at", "q") == config.origin


def test_a_project_file_extends_and_is_extended(tmp_path: Path) -> None:
    table = "[tool.osbctl]\n"
    files = {"pyproject.toml": f"{table}ignore = ['a']", "a/pyproject.toml": f"{table}extends = '../pyproject.toml'"}
    assert find_config(str(write(tmp_path, files) / "a")).ignore == ("a",)


@each("files, told", [
    ({"osbctl.toml": "extends = 'gone.toml'"}, "osbctl.toml: extends: gone.toml: there is no such file"),
    ({"osbctl.toml": "extends = 'osbctl.toml'"}, "extend each other: osbctl.toml → osbctl.toml"),
    ({"osbctl.toml": "extends = './x/../osbctl.toml'"}, "extend each other: osbctl.toml → osbctl.toml"),
    (
        {"osbctl.toml": "extends = 'b.toml'", "b.toml": "extends = 'c/c.toml'", "c/c.toml": "extends='../b.toml'"},
        "extends: b.toml: the files extend each other: osbctl.toml → b.toml → c/c.toml → b.toml",
    ),
    ({"osbctl.toml": "extends = 'b.toml'", "b.toml": "fail_on = 'x'"}, "b.toml: unknown key 'fail_on'"),
    ({"osbctl.toml": "extends = 'b.toml'", "b.toml": "x ="}, "b.toml: not valid TOML"),
    ({"osbctl.toml": "extends = 'x'", "x/y": ""}, "x: cannot be read: Is a directory"),
    ({"osbctl.toml": "extends = ['b.toml']"}, "osbctl.toml: extends must be a string"),
    ({"osbctl.toml": "extends = 'https://example.com/o.toml'"}, "this is an address, and nothing is fetched"),
    (
        {"osbctl.toml": "extends = 'pyproject.toml'", "pyproject.toml": "[project]\nname = 'osbctl'"},
        "osbctl.toml: extends: pyproject.toml: it has no configuration of osbctl",
    ),
    ({"osbctl.toml": "[[per-path]]\npaths = ['a']\nextends = 'b'"}, "per-path: unknown key 'extends'"),
    ({"pyproject.toml": "[tool]\nosbctl = 1"}, "pyproject.toml: osbctl must be a table"),
    ({"pyproject.toml": "[[tool.osbctl]]\nfail-on = 'info'"}, "pyproject.toml: osbctl must be a table"),
])  # fmt: skip
def test_errors_of_files_that_are_found(tmp_path: Path, files: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find_config(str(write(tmp_path, files)))
    assert told in caught.value.message.replace(f"{tmp_path}/", "")
