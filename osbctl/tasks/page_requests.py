"""What a page shows of requests: examples that a schema accepts, and the commands that send the smallest of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from osbctl.pages.content import OrderedPlan, Requests, ShownCommand
from osbctl.platforms import Platform
from osbctl.requests.commands import Order, Purpose, commands
from osbctl.requests.examples import examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from osbctl.requests.examples import Examples

TOOLS = {
    Platform.CLOUD_FOUNDRY: ("cf", "terraform"),
    Platform.KUBERNETES: ("svcat", "kubectl"),
    Platform.SERVICE_MANAGER: ("btp", "smctl"),
    Platform.KORIFI: ("cf",),
}
"""The tools that speak to each platform."""


def requests_for(platforms: frozenset[Platform]) -> Requests:
    """Examples, and commands for the tools of `platforms`."""
    tools = {tool for platform in platforms for tool in TOOLS[platform]}
    known: dict[str, Examples] = {}

    def found(schema: Mapping[str, Any]) -> Examples:
        # Plans often share a schema but for its title.
        key = json.dumps({name: value for name, value in schema.items() if name not in ("title", "description")})
        if key not in known:
            known[key] = examples(schema)
        return known[key]

    def headed(schema: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
        made = found(schema)
        if made.why:
            return [(f"No example: {made.why}", "")]
        same = made.smallest == made.fullest
        both = [("Example" if same else "Smallest request", made.smallest), ("Fullest request", made.fullest)]
        return [(label, _json(value)) for label, value in both[: 1 if same else 2]]

    def ordered(order: OrderedPlan) -> Sequence[ShownCommand]:
        schema = order.plan.parameters.get(Purpose.CREATE.place)
        parameters = _smallest(found, schema) if schema is not None else None
        return list(_commands(_sent(order, parameters), tools))

    return Requests(ordered, headed)


def _smallest(found: Any, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        return found(schema).smallest or None
    except RecursionError:
        return None


def _sent(order: OrderedPlan, parameters: dict[str, Any] | None) -> Order:
    broker = order.broker if order.ambiguous else ""
    content = "" if parameters is None else _json(parameters) + "\n"
    return Order(order.service.name, order.plan.name, broker, parameters, content=content)


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
        shown = [file] if file[1] and file not in seen else []
        seen.update(shown)
        label = f"{tool} ({', '.join(shells)})" if any(shells) else tool
        yield ShownCommand(label, text, shown, why)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
