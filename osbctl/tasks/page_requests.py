"""What a page shows of requests: examples that a schema accepts, and the commands that send the smallest of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from osbctl.pages.content import MARKS, OrderedPlan, Requests, Sample, ShownCommand, ShownCommands
from osbctl.platforms import Platform
from osbctl.platforms.commands import Order, Purpose
from osbctl.requests.commands import Shell, commands
from osbctl.requests.examples import Examples, examples
from osbctl.sources.yaml_text import dump_text

_PLAIN = re.compile("[A-Za-z][A-Za-z0-9_.-]{0,99}")


def requests_for(platforms: frozenset[Platform]) -> Requests:
    """Examples, and commands for the tools of `platforms`."""
    tools = {tool.name for platform in platforms for tool in platform.record.tools}
    written: dict[tuple[str, ...], tuple[ShownCommand, ...]] = {}

    def ordered(order: OrderedPlan) -> ShownCommands:
        content = order.sample.content
        broker = order.broker if order.ambiguous else ""
        names = (order.service.name, order.plan.name)
        alike = _is_plain(names[0]) and _is_plain(names[1]) and not _is_marked(broker, content)
        service, plan = MARKS.values() if alike else names
        key = (service, plan, broker, content)
        if key not in written:
            sent = json.loads(content) if content else None
            written[key] = tuple(_commands(Order(service, plan, broker, sent, content=content), tools))
        return ShownCommands(written[key], alike)

    return Requests(ordered, lambda schema: _sample(examples(schema)))


@lru_cache(1_000)
def _is_marked(*texts: str) -> bool:
    return any(mark in text for text in texts for mark in MARKS.values())


@lru_cache(1_000)
def _is_plain(name: str) -> bool:
    """Whether a name is written as it stands in every shell and language, as `MARKS` are, and shown in full."""
    return bool(_PLAIN.fullmatch(name)) and dump_text(name) == name


def _sample(made: Examples) -> Sample:
    if made.why:
        return Sample(((f"No example: {made.why}", ""),))
    same = made.smallest == made.fullest
    both = [("Example" if same else "Smallest request", made.smallest), ("Fullest request", made.fullest)]
    shown = both[:1] if same else both
    headed = tuple((label, json.dumps(value, indent=2, ensure_ascii=False)) for label, value in shown)
    return Sample(headed, headed[0][1] + "\n" if made.smallest else "")


def _commands(order: Order, tools: set[str]) -> Iterator[ShownCommand]:
    """The commands, those of several shells that read alike together, each file with the first that needs it."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    files: dict[tuple[str, str, str], tuple[str, str]] = {}
    for command in commands(order, Purpose.CREATE):
        if command.tool in tools:
            key = (command.tool, command.text, command.why)
            groups.setdefault(key, []).append(command.shell and Shell(command.shell).label)
            files[key] = (command.file, command.content)
    seen: set[tuple[str, str]] = set()
    for (tool, text, why), shells in groups.items():
        file = files[tool, text, why]
        shown = (file,) if file[1] and file not in seen else ()
        seen.update(shown)
        label = f"{tool} ({', '.join(shells)})" if any(shells) else tool
        yield ShownCommand(label, text, shown, why)
