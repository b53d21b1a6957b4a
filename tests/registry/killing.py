"""Kills refreshes at random moments, and checks the database.

    python -m tests.registry.killing URL TIMES

Each round forks a process that stores one refresh after the other, and kills it at a random moment. A state is
consistent if catalog, counts and kept objects belong to the same refresh. Prints as JSON the numbers of kills, of
journals left behind, and of stored refreshes.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path

from osbctl.platforms import State
from osbctl.registry.records import RetainedObject
from osbctl.registry.store import Registry
from tests.registry.make import AT, add, body, read, refresh, service


def content(number: int) -> bytes:
    """Large enough that a transaction spans many pages of the file."""
    return body(service(f"s{number}", *(f"p{number}-{n}" for n in range(300 + number % 7))))


def kept(number: int) -> tuple[RetainedObject, ...]:
    return tuple(
        RetainedObject("s", f"k{number}-{n}", State.INACTIVE, AT, {"id": f"k{number}"}) for n in range(number % 5)
    )


def store_for_ever(url: str, ready: int) -> None:
    with Registry.open(url) as registry:
        os.write(ready, b"x")
        while True:
            store_one(registry)


def store_one(registry: Registry) -> None:
    seen = registry.broker("db").row
    number = seen.revision + 1
    new = content(number)
    registry.store_refresh(seen, refresh(), catalog=read(new), kept=kept(number))


def check(url: str) -> int:
    """The number of the stored refresh; fails where it is not whole."""
    with Registry.open(url) as registry:
        broker = registry.broker("db")
    number = broker.row.revision
    if number > 1:
        assert broker.catalog == content(number), "the catalog is of another refresh"
        assert broker.kept == kept(number), "kept objects are of another refresh"
        assert broker.row.kept_plans == number % 5
        assert (broker.row.services, broker.row.plans) == (1, 300 + number % 7)
    if "://" not in url:
        connection = sqlite3.connect(url)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
    return number


def kill_one(url: str, seconds: float) -> bool:
    """Kill within the time that six refreshes take, of which each takes `seconds`.

    Whether the killed process left a journal: it was in the middle of a write."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        store_for_ever(url, writing)
    os.read(reading, 1)
    time.sleep(random.uniform(0, 6 * seconds))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    journal = Path(url + "-journal")
    return "://" not in url and journal.exists() and journal.stat().st_size > 0


def main(url: str, times: int) -> None:
    with Registry.open(url) as registry:
        add(registry)
        start = time.perf_counter()
        for _ in range(5):
            store_one(registry)
        seconds = (time.perf_counter() - start) / 5
    kills, interrupted, first = 0, 0, check(url)
    number = first
    # On a busy machine many kills come before anything is written: then there are more of them.
    while kills < times or (kills < 200 and not (number - first > 2 and ("://" in url or interrupted > 2))):
        kills += 1
        interrupted += kill_one(url, seconds)
        now = check(url)
        assert now >= number, "a stored refresh was lost"
        number = now
    print(json.dumps({"kills": kills, "interrupted": interrupted, "stored": number - first}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
