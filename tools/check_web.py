"""Check types and style of the page's script and style sheet with TypeScript and Biome; skipped without npm."""

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "web"


def main() -> int:
    npm = shutil.which("npm")
    if npm is None:
        print("check_web: skipped, there is no npm to run TypeScript and Biome with")
        return 0
    installed, wanted = FOLDER / "node_modules" / ".package-lock.json", FOLDER / "package.json"
    if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
        command = [
            npm,
            "install",
            "--no-package-lock",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]
        if subprocess.run(command, cwd=FOLDER, stdout=subprocess.DEVNULL, check=False).returncode:
            print("check_web: skipped, npm could not install TypeScript and Biome")
            return 0
    return subprocess.run([npm, "run", "--silent", "check"], cwd=FOLDER, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
