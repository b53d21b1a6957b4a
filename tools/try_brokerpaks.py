"""Runs the commands on real brokerpaks, each a clone in a folder; downloads nothing, and lists missing ones.

python tools/try_brokerpaks.py FOLDER
"""

import os
import subprocess
import sys
from pathlib import Path

KNOWN = (
    "csb-brokerpak-aws", "csb-brokerpak-azure", "csb-brokerpak-gcp", "csb-brokerpak-databricks",
    "datagov-brokerpak-eks", "datagov-brokerpak-smtp", "datagov-brokerpak-solr",
)  # fmt: skip
COMMANDS = ("validate . --concise", "show .", "diff HEAD~5:. .", "page .", "build .", "fix --check .")
FAULTS = {"csb-brokerpak-gcp": ("google-mysql.yml:126:7", "google-storage.yml:190:5")}
"""Faults that each brokerpak is known to have with schemas on: a default that its schema refuses."""


def main(folder: Path) -> int:
    """Run all commands on all brokerpaks; returns 1 if one ends unexpectedly."""
    failed = False
    for name in KNOWN:
        if not (folder / name / "manifest.yml").is_file():
            print(f"{name}: skipped, there is no {folder / name}")
            continue
        for command in COMMANDS:
            done = run(folder / name, command)
            wrong = done.returncode not in (0, 1) or "internal error" in done.stderr
            wrong |= command.startswith("validate") and not all(one in done.stdout for one in FAULTS.get(name, ()))
            failed |= wrong
            lines = done.stdout.count("\n")
            print(f"{name}: {command}: ended with {done.returncode}, {lines:,} lines{' WRONG' if wrong else ''}")
    return int(failed)


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run one command in a brokerpak, with its own variables and with schemas."""
    env = ["--env", ".envrc"] if (folder / ".envrc").is_file() else []
    variables = {**os.environ, "GSB_COMPATIBILITY_ENABLE_CATALOG_SCHEMAS": "true"}
    words = [sys.executable, "-m", "osbctl", *command.split(), *env]
    return subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
