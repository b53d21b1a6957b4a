"""Options of a validation, completed by the configuration closest to each source, and valid values of options."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

from osbctl.catalog import ServiceOffering, ServicePlan
from osbctl.commands import options as common
from osbctl.commands.options import Option
from osbctl.config import Config, find_config, load_config
from osbctl.errors import ConfigError, OsbctlError, UsageError
from osbctl.findings import FailOn, Severity
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion, Platform
from osbctl.rule import RULES, USER_PREFIX, Category, Rule, matching_rules
from osbctl.sources.read_bytes import MAX_BYTES, path_to_top, registered_name
from osbctl.text import did_you_mean
from osbctl.validation.options import IgnoreAt, ValidationOptions

if TYPE_CHECKING:
    from osbctl.sources.variables import Variables


class ValidationSettings(NamedTuple):
    """The options of `osbctl validate`, of which other commands give some.

    None and empty mean "not given", so the configuration of each source decides; `ValidationOptions` are what then
    holds for it. `of_broker`: the answers of a running broker are checked, too.
    """

    sources: common.Sources = ()
    platforms: common.CountedPlatforms = ()
    api_version: common.CheckedVersion = None
    fail_on: common.FailingSeverity = None
    select: Annotated[
        tuple[str, ...], Option("Report only this rule; repeatable.", metavar="RULE", complete="rules")
    ] = ()
    ignore: common.Ignore = ()
    schemas: Annotated[
        tuple[str, ...], Option("Also check against this JSON Schema of yours; repeatable.", "--schema", metavar="FILE")
    ] = ()
    format: common.ReportFormat = None
    output: common.Output = None
    concise: Annotated[bool, Option("Print one line per finding.")] = False
    quiet: Annotated[bool, Option("Print only findings: no verdicts, counts or notes.", "--quiet", "-q")] = False
    baseline: Annotated[str | None, Option("Report only findings not in this file.", metavar="FILE")] = None
    write_baseline: Annotated[bool, Option("Write all findings to --baseline FILE.")] = False
    together: Annotated[
        bool, Option("Treat the catalogs as registered on one platform, and report shared ids and names.")
    ] = False
    catalogs_only: Annotated[
        bool, Option("Skip files without a catalog; of a part of a source folder, check the folder.")
    ] = False
    exclude: common.Exclude = ()
    stdin_filename: common.StdinFilename = None
    color: common.ColorChoice = "auto"
    max_bytes: common.MaxBytes = MAX_BYTES
    where: common.LocationOptions = common.LocationOptions()
    of_broker: bool = False


def first_config(sources: Iterable[str], config_file: str | None, stdin_filename: str | None = None) -> Config:
    """Configuration of the first source that is a file or folder, else of the working folder; see `resolve_config`."""
    named = load_config(config_file) if config_file else None
    files = (source for source in sources if source != "-" and "://" not in source and not registered_name(source))
    return resolve_config(next(files, "-"), stdin_filename, named)


def resolve_config(source: str, stdin_filename: str | None = None, config: Config | None = None) -> Config:
    """Configuration of a source: `config`, or the closest above its file or the working folder. Raises ConfigError."""
    file = (stdin_filename or "") if source == "-" else _source_path(source)
    if config is None:
        folder = file if os.path.isdir(file) else os.path.dirname(file)  # noqa: PTH112, PTH120
        closest = folder if os.path.isdir(folder) else os.curdir  # noqa: PTH112
        config = find_config(closest)
        if not config.origin and closest != os.curdir:
            config = find_config(os.curdir)
    return config.for_file(file) if file else config


def _source_path(source: str) -> str:
    """The path of a source from the working folder, also of `REV:path`. Empty for a registered broker."""
    if registered_name(source):
        return ""
    path = source.partition(":")[2]
    if os.path.exists(source) or not path or os.path.splitdrive(source)[0]:  # noqa: PTH110  # C:/catalog.yaml
        return source
    top = path_to_top()
    is_here = os.path.exists(path) and not os.path.exists(top + path)  # noqa: PTH110
    return path if is_here or path.startswith(("./", "../")) else top + path


def variables_lookup(env_file: str | None = None, config_file: str | None = None) -> "Callable[[str], Variables]":
    """A function that reads the variables of a brokerpak's broker: those of `env_file`, else of the environment.

    Last come those of the file that the key `env` of the configuration names; `config_file` None: the closest one.
    """
    from osbctl.sources.read import read_variables

    given = read_variables(env_file) if env_file else {}
    named = load_config(config_file) if config_file else None

    def look_up(source: str) -> "Variables":
        from osbctl.sources.variables import Variable  # the source is a brokerpak

        configured = resolve_config(source, config=named).env
        inherited = {name: Variable(name, value) for name, value in os.environ.items()}
        return (read_variables(configured) if configured else {}) | inherited | given

    return look_up


def effective_fail_on(settings: ValidationSettings, config: Config) -> FailOn:
    """The lowest severity that makes the run fail: that of the settings, else of the configuration."""
    configured = FailOn.ERROR if config.fail_on is None else config.fail_on
    return settings.fail_on or _parse_choice(FailOn, configured, config, "fail-on")


def chosen_platforms(given: Collection[Platform] | None, config: Config) -> frozenset[Platform]:
    """The platforms that options give, else those of the configuration. Empty if neither chooses any."""
    return frozenset(given or [_parse_choice(Platform, name, config, "platform") for name in config.platform])


def requested_version(given: ApiVersion | None, config: Config) -> ApiVersion | None:
    """The API version that an option gives, else that of the configuration. None if neither gives one."""
    if given or config.api_version is None:
        return given
    return _parse_choice(ApiVersion, config.api_version, config, "api-version")


def validation_options(settings: ValidationSettings, config: Config) -> ValidationOptions:
    """The settings completed by the configuration; what the settings select, the configuration cannot ignore.

    Raises UsageError, ConfigError: a rule or a platform is not known; a selected rule is never reported here; a user
    schema cannot be read.
    """
    schemas, own_rules = read_user_schemas(settings.schemas, config)
    select, ignore = _select_rules(settings, config, own_rules)
    version, platforms = requested_version(settings.api_version, config), chosen_platforms(settings.platforms, config)
    oldest_spoken = min((ApiVersion(platform.api_version) for platform in platforms), default=None)
    return ValidationOptions(
        api_version=version or DEFAULT_API_VERSION,
        spoken_version=None if version else oldest_spoken,
        platforms=platforms,
        select=select or None,
        ignore=ignore,
        ignore_at=tuple(
            IgnoreAt(rule, service, plan)
            for word, service, plan in config.ignore_at
            for rule in sorted(_resolve_rules([word], own_rules, config, "ignore-at"))
        ),
        user_schemas=schemas,
        user_rules=own_rules,
        severity=tuple(
            (rule, _parse_choice(Severity, level, config, "severity"))
            for word, level in config.severity.items()
            for rule in _resolve_rules([word], own_rules, config, "severity")
        ),
    )


def _select_rules(
    settings: ValidationSettings, config: Config, own_rules: Mapping[str, Rule]
) -> tuple[frozenset[str], frozenset[str]]:
    """The rules that are selected, none for all, and those that are ignored; raises as `validation_options`."""
    selected = _resolve_rules(settings.select, own_rules)
    select = selected or _resolve_rules(config.select, own_rules, config, "select")
    ignored = _resolve_rules(config.ignore, own_rules, config, "ignore") - selected
    ignore = _resolve_rules(settings.ignore, own_rules) | ignored
    if select and select <= ignore:
        rules = ", ".join(sorted(select))
        raise UsageError(f"every selected rule is also ignored: {rules}", "leave one of the two out")
    has_schemas = bool(settings.schemas or config.schema)
    for pattern in settings.select:
        error: OsbctlError = UsageError(f"--select {pattern} selects nothing")
        _check_reported(resolve_rule_ids(pattern, own_rules), settings, has_schemas, error)
    if select and not selected:
        error = ConfigError(f"{config.origin}: select: {', '.join(config.select)} selects nothing")
        _check_reported(select, settings, has_schemas, error)
    return select, ignore


def _check_reported(rules: frozenset[str], settings: ValidationSettings, has_schemas: bool, error: OsbctlError) -> None:
    """Raise `error`, with the reason as advice, if a run with these settings can report none of the rules."""
    reasons = {_why_never_reported(rule, settings, has_schemas): rule for rule in sorted(rules, reverse=True)}
    if reasons and "" not in reasons:
        error.advice = "; ".join(f"{rule} {why}" for why, rule in reasons.items())
        raise error


def _why_never_reported(id_: str, settings: ValidationSettings, has_schemas: bool) -> str:
    """The reason why a run with these settings cannot report a rule, as a predicate. Empty if it can."""
    rule = RULES.get(id_)
    if rule is None:  # of a schema of the user
        return ""
    is_folder = any(
        os.path.isdir(source) or (":" in source and not os.path.exists(source))  # noqa: PTH110, PTH112
        for source in settings.sources
    )
    given = {"--together": settings.together, "--schema": has_schemas, "--at": bool(settings.where.at)}
    reasons = {
        "is reported by osbctl diff and drift": rule.category is Category.CHANGE,
        "is reported by osbctl check": rule.category is Category.WIRE and not settings.of_broker,
        "is about source folders and brokerpaks": rule.category is Category.BUILD and not is_folder,
        f"needs {rule.needs_option}": bool(rule.needs_option) and not given[rule.needs_option],
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _resolve_rules(
    patterns: Iterable[str], user_rules: Mapping[str, Rule], config: Config | None = None, key: str = ""
) -> frozenset[str]:
    """The ids of the rules that the patterns of an option, or of the `key` of a configuration, name."""
    found: set[str] = set()
    for pattern in patterns:
        origin = f"{config.origin_of(key, pattern)}: {key}: " if config else ""
        found |= resolve_rule_ids(pattern, user_rules, origin)
    return frozenset(found)


def _relative_path(file: str) -> str:
    """The path from the working folder, which reports may show to others; unchanged if that is longer."""
    try:
        relative = os.path.relpath(file).replace(os.sep, "/")
    except ValueError:  # it is on another drive of Windows
        return file
    return min(relative, file, key=len)


def read_user_schemas(
    files: Iterable[str], config: Config
) -> tuple[tuple[tuple[str, object], ...], Mapping[str, Rule]]:
    """The schemas of options and configuration, each with its name in reports, and the rules that they name, by id."""
    schemas = tuple((name, _read_user_schema(name)) for name in (*files, *map(_relative_path, config.schema)))
    if not schemas:
        return (), {}
    from osbctl.validation.user_schema import read_user_rules

    all_rules()  # whose ids are taken
    return schemas, read_user_rules(schemas)


def _read_user_schema(file: str) -> object:
    from osbctl.sources.read import read_object

    try:
        return read_object(file).data
    except OsbctlError as error:
        raise ConfigError(f"user schema {error.message}", error.advice) from error


_Choice = TypeVar("_Choice", bound="StrEnum")


def _parse_choice(choices: type[_Choice], value: str, config: Config, key: str) -> _Choice:
    """The member of `choices` for the value of a key of the configuration. Raises ConfigError."""
    try:
        return choices(value)
    except ValueError:
        message = f"{config.origin_of(key, value)}: {key}: {value!r} is not one of: {', '.join(choices)}"
        raise ConfigError(message, did_you_mean(value, choices)) from None


CatalogObject = TypeVar("CatalogObject", ServiceOffering, ServicePlan)


def all_rules() -> Mapping[str, Rule]:
    """Every rule of the product by id."""
    from osbctl.validation.checks import load_all

    load_all()
    import_module("osbctl.comparison.kinds")
    import_module("osbctl.conformance.rules")
    return RULES


def resolve_rule_ids(pattern: str, user_rules: Mapping[str, Rule], origin: str = "") -> frozenset[str]:
    """The ids of the rules, also of the user, that `pattern` (an id, a group, a prefix with `*`) names.

    Raises UsageError: there is none; ConfigError if `origin` says where in a configuration it stands.
    """
    rules = {**all_rules(), **user_rules}
    found = matching_rules(pattern, rules)
    if not found:
        own = pattern.startswith(USER_PREFIX)
        where = "a rule of your own needs its schema: --schema, or the key schema" if own else "osbctl rules lists them"
        advice = did_you_mean(pattern, (*rules, *Category)) or where
        raise (ConfigError if origin else UsageError)(f"{origin}there is no rule {pattern!r}", advice)
    return found


def find_by_name_or_id(objects: Sequence[CatalogObject], name: str, error_prefix: str) -> CatalogObject:
    """The service offering or plan of that name, else of that id.

    Raises UsageError: there is none, in a sentence that begins with `error_prefix`, or there are several.
    """
    found = [one for one in objects if one.name == name] or [one for one in objects if one.id == name]
    if len(found) > 1:
        ids = dict.fromkeys(one.id for one in found)
        advice = "correct the catalog first" if len(ids) < len(found) else f"choose one by its id: {', '.join(ids)}"
        raise UsageError(f"{len(found)} have the name or id {name!r}", advice)
    if found:
        return found[0]
    names = [one.name for one in objects if one.name]
    there = f"there are: {', '.join(names)}" if names else "none there has a name that is text: see osbctl validate"
    raise UsageError(f"{error_prefix} {name!r}", did_you_mean(name, names) or (there if objects else "there is none"))
