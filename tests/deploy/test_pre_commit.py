"""The hooks, in a scratch repository with the real pre-commit, which installs this checkout."""

import shutil
import sys
from pathlib import Path

import pytest
import yaml

from tests.deploy.harness import CATALOG, FAULTY, ROOT, edit, repository, run, shim, write
from tests.git import commit, git
from tests.release.world import clone

CONFIG = """\
repos:
  - repo: {hooks}
    rev: {rev}
    hooks:
      - id: osbctl-validate
      - id: osbctl-build-check
        args: [source, --output, built.json]
"""


def test_the_manifest_is_one_that_pre_commit_takes() -> None:
    from pre_commit.commands.validate_manifest import validate_manifest

    assert validate_manifest([str(ROOT / ".pre-commit-hooks.yaml")]) == 0
    assert [hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())] == [
        "osbctl-validate", "osbctl-build-check",
    ]  # fmt: skip


@pytest.mark.release
def test_the_hooks_stop_a_faulty_commit_and_let_a_good_one_pass(tmp_path: Path) -> None:
    hooks = clone(tmp_path / "hooks")
    user = repository(tmp_path / "user", {"README.md": "catalogs"})
    shutil.copytree(ROOT / "catalogs/source", user / "source")
    edit(user / "source/services/redis.yaml", "(?m)^plans:.*\n", "")  # its plans: whatever files there are
    osbctl = shim(tmp_path / "bin" / "osbctl")
    run(osbctl, "build", "source", "-o", "built.json", cwd=user, code=0)
    write(user, {".pre-commit-config.yaml": CONFIG.format(hooks=hooks, rev=git(hooks, "rev-parse", "HEAD"))})
    home = {"PRE_COMMIT_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}

    def pre_commit(*arguments: str) -> tuple[int, str]:
        git(user, "add", "--all")
        done = run(sys.executable, "-m", "pre_commit", *arguments, cwd=user, env=home, timeout=240)
        return done.returncode, done.stdout + done.stderr

    write(user, {"deep/catalog.yaml": CATALOG.read_text(), ".gitlab-ci.yml": "services: [{name: docker:dind}]"})
    code, said = pre_commit("run")
    assert (code, said.count("Passed")) == (0, 2), said

    write(user, {"catalog.json": '{"services": [{"id": "a" "name": "b"}]}', "deep/catalog.yaml": FAULTY.read_text()})
    code, said = pre_commit("run", "osbctl-validate")
    assert code == 1
    assert "deep/catalog.yaml:21:9: error: plan 'small' reuses the id of" in said
    assert "catalog.json" in said
    assert "catalog.yaml: error" not in said.replace("deep/catalog.yaml", "")
    assert "gitlab" not in said

    git(user, "rm", "--quiet", "--cached", "catalog.json")
    (user / "catalog.json").unlink()
    write(user, {"deep/catalog.yaml": CATALOG.read_text()})
    assert pre_commit("run", "osbctl-validate")[0] == 0
    commit(user)

    # A deleted file alone: pre-commit names no file, the hook looks all the same.
    (user / "source/services/redis/plans/cache.yaml").unlink()
    code, said = pre_commit("run", "osbctl-build-check")
    assert code == 1, said
    run(osbctl, "build", "source", "-o", "built.json", cwd=user, code=0)
    assert pre_commit("run", "osbctl-build-check")[0] == 0
