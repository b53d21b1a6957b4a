"""Updates the install lines in all files from [tool.osbctl-release] of pyproject.toml.

    python tools/release_lines.py            write them
    python tools/release_lines.py --check    write nothing; exit 1 with the names of files that are out of date

Without a publication, lines use a clone: beside the user's project, or copied into it for a pipeline.
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = {
    "README.md": ".",
    "SECURITY.md": ".",
    "catalogs/source/.github/workflows/catalog.yml": "./osbctl",
    "deploy/README.md": ".",
    "deploy/ci/Jenkinsfile": "./osbctl",
    "deploy/ci/gitlab.yml": "./osbctl",
    "deploy/cloudfoundry/requirements.txt": "",
    "deploy/kubernetes/deployment.yaml": "",
    "docs/how-to/check-in-ci.md": "./osbctl",
    "docs/how-to/in-your-editor.md": "../osbctl",
    "docs/how-to/publish-a-page.md": "./osbctl",
    "docs/how-to/registered-brokers.md": "../osbctl",
    "docs/install.md": ".",
    "editors/vscode/README.md": ".",
    "editors/vscode/src/extension.ts": ".",
    "osbctl/__init__.py": "",
    "pyproject.toml": "",
}
"""Each file that says where osbctl comes from, with the clone as seen from where its commands are run."""

UNPUBLISHED = "osbctl is not published yet: install it from a clone of its repository."


@dataclass(frozen=True, slots=True)
class Release:
    """The three names of [tool.osbctl-release], each possibly empty, and the released version."""

    index: str
    repository: str
    image: str
    version: str

    @property
    def distribution(self) -> str:
        """Name of the wheel."""
        return self.index or "osbctl"

    @property
    def report(self) -> str:
        """Private channel of a forge for reports of vulnerabilities."""
        if not self.repository:
            return "For a copy without a forge: write to the person who gave it to you."
        on_github = self.action != "./osbctl"
        return f"Here: <{self.repository}{'/security/advisories/new' if on_github else ''}>."

    @property
    def action(self) -> str:
        """The action that a GitHub workflow uses; it must be on GitHub."""
        owner = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", self.repository)
        return f"{owner[1]}@v{self.version}" if owner else "./osbctl"

    def requirement(self, clone: str, extra: str = "", *, pinned: bool = False) -> str:
        """Requirement for pip and pipx, quoted for a shell if necessary."""
        if self.index:
            found = f"{self.index}{extra}" + (f"=={self.version}" if pinned else "")
        elif self.repository:
            address = f"git+{self.repository}@v{self.version}"
            found = f"{self.distribution}{extra} @ {address}" if extra else address
        else:
            found = f"{clone}{extra}"
        return f"'{found}'" if extra else found

    def lines(self, clone: str) -> list[tuple[str, str]]:
        """Patterns of install lines, each with its replacement; `clone` is the path of a clone."""
        published = f"osbctl is published at <{self.repository}>." if self.repository else ""
        package = self.requirement(clone, pinned=True)
        urls = f'[project.urls]\nRepository = "{self.repository}"\n\n' if self.repository else ""
        wheel = f"./{self.distribution.replace('-', '_')}-{self.version}-py3-none-any.whl"
        return [
            (r"(- repo: ).+", rf"\g<1>{self.repository or '../osbctl'}"),
            (r"(\n +rev: ).+", rf"\g<1>{f'v{self.version}' if self.repository else 'HEAD'}"),
            (r"(uses: )(?!actions/)\S+", rf"\g<1>{self.action}"),
            (r"(OSBCTL_PACKAGE(?:: | = '))[^\s']+", rf"\g<1>{package}"),
            (r"(  image: )\S*osbctl:\S+", rf"\g<1>{self.image or 'localhost/osbctl'}:{self.version}"),
            (r"(?m)^(?:[\w-]+==|\./)[\w.-]+$", f"{self.index}=={self.version}" if self.index else wheel),
            (r"(<!-- where from -->\n)(?:.+\n)*", rf"\g<1>{published or UNPUBLISHED}\n"),
            (r"(<!-- report -->\n)(?:.+\n)*", rf"\g<1>{self.report}\n"),
            (r'(\[project\]\nname = )".*"', rf'\g<1>"{self.distribution}"'),
            (r'(postgresql = \[")[^\[]+', rf"\g<1>{self.distribution}"),
            (r"(?:\[project\.urls\]\n(?:.+\n)+\n)?(\[project\.optional-dependencies\])", rf"{urls}\g<1>"),
            (r'(DISTRIBUTION, REPOSITORY = )".*"', rf'\g<1>"{self.distribution}", "{self.repository}"'),
        ]

    def written(self, text: str, clone: str) -> str:
        """Update the install lines of `text`."""

        def install(match: re.Match[str]) -> str:
            extra = re.search(r"\[[\w,-]+\]", match[2])
            return match[1] + self.requirement(clone, extra[0] if extra else "")

        for pattern, replacement in self.lines(clone):
            text = re.sub(pattern, replacement, text)
        command = r"(pipx run --spec |(?:pipx?|uv tool) install (?:--force )?)"
        return re.sub(command + r"""('[^'\n]+'|(?![-"$])[^\s`]+)""", install, text)


def release(root: Path = ROOT) -> Release:
    """Read [tool.osbctl-release] of pyproject.toml."""
    version = re.search(r'__version__ = "(.+)"', (root / "osbctl/__init__.py").read_text(encoding="utf-8"))
    assert version
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return Release(**settings["tool"]["osbctl-release"], version=version[1])


def stale(root: Path = ROOT) -> dict[Path, str]:
    """Files that are out of date, with their new text."""
    here = release(root)
    found = {}
    for name, clone in FILES.items():
        text = (root / name).read_text(encoding="utf-8")
        if (new := here.written(text, clone)) != text:
            found[root / name] = new
    return found


def main() -> int:
    found = stale()
    for file, text in found.items():
        print(f"{'stale' if '--check' in sys.argv else 'wrote'} {file.relative_to(ROOT)}")
        if "--check" not in sys.argv:
            file.write_text(text, encoding="utf-8")
    return 1 if found and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
