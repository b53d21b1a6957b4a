"""The reference is complete: whatever the program knows has its place there."""

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from osbctl import errors
from osbctl.commands.settings import all_rules
from osbctl.config import KEYS
from osbctl.findings import DocumentError
from tests.cli.program import commands
from tests.docs.test_links import PAGES

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
CODE = sorted((ROOT / "osbctl").rglob("*.py"))


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


ALL = {name: command for name, command in commands().items() if name}


@pytest.mark.parametrize("name", ALL)
def test_each_command_is_there_with_its_options(name: str) -> None:
    file = f"commands/{name.replace(' ', '-')}.md"
    text = page(file)
    assert text.startswith(f"# osbctl {name}\n")
    assert f"({file})" in page("commands.md")
    for parameter in ALL[name].params:
        for word in [*parameter.opts, *parameter.secondary_opts]:
            if word.startswith("-"):
                assert re.search(rf"{re.escape(word)}\b", text), f"{word} of {name}"
    options = {parameter.opts[0] for parameter in ALL[name].params if parameter.opts[0].startswith("--")}
    assert options - {"--help"} == set(re.findall(r"(?m)^### `(--.+)`$", text)), "a link can point to each option"


def test_commands_in_pages_have_options_and_values_that_exist() -> None:
    """Those too that are not run, since they name hosts or files that a test does not have."""
    checked = 0
    for file in PAGES:
        for block in re.findall(r"(?ms)^ *```(?:console|sh|yaml)\n(.*?)^ *```", file.read_text(encoding="utf-8")):
            for line in re.findall(r"(?m)(?:^ *|[$|;(!] |run: |until |&& )osbctl ([^\n|;<>&)]+)", block):
                words = shlex.split(line, comments=True)
                name = next((name for name in (" ".join(words[:2]), words[0]) if name in ALL), "")
                assert name, f"{file.name}: {line}"
                check_words(ALL[name], words[len(name.split()) :], f"{file.name}: {line}")
                checked += 1
    assert checked > 100


def check_words(command: Any, words: list[str], line: str) -> None:
    """Parse the arguments of a command, without running it."""
    context = command.context_class(command, info_name=line)
    try:
        values, _, _ = command.make_parser(context).parse_args(words)
        for parameter in command.params:
            value = values.get(parameter.name)
            for each in value if isinstance(value, list) else [value]:
                if hasattr(parameter.type, "choices") and isinstance(each, str):
                    parameter.type.convert(each, parameter, context)
    except typer.BadParameter.__base__ as error:  # type: ignore[misc]
        pytest.fail(f"{line}: {error.format_message()}")


def test_variables_are_code() -> None:
    assert "default: `${NAME:-default}`." in page("commands/build.md")


def test_passwords_are_written_to_private_files_and_never_overwritten() -> None:
    texts = "".join(file.read_text(encoding="utf-8") for file in PAGES)
    lines = re.findall(r".*osbctl hash-password .*--generate .* >.*", texts)
    assert len(lines) == 6
    for line in lines:
        assert "(umask 077; " in line
        assert " -o " not in line or " >> " in line, "a second call with -o fails, and would empty the file"


def test_each_rule_is_there_and_in_the_index() -> None:
    pages = sorted((REFERENCE / "rules").glob("*.md"))
    headings = [heading for file in pages for heading in re.findall(r"(?m)^## (.+)$", file.read_text(encoding="utf-8"))]
    assert sorted(headings) == sorted(f"{rule.id}: {rule.summary.removesuffix('.')}" for rule in all_rules().values())
    rows = dict(re.findall(r"(?m)^\| \[`([^`]+)`\]\(rules/[^)]+\) \| (.+) \|$", page("rules.md")))
    assert set(rows) == set(all_rules())
    for rule in all_rules().values():
        severity, _, fixable = (cell.strip() for cell in rows[rule.id].split("|"))
        assert (severity, fixable) == (rule.severity.value, "yes" if rule.fix else "")


def test_each_configuration_key_is_there() -> None:
    keys, commands_that_read = page("configuration.md").split("\n## ")
    assert sorted(re.findall(r"(?m)^\| `([^`]+)` \|", keys)) == sorted(KEYS)
    assert all(f"| `{key}` |" in commands_that_read for key in KEYS)


def constants(tree: ast.AST) -> set[int]:
    """The numbers that a module ends a process with: `sys.exit(1)`, `typer.Exit(1)`, `os._exit(1)`."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    given = [call.args[0] for call in calls if call.func.attr in ("exit", "Exit") and call.args]  # type: ignore[attr-defined]
    return {arg.value for arg in given if isinstance(arg, ast.Constant) and isinstance(arg.value, int)}


def returned(tree: ast.AST) -> set[int]:
    """The numbers that functions of a module return where they return nothing else but an int."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    ours = [one for one in functions if isinstance(one.returns, ast.Name) and one.returns.id == "int"]
    nodes = [node.value for one in ours for node in ast.walk(one) if isinstance(node, ast.Return)]
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, int)}


