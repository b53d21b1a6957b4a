"""What `osbctl validate` does once its options are read.

It stands apart from the options, so that the plain call `osbctl validate FILE…` need not load typer.
"""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from osbctl.config import Config, find_config, load_config
from osbctl.errors import ConfigError, DocumentError, OsbctlError, SourceError, UsageError
from osbctl.findings import Finding, Judgement, Severity
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform
from osbctl.platforms.outcome import VerdictKind
from osbctl.reports import FailOn, Format, Report
from osbctl.sources.limits import Limits
from osbctl.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from enum import StrEnum

    from osbctl.rule import Rule
    from osbctl.validation.options import ValidationOptions
    from osbctl.validation.selection import Selection


@dataclass(frozen=True, slots=True)
class Request:
    """The options of `osbctl validate`; None stands for "not given", so that a configuration can decide."""

    sources: tuple[str, ...]
    at: str = ""
    stdin_filename: str | None = None
    api_version: ApiVersion | None = None
    platforms: tuple[Platform, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    fail_on: FailOn | None = None
    format: Format | None = None
    output: str | None = None
    color: str = "auto"
    config: str | None = None
    limits: Limits = field(default_factory=Limits)


def execute(request: Request) -> int:
    """Validate, report, and return the exit code.

    Raises:
        OsbctlError: the run could not do its work.
    """
    gc.disable()  # the run is short and makes no garbage in circles: looking for it takes a fifth of the time
    config = load_config(request.config) if request.config else find_config(os.curdir)
    options = validation_options(request, config)
    judgements, code, selection = _judge_all(request, options)
    fail_on = effective_fail_on(request, config)
    report = Report(judgements, LazyRules(), fail_on, os.getcwd(), wants_color(request))  # noqa: PTH109
    put_report(report, request)
    if not any(verdict.kind is VerdictKind.UNREADABLE for one in judgements for verdict in one.verdicts.values()):
        _name_unmatched(selection, config)
    return code or int(report.failed)


def effective_fail_on(request: Request, config: Config) -> FailOn:
    """From which severity on the run fails: the call has the first say, then the configuration."""
    return request.fail_on or _choice(FailOn, config.fail_on, config) or FailOn.ERROR


def validation_options(request: Request, config: Config) -> ValidationOptions:
    """The options of the call, completed by the configuration; what the call selects, the configuration cannot ignore.

    Raises:
        UsageError, ConfigError: a rule or a platform is not known; a house schema cannot be read.
    """
    from osbctl.validation.options import IgnoreAt, ValidationOptions

    _check_rules([*request.select, *request.ignore], UsageError, "")
    configured = [*config.select, *config.ignore, *(entry[0] for entry in config.ignore_at)]
    _check_rules(configured, ConfigError, f"{config.origin}: ")
    named = (_choice(Platform, name, config) for name in config.platform)
    platforms = request.platforms or tuple(platform for platform in named if platform)
    return ValidationOptions(
        api_version=request.api_version or _choice(ApiVersion, config.api_version, config) or DEFAULT_API_VERSION,
        platforms=frozenset(platforms),
        select=frozenset(request.select or config.select) or None,
        ignore=frozenset((*request.ignore, *(rule for rule in config.ignore if rule not in request.select))),
        ignore_at=tuple(IgnoreAt(*entry) for entry in config.ignore_at),
        house_schemas=tuple((name, _house_schema(name)) for name in (*request.schemas, *config.schema)),
    )


def _judge_all(request: Request, options: ValidationOptions) -> tuple[list[Judgement], int, Selection]:
    from osbctl.validation.selection import Selection

    selection = Selection(options)
    judgements, code = [], 0
    for source in request.sources:
        judgement, failed = _judge(source, request, options, selection)
        judgements.append(judgement)
        code = max(code, failed)
    return judgements, code, selection


def _judge(source: str, request: Request, options: ValidationOptions, selection: Selection) -> tuple[Judgement, int]:
    """One judgement, and the exit code that it forces by itself: that of a source that cannot be opened."""
    from osbctl.sources.read import read_source
    from osbctl.validation.judge import judge, unreadable

    try:
        document = read_source(source, limits=request.limits, at=request.at, stdin_filename=request.stdin_filename)
    except DocumentError as error:
        return unreadable(source, unread(error)), 0
    except SourceError as error:
        return unreadable(source, unread(error)), error.exit_code
    return judge(document, options, selection), 0


def unread(error: DocumentError | SourceError) -> tuple[Finding, ...]:
    """The error of a source that cannot be opened or read, as a report tells it."""
    if isinstance(error, DocumentError):
        return error.findings
    return (Finding("cannot-open", Severity.ERROR, error.message, hint=error.advice),)


def _house_schema(name: str) -> object:
    from osbctl.sources.read import read_source

    try:
        return read_source(name).data
    except OsbctlError as error:
        raise ConfigError(f"house schema {name}: {error.message}", error.advice) from error


class LazyRules(dict[str, "Rule"]):
    """All rules, loaded at the first look: most reports never ask."""

    def __missing__(self, key: str) -> Rule:
        self.update(all_rules())
        return self[key]


def all_rules() -> Mapping[str, Rule]:
    """Every rule of the product by id."""
    from osbctl.comparison.rules import load_all as load_comparison
    from osbctl.conformance import rules as wire
    from osbctl.rule import RULES
    from osbctl.validation.rules import load_all as load_validation

    load_validation()
    load_comparison()
    assert wire  # to import it registers its rules
    return RULES


def _check_rules(ids: Iterable[str], error: type[OsbctlError], origin: str) -> None:
    for rule in ids:
        if rule not in (known := all_rules()):
            raise error(f"{origin}there is no rule {rule!r}", did_you_mean(rule, known) or "osbctl rules lists them")


_Choice = TypeVar("_Choice", bound="StrEnum")


def _choice(kind: type[_Choice], value: str | None, config: Config) -> _Choice | None:
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError:
        words = ", ".join(kind)
        raise ConfigError(f"{config.origin}: {value!r} is none of: {words}", did_you_mean(value, kind)) from None


def wants_color(request: Request) -> bool:
    """Whether the report goes to a terminal that shows colours, or was told to."""
    from osbctl.cli.terminal import use_color

    return request.output in (None, "-") and use_color(request.color, sys.stdout)


def put_report(report: Report, request: Request) -> None:
    """Write the report where and as the request says."""
    from osbctl.cli.output import put
    from osbctl.reports import render

    in_actions = os.environ.get("GITHUB_ACTIONS") == "true" and request.output is None
    put(render(report, request.format or (Format.GITHUB if in_actions else Format.TEXT)), request.output)


def _name_unmatched(selection: Selection, config: Config) -> None:
    from osbctl.cli.output import note
    from osbctl.validation.rules import ELSEWHERE

    for entry in selection.unmatched():
        names = (("service", entry.service), ("plan", entry.plan))
        about = ", ".join(f"{kind} {name!r}" for kind, name in names if name)
        key = f"ignore-at of {entry.rule} for {about}" if about else f"ignore of {entry.rule}"
        if about or (entry.rule in config.ignore and all_rules()[entry.rule].category not in ELSEWHERE):
            note(f"{config.origin}: {key} matched nothing: remove it")
