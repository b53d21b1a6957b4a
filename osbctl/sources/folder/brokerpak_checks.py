"""Check a manifest and definitions as cloud-service-broker does when it builds a brokerpak, and when it starts.

Messages quote it, and say when it fails: `pak build` refuses most faults, the broker the rest. Sources:
internal/brokerpak/manifest/parser.go, pkg/providers/tf/definition.go, pkg/broker/variables.go, pkg/broker/example.go,
pkg/varcontext/builder.go (fields and `Validate`) and pkg/validation/struct_validator.go (patterns).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from osbctl.catalog import objects_in_list
from osbctl.findings import Finding, Severity
from osbctl.messages import Message, Sentence
from osbctl.paths import JsonPath, get_at
from osbctl.sources.document import Document
from osbctl.sources.folder.brokerpak_requests import mismatch_with_input
from osbctl.sources.folder.brokerpak_templates import find_blocks
from osbctl.sources.folder.brokerpak_variables import UserPlan
from osbctl.text import did_you_mean

ACTIONS = ("provision", "bind")
TOFU, PROVIDER = "tofu", "terraform-provider-"
PLATFORM = {"os": "linux", "arch": "amd64"}
"""The platform that the broker is assumed to run on."""
_SYSTEMS = {
    "darwin": ("amd64", "arm64"),
    "freebsd": ("386", "amd64", "arm"),
    "linux": ("386", "amd64", "arm", "arm64"),
    "openbsd": ("386", "amd64"),
    "solaris": ("amd64",),
    "windows": ("386", "amd64"),
}
_NAME = re.compile(r"[a-zA-Z0-9\-.]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TYPES = ("object", "boolean", "array", "number", "string", "integer")
_ATTRIBUTE = re.compile(r"(?:[-a-zA-Z0-9_]*\.[-a-zA-Z0-9_]*){2}")
_URL = re.compile(
    r"[a-zA-Z][a-zA-Z0-9+.-]*:(?:(?!/)[^\x00-\x1f\x7f]*"
    r"|(?:(?!//)|//(?:(?:[a-zA-Z0-9_\-.:~!$&'()*+,;=@]|%[0-9a-fA-F]{2})*@)?"  # user and password
    r"(?:(?:[^\x00-\x20\x7f\\^`{|}/?#@:%\[]|%[89a-fA-F][0-9a-fA-F])*|\[[^\]\s]*\])(?::[0-9]*)?(?=[/?]|$))"
    r"(?:[^\x00-\x1f\x7f?%]|%[0-9a-fA-F]{2})*(?:\?[^\x00-\x1f\x7f]*)?)"
)
_VERSION = re.compile(
    r"v?([0-9]+(?:\.[0-9]+)*)"
    r"(?:-([0-9]+[0-9A-Za-z\-~]*(?:\.[0-9A-Za-z\-~]+)*)|-?([A-Za-z\-~]+[0-9A-Za-z\-~]*(?:\.[0-9A-Za-z\-~]+)*))?"
    r"(?:\+([0-9A-Za-z\-~]+(?:\.[0-9A-Za-z\-~]+)*))?"
)
UUID_HINT = "uuidgen prints one"
_MISSING = "missing field(s): {}"


class Refusals(list[Finding]):
    """The findings about what cloud-service-broker refuses, and what it does not read."""

    def build(self, document: Document, path: JsonPath, message: Sentence, hint: str = "") -> None:
        """Report a value with which `pak build` fails, in its words."""
        self.add(document, path, Message("`pak build` fails: {}", message), hint)

    def start(
        self, document: Document, path: JsonPath, message: str, hint: Sentence = "", catalog_path: JsonPath = ()
    ) -> None:
        """Report a value with which the broker does not start, in its words."""
        self.add(document, path, f"cloud-service-broker does not start: {message}", hint, catalog_path)

    def add(
        self, document: Document, path: JsonPath, message: Sentence, hint: Sentence, catalog_path: JsonPath = ()
    ) -> None:
        """Report an error in the value at `path` of a file, which is at `catalog_path` of the catalog."""
        self.append(document.error("brokerpak-refused", message, path, hint)._replace(path=catalog_path))

    def refuse_field(self, document: Document, path: JsonPath, message: str, known: Iterable[str]) -> None:
        """Report a field that `pak build` does not know, with those that it does."""
        if known:  # Go skips the key null
            self.build(document, path, message, did_you_mean(str(path[-1]), known) or "remove it")

    def warn_of_field(self, document: Document, path: JsonPath, message: str, known: Iterable[str]) -> None:
        """Warn of a field of a definition, which is read leniently, that the broker does not know."""
        message = f"cloud-service-broker knows no field {path[-1]!r} here: it has no effect"
        finding = document.error("brokerpak-field-unread", message, path, did_you_mean(str(path[-1]), known))
        self.append(finding._replace(severity=Severity.WARNING, path=()))

    def warn(self, document: Document, path: JsonPath, message: str, hint: str = "") -> None:
        """Warn of a property of a plan."""
        finding = document.error("brokerpak-plan-property", message, path, hint)
        self.append(finding._replace(severity=Severity.WARNING, path=()))

    def require(self, document: Document, value: Mapping[str, Any], path: JsonPath, *names: str) -> None:
        """Report the fields of `names` that the object at `path` lacks, or has empty: null is no item of a list."""
        for name in names:
            given = value.get(name)
            if not given or given == [None] * len(given if isinstance(given, list) else ()):
                self.build(document, (*path, name), _MISSING.format(name), f"write {name}")

    def unique(self, values: Iterable[tuple[Document, JsonPath, Any]]) -> None:
        """Report each value that an earlier one equals; they may be empty."""
        seen: set[Any] = set()
        for document, path, value in values:
            if value in seen:
                self.build(document, path, f"duplicated value, must be unique: {value}", "give each its own")
            seen.add(value)


# The manifest.


def check_manifest(refusals: Refusals, manifest: Document) -> None:
    """Report what `pak build` refuses of a manifest, and what the broker refuses of its platforms and binaries."""
    data = manifest.data
    refusals.require(manifest, data, (), "packversion", "name", "version", "service_definitions")
    if data.get("packversion") not in (None, 0, 1):
        refusals.build(manifest, ("packversion",), f"invalid value: {data['packversion']}", "write 1")
    for name in ("name", "version"):
        if "/" in (data.get(name) or ""):
            refusals.build(
                manifest, (name,), "couldn't create archive: it is named after the brokerpak", "remove the /"
            )
    if len(f"{data.get('name')}-{data.get('version')}.brokerpak".encode()) > 255:
        refusals.build(manifest, ("name",), "couldn't create archive: its name is too long", "shorten it")
    for parameter, path in objects_in_list(data, "parameters"):
        refusals.require(manifest, parameter, path, "name", "description")
    _check_platforms(refusals, manifest)
    _check_binaries(refusals, manifest)
    _check_upgrade_path(refusals, manifest)


def _check_platforms(refusals: Refusals, manifest: Document) -> None:
    platforms = list(objects_in_list(manifest.data, "platforms"))
    if not platforms:
        refusals.build(
            manifest, ("platforms",), _MISSING.format("platforms"), "write platforms: [{os: linux, arch: amd64}]"
        )
    wrong = len(refusals)
    for platform, path in platforms:
        refusals.require(manifest, platform, path, "os", "arch")
        system, machine = platform.get("os"), platform.get("arch")
        if system and machine and machine not in _SYSTEMS.get(system, ()):
            refusals.build(manifest, path, f"invalid value: {system}/{machine}", "OpenTofu is not built for it")
    if platforms and wrong == len(refusals) and PLATFORM not in [platform for platform, _ in platforms]:
        message = 'it doesn\'t contain binaries compatible with the current platform "linux/amd64"'
        refusals.start(manifest, ("platforms",), message, "add {os: linux, arch: amd64}")


def tofu_binaries(manifest: Document) -> list[tuple[Mapping[str, Any], JsonPath]]:
    """The entries of OpenTofu in a manifest, with their paths."""
    binaries = objects_in_list(manifest.data, "terraform_binaries")
    return [(binary, path) for binary, path in binaries if binary.get("name") == TOFU]


def normalize_version(text: str) -> str:
    """The version as go-version writes it; empty if it is not a version."""
    match = _VERSION.fullmatch(text)
    numbers = [part.lstrip("0") for part in match[1].split(".")] if match else []
    if not match or max(map(len, numbers)) > 18:  # Go has 64 bits for each
        return ""
    parts = [number or "0" for number in numbers]
    suffix = match[2] or match[3]
    return (
        ".".join([*parts, "0", "0"][: max(3, len(parts))])
        + f"{'-' * bool(suffix)}{suffix or ''}"
        + (f"+{match[4]}" if match[4] else "")
    )


def _version_key(text: str) -> tuple[Any, ...]:
    """A key that orders versions: by numbers, without zeros at the end; one without a suffix after those with one."""
    version, _, suffix = (normalize_version(text) or "0.0.0").partition("+")[0].partition("-")
    parts = [int(part) for part in version.split(".")]
    while parts[-1:] == [0]:
        parts.pop()
    return tuple(parts), not suffix, suffix


def _check_binaries(refusals: Refusals, manifest: Document) -> None:
    binaries = list(objects_in_list(manifest.data, "terraform_binaries"))
    before = len(refusals)
    if not binaries:
        hint = "name tofu and its version"
        refusals.build(manifest, ("terraform_binaries",), _MISSING.format("terraform_binaries"), hint)
    for binary, path in binaries:
        refusals.require(manifest, binary, path, "name", "version")
        name, version = binary.get("name") or "", binary.get("version") or ""
        is_provider = name.startswith(PROVIDER)
        if is_provider and (binary.get("provider") or "").count("/") > 2:
            message = "invalid format; valid format is [<HOSTNAME>/]<NAMESPACE>/<TYPE>"
            refusals.build(manifest, (*path, "provider"), message)
        if binary.get("default") and name != TOFU:
            refusals.build(manifest, (*path, "default"), "This field is only valid for `tofu`", "remove it")
        if (is_provider or name == TOFU) and version and not normalize_version(version):
            refusals.build(manifest, (*path, "version"), f"malformed version: {version[:60]}", "write it as 1.2.3")
    _check_tofu(refusals, manifest)
    if before == len(refusals):
        _check_files(refusals, manifest, binaries)


def _check_tofu(refusals: Refusals, manifest: Document) -> None:
    tofus = tofu_binaries(manifest)
    versions = {path: one.get("version") or "" for one, path in tofus}
    refusals.unique((manifest, (*path, "version"), normalize_version(version)) for path, version in versions.items())
    defaults = [path for one, path in tofus if one.get("default")]
    if not tofus and manifest.data.get("terraform_binaries"):
        hint = "add {name: tofu, version: …}; `terraform` was for versions of the broker before OpenTofu"
        refusals.start(manifest, ("terraform_binaries",), "tofu not found", hint)
    if len(tofus) > 1 and len(defaults) != 1:
        message = f"multiple Tofu versions, {'and multiple' if defaults else 'but none'} marked as default"
        refusals.build(manifest, ("terraform_binaries",), message, "write default: true at the highest version")
    if len(defaults) == 1 and _version_key(versions[defaults[0]]) < max(map(_version_key, versions.values())):
        message = "default version of Tofu must be the highest version"
        refusals.build(manifest, (*defaults[0], "default"), message, "move default: true to the highest version")


def _check_files(refusals: Refusals, manifest: Document, binaries: list[tuple[dict[str, Any], JsonPath]]) -> None:
    """Report a provider or program whose file the broker finds by its prefix, and another with the same prefix."""
    files = {path: _file_prefix(binary) for binary, path in binaries if binary["name"] != TOFU}
    versions = [normalize_version(binary["version"]) for binary, _ in tofu_binaries(manifest)]
    for path, prefix in files.items():
        same = sorted({name for name in (*files.values(), *versions) if name.startswith(prefix)})
        if len(same) > 1:
            message = f"multiple files found with prefix {prefix!r}: {', '.join(same)}"
            refusals.start(manifest, path, message, "give one of them another name or version")


def _file_prefix(binary: Mapping[str, Any]) -> str:
    name = str(binary["name"])
    return f"{name}_v{normalize_version(binary['version'])}" if name.startswith(PROVIDER) else name


def _check_upgrade_path(refusals: Refusals, manifest: Document) -> None:
    known = {binary.get("version") or "": bool(binary.get("default")) for binary, _ in tofu_binaries(manifest)}
    steps = list(objects_in_list(manifest.data, "terraform_upgrade_path"))
    before = "0.0.0"
    for number, (step, path) in enumerate(steps, 1):
        version, where = step.get("version") or "", (*path, "version")
        if not normalize_version(version):
            refusals.add(
                manifest, where, f"`pak build` fails or crashes: invalid value: {version}", "write it as 1.2.3"
            )
            return
        if _version_key(version) <= _version_key(before):
            message = f"expect versions to be in ascending order: {version} after {before}"
            refusals.build(manifest, where, message, "order them")
        elif version not in known:
            message = f"no corresponding terrafom resource for tofu version {version!r}"
            refusals.build(manifest, where, message, "add it to terraform_binaries, written the same")
        elif number == len(steps) and not known[version]:
            refusals.build(
                manifest, where, "upgrade path does not terminate at default version", "end with the default"
            )
        before = version


# Definitions.


def check_definition(refusals: Refusals, definition: Document) -> None:
    """Report what `pak build`, or the broker at its start, refuses of a definition, apart from its image."""
    data = definition.data
    if data.get("version") != 1:
        refusals.build(
            definition, ("version",), f"invalid value: {data.get('version') or 0}: version", "write version: 1"
        )
    refusals.require(definition, data, (), "name", "description", "display_name")
    check_uuid(refusals, definition, ("id",))
    for name in ("documentation_url", "support_url"):
        check_url(refusals, definition, name, data.get(name) or "")
    name = data.get("name") or ""
    if name and not is_name(name):
        message = f"field must match '^[a-zA-Z0-9-\\.]+$': {name[:60]!r}"
        refusals.start(definition, ("name",), message, "a name is made of letters, digits, hyphens and dots")
    if len(f"service00-{name}.yml".encode()) > 255:
        refusals.build(definition, ("name",), "the name of the file in the brokerpak is too long", "shorten it")
    plans = list(objects_in_list(data, "plans"))
    for plan, path in plans:
        refusals.require(definition, plan, path, "name", "description", "display_name")
        check_uuid(refusals, definition, (*path, "id"))
    refusals.unique((definition, (*path, "name"), plan["name"]) for plan, path in plans if plan.get("name"))
    for action in ACTIONS:
        _check_inputs(refusals, definition, action)
    for example, path in objects_in_list(data, "examples"):
        refusals.require(definition, example, path, "name", "description", "plan_id")


def _check_inputs(refusals: Refusals, definition: Document, action: str) -> None:
    settings = definition.data.get(action) or {}
    inputs = (objects_in_list(settings, key, (action,)) for key in ("plan_inputs", "user_inputs", "outputs"))
    for variable, path in chain.from_iterable(inputs):
        refusals.require(definition, variable, path, "field_name", "details")
        _check_type(refusals, definition, variable, path)
        numbers = [value for value in (variable.get("enum") or {}).values() if type(value) in (int, float)]
        if len(set(numbers)) < len(numbers):
            refusals.build(definition, (*path, "enum"), "a number is there twice, in two spellings", "write it once")
        attribute = variable.get("tf_attribute")
        if attribute and not _ATTRIBUTE.match(attribute):
            message = "field must match '^([-a-zA-Z0-9_-]*\\.[-a-zA-Z0-9_-]*){2}'"
            refusals.build(definition, (*path, "tf_attribute"), message, "write it as TYPE.NAME.ATTRIBUTE")
    for variable, path in objects_in_list(settings, "computed_inputs", (action,)):
        refusals.require(definition, variable, path, "name")
        _check_type(refusals, definition, variable, path)
        if variable.get("default") is None:
            refusals.build(definition, (*path, "default"), _MISSING.format("default"), "write its value")


def _check_type(refusals: Refusals, definition: Document, variable: Mapping[str, Any], path: JsonPath) -> None:
    if (kind := variable.get("type")) and kind not in _TYPES:
        message = f"field must match '^(|{'|'.join(_TYPES)})$': {kind[:60]!r}"
        refusals.build(definition, (*path, "type"), message, did_you_mean(kind, _TYPES))


def check_uuid(refusals: Refusals, document: Document, path: JsonPath) -> None:
    """Report an id in a definition that is not a UUID."""
    if not _UUID.fullmatch(get_at(document.data, path) or ""):
        refusals.build(document, path, "field must be a UUID: id", UUID_HINT)


def required_plan_inputs(definition: Document) -> Iterator[str]:
    """The names of the properties that a plan of an operator must have."""
    for action in ACTIONS:
        for one, _ in objects_in_list(definition.data.get(action) or {}, "plan_inputs"):
            if one.get("required") and one.get("field_name"):
                yield one["field_name"]


def is_name(text: str) -> bool:
    """Return whether cloud-service-broker takes a text for a name."""
    return bool(_NAME.fullmatch(text))


def is_json(text: str) -> bool:
    """Return whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def is_uuid(text: str) -> bool:
    """Return whether cloud-service-broker takes a text for a UUID."""
    return bool(_UUID.fullmatch(text))


