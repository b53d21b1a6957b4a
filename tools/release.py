"""Makes a release: writes the version, runs every check, commits, and tags.

    python tools/release.py 1.2.3    0 when the tag is there; 1 if something stands in the way

Nothing is published: the tag is pushed by hand, and docs/contributing/publish.md says what follows.
"""

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSION = re.compile(r'(?m)^__version__ = "(.*)"$')
UNRELEASED = "## [Unreleased]\n"
STEPS = (
    ("make", "docs", "check", "test", "test-release"),
    ("git", "commit", "--all", "--message", "release: osbctl {version}"),
    ("git", "tag", "--annotate", "v{version}", "--message", "osbctl {version}"),
    ("make", "release-check"),
)
"""Commands in their order. The last one checks the tag, too; where it fails, the tag is removed again."""


def obstacle(version: str, root: Path) -> str:
    """Reason why `version` cannot be released from the checkout `root`. Empty if it can."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        return f"{version!r} is not a version such as 1.2.3"
    if _git(root, "status", "--porcelain"):
        return "there are uncommitted changes"
    if _git(root, "tag", "--list", f"v{version}"):
        return f"there is a tag v{version} already"
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = changes.partition(UNRELEASED)[2].partition("\n## ")[0]
    if f"## [{version}]" not in changes and not section.strip():
        return "CHANGELOG.md has no unreleased changes"
    return ""


def write_version(version: str, root: Path, day: str) -> None:
    """Write `version` into the package, and the unreleased changes below its heading in the changelog.

    A section that is there already, as that of the first release, keeps its text and gets the day.
    """
    package, changelog = root / "osbctl" / "__init__.py", root / "CHANGELOG.md"
    package.write_text(VERSION.sub(f'__version__ = "{version}"', package.read_text(encoding="utf-8")), encoding="utf-8")
    text, heading = changelog.read_text(encoding="utf-8"), f"## [{version}] - {day}\n"
    if f"## [{version}]" in text:
        text = re.sub(rf"(?m)^## \[{re.escape(version)}\].*\n", heading, text)
    else:
        text = text.replace(UNRELEASED, f"{UNRELEASED}\n{heading}", 1)
    changelog.write_text(text, encoding="utf-8")


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python tools/release.py VERSION", file=sys.stderr)
        return 2
    version = sys.argv[1]
    if reason := obstacle(version, ROOT):
        print(f"no release: {reason}", file=sys.stderr)
        return 1
    write_version(version, ROOT, datetime.now(UTC).date().isoformat())
    for step in STEPS:
        command = [word.format(version=version) for word in step]
        print(f"$ {' '.join(command)}", flush=True)
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            if command == ["make", "release-check"]:
                _git(ROOT, "tag", "--delete", f"v{version}")
            print(f"no release: `{' '.join(command)}` failed", file=sys.stderr)
            return 1
    print(f"v{version} is tagged. Publish it with: git push origin HEAD v{version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
