"""What a page shows of requests: examples that a schema accepts, and the commands that send the smallest of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from osbctl.pages.content import OrderedPlan, Requests, ShownCommand, ShownCommands
from osbctl.platforms.commands import Order, Purpose
from osbctl.requests.commands import commands
from osbctl.requests.examples import examples
from osbctl.sources.yaml_text import dump_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from osbctl.platforms import Platform
    from osbctl.requests.examples import Examples

_MARK = "osbctl-0-"
_MARKS = (f"{_MARK}service", f"{_MARK}plan")
"""Stand for the names of a service offering and a plan in commands that were written for many."""
_PLAIN = re.compile("[A-Za-z][A-Za-z0-9-]*")


def requests_for(platforms: frozenset[Platform]) -> Requests:
    """Examples, and commands for the tools of `platforms`."""
    tools = {tool.name for platform in platforms for tool in platform.record.tools}
    known: dict[str, _Sample] = {}

    def sample(schema: Mapping[str, Any]) -> _Sample:
        # Plans often share a schema but for its title.
        key = json.dumps({name: value for name, value in schema.items() if name not in ("title", "description")})
        if key not in known:
            known[key] = _sample(examples(schema))
        return known[key]

    written: dict[tuple[str, ...], tuple[ShownCommand, ...]] = {}

    def ordered(order: OrderedPlan) -> ShownCommands:
        schema = order.plan.parameters.get(Purpose.CREATE.place)
        try:
            sent = _NOTHING if schema is None else sample(schema)
        except RecursionError:
            sent = _NOTHING
        broker = order.broker if order.ambiguous else ""
        names = (order.service.name, order.plan.name)
        alike = all(map(_is_plain, names)) and _MARK not in broker + sent.content
        key = (*(_MARKS if alike else names), broker, sent.content)
        if key not in written:
            written[key] = tuple(_commands(Order(*key[:3], sent.parameters, content=sent.content), tools))
        return ShownCommands(written[key], tuple(zip(_MARKS, names, strict=True)) if alike else ())

    return Requests(ordered, lambda schema: sample(schema).headed)


def _is_plain(name: str) -> bool:
    """Whether a name is written as it stands in every shell and language, as `_MARKS` are."""
    return bool(_PLAIN.fullmatch(name)) and dump_text(name) == name and _MARK not in name


class _Sample(NamedTuple):
    """The examples of one schema as the page shows them, and the parameters that its commands send, with their file."""

    headed: Sequence[tuple[str, str]]
    parameters: dict[str, Any] | None
    content: str


_NOTHING = _Sample((), None, "")


def _sample(made: Examples) -> _Sample:
    if made.why:
        return _NOTHING._replace(headed=[(f"No example: {made.why}", "")])
    same = made.smallest == made.fullest
    both = [("Example" if same else "Smallest request", made.smallest), ("Fullest request", made.fullest)]
    headed = [(label, _json(value)) for label, value in both[: 1 if same else 2]]
    return _Sample(headed, made.smallest, headed[0][1] + "\n") if made.smallest else _Sample(headed, None, "")


def _commands(order: Order, tools: set[str]) -> Iterator[ShownCommand]:
    """The commands, those of several shells that read alike together, each file with the first that needs it."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    files: dict[tuple[str, str, str], tuple[str, str]] = {}
    for command in commands(order, Purpose.CREATE):
        if command.tool in tools:
            key = (command.tool, command.text, command.why)
            groups.setdefault(key, []).append(command.shell)
            files[key] = (command.file, command.content)
    seen: set[tuple[str, str]] = set()
    for (tool, text, why), shells in groups.items():
        file = files[tool, text, why]
        shown = (file,) if file[1] and file not in seen else ()
        seen.update(shown)
        label = f"{tool} ({', '.join(shells)})" if any(shells) else tool
        yield ShownCommand(label, text, shown, why)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