def check_url(refusals: Refusals, definition: Document, name: str, url: str) -> None:
    """Report a URL, that of the field `name`, which is not absolute (Go, url.ParseRequestURI)."""
    if not _URL.fullmatch(url):
        refusals.build(definition, (name,), f"field must be a URL: {name}", "write it as https://…")


def check_unique(refusals: Refusals, definitions: list[Document]) -> None:
    """Report names and ids that two definitions have, and ids that two plans have."""
    for field in ("name", "id"):
        refusals.unique((one, (field,), one.data[field]) for one in definitions if one.data.get(field))
    refusals.unique(_plan_ids(definitions))


def _plan_ids(definitions: Iterable[Document]) -> Iterator[tuple[Document, JsonPath, Any]]:
    for definition in definitions:
        for plan, path in objects_in_list(definition.data, "plans"):
            if plan.get("id"):
                yield definition, (*path, "id"), plan["id"]


def check_plan_properties(refusals: Refusals, definition: Document, plan: UserPlan) -> None:
    """Warn of properties of a plan that are no input, and of values that an input does not take.

    The broker applies the schema of `user_inputs` to them, at each request; `plan_inputs` are for OpenTofu alone.
    """
    part = plan.source is definition
    settings = [definition.data.get(action) or {} for action in ACTIONS]
    inputs = {key: [one for part in settings for one, _ in objects_in_list(part, key)] for key in _INPUTS}
    named = {name: one for key in _INPUTS for one in inputs[key] if (name := one.get("field_name") or one.get("name"))}
    texts = [one["default"] for ones in inputs.values() for one in ones if isinstance(one.get("default"), str)]
    for name, value in plan.properties.items():
        path = (*plan.path, "properties", name) if part else (*plan.path, name)
        if name in named:
            if message := mismatch_with_input(named[name], value):
                at = "; every request to the plan is refused" * (named[name] in inputs["user_inputs"])
                refusals.warn(plan.source, path, f"the input {name} does not take the value of the plan: {message}{at}")
        elif name not in _WORDS_OF_TILES and not any(name in text for text in texts):
            message = f"the plan's property {name!r} is no input of the definition: it has no effect"
            refusals.warn(plan.source, path, message, did_you_mean(name, named))


