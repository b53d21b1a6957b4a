"""The commands that are printed say what was ordered, and nothing else."""

import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from osbctl.platforms.tools import ProvisionRequest, Purpose
from osbctl.requests import Command, build_commands
from tests.requests.tools import COMMANDS, NAME_BROKERS

PARAMETERS = {"size": 3}
HARD = "it's a (touch pwned); ünï"


def by_tool(order: ProvisionRequest, purpose: Purpose = Purpose.CREATE) -> dict[str, Command]:
    found = build_commands(order, purpose)
    made = {command.tool: command for command in found}
    assert len(made) == len(found)
    return made


@pytest.mark.parametrize("purpose", Purpose)
@pytest.mark.parametrize("parameters", [None, PARAMETERS])
def test_bash_hands_each_tool_the_words(purpose: Purpose, parameters: dict[str, int] | None, tmp_path: Path) -> None:
    order = ProvisionRequest("it's", HARD, "the broker", parameters, "my params.json", '{"size": 3}')
    (tmp_path / "my params.json").write_text(order.content)
    for tool, command in by_tool(order, purpose).items():
        if tool not in COMMANDS:
            continue
        (tmp_path / tool).write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\n")
        (tmp_path / tool).chmod(0o755)
        bash = ["bash", "-c", command.text]
        path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        ran = subprocess.run(bash, cwd=tmp_path, env=path, capture_output=True, timeout=60, check=True)
        words = ran.stdout.decode().split("\0")[:-1]
        assert ran.stderr == b""
        assert not (tmp_path / "pwned").exists()
        if purpose is Purpose.CREATE:
            assert words.count("it's") == 1 and words.count(HARD) == 1
            assert words.count("the broker") == (tool in NAME_BROKERS)
        assert "my-instance" in words
        assert (parameters is not None) == bool({"my params.json", '{"size": 3}'} & set(words))


def test_what_is_known_of_tools() -> None:
    assert {"cf", "svcat", "btp", "smctl"} <= COMMANDS.keys() and not {"kubectl", "terraform"} & COMMANDS.keys()
    assert {"cf", "smctl"} <= NAME_BROKERS and not {"svcat", "btp"} & NAME_BROKERS


def test_a_name_that_cannot_be_quoted_has_a_reason_and_a_manifest() -> None:
    made = by_tool(ProvisionRequest("a%b", "two\nlines"))
    assert made["cf"].text == ""
    assert "cannot be" in made["cf"].why
    names = {"clusterServiceClassExternalName": "a%b", "clusterServicePlanExternalName": "two\nlines"}
    assert yaml.safe_load(made["kubectl"].content)["spec"] == names
    why = "a name in it cannot be quoted: shells interpret % differently"
    assert by_tool(ProvisionRequest("a%b", "p"))["cf"].why == why


def test_tools_that_take_no_file_have_a_command_in_bash_alone() -> None:
    made = by_tool(ProvisionRequest("s", "p", parameters=PARAMETERS))
    for tool in ("svcat", "smctl"):
        assert '"$(cat params.json)"' in made[tool].text
        assert made[tool].shell == "bash"
    assert shlex.split(made["cf"].text)[-2:] == ["-c", "params.json"]
    assert made["cf"].shell == ""
    bare = by_tool(ProvisionRequest("s", "p"))
    assert bare["svcat"].text == "svcat provision my-instance --class s --plan p"


def test_the_manifest_and_terraform_name_the_plan_and_carry_the_parameters() -> None:
    made = by_tool(ProvisionRequest("s", 'p"${x}%{y}\\\n', "b", PARAMETERS))
    assert yaml.safe_load(made["kubectl"].content)["spec"]["parameters"] == PARAMETERS
    text = made["terraform"].text
    assert '"p\\"$${x}%%{y}\\\\\\n"' in text
    assert 'service_broker_name   = "b"' in text
    assert 'parameters   = file("params.json")' in text
    without = by_tool(ProvisionRequest("s", "p"))["terraform"].text
    assert "data " not in without and 'service_plan_name     = "p"' in without


def test_binding_names_the_instance() -> None:
    made = by_tool(ProvisionRequest("s", "p", parameters=PARAMETERS), Purpose.BIND)
    binding = yaml.safe_load(made["kubectl"].content)
    assert binding["kind"] == "ServiceBinding"
    assert binding["spec"] == {"instanceRef": {"name": "my-instance"}, "parameters": PARAMETERS}
    assert made["cf"].text == "cf bind-service my-app my-instance -c params.json"
    assert "svcat" not in by_tool(ProvisionRequest("s", "p", parameters=PARAMETERS), Purpose.UPDATE)
