"""Shell completion in a real bash: the script that osbctl prints or installs is sourced and its function called.

What is offered is also asked for as the scripts of the shells do, inside this process.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from osbctl.commands import completion
from osbctl.commands.options import Completion
from tests.case import case, each
from tests.cli.machine import registered
from tests.cli.program import environment, osbctl
from tests.deploy.harness import quick
from tests.folders import catalogs_folder
from tests.registry.make import catalog, plan, service

ROOT = Path(__file__).parents[1]
BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="no bash here")

ASK = """
source "$1"; shift
COMP_WORDS=(osbctl "$@"); COMP_CWORD=$#; COMPREPLY=()
_osbctl_completion osbctl
printf '%s\\n' "${COMPREPLY[@]}"
"""

BELOW = '"$@"; exit $?'
"""Runs a command as a child of bash: the shell is the closest one above, and the tests may run below another."""


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """A scratch home, and `osbctl` on PATH with this checkout's code."""
    program = tmp_path / "bin" / "osbctl"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom osbctl.__main__ import main\nmain()\n"
    )
    program.chmod(0o755)
    return {"HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}", "SHELL": "/bin/bash"}


@pytest.fixture(scope="module")
def script() -> str:
    """The script that a user's shell sources."""
    command = ["bash", "-c", BELOW, "bash", sys.executable, "-m", "osbctl", "--show-completion"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout


def run(user: dict[str, str], *command: str) -> str:
    return subprocess.run(command, env=user, capture_output=True, text=True, check=True, timeout=60).stdout


def test_bash_completes(user: dict[str, str], script: str) -> None:
    file = Path(user["HOME"], "completion.sh")
    file.write_text(script)
    database = Path(user["HOME"], "b.sqlite")
    database.write_bytes(registered(["data"], catalog(), "https://b.example.com", "u"))
    user["OSBCTL_DATABASE"] = str(database)
    quick(Path(user["HOME"], "bin", "osbctl"))
    for words, offered in (
        ("val", "validate"),
        ("brokers re", "refresh remove"),
        ("new ", "plan service"),
        ("validate --format s", "sarif"),
        ("validate --format = s", "sarif"),  # as bash splits it
        ("serve catalog.yaml --log-f", "--log-format"),
        ("diff broker : d", "data"),
    ):
        told = run(user, "bash", "--norc", "-c", ASK, "bash", str(file), *words.split(" "))
        assert sorted(told.split()) == offered.split(), words


def test_an_installed_completion_is_there_in_the_next_shell(user: dict[str, str]) -> None:
    run(user, "bash", "-c", BELOW, "bash", "osbctl", "--install-completion")
    assert "-F _osbctl_completion osbctl" in run(user, "bash", "-i", "-c", "complete -p osbctl")


SHOP = catalog(service("s", plan("p", "small"), plan("q", "large")), service("t", plan("r", "huge"), name="other"))


def offered(*words: str, shell: str = "bash", cwd: Path | None = None, **variables: str) -> list[str]:
    """Return the values for the last of `words`; nothing may go to standard error."""
    line = {"_TYPER_COMPLETE_ARGS": " ".join(["osbctl", *words]), "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    if shell == "bash":
        line = {"COMP_WORDS": "\n".join(["osbctl", *words]), "COMP_CWORD": str(len(words))}
    done = osbctl(cwd=cwd, _OSBCTL_COMPLETE=f"complete_{shell}", **line, **variables)
    assert done.stderr == ""
    return done.stdout.splitlines() if shell != "bash" or done.stdout.strip() else []


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.json").write_text(json.dumps(SHOP))
    (tmp_path / "source").symlink_to(catalogs_folder() / "source")
    (tmp_path / "b.sqlite").write_bytes(registered(["data", "other"], SHOP, "https://b.example.com", "u"))
    return tmp_path


def test_every_completion_is_a_function() -> None:
    assert [name for name in get_args(Completion) if not hasattr(completion, f"complete_{name}")] == []


def test_names_of_the_file_on_the_line(shop: Path) -> None:
    for words, expected in (
        ("show shop.json --service ", "service-s other"),
        ("show shop.json -s o", "other"),
        ("show source --service r", "redis"),
        ("params shop.json s", "service-s"),
        ("params shop.json service-s ", "small large"),
        ("params shop.json t h", "huge"),
        ("params shop.json nothing ", ""),
        ("build source --accept-id-change redis/c", "redis/cache"),
        ("new -C source plan ", "postgres redis"),
        ("new -C source service ", ""),
        ("new -C source plan redis ", ""),
        ("params . service-s ", ""),
    ):
        with case(words):
            assert offered(*words.split(" "), cwd=shop) == expected.split()


def test_ids_of_rules(shop: Path) -> None:
    (shop / "osbctl.toml").write_text('schema = ["house.json"]\n')
    rule = {"rule": "house-support", "severity": "warning"}
    (shop / "house.json").write_text(json.dumps({"required": ["x"], "x-osbctl": rule}))
    for words, present, missing in (
        ("validate --ignore ", "id-duplicate house-support spec", "wire-cut change-plan-removed"),
        ("validate --select ", "id-duplicate house-support advice", "wire-cut change"),
        ("check --ignore ", "id-duplicate wire-cut wire", "change-plan-removed build"),
        ("fix --select ", "field-near-miss", "id-duplicate"),
        ("rules ", "id-duplicate wire-cut change-plan-removed house-support change", "id-"),
    ):
        with case(words):
            found = set(offered(*words.split(" "), cwd=shop))
            assert set(present.split()) <= found
            assert not set(missing.split()) & found
    (shop / "osbctl.toml").write_text("wrong =")
    assert offered("rules", "id-d", cwd=shop) == ["id-duplicate"]


@each("shell", ["bash", "fish", "zsh"])
def test_registered_brokers(shop: Path, shell: str) -> None:
    (shop / "dump.json").touch()
    words = ["brokers show d", "brokers refresh other d", "brokers remove d", "drift d", "check d", "fetch d"]
    prefixed = ["diff broker:d", "diff shop.json broker:d", "page broker:d"]
    for line in words + prefixed:
        with case(line):
            whole = "broker:data" if line in prefixed and shell != "bash" else "data"
            split = line.replace(":", " : ") if shell == "bash" else line
            found = offered(*split.split(" "), shell=shell, cwd=shop, OSBCTL_DATABASE="b.sqlite")
            assert [one for one in found if whole in one.replace("\\", "")], found
            assert not [one for one in found if "other" in one]
    for line, expected in (("bro", ["broker:data", "broker:other"]), ("b", []), ("", [])):
        found = offered("diff", line, cwd=shop, OSBCTL_DATABASE="b.sqlite")
        assert found == expected, "files that begin so, which the shell offers, are not hidden"


def test_fish_offers_files_where_nothing_else_is(shop: Path) -> None:
    for words, code in (("validate sh", 1), ("show shop.json -s o", 0)):
        line = {"_TYPER_COMPLETE_ARGS": f"osbctl {words}", "_TYPER_COMPLETE_FISH_ACTION": "is-args"}
        osbctl(cwd=shop, _OSBCTL_COMPLETE="complete_fish", **line, code=code)


def test_what_a_shell_would_run_is_not_offered(shop: Path) -> None:
    names = [
        "$(touch x)",
        "`x`",
        "a b",
        "a;b",
        "a|b",
        "*",
        "~",
        "-rf",
        "a\nb",
        "\x1b[31m",
        "a'b",
        'a"b',
        "a\\b",
        "ü",
        "a:b",
        "ok",
    ]
    things = [service(f"s{number}", plan(f"p{number}", name), name=name) for number, name in enumerate(names)]
    (shop / "shop.json").write_text(json.dumps(catalog(*things)))
    assert offered("show", "shop.json", "-s", "", cwd=shop) == ["ok"]
    assert offered("params", "shop.json", "a b".replace(" ", "\\ "), "", cwd=shop) == []
    assert offered("build", "shop.json", "--accept-id-change", "", cwd=shop) == ["ok", "ok/ok"]


def test_a_fault_offers_nothing_and_says_nothing(shop: Path) -> None:
    """Neither does it read what could wait, or ask a server."""
    os.mkfifo(shop / "fifo")
    (shop / "faulty.json").write_text("{")
    (shop / "large.json").write_text(json.dumps(SHOP) + " " * 2_000_000)
    (shop / "not.sqlite").write_text("x" * 5000)
    sources = ("fifo", "faulty.json", "large.json", "none.json", "-", "https://b.example.com", "HEAD:shop.json", ".")
    for source in sources:
        with case(source):
            assert offered("show", source, "-s", "", cwd=shop) == []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        url = f"postgresql+psycopg://u:p@127.0.0.1:{server.getsockname()[1]}/d"
        for database in (url, "not.sqlite", "none.sqlite", ".", "fifo"):
            with case(database):
                assert offered("brokers", "show", "", cwd=shop, OSBCTL_DATABASE=database) == []
        with pytest.raises(TimeoutError):
            server.accept()
    assert not (shop / "none.sqlite").exists()
    for shell, variables in (
        ("bash", {"COMP_WORDS": "osbctl\nva"}),
        ("bash", {"COMP_WORDS": "osbctl", "COMP_CWORD": "x"}),
        ("bash", {}),
        ("tcsh", {}),
    ):
        done = osbctl(_OSBCTL_COMPLETE=f"complete_{shell}", **variables)
        assert (done.stdout, done.stderr, done.returncode) == ("", "", 1)


def test_completion_loads_what_it_needs() -> None:
    """And a command without completion nothing of it."""
    code = "import sys; sys.argv[1:] = {}; from osbctl.__main__ import _run_to_exit_code as run; run(sys.argv[1:]);"
    code += "print(); print(*sys.modules)"
    heavy = {"sqlalchemy", "urllib3", "jsonschema", "jsonschema_rs", "waitress", "jinja2", "rich"}
    for words, absent in (
        ("brokers show d", {*heavy, "yaml", "osbctl.commands.diff"}),
        ("check d", {*heavy, "yaml", "osbctl.commands.diff"}),
        ("show x -s d", {*heavy, "osbctl.commands.diff", "osbctl.registry"}),
        ("validate --ignore d", {*heavy, "osbctl.commands.diff", "osbctl.registry"}),
        ("", {"osbctl.commands.completion"}),
    ):
        line = {"COMP_WORDS": f"osbctl {words}".replace(" ", "\n"), "COMP_CWORD": str(len(words.split()))}
        variables = environment(**line, _OSBCTL_COMPLETE="complete_bash") if words else environment()
        arguments = [] if words else ["schema"]
        command = [sys.executable, "-c", code.format(arguments)]
        printed = subprocess.run(command, env=variables, capture_output=True, text=True, check=True, timeout=60).stdout
        assert not absent & set(printed.splitlines()[-1].split()), words
