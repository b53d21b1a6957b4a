"""Completion in a shell: ids of rules, names in the catalog on the line, and registered brokers.

It runs at each press of Tab: it uses no network, waits for nothing, and offers nothing if it fails.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from typing import Any

_SAFE = re.compile(r"[A-Za-z0-9_][\w.@%+/-]*", re.ASCII)
"""Names that mean themselves in every shell, which puts them on the line as they are; others are not offered."""

_MAX_BYTES = 2_000_000
"""Size limit of a catalog whose names are offered: reading a larger one takes seconds."""


def run_completion(make_command_group: Callable[[list[str]], Any]) -> int:
    """Print what typer offers for the line of the shell; return the exit code, which fish reads."""
    prefix, code = "", 0
    with redirect_stdout(StringIO()) as printed, redirect_stderr(StringIO()):
        try:
            words, prefix = _words_of_shell()
            make_command_group(words)(args=[], prog_name="osbctl", standalone_mode=False)
        except SystemExit as ended:
            code = int(ended.code or 0)
        except Exception:  # a message would spoil the line that is being typed
            return 1
    sys.stdout.write("".join(line.removeprefix(prefix) for line in printed.getvalue().splitlines(keepends=True)))
    return code


def _words_of_shell() -> tuple[list[str], str]:
    """The words in front of the cursor, without the program's, and what the shell does not replace of the last one.

    bash also splits words at : and =; its variables are set to the words as osbctl would get them.
    """
    if os.environ["_OSBCTL_COMPLETE"] != "complete_bash":
        return os.environ.get("_TYPER_COMPLETE_ARGS", "").split()[1:], ""
    words: list[str] = []
    split = os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
    for before, word in zip(["", *split], split, strict=False):
        if words and {before, word} & {":", "="}:
            words[-1] += word
        else:
            words.append(word)
    os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(words), str(len(words) - 1)
    return words[1:], words[-1][: words[-1].rfind(":") + 1]


def complete_rules(ctx: Any, _: str = "") -> Iterator[str]:
    """Ids and groups of rules that the command can report, with those of the user's schemas."""
    from osbctl.commands.settings import all_rules, first_config, read_user_schemas
    from osbctl.rule import Category

    others = {"validate": {Category.CHANGE, Category.WIRE}, "check": {Category.CHANGE, Category.BUILD}}
    hidden = others.get(ctx.info_name, set())
    for rule in all_rules().values():
        if rule.category not in hidden and (rule.fix or ctx.info_name != "fix"):
            yield rule.id
    yield from (category.value for category in Category if category not in hidden)
    with suppress(Exception):
        config = first_config(ctx.params.get("sources") or ctx.args, ctx.params.get("config"))
        yield from _safe(read_user_schemas(ctx.params.get("schemas") or (), config)[1])


def complete_services(ctx: Any, _: str = "") -> list[str]:
    """Names of the service offerings in the catalog on the line."""
    return _safe(service.name for service in _services(ctx))


def complete_plans(ctx: Any, _: str = "") -> list[str]:
    """Names of the plans of the service offering on the line."""
    chosen = ctx.params.get("service")
    return _safe(plan.name for one in _services(ctx) if chosen in (one.name, one.id) for plan in one.plans)


def complete_objects(ctx: Any, _: str = "") -> list[str]:
    """SERVICE and SERVICE/PLAN in the catalog on the line."""
    services = _services(ctx)
    return _safe([one.name for one in services] + [f"{one.name}/{plan.name}" for one in services for plan in one.plans])


def complete_new(ctx: Any, _: str = "") -> list[str]:
    """The service offering of a new plan."""
    return complete_services(ctx) if ctx.params.get("thing") == "plan" and not ctx.params.get("names") else []


def _services(ctx: Any) -> Iterable[Any]:
    """The service offerings of the file, source folder or brokerpak on the line; other sources are not read."""
    from osbctl.sources.read import read_source, read_whole_folder
    from osbctl.sources.read_bytes import Limits

    # Where an option waits for its value, typer leaves the arguments in `args`.
    named = ctx.params.get("source") or ctx.params.get("folder") or next(iter(ctx.args), "")
    source = os.path.expanduser(named)  # noqa: PTH111
    limits, at = Limits(bytes=_MAX_BYTES), ctx.params.get("at") or ""
    if os.path.isfile(source):  # noqa: PTH113
        return read_source(source, limits=limits, at=at).catalog.services
    return read_whole_folder(source, at, limits=limits).catalog.services if os.path.isdir(source) else ()  # noqa: PTH112


def complete_brokers(ctx: Any, _: str = "") -> list[str]:
    """Names of the registered brokers."""
    from osbctl.registry import names_in_file

    return _safe(names_in_file(ctx.params.get("database")))


def complete_sources(ctx: Any, incomplete: str) -> list[str]:
    """`broker:NAME`, once it is begun, unless files begin so: those the shell offers only if nothing else is."""
    from glob import escape, glob

    if not incomplete or glob(f"{escape(incomplete)}*"):  # noqa: PTH207
        return []
    return [f"broker:{name}" for name in complete_brokers(ctx)]


def _safe(names: Iterable[object]) -> list[str]:
    return [name for name in names if isinstance(name, str) and all(map(_SAFE.fullmatch, name.split("/")))]
