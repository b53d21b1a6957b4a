"""What `osbctl validate` does: sources and what was asked for in, judgements out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from osbctl.errors import ConfigError, DocumentError, OsbctlError, SourceError, UsageError
from osbctl.findings import Finding, Judgement, Severity
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform
from osbctl.platforms.outcome import VerdictKind
from osbctl.reports import FailOn
from osbctl.sources.limits import Limits
from osbctl.tasks.rules import all_rules
from osbctl.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from enum import StrEnum

    from osbctl.config import Config
    from osbctl.sources.document import Document
    from osbctl.validation.options import ValidationOptions
    from osbctl.validation.selection import Selection

    _Judged = tuple[Document | None, Judgement, int]
    """What was read, as far as it is needed again, its judgement, and the exit code that a source forces that cannot
    be opened."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a validation is asked for; None stands for "not given", so that a configuration can decide."""

    sources: tuple[str, ...]
    at: str = ""
    stdin_filename: str | None = None
    api_version: ApiVersion | None = None
    platforms: tuple[Platform, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    fail_on: FailOn | None = None
    limits: Limits = field(default_factory=Limits)
    together: bool = False


@dataclass(frozen=True, slots=True)
class Validation:
    """What came out: a judgement of each source, and from which severity on it fails.

    `exit_code` is what a source that cannot be opened forces by itself, else 0. `notes` say what of the configuration
    matched nothing.
    """

    judgements: tuple[Judgement, ...]
    fail_on: FailOn
    exit_code: int = 0
    notes: tuple[str, ...] = ()


def validate(request: Request, config: Config) -> Validation:
    """Judge every source of the request.

    Raises:
        UsageError, ConfigError: a rule or a platform is not known; a house schema cannot be read.
    """
    from osbctl.validation.selection import Selection

    options = validation_options(request, config)
    selection = Selection(options)
    judged = [_judge(source, request, options, selection) for source in request.sources]
    if request.together:
        judged = _together(judged, options, selection)
    judgements = tuple(judgement for _, judgement, _ in judged)
    whole = all(verdict.kind is not VerdictKind.UNREADABLE for one in judgements for verdict in one.verdicts.values())
    return Validation(
        judgements,
        effective_fail_on(request, config),
        max(code for _, _, code in judged),
        tuple(_unmatched(selection, config)) if whole else (),
    )


def effective_fail_on(request: Request, config: Config) -> FailOn:
    """From which severity on the run fails: the request has the first say, then the configuration."""
    return request.fail_on or _choice(FailOn, config.fail_on, config) or FailOn.ERROR


def validation_options(request: Request, config: Config) -> ValidationOptions:
    """The request completed by the configuration; what the request selects, the configuration cannot ignore.

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


def unread(error: DocumentError | SourceError) -> tuple[Finding, ...]:
    """The error of a source that cannot be opened or read, as a report tells it."""
    if isinstance(error, DocumentError):
        return error.findings
    return (Finding("cannot-open", Severity.ERROR, error.message, hint=error.advice),)


def _together(judged: list[_Judged], options: ValidationOptions, selection: Selection) -> list[_Judged]:
    """The same once more, the judgements completed by what those share that could be read."""
    from osbctl.validation.together import judge_together

    read = [(document, judgement) for document, judgement, _ in judged if document]
    completed = iter(judge_together(read, options.platforms, selection))
    return [(document, next(completed) if document else judgement, code) for document, judgement, code in judged]


def _judge(source: str, request: Request, options: ValidationOptions, selection: Selection) -> _Judged:
    from osbctl.sources.read import read_source
    from osbctl.validation.judge import judge, unreadable

    try:
        document = read_source(source, limits=request.limits, at=request.at, stdin_filename=request.stdin_filename)
    except DocumentError as error:
        return None, unreadable(source, unread(error)), 0
    except SourceError as error:
        return None, unreadable(source, unread(error)), error.exit_code
    judgement = judge(document, options, selection)
    return (document if request.together else None), judgement, 0


def _house_schema(name: str) -> object:
    from osbctl.sources.read import read_source

    try:
        return read_source(name).data
    except OsbctlError as error:
        raise ConfigError(f"house schema {name}: {error.message}", error.advice) from error


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


def _unmatched(selection: Selection, config: Config) -> Iterator[str]:
    from osbctl.validation.rules import ELSEWHERE

    for entry in selection.unmatched():
        names = (("service", entry.service), ("plan", entry.plan))
        about = ", ".join(f"{kind} {name!r}" for kind, name in names if name)
        key = f"ignore-at of {entry.rule} for {about}" if about else f"ignore of {entry.rule}"
        if about or (entry.rule in config.ignore and all_rules()[entry.rule].category not in ELSEWHERE):
            yield f"{config.origin}: {key} matched nothing: remove it"
