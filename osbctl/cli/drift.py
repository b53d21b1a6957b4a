"""`osbctl drift`: the broker's catalog against what a platform has stored of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from osbctl.changes import DiffFailOn
from osbctl.cli import diff as as_diff
from osbctl.cli import fetch as as_fetch
from osbctl.cli import options as common
from osbctl.cli.output import note
from osbctl.platforms import Platform
from osbctl.reports.changes import DRIFT
from osbctl.sources.exports.read import StoredAs

if TYPE_CHECKING:
    from collections.abc import Callable

    from osbctl.changes import Change
    from osbctl.sources.broker import Access
    from osbctl.sources.document import Document
    from osbctl.sources.exports.stored import StoredCatalog


def drift(
    broker: Annotated[
        str,
        typer.Argument(metavar="BROKER", help="The broker's address, or its catalog as a source.", show_default=False),
    ],
    stored: Annotated[
        list[str],
        typer.Argument(
            metavar="STORED...",
            help="What the platform has: the files of its export, in any order, or a catalog.",
            show_default=False,
        ),
    ],
    stored_as: Annotated[
        StoredAs | None, typer.Option("--stored-as", help="What STORED is.  [default: by its content]")
    ] = None,
    stored_broker: Annotated[
        str, typer.Option("--stored-broker", metavar="NAME", help="The broker, where the export holds several.")
    ] = "",
    platforms: as_diff.Platforms = None,
    instances: as_diff.Instances = None,
    fail_on: as_diff.FailOn = DiffFailOn.BREAKING,
    allow: as_diff.Allow = None,
    format: as_diff.Format = None,  # the option's own name
    output: common.Output = None,
    color: common.ColorChoice = common.Color.AUTO,
    user: as_fetch.User = None,
    password_stdin: as_fetch.PasswordStdin = False,
    api_version: as_fetch.Version = "2.14",
    ca_file: as_fetch.CaFile = None,
    client_cert: as_fetch.ClientCert = None,
    insecure: as_fetch.Insecure = False,
    timeout: as_fetch.Timeout = 60.0,
    max_bytes: common.MaxBytes = common.LIMITS.bytes,
) -> int:
    """Compare what a platform has stored of a broker with what the broker says.

    The changes are those that the platform would meet at its next refresh; levels, formats and exit codes are those of
    osbctl diff. What the platform does not store is named on standard error, not compared.

    \b
    osbctl drift https://broker.example.com --user platform offerings.json plans.json
    osbctl drift catalog.yaml classes-and-plans.yaml --stored-broker my-broker
    osbctl drift https://broker.example.com --user platform catalog-of-last-week.json
    """
    from osbctl.comparison.drift.find import notes
    from osbctl.sources.exports.read import stored_catalog

    def access(named: str, password: str) -> Access:
        return as_fetch.make_access(
            user or named, password, password_stdin, api_version, ca_file, client_cert, insecure, timeout, max_bytes
        )

    kept = stored_catalog(_read_all(broker, stored, max_bytes), stored_as, stored_broker)
    said = _broker(broker, access, max_bytes)
    view = _view(kept, platforms)
    changes = _changes(kept, said, view, instances)
    told = notes(kept, said.data)
    code = as_diff.report_changes(
        kept.document.name, said.name, changes, fail_on, allow, format, output, color, DRIFT, told
    )
    for sentence in told:
        note(sentence)
    return code


def _read_all(broker: str, stored: list[str], max_bytes: int) -> list[Document]:
    from osbctl.errors import UsageError
    from osbctl.sources.limits import Limits
    from osbctl.sources.read import read_source

    if [broker, *stored].count("-") > 1:
        raise UsageError("standard input can be one of the sources only", "name files for the others")
    return [read_source(source, limits=Limits(bytes=max_bytes)) for source in stored]


def _broker(word: str, access: Callable[[str, str], Access], max_bytes: int) -> Document:
    """The broker's catalog: fetched where `word` is an address, else read. `access` takes what the address holds."""
    from osbctl.sources.limits import Limits
    from osbctl.sources.read import parse_document, read_source

    limits = Limits(bytes=max_bytes)
    if not word.startswith(("http://", "https://")):
        return read_source(word, limits=limits)
    from osbctl.sources.broker import fetch, split_url

    address, user, password = split_url(word)
    answer = fetch(address, access(user, password))
    assert answer  # 304 comes only where a tag was sent
    return parse_document(answer.body, answer.name, limits=limits)


def _view(stored: StoredCatalog, asked: list[Platform] | None) -> frozenset[Platform]:
    from osbctl.errors import UsageError

    if stored.platform is None:
        return frozenset(asked or Platform)
    if asked and set(asked) != {stored.platform}:
        raise UsageError(f"this is an export of {stored.platform.label}", "leave --platform out")
    return frozenset({stored.platform})


def _changes(stored: StoredCatalog, broker: Document, view: frozenset[Platform], instances: str | None) -> list[Change]:
    from osbctl.comparison.drift.find import find_drift
    from osbctl.comparison.instances import read_instances
    from osbctl.comparison.places import with_places

    used = read_instances(instances) if instances else None
    changes = find_drift(stored, broker.data, platforms=view, instances=used)
    if not changes:
        return []
    changes += as_diff.now_refused(stored.document.data, broker.data, changes, view)
    return with_places(changes, stored.document, broker)
