"""Work on many things at once: bounded, complete, and quick to end."""

import threading
import time
from collections.abc import Iterator
from errno import ENOSPC

import pytest

from osbctl.errors import OsbctlError, OutputError, SourceError
from osbctl.parallel import run_in_parallel
from tests.broker.harness import until
from tests.case import each


@pytest.mark.parametrize("jobs", [1, 3, 50])
@pytest.mark.parametrize("number", [0, 1, 20])
def test_each_item_comes_back_with_its_result(jobs: int, number: int) -> None:
    results = list(run_in_parallel(lambda item: item * item, range(number), jobs))
    assert sorted(results) == [(item, item * item) for item in range(number)]


def test_no_more_than_the_bound_are_at_work_or_waiting() -> None:
    lock, now, most, taken = threading.Lock(), 0, 0, 0
    all_at_work = threading.Barrier(5)

    def work(item: int) -> int:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        all_at_work.wait(60)  # threads may start slowly
        time.sleep(0.002)
        with lock:
            now -= 1
        return item

    def items() -> Iterator[int]:
        nonlocal taken
        for item in range(60):
            taken += 1
            yield item

    for done, _ in enumerate(run_in_parallel(work, items(), 5)):
        assert taken <= done + 5 + 1
    assert most == 5
    assert now == 0


def test_fast_items_do_not_wait_for_slow_ones() -> None:
    release = threading.Event()
    results = run_in_parallel(lambda item: release.wait(60) if item == 0 else True, range(5), 2)
    assert [next(results)[0] for _ in range(4)] == [1, 2, 3, 4]
    release.set()
    assert list(results) == [(0, True)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_belongs_to_its_item(jobs: int) -> None:
    def work(item: int) -> int:
        if item == 5:
            raise SourceError("gone")
        return 6 // (item - 3)

    results = dict(run_in_parallel(work, range(10), jobs))
    assert sorted(results) == list(range(10))
    failed = {item: error for item, error in results.items() if isinstance(error, OsbctlError)}
    assert {n: error.message for n, error in failed.items()} == {3: "internal error: ZeroDivisionError", 5: "gone"}
    assert results[9] == 1


@each("error", [KeyboardInterrupt, MemoryError, BrokenPipeError, OutputError("closed"), OSError(ENOSPC, "full")])
def test_what_ends_the_run_is_raised(error: type[BaseException] | BaseException) -> None:
    def work(item: int) -> int:
        if item == 3:
            raise error
        return item

    with pytest.raises(error if isinstance(error, type) else type(error)):
        list(run_in_parallel(work, range(10), 2))


def test_threads_end_when_the_results_are_left() -> None:
    before = threading.active_count()
    results = run_in_parallel(lambda item: item, range(100), 4)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert until(lambda: threading.active_count() <= before)
