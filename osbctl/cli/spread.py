"""What decorators add to the options of a command: those that several commands share, and environment variables."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import is_dataclass
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints


def spread(command: Callable[..., int]) -> Callable[..., int]:
    """`command` with the options of each parameter that is a dataclass in the place of that parameter.

    Options are the fields that have one by `Annotated`; a field that is a dataclass is spread, too.
    """
    parameters = signature(command, eval_str=True).parameters.values()

    @functools.wraps(command)
    def call(**given: Any) -> int:
        return command(**{one.name: _made(one, given) for one in parameters})

    # Typer makes its options of this signature, not of the function that it calls.
    options = [option.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters for option in _options(one)]
    call.__signature__ = Signature(options)  # type: ignore[attr-defined]
    return call


def variables(command: Callable[..., int]) -> Callable[..., int]:
    """`command` with a variable of the environment for each option, `OSBCTL_<NAME>` where it does not name another."""
    named = []
    for one in signature(command, eval_str=True).parameters.values():
        kind, option = get_args(one.annotation)
        option = copy(option)  # several commands may share it
        option.envvar = option.envvar or f"OSBCTL_{one.name.upper()}"
        named.append(one.replace(annotation=Annotated[kind, option]))
    command.__signature__ = Signature(named)  # type: ignore[attr-defined]
    return command


def _options(parameter: Parameter) -> Iterator[Parameter]:
    fields = _fields(parameter.annotation)
    for field in fields or ():
        yield from _options(field)
    if fields is None:
        yield parameter


def _made(parameter: Parameter, given: dict[str, Any]) -> Any:
    fields = _fields(parameter.annotation)
    if fields is None:
        return given[parameter.name]
    return parameter.annotation(**{field.name: _made(field, given) for field in fields})


def _fields(group: Any) -> list[Parameter] | None:
    return _fields_of(group) if isinstance(group, type) and is_dataclass(group) else None


@functools.cache
def _fields_of(group: type) -> list[Parameter]:
    kinds = get_type_hints(group, include_extras=True)  # of a base class by the names of that one's module
    fields = [field.replace(annotation=kinds[field.name]) for field in signature(group).parameters.values()]
    return [field for field in fields if _fields(field.annotation) or get_origin(field.annotation) is Annotated]
