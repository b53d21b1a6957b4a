"""The README: its demonstrations are run as printed, and each block that is a file is valid by its own schema."""

import re
import shutil
import sys
from pathlib import Path

import yaml

from osbctl.config import load_config
from tests.cli.machine import Machine
from tests.cli.program import ROOT, osbctl
from tests.deploy import harness
from tests.deploy.harness import meets_schema, quick, shim
from tools.walk import start

README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"(?ms)^```(?:yaml|toml)\n# (\S+)\n(.*?)^```", README))
"""The text of each file in the README by its path, which is in the first line of the block."""


def commands(heading: str) -> list[str]:
    """The lines of all blocks of commands under a heading."""
    text = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return "".join(re.findall(r"(?ms)^```console\n(.*?)^```", text)).splitlines()


def run(line: str, folder: Path, environment: dict[str, str]) -> str:
    return harness.run("bash", "-c", line, cwd=folder, env=environment, code=0).stdout


def quick_but_serve(program: Path) -> Path:
    """A program `osbctl`, or `python -m osbctl`, that hashes quickly; its `serve` alone is a process that one may end."""
    alone, fork = shim(program.with_name("alone")), quick(program.with_name("fork"))
    program.write_text(
        '#!/bin/sh\n[ "$1" != -m ] || shift 2\n[ "$1" != hash-password ] || set -- "$@" --rounds 1000\n'
        f'[ "$1" = serve ] && exec {alone} "$@"\nexec {fork} "$@"\n'
    )
    program.chmod(0o755)
    return program


def test_it_is_short() -> None:
    assert len(README.split()) <= 1250


def test_its_first_screen_names_the_two_commands_of_a_clone() -> None:
    screen = "\n".join(README.splitlines()[:24])
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target, program in (("demo", "tools/demo.py"), ("test", "-m pytest")):
        assert f"`make {target}`" in screen
        recipe = re.search(rf"(?m)^{target}:.*\n(\t.*\n)+", makefile)
        assert recipe and program in recipe[0]


def test_the_demo_ends_well(tmp_path: Path) -> None:
    """Without a terminal it does not wait for Ctrl-C."""
    python = str(quick_but_serve(tmp_path / "python"))
    code = f"import runpy, sys; sys.executable = {python!r}; runpy.run_path('tools/demo.py', run_name='__main__')"
    said = harness.run(sys.executable, "-c", code, cwd=ROOT, code=0).stdout
    assert "200 application/json" in said
    assert said.endswith("\nAll well.\n")


def test_the_workflow_is_valid(tmp_path: Path) -> None:
    """tests/deploy/test_pipelines.py looks at its inputs."""
    (tmp_path / "catalog.yml").write_text(FILES[".github/workflows/catalog.yml"])
    assert meets_schema("vendor.github-workflows", tmp_path / "catalog.yml")


def test_the_hooks_are_valid_and_exist(tmp_path: Path) -> None:
    from pre_commit.commands.validate_config import validate_config

    text = FILES[".pre-commit-config.yaml"]
    (tmp_path / "config.yaml").write_text(text)
    assert validate_config([str(tmp_path / "config.yaml")]) == 0
    known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for repo in yaml.safe_load(text)["repos"] for hook in repo["hooks"]} <= known


def test_the_settings_and_the_comment_do_what_they_say(tmp_path: Path) -> None:
    for name in ("osbctl.toml", "catalog.yaml"):
        (tmp_path / name).write_text(FILES[name])
    assert load_config(str(tmp_path / "osbctl.toml")).severity == {"url-not-https": "info"}
    done = osbctl("validate", "--quiet", "catalog.yaml", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("", "")
    (tmp_path / "catalog.yaml").write_text(re.sub(" +# osbctl: .+", "", FILES["catalog.yaml"]))
    assert "[name-characters]" in osbctl("validate", "--quiet", "catalog.yaml", cwd=tmp_path).stdout


def test_each_file_is_tested() -> None:
    tested = {".github/workflows/catalog.yml", ".pre-commit-config.yaml", "osbctl.toml", "catalog.yaml"}
    assert set(FILES) == tested
    assert len(re.findall(r"(?m)^```(?:yaml|toml|json)$", README)) == len(tested)


def test_the_broker_is_served_over_tls_and_watched(tmp_path: Path) -> None:
    walk = start(tmp_path)
    quick_but_serve(tmp_path / "bin/osbctl")
    machine = Machine(walk.folder)
    shutil.copy(ROOT / "catalogs" / "data-services.yaml", walk.folder / "catalog.yaml")
    environment = {**walk.environment, **machine.environment, "PATH": walk.environment["PATH"]}
    certificate, password, serve, request = commands("Serve")
    run(certificate, walk.folder, environment)
    run(password, walk.folder, environment)
    walk.environment = environment
    walk.brokers = []
    try:
        walk.serve(f"{serve} --port 8443")
        assert '"services"' in run(request.replace("8443", walk.port), walk.folder, environment)
        environment["OSBCTL_BROKER_DATA_URL"] = f"https://localhost:{walk.port}"
        environment["OSBCTL_BROKER_DATA_PASSWORD"] = (walk.folder / "password.txt").read_text().strip()
        lines = commands("Registry")
        assert len(lines) == 3
        for line in lines:
            assert run(line.replace("8443", walk.port), walk.folder, environment) == "" or "drift" not in line
    finally:
        for broker in walk.brokers:
            broker.terminate()
            broker.wait(timeout=60)


def test_each_extra_is_named_with_its_command() -> None:
    for command, extra in (("`osbctl lsp`", "lsp"), ("`brokers add`", "registry")):
        assert any(command in part and extra in part for part in README.split("\n\n")), command
