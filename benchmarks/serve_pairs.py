"""`osbctl serve` of this checkout beside that of another one, in interleaved pairs, plain and with TLS.

    python benchmarks/serve_pairs.py OTHER_PYTHON [--pairs N] [--seconds N]

OTHER_PYTHON is the interpreter of the other checkout's environment. Needs wrk and openssl. The default of 10 pairs
takes less than 5 minutes. CPU time per request depends less on other load of the machine than requests per second do.
Exits with 1 if a median ratio of CPU time is above 1.03.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from serve import CONNECTIONS, Measured, free_port, load, prepare, running

MOST = 1.03
"""The largest ratio of CPU time per request that is no regression."""


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """CPU time of all threads of a server, without its child for passwords, to the nanosecond."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def command(python: str, folder: Path, tls: bool, port: int) -> list[str]:
    files = ["--tls-cert", str(folder / "tls.crt"), "--tls-key", str(folder / "tls.key")]
    words = [python, "-P", "-m", "osbctl", "serve", str(folder / "catalog.json"), "--port", str(port)]
    return [*words, "--credentials", str(folder / "credentials.json"), *(files if tls else ["--insecure-http"])]


def print_row(kind: str, ours: list[Measured], others: list[Measured]) -> float:
    """Print medians and ratios of one kind; returns the median ratio of CPU time."""
    cpu = [one.cost / other.cost for one, other in zip(ours, others, strict=True)]
    rate = [one.rate / other.rate for one, other in zip(ours, others, strict=True)]
    ratio = statistics.median(cpu)
    costs = " | ".join(f"{statistics.median(m.cost for m in some):.1f}" for some in (ours, others))
    print(
        f"| {kind} | {costs} | {ratio:.3f} ({min(cpu):.2f} to {max(cpu):.2f}) "
        f"| {statistics.median(rate):.3f} ({min(rate):.2f} to {max(rate):.2f}) |"
    )
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=3, help="of each load; there are eight in a pair")
    options = parser.parse_args()
    found: dict[tuple[bool, int, str], list[Measured]] = {}
    pythons = [sys.executable, options.other]
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        prepare(folder)
        servers = {}
        for tls in (False, True):
            for python in pythons:
                port = free_port()
                process = stack.enter_context(running(command(python, folder, tls, port), port, folder))
                load(port, tls, 2, 1)  # hashes the password, and warms up
                servers[tls, python] = process, port
        for number in range(options.pairs):
            for tls in (False, True):
                for connections in CONNECTIONS:
                    for python in pythons if number % 2 else reversed(pythons):
                        process, port = servers[tls, python]
                        before = cpu_seconds(process)
                        rate = load(port, tls, connections, options.seconds)
                        cost = (cpu_seconds(process) - before) / (rate * options.seconds) * 1e6
                        found.setdefault((tls, connections, python), []).append(Measured(rate, cost))
    print(f"Load of the machine: {os.getloadavg()[0]:.1f}. Ours, divided by the other; smallest and largest pair.")
    print("| | CPU µs a request, ours | other | ratio of CPU time | ratio of requests per second |")
    print("|---|---:|---:|---:|---:|")
    ratios = [
        print_row(
            f"{'TLS' if tls else 'plain'}, {connections} connections",
            *(found[tls, connections, python] for python in pythons),
        )
        for tls in (False, True)
        for connections in CONNECTIONS
    ]
    sys.exit(int(max(ratios) > MOST))


if __name__ == "__main__":
    main()
