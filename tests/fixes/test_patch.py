"""Patches of texts, made piece by piece: they lead from one text to the other, and are difflib's where texts are short."""

import difflib
import random
import re
import time

import pytest

from osbctl.fixes.patch import unified_diff


def applied(old: list[str], patch: list[str]) -> list[str]:
    """Result of `patch -p0` for `old`, without fuzz."""
    new, at = list[str](), 0
    for line in patch[2:]:
        if head := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@\n", line):
            start = int(head[1]) - (head[2] != "0")
            assert start >= at
            new += old[at:start]
            at = start
        elif line[0] != "+":
            assert old[at] == line[1:]
            at += 1
        if line[0] in " +":
            new.append(line[1:])
    return new + old[at:]


@pytest.mark.parametrize("kinds", [3, 100_000])
@pytest.mark.parametrize("lines", [0, 1, 5, 150, 2_000])
def test_a_patch_leads_from_one_text_to_the_other(lines: int, kinds: int) -> None:
    """Lines that are rare, and lines that all occur often, where no place to end a piece is a good one."""
    chance = random.Random(lines + kinds)
    old = [f"{chance.randrange(kinds)}\n" for _ in range(lines)]
    new = [made for line in old for made in chance.choices([[line], [], ["x\n"], [line, "y\n"]], [50, 1, 1, 1])[0]]
    patch = list(unified_diff(old, new, "f"))
    assert applied(old, patch) == new
    if lines <= 150:
        expected = list(difflib.unified_diff(old, new, "f", "f"))
        assert patch == expected


def test_a_thousand_faulty_services_take_no_square_of_time() -> None:
    """A whole comparison of two such texts takes ten seconds, of four thousand minutes."""
    service = "- name: s{0}\n  id: S{0}\n  bindable: {1}\n  plans:\n  - id: P{0}\n    name: p\n    free: {2}\n"
    texts = [
        "".join(service.format(n, *flags) for n in range(1_000)).splitlines(keepends=True)
        for flags in (("'yes'", "'no'"), ("true", "false"))
    ]
    before, after = texts
    begun = time.process_time()
    patch = list(unified_diff(before, after, "f"))
    assert time.process_time() - begun < 2
    assert sum(line.startswith("+") for line in patch) == 2_001
    assert applied(before, patch) == after
