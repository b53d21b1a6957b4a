"""The documented lines for Neovim and Emacs, in these: they show findings, and carry out a fix."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.harness import shim
from tests.folders import catalogs_folder

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "in-your-editor.md"
IN_NEOVIM = """
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


IN_EMACS = """
(setq eglot-sync-connect t)
(defun shown () (length (flymake-diagnostics)))
(defun await (done)
  (with-timeout (30 (error "waited in vain")) (while (not (funcall done)) (accept-process-output nil 0.05))))
(find-file "catalog.yaml")
(run-hooks 'post-command-hook)
(await (lambda () (> (shown) 0)))
(let ((before (shown)) (found nil))
  (dolist (one (flymake-diagnostics))
    (when (string-match "bindable must" (flymake-diagnostic-text one)) (setq found (or found one))))
  (goto-char (flymake-diagnostic-beg found))
  (eglot--apply-workspace-edit (plist-get (car (eglot-code-actions (point) (point) "quickfix")) :edit))
  (eglot--signal-textDocument/didChange)  ; else sent when one stops typing, and nobody types here
  (await (lambda () (< (shown) before)))
  (princ (format "%d%s" (- before (shown)) (buffer-substring (line-beginning-position) (line-end-position)))))
(kill-emacs 0)
"""


def ran(folder: Path, command: list[str]) -> None:
    """Let an editor mend a value of the faulty catalog, and save nothing."""
    shutil.copy(catalogs_folder() / "faulty.yaml", folder / "catalog.yaml")
    # Some wrapper may have put osbctl elsewhere: the one under test comes first.
    program = shim(folder / "bin" / "osbctl")
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, cwd=folder, env=environment)
    assert done.stdout.startswith("1    bindable: true  "), done.stdout + done.stderr
    assert 'bindable: "true"' in (folder / "catalog.yaml").read_text()


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_in_neovim(tmp_path: Path) -> None:
    version = re.search(r"v0\.(\d+)", subprocess.run(["nvim", "--version"], capture_output=True, text=True).stdout)
    newer, older = re.findall(r"```lua\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    (tmp_path / "init.lua").write_text(newer if version is None or int(version[1]) >= 11 else older)
    (tmp_path / "asked.lua").write_text(IN_NEOVIM)
    ran(tmp_path, ["nvim", "--headless", "--clean", "-u", "init.lua", "catalog.yaml", "-c", "luafile asked.lua"])


def has_eglot() -> bool:
    """Return whether there is an Emacs with everything that the documented lines need."""
    needed = "(progn (require 'eglot) (require 'yaml-mode))"
    asked = ["emacs", "--batch", "--funcall", "package-initialize", "--eval", needed]
    return shutil.which("emacs") is not None and subprocess.run(asked, capture_output=True).returncode == 0


def test_in_emacs(tmp_path: Path) -> None:
    if not has_eglot():
        pytest.skip("Emacs is not installed, or without eglot or yaml-mode")
    (lines,) = re.findall(r"```elisp\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    (tmp_path / "init.el").write_text(lines)
    (tmp_path / "asked.el").write_text(IN_EMACS)
    ran(tmp_path, ["emacs", "--batch", "--funcall", "package-initialize", "-l", "init.el", "-l", "asked.el"])
