"""The documented lines for Neovim, in Neovim: it shows findings, and carries out a fix."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from osbctl.resources import catalogs_folder

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "in-your-editor.md"
ASKED = """
local function shown() return #vim.diagnostic.get(0) end
vim.wait(30000, function() return shown() > 0 end, 50)
local before, found = shown(), nil
for _, one in ipairs(vim.diagnostic.get(0)) do
  if one.code == "schema-type" then found = found or one end
end
local at = { line = found.lnum, character = found.col }
local params = { textDocument = vim.lsp.util.make_text_document_params(0), range = { start = at, ["end"] = at } }
params.context = { diagnostics = {}, only = { "quickfix" } }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 30000)) do
  vim.lsp.util.apply_workspace_edit(answer.result[1].edit, "utf-16")
end
vim.wait(30000, function() return shown() < before end, 50)
local line = vim.api.nvim_buf_get_lines(0, found.lnum, found.lnum + 1, false)[1]
io.stdout:write(before - shown() .. line .. "\\n")
vim.cmd("qa!")
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_the_documented_lines_show_findings_and_fixes(tmp_path: Path) -> None:
    version = re.search(r"v0\.(\d+)", subprocess.run(["nvim", "--version"], capture_output=True, text=True).stdout)
    newer, older = re.findall(r"```lua\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    (tmp_path / "init.lua").write_text(newer if version is None or int(version[1]) >= 11 else older)
    (tmp_path / "asked.lua").write_text(ASKED)
    shutil.copy(catalogs_folder() / "faulty.yaml", tmp_path / "catalog.yaml")
    # Some wrapper may have put osbctl elsewhere: the one under test comes first.
    program = tmp_path / "bin" / "osbctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m osbctl "$@"\n')
    program.chmod(0o755)
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    environment["PYTHONPATH"] = str(PAGE.parents[2])
    command = ["nvim", "--headless", "--clean", "-u", "init.lua", "catalog.yaml", "-c", "luafile asked.lua"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, cwd=tmp_path, env=environment)
    assert done.stdout.startswith("1    bindable: true  "), done.stdout + done.stderr
    assert 'bindable: "true"' in (tmp_path / "catalog.yaml").read_text()  # it was never saved