def test_each_exit_code_is_there() -> None:
    kinds = [*vars(errors).values(), DocumentError]
    codes = {error.exit_code for error in kinds if hasattr(error, "exit_code")}
    for file in [ROOT / "osbctl" / "__main__.py", ROOT / "osbctl" / "commands" / "app.py"]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        codes |= constants(tree) | returned(tree)
    for file in CODE:
        text = file.read_text(encoding="utf-8")
        codes |= constants(ast.parse(text)) if re.search(r"exit\(|Exit\(", text) else set()
    assert {int(code) for code in re.findall(r"(?m)^\| (\d+) \|", page("exit-codes.md"))} == codes


def variables() -> set[str]:
    """Environment variables that the code reads, by name or as the variable of an option."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in CODE)
    read = set(re.findall(r"os\.environ(?:\.get\(|\[)\"([A-Z_]+)\"|\benviron\.get\(\"(LISTEN_\w+)\"", text))
    options = [parameter.envvar for command in ALL.values() for parameter in command.params if parameter.envvar]
    flat = {name for one in options for name in ([one] if isinstance(one, str) else one)}
    return {name for pair in read for name in pair if name} | flat | set(re.findall(r"OSBCTL_[A-Z]\w+", text))


OF_SHELLS = {"COMP_CWORD", "COMP_WORDS", "_OSBCTL_COMPLETE", "OSBCTL_COMPLETE", "_TYPER_COMPLETE_ARGS"}
"""Set by the scripts that complete words in a shell, not by a user."""


def test_each_environment_variable_is_there() -> None:
    text = page("environment.md")
    found = {name for name in variables() if not name.startswith("OSBCTL_BROKER_")} - OF_SHELLS
    assert {"OSBCTL_PASSWORD", "OSBCTL_SOURCE", "NO_COLOR", "LISTEN_FDS", "PORT"} <= found
    assert sorted(name for name in found if f"`{name}`" not in text) == []
    assert "`OSBCTL_BROKER_<NAME>_PASSWORD`" in text
    assert "`OSBCTL_BROKER_<NAME>_URL`" in text


def test_every_option_of_serve_has_an_environment_variable() -> None:
    options = {parameter.name: parameter.envvar for parameter in ALL["serve"].params}
    assert all(options.values())
    assert options["at"] == "OSBCTL_AT"
    # The option is shared, its variable is not.
    assert not any(one.envvar for one in ALL["validate"].params)


@pytest.mark.parametrize("schema", sorted(p.name for p in (ROOT / "schemas").glob("*.json") if "catalog" not in p.name))
def test_each_report_is_described(schema: str) -> None:
    assert f"`schemas/{schema}`" in page("reports.md")


# Command lines, also where they are not run.

GENERAL = {"-h", "--help", "--version", "--install-completion", "--show-completion"}


def lines(page: Path) -> list[str]:
    """The command lines of `osbctl` in fenced blocks and in code, from the name on."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"(?ms)^ *```(?:console|sh)\n(.*?)^ *```", text)
    joined = "\n".join(fenced).replace("\\\n", " ")
    code = re.findall(r"`(osbctl [^`\n]+)`", text)
    return re.findall(r"(?m)(?<!-[nt] )(?<![\w/.-])osbctl [^\n|&;)`]*", joined) + code


def unknown(line: str) -> list[str]:
    """Words of `line` that are neither a command of osbctl nor an option of that command."""
    words = shlex.split(re.sub(r"[<>]", " ", line), comments=True)[1:]
    named = ""
    while words and hasattr(commands()[named], "commands") and not words[0].startswith("-"):
        if words[0] == "COMMAND":
            return []
        named = f"{named} {words[0]}".strip()
        if named not in commands():
            return [words[0]]
        del words[0]
    command = commands()[named]
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)} | GENERAL
    given = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return [word for word in given if word not in options]


FOUND = [(page, line) for page in PAGES if page.name != "CHANGELOG.md" for line in lines(page)]


def test_each_is_a_command_that_there_is_and_a_wrong_one_is_seen() -> None:
    assert [(page.name, line) for page, line in FOUND if unknown(line)] == []
    assert len(FOUND) > 100
    assert unknown("osbctl validate --platfrom cloudfoundry x.yaml") == ["--platfrom"]
    assert unknown("osbctl brokers forget data") == ["forget"]
