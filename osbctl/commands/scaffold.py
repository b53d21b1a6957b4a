"""`osbctl init`, `osbctl new` and `osbctl split`: write source folders, and overwrite nothing."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from osbctl.catalog import objects_in_list
from osbctl.commands import options as common
from osbctl.commands.connection import read_catalog
from osbctl.commands.options import Argument, Option
from osbctl.commands.output import print_note
from osbctl.errors import SourceError, UsageError
from osbctl.sources.folder import scaffold
from osbctl.sources.folder.source_tree import SUFFIXES
from osbctl.sources.read import read_object

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def init(
    folder: Annotated[Path, Argument("[FOLDER]", "Where to write it.")] = Path(),
    service: Annotated[str, Option("Name of the first service.", metavar="NAME")] = "example",
) -> int:
    """Write a source folder to start from: a service, two plans, a parameter schema. Overwrites nothing.

    \b
    osbctl init catalog --service postgres
    osbctl validate catalog
    """
    _write_files(folder, scaffold.new_folder_files(_check_name(service)))
    built = "catalog.json" if folder.resolve() != Path.cwd() else "../catalog.json"
    name = folder.as_posix()
    print_note(f"next: osbctl validate {name}, osbctl build {name} -o {built}")
    return 0


def new(
    thing: Annotated[Literal["service", "plan"], Argument("KIND", "service or plan.")],
    names: Annotated[list[str], Argument("NAME...", "Its name: SERVICE, or SERVICE and PLAN.", complete="new")],
    folder: Annotated[Path, Option("The source folder.", "--folder", "-C", metavar="FOLDER")] = Path(),
) -> int:
    """Add a service offering or a plan to a source folder, with fresh GUIDs. Overwrites nothing.

    \b
    osbctl new service redis
    osbctl new plan redis large
    """
    service, *plan = map(_check_name, names)
    if len(plan) != (thing == "plan"):
        raise UsageError(f"osbctl new {thing} takes {'SERVICE' if thing == 'service' else 'SERVICE and PLAN'}")
    if not folder.is_dir():
        raise SourceError(f"{folder.as_posix()}: there is no such folder", "`osbctl init` writes one to start from")
    taken = _existing_files(folder, service)
    if plan:
        if not taken:
            message = f"there is no service {service!r} in {(folder / 'services').as_posix()}"
            raise UsageError(message, "add it with osbctl new service")
        if _has_plan(taken[0], plan[0]):
            raise SourceError(f"{taken[0].as_posix()} has a plan {plan[0]!r} already", "choose another name")
        taken = _existing_files(folder, service, "plans", plan[0])
    if taken:  # a second file that differs in its ending alone would break the folder
        message = f"{taken[0].as_posix()} already exists, and nothing is overwritten"
        raise SourceError(message, "choose another folder or name")
    _write_files(folder, scaffold.plan_files(service, plan[0]) if plan else scaffold.service_files(service))
    return 0


def _existing_files(folder: Path, *parts: str) -> list[Path]:
    """Files of a service or plan with any suffix."""
    file = folder.joinpath("services", *parts)
    return [candidate for suffix in SUFFIXES if (candidate := file.with_name(file.name + suffix)).is_file()]


def split(
    source: common.Source,
    folder: Annotated[Path, Argument("FOLDER", "Where to write the source folder.")],
    *,
    where: common.LocationOptions,
) -> int:
    """Split one catalog into a source folder that builds to the same catalog. Overwrites nothing.

    \b
    osbctl split catalog.json catalog/
    osbctl build catalog/ | osbctl diff catalog.json -
    """
    common.check_options_used([source], env=where.env)
    document = read_catalog(source, where, allow_nested=False)
    scaffold.check_splittable(document)
    if any((folder / "services").glob("*")):
        message = f"{(folder / 'services').as_posix()} has files, which would become parts of the catalog"
        raise SourceError(message, "choose another folder")
    _write_files(folder, scaffold.split_catalog(document.data))
    return 0


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        advice = "letters, digits, dots, hyphens and underscores, at most 63"
        raise UsageError(f"{name!r} is not a valid file name", advice)
    return name


def _has_plan(service_file: Path, name: str) -> bool:
    """Return whether the file of a service has the plan in its own list."""
    return any(plan.get("name") == name for plan, _ in objects_in_list(read_object(str(service_file)).data, "plans"))


def _write_files(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    for note in scaffold.write_new_files(folder, files):
        print_note(note)
