"""Options of a validation, completed by the configuration closest to each source, and valid values of options."""

import os
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from importlib import import_module
from typing import NamedTuple, TypeVar

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.config import Config, find_config, load_config
from osbctl.errors import ConfigError, OsbctlError, UsageError
from osbctl.findings import FailOn, Severity
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform
from osbctl.rule import RULES, Category, Rule, matching_rules
from osbctl.sources.limits import Limits
from osbctl.sources.variables import Variable, Variables, VariablesOf, no_variables
from osbctl.text import did_you_mean
from osbctl.validation.options import IgnoreAt, ValidationOptions


class Request(NamedTuple):
    """Requested options of a validation; None and empty mean "not given", so the configuration decides.

    `baseline` is a file of findings that are not reported, or are written there. `fixes`: find the fixes of all
    findings, which may need a comparison of schemas.
    """

    sources: tuple[str, ...]
    at: str = ""
    variables_of: VariablesOf = no_variables
    stdin_filename: str | None = None
    api_version: ApiVersion | None = None
    platforms: tuple[Platform, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    fail_on: FailOn | None = None
    limits: Limits = Limits()
    together: bool = False
    baseline: str | None = None
    write_baseline: bool = False
    fixes: bool = False


def config_of(source: str, stdin_filename: str | None = None, config: Config | None = None) -> Config:
    """Configuration of a source: `config`, or the closest above its file or the working folder. Raises ConfigError."""
    file = (stdin_filename or "") if source == "-" else _file_of(source)
    if config is None:
        folder = file if os.path.isdir(file) else os.path.dirname(file)  # noqa: PTH112, PTH120
        there = folder if os.path.isdir(folder) else os.curdir  # noqa: PTH112
        config = find_config(there)
        if not config.origin and there != os.curdir:
            config = find_config(os.curdir)
    return config.for_file(file) if config.per_path else config


def _file_of(source: str) -> str:
    """The path in a source that may be `REV:path`."""
    return source if os.path.exists(source) else source.partition(":")[2] or source  # noqa: PTH110


def variables_of(environment: Mapping[str, str], env: str | None = None, config: str | None = None) -> VariablesOf:
    """The variables of the broker of a brokerpak, by source: those of the file `env`, else those of `environment`.

    Last come those of the `env` file of the configuration. `config` is a configuration file, None the closest one.
    """
    from osbctl.sources.read import read_variables

    given = read_variables(env) if env else {}

    def found(source: str) -> Variables:
        configured = config_of(source, config=load_config(config) if config else None).env
        ours = {name: Variable(name, value) for name, value in environment.items()}
        return (read_variables(configured) if configured else {}) | ours | given

    return found


def effective_fail_on(request: Request, config: Config) -> FailOn:
    """The lowest severity that makes the run fail: that of the request, else of the configuration."""
    return request.fail_on or _member(FailOn, config.fail_on or FailOn.ERROR, config, "fail-on")


def validation_options(request: Request, config: Config) -> ValidationOptions:
    """The request completed by the configuration; what the request selects, the configuration cannot ignore.

    Raises UsageError, ConfigError: a rule or a platform is not known; a user schema cannot be read.
    """
    selected = _requested(request.select)
    platforms = request.platforms or [_member(Platform, name, config, "platform") for name in config.platform]
    select = selected or _configured(config, "select", config.select)
    ignore = _requested(request.ignore) | (_configured(config, "ignore", config.ignore) - selected)
    _check_selection(select, ignore)
    return ValidationOptions(
        api_version=request.api_version
        or _member(ApiVersion, config.api_version or DEFAULT_API_VERSION, config, "api-version"),
        platforms=frozenset(platforms),
        select=select or None,
        ignore=ignore,
        ignore_at=tuple(_ignored_places(config)),
        user_schemas=tuple((name, _user_schema(name)) for name in (*request.schemas, *config.schema)),
        severity=tuple(
            (rule, _member(Severity, level, config, "severity"))
            for word, level in config.severity.items()
            for rule in _configured(config, "severity", [word])
        ),
    )


def _check_selection(select: frozenset[str], ignore: frozenset[str]) -> None:
    if select and select <= ignore:
        rules = ", ".join(sorted(select))
        raise UsageError(f"every selected rule is also ignored: {rules}", "leave one of the two out")


def _ignored_places(config: Config) -> Iterator[IgnoreAt]:
    for word, service, plan in config.ignore_at:
        for rule in sorted(_configured(config, "ignore-at", [word])):
            yield IgnoreAt(rule, service, plan)


def _requested(words: Iterable[str]) -> frozenset[str]:
    return frozenset(rule for word in words for rule in rules_named(word))


def _configured(config: Config, key: str, words: Iterable[str]) -> frozenset[str]:
    return frozenset(rule for word in words for rule in rules_named(word, ConfigError, f"{config.origin}: {key}: "))


def _user_schema(name: str) -> object:
    from osbctl.sources.read import read_object

    try:
        return read_object(name).data
    except OsbctlError as error:
        raise ConfigError(f"user schema {error.message}", error.advice) from error


_Choice = TypeVar("_Choice", bound="StrEnum")


def _member(kind: type[_Choice], value: str, config: Config, key: str) -> _Choice:
    try:
        return kind(value)
    except ValueError:
        message = f"{config.origin}: {key}: {value!r} is not one of: {', '.join(kind)}"
        raise ConfigError(message, did_you_mean(value, kind)) from None


CatalogObject = TypeVar("CatalogObject", ServiceOffering, ServicePlan)


class LazyRules(dict[str, "Rule"]):
    """All rules, loaded at the first use, because most reports need none."""

    def __missing__(self, key: str) -> Rule:
        self.update(all_rules())
        return self[key]


def all_rules() -> Mapping[str, Rule]:
    """Every rule of the product by id."""
    from osbctl.comparison.change_kinds import load_all as load_comparison
    from osbctl.validation.rules import load_all as load_validation

    load_validation()
    load_comparison()
    import_module("osbctl.conformance.rules")
    return RULES


def rules_named(word: str, error: type[OsbctlError] = UsageError, origin: str = "") -> frozenset[str]:
    """The ids of the rules that `word` (an id, a group, a prefix with `*`) names. Raises `error` after `origin`."""
    rules = all_rules()
    found = matching_rules(word, rules)
    if not found:
        advice = did_you_mean(word, (*rules, *Category)) or "osbctl rules lists them"
        raise error(f"{origin}there is no rule {word!r}", advice)
    return found


def object_named(objects: Iterable[CatalogObject], name: str, missing: str) -> CatalogObject:
    """The service offering or plan of that name, else of that id. Raises UsageError, which begins with `missing`."""
    objects = tuple(objects)
    if found := [each for each in objects if each.name == name] or [each for each in objects if each.id == name]:
        return found[0]
    names = [each.name for each in objects]
    raise UsageError(f"{missing} {name!r}", did_you_mean(name, names) or f"there are: {', '.join(names)}")
