"""What keeps a source folder from composing; `osbctl.sources.folder` finds it."""

from __future__ import annotations

from functools import partial

from osbctl.findings import Severity
from osbctl.rule import Category, describe

_error = partial(describe, severity=Severity.ERROR, category=Category.BUILD)

_error("folder-without-services", """The folder has no file under `services/`.""", source="osbctl build")
_error(
    "folder-escape",
    """A file of the folder leads out of it, by `..` or a symbolic link.

    Whoever may change the folder could have any file of the machine published.
    """,
    source="osbctl build",
)
_error("folder-two-files", """Two files of the folder have one stem.""", source="osbctl build")
_error(
    "folder-unread",
    """A YAML or JSON file under `services/` is part of nothing.

    Its plans or its service would be missing from the catalog, and nobody would hear of it: a folder of plans beside
    no service of that name, a misspelt `plans/`, an ending in capitals.
    """,
    source="osbctl build",
)
_error(
    "folder-order",
    """A list of files names one that is not there, one twice, or forgets one.

    Bad::

        services: [postgres, postgres]

    Good::

        services: [postgres, redis]
    """,
    source="osbctl build",
)
_error("folder-settings", """catalog.yaml holds a key or a type that osbctl does not know.""", source="osbctl build")
_error(
    "folder-plans",
    """A service with plans in files has `plans` that are not a list.""",
    source="osbctl build",
)
_error(
    "build-variable",
    """A `${NAME}` in a string is not set, or is not a reference.

    Set it with `--set NAME=VALUE` or `--env-prefix`, give a default (`${NAME:-default}`), or write `$${` for a
    literal `${`.
    """,
    source="osbctl build",
)
_error(
    "build-overlay",
    """An overlay addresses nothing, or has the wrong shape.

    It addresses services and plans by name; what is named must be there.
    """,
    source="osbctl build; RFC 7396 for the changes",
)
_error(
    "build-reference",
    """A `$ref` of a parameter schema cannot be followed.

    It names a URL, leads out of the folder, back to itself, or to nothing.
    """,
    source="osbctl build; OSB 2.13: no external references",
)
_error(
    "build-id-missing",
    """A service offering or a plan has no id.

    Ids are never made up in silence: what platforms know a thing by must be in its file. The hint offers a fresh GUID.
    """,
    source="OSB 2.14, Service Offering Object: id is required",
)
_error(
    "build-id-changed",
    """An id has changed while the name stayed.

    Platforms know a thing by its id: Cloud Foundry always refuses such an update, Service Manager while there are
    instances; Service Catalog takes it for a new plan.
    """,
    source="catalog.lock; Cloud Controller, catalog.rb",
)
_error(
    "build-id-reused",
    """An id was used before for something else.

    A platform would take the new thing for the old one, or refuse the update.
    """,
    source="catalog.lock; OSB 2.16: ids SHOULD NOT be reused",
)
