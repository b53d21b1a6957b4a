"""Pairs of catalogs for property tests: well-formed ones out of few ids, and real ones."""

import functools
import itertools
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from osbctl.errors import OsbctlError
from osbctl.sources.read import read_source
from tests.corpus import catalogs

_FLAG = st.booleans()
_TEXTS = st.lists(st.sampled_from(["syslog_drain", "route_forwarding", "a"]), unique=True, max_size=3)
_PARAMETERS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "required": st.sampled_from([["a"], ["a", "b"]]),
        "properties": st.dictionaries(st.sampled_from("ab"), st.sampled_from([{}, {"type": "string"}, {"enum": [1]}])),
        "additionalProperties": _FLAG,
    },
)
_PLACES = st.sampled_from(["create", "update"])
_SCHEMAS = st.fixed_dictionaries(
    {"service_instance": st.dictionaries(_PLACES, _PARAMETERS.map(lambda one: {"parameters": one}), max_size=2)}
)
_PLAN = st.fixed_dictionaries(
    {"name": st.sampled_from("uvwx"), "description": st.sampled_from(["one", "two"])},
    optional={
        "free": _FLAG,
        "bindable": _FLAG,
        "plan_updateable": _FLAG,
        "binding_rotatable": _FLAG,
        "maximum_polling_duration": st.sampled_from([30, 60]),
        "maintenance_info": st.fixed_dictionaries({"version": st.sampled_from(["1.0.0", "1.1.0"])}),
        "metadata": st.fixed_dictionaries({}, optional={"costs": st.sampled_from([[1], [2]]), "x": st.integers(1, 2)}),
        "schemas": _SCHEMAS,
        "colour": st.sampled_from(["red", "blue"]),
    },
)
_SERVICE = st.fixed_dictionaries(
    {"name": st.sampled_from("uvwx"), "description": st.sampled_from(["one", "two"]), "bindable": _FLAG},
    optional={
        "plan_updateable": _FLAG,
        "instances_retrievable": _FLAG,
        "tags": _TEXTS,
        "requires": _TEXTS,
        "metadata": st.fixed_dictionaries({}, optional={"shareable": _FLAG, "displayName": st.sampled_from("ab")}),
        "dashboard_client": st.fixed_dictionaries({"id": st.sampled_from("ab"), "secret": st.sampled_from("ab")}),
    },
)


@st.composite
def well_formed(draw: st.DrawFn) -> dict[str, Any]:
    """A catalog whose ids are unique, out of so few that two catalogs share some; names may clash."""
    services = []
    plan_ids = draw(st.permutations("123456"))
    for service_id in draw(st.lists(st.sampled_from("ABC"), unique=True, max_size=3)):
        taken, plan_ids = plan_ids[:2], plan_ids[2:]
        plans = [{"id": plan_id, **draw(_PLAN)} for plan_id in taken[: draw(st.integers(0, 2))]]
        services.append({"id": service_id, **draw(_SERVICE), "plans": plans})
    return {"services": services}


@st.composite
def edited(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A well-formed catalog, and one that keeps most of its objects."""
    old, other = draw(well_formed()), draw(well_formed())
    new = {"services": [draw(st.sampled_from([service, {**service, **draw(_SERVICE)}])) for service in old["services"]]}
    return old, draw(st.sampled_from([new, other]))


@functools.cache
def real_catalogs() -> list[Path]:
    """The files of the corpus that can be read."""
    return [file for file in catalogs() if _readable(file)]


def real_pairs() -> list[tuple[Path, Path]]:
    """Files of one owner, which are often versions of one catalog; and each file with the next of any owner."""
    files = real_catalogs()
    of_one = [pair for pair in itertools.combinations(files, 2) if _owner(pair[0]) == _owner(pair[1])]
    return sorted({*of_one, *itertools.pairwise(files)})


def _owner(file: Path) -> str:
    return file.name.partition("__")[0]


def _readable(file: Path) -> bool:
    try:
        read_source(str(file))
    except OsbctlError:
        return False
    return True