_INPUTS = ("computed_inputs", "plan_inputs", "user_inputs")
_WORDS_OF_TILES = ("guid", "display_name", "bullets", "service", "description", "name", "id", "free", "active")
"""Fields that tiles write beside the properties of a plan."""


def check_templates(
    refusals: Refusals, definition: Document, action: str, texts: Mapping[JsonPath, str | None]
) -> None:
    """Report variables of the templates of an action that are no inputs, and outputs that are not declared.

    None stands for a template that is not there, which was reported.
    """
    settings = definition.data.get(action) or {}
    inputs = {"plan_inputs": "field_name", "user_inputs": "field_name", "computed_inputs": "name"}
    declared = {one.get(name) for key, name in inputs.items() for one, _ in objects_in_list(settings, key)}
    outputs = {name for one, _ in objects_in_list(settings, "outputs") if (name := one.get("field_name"))}
    blocks = {path: find_blocks(text) for path, text in texts.items() if text is not None}
    for path, found in blocks.items():
        if found is None:
            refusals.build(definition, path, "invalid HCL", "tofu validate says more")
            continue
        for name in sorted(found.variables.difference(declared)):
            message = f"fields used but not declared: {name}"
            refusals.build(definition, path, message, "declare it as an input, or remove the variable")
    made = {name for found in blocks.values() if found for name in found.outputs} - {"status"}
    if made != outputs and len(blocks) == len(texts) and None not in blocks.values():
        found_names, declared_names = (" ".join(sorted(names)) for names in (made, outputs))
        message = f"template outputs [{found_names}] must match declared outputs [{declared_names}]"
        refusals.build(definition, (action, "outputs"), message, "declare what the template has")
