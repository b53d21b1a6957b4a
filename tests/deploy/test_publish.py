"""The files of docs/how-to/publish-a-page.md for GitHub, GitLab and nginx, parsed and run."""

import gzip
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from osbctl.config import load_config
from tests.broker.harness import until
from tests.deploy.harness import CATALOG, ROOT, edit, meets_schema, quick, run, write
from tests.deploy.running import ask, free_port, started
from tests.deploy.test_front import accepts, nginx_config
from tests.git import git

HOW_TO = (ROOT / "docs/how-to/publish-a-page.md").read_text()


def block(language: str, holding: str = "") -> str:
    """The one fenced block of that language, of those that hold a text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", HOW_TO, re.DOTALL | re.MULTILINE)
    (found,) = [text for text in blocks if holding in text]
    return str(found)


def bash(script: str, clone: Path) -> None:
    """Run the lines as both forges do, up to the first that fails; only what would install osbctl is a stub."""
    folder = clone.parent / "bin"
    quick(folder / "osbctl")
    for name in ("pip", "pipx"):  # what would fetch osbctl
        (folder / name).symlink_to("/bin/true")
    environment = {"PATH": f"{folder}:/usr/local/bin:/usr/bin:/bin", "HOME": str(clone.parent)}
    run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, cwd=clone, env=environment, code=0)


def test_the_workflow_leaves_the_folder_that_it_publishes(clone: Path) -> None:
    text = block("yaml", ".github/workflows/page.yml")
    write(clone.parent, {"page.yml": text})
    assert meets_schema("vendor.github-workflows", clone.parent / "page.yml")
    (job,) = yaml.safe_load(text)["jobs"].values()
    bash("\n".join(step["run"] for step in job["steps"] if "run" in step), clone)
    (published,) = [step["with"]["path"] for step in job["steps"] if "upload-pages" in step.get("uses", "")]
    html = (clone / published / "index.html").read_text()
    day = git(clone, "log", "-1", "--format=%cs").strip()
    assert f'<time datetime="{day}">' in html


def test_the_pages_job_leaves_the_folder_that_it_publishes(clone: Path) -> None:
    text = block("yaml", ".gitlab-ci.yml")
    write(clone.parent, {"gitlab.yml": text})
    assert meets_schema("vendor.gitlab-ci", clone.parent / "gitlab.yml", "--data-transform", "gitlab-ci")
    job = yaml.safe_load(text)["pages"]
    bash("\n".join(job["script"]), clone)
    assert job["artifacts"]["paths"] == ["public"]
    assert "Search" in (clone / "public/index.html").read_text()


def test_the_settings_are_read(tmp_path: Path) -> None:
    text = block("toml")
    write(tmp_path, {"osbctl.toml": text})
    settings = load_config(str(tmp_path / "osbctl.toml")).page
    assert settings["logo"].endswith("brand/logo.svg")
    assert {**settings, "logo": ""} == {**tomllib.loads(text)["page"], "logo": ""}


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Ask nginx, with the block of the page; only the path of the file is another one."""
    if not shutil.which("nginx"):
        pytest.skip("nginx is not installed")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    run(sys.executable, "-m", "osbctl", "page", str(CATALOG), "-o", str(folder / "index.html"), cwd=ROOT, code=0)
    site = block("nginx").replace("/srv/marketplace/", f"{folder}/")
    assert str(folder) in site
    command = nginx_config(folder, f"server {{ listen 127.0.0.1:{port}; {site} }}", port, (folder, folder), folder)
    edit(folder / "nginx.conf", r"gzip on; gzip_types \*; gzip_min_length 1;", "")  # as nginx has it
    with started(command, folder, "start worker processes", code=None, cwd=folder):
        assert until(lambda: accepts(port))
        yield lambda **changes: ask(port, None, path="/marketplace", **changes), folder


def test_nginx_serves_the_page_with_its_headers_compresses_it_and_knows_what_is_still_the_same(nginx: Any) -> None:
    get, folder = nginx
    status, headers, body = get()
    assert (status, body) == (200, (folder / "index.html").read_bytes())
    assert headers["content-type"].replace(" ", "") == "text/html;charset=utf-8"
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-cache"
    status, headers, body = get(Accept_Encoding="gzip")
    assert (status, headers.get("content-encoding")) == (200, "gzip")
    assert gzip.decompress(body) == (folder / "index.html").read_bytes()
    assert headers["vary"] == "Accept-Encoding"
    assert get(If_None_Match=headers["etag"], Accept_Encoding="gzip")[0] == 304
