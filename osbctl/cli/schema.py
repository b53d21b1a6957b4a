"""`osbctl schema`: the JSON Schema of a catalog, for editors and other checkers."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from osbctl.cli.output import put
from osbctl.platforms import DEFAULT_API_VERSION, ApiVersion


def schema(
    api_version: Annotated[ApiVersion, Option(help="The API version of the catalog.")] = DEFAULT_API_VERSION,
) -> int:
    """Print the JSON Schema of a catalog: editors complete and check fields by it.

    \b
    osbctl schema > catalog-schema.json
    osbctl schema --api-version 2.17
    """
    from osbctl.resources import catalog_schema

    put(catalog_schema(api_version))
    return 0
