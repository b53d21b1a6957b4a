"""`osbctl page`: catalogs as one HTML file for people."""

import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Annotated, Literal
from urllib.parse import urlsplit

from typer import Argument, Option

from osbctl.cli import common
from osbctl.cli.connection import BrokerConnection, is_address, read_source_or_broker, source_name
from osbctl.cli.output import print_error, print_failure_count, print_note, write_output
from osbctl.cli.searched import find_named_catalogs
from osbctl.config import find_config, load_config
from osbctl.containment import run_on_each
from osbctl.errors import OsbctlError, UsageError
from osbctl.sources.catalogs import require_services
from osbctl.sources.read_bytes import is_in_git, path_in_revision


@common.expand_option_groups
def page(
    sources: Annotated[
        list[str] | None,
        Argument(metavar="SOURCE...", help=f"{common.ADDRESSED}{common.CATALOGS_IN_FOLDER}", show_default=False),
    ] = None,
    output: Annotated[str | None, Option("--output", "-o", metavar="FILE", help="Write the page to FILE.")] = None,
    since: Annotated[
        list[str] | None,
        Option(
            metavar="OLD", help="Show changes since a git revision, or an earlier catalog for each SOURCE; repeatable."
        ),
    ] = None,
    findings: Annotated[bool, Option("--findings", help="Show what osbctl validate finds.")] = False,
    platforms: common.JudgedPlatforms = None,
    title: Annotated[str | None, Option(metavar="TITLE", help="What the page is called.")] = None,
    logo: Annotated[str | None, Option(metavar="FILE", help="A picture for its head.")] = None,
    accent: Annotated[str | None, Option(metavar="COLOR", help="A colour as #rgb or #rrggbb.")] = None,
    audience: Annotated[
        Literal["customer", "operator"],
        Option(help="Who reads the page: customers see the offer, an operator also verdicts and all commands."),
    ] = "customer",
    images: Annotated[
        str | None, Option(metavar="FOLDER", help="Images of services, named like them: postgres.svg.")
    ] = None,
    embed_images: Annotated[
        bool, Option("--embed-images", help="Fetch images from their public addresses in the catalog.")
    ] = False,
    internal_images: Annotated[
        bool, Option("--internal-images", help="With --embed-images: also ask loopback and private addresses.")
    ] = False,
    exclude: common.Exclude = None,
    date: common.Date = "",
    *,
    where: common.LocationOptions,
    connection: BrokerConnection,
) -> int:
    """Make a page of what is on offer: one HTML file that needs no server, no network, and no script to be read.

    The page is the same, byte for byte, for the same sources and options. Secrets are left out. A source that cannot be
    read is named at the top of the page, which shows the others; the exit code says that it failed.

    \b
    osbctl page catalog.yaml -o marketplace.html
    osbctl page catalog.yaml https://broker.example.com --user platform -o a.html
    osbctl page catalog.yaml --since main --findings -o review.html
    osbctl page services/*.yaml --title Shop --accent "#0a7" -o a.html
    """
    from osbctl.pages import Content
    from osbctl.pages.safe_content import MAX_IMAGE_BYTES
    from osbctl.tasks.options import Request, first_config, resolve_config, validation_options
    from osbctl.tasks.output_checks import check_output
    from osbctl.tasks.page import PageCatalog, make_page_of_readable, read_branding
    from osbctl.tasks.page_images import MAX_ADDRESSES, PageImages, list_images

    if internal_images and not embed_images:
        raise UsageError("--internal-images is for fetching images", "add --embed-images")
    sources = find_named_catalogs(sources, exclude=exclude)
    files = list_images(images) if images else {}
    check_output(output, [*sources, *(since or ()), logo, where.config, where.env, *connection.files, *files.values()])
    given = load_config(where.config) if where.config else None
    request = Request(tuple(sources), platforms=tuple(platforms or ()))
    since = since or []
    connection.check_stdin(*sources, *since)
    earlier = _resolve_earlier_catalogs(sources, since)
    connection.check_used(where, *sources, *filter(None, earlier), fetches_more=embed_images)
    connection = connection.with_configured_version(first_config((), where.config))

    def read(named: tuple[str, str, str]) -> PageCatalog:
        name, source, old = named
        document = read_source_or_broker(connection, source, where)
        before = require_services(read_source_or_broker(connection, old, where), as_list=True) if old else None
        options = validation_options(request, resolve_config(source, config=given))
        return PageCatalog(name, document, before, options, pictures.find(document.catalog))

    limits = {"max_bytes": MAX_IMAGE_BYTES, "public_only": not internal_images}
    pictures = PageImages(files, connection.connection_options(**limits) if embed_images else None)
    names = _broker_names(sources)
    found = run_on_each(read, zip(names, sources, earlier, strict=True))
    configured = (given or find_config(os.curdir)).page
    configured = configured or first_config(sources, where.config).page
    branding = read_branding({"title": title, "logo": logo, "accent": accent}, configured)
    since_text = f"Since {', '.join(map(_earlier_catalog_name, since))}." if since else None
    content = Content(branding=branding, date=date, since=since_text, findings=findings, audience=audience)
    catalogs = [catalog for catalog in found if not isinstance(catalog, OsbctlError)]
    print_note(*pictures.notes)
    if pictures.skipped:
        print_note(f"{pictures.skipped:,} more images are not fetched: --timeout is for all, at most {MAX_ADDRESSES}")
    failed = {name: error for name, error in zip(names, found, strict=True) if isinstance(error, OsbctlError)}
    if catalogs:
        text, errors = make_page_of_readable(catalogs, failed, content)
        write_output(text, output)
        failed |= errors
    codes = [print_error(error, name) for name, error in failed.items()]
    print_failure_count(len(failed), len(sources), "catalogs could not be shown")
    return max(codes, default=0)


def _resolve_earlier_catalogs(sources: Sequence[str], since: Sequence[str]) -> Sequence[str]:
    """An earlier catalog for each of `sources`. `since` has one for each, or a revision for all."""
    if not since:
        return [""] * len(sources)
    if len(since) == 1 and _may_be_revision(since[0]):
        if wrong := next((source for source in sources if not os.path.exists(source)), None):  # noqa: PTH110
            advice = "name an earlier catalog with --since"
            raise UsageError(f"{wrong} is not a file, so git has no revision of it", advice)
        earlier = [path_in_revision(since[0], source) for source in sources]
        new = {old: source for old, source in zip(earlier, sources, strict=True) if not is_in_git(old)}
        if len(new) == len(sources):  # a wrong revision, or no git: reading it says why
            return earlier
        print_note(*(f"{source} is new: {since[0]} has nothing to compare it with" for source in new.values()))
        return ["" if old in new else old for old in earlier]
    if len(since) != len(sources):
        raise UsageError("--since needs one revision, or an earlier catalog for each source", "repeat --since")
    return since


def _may_be_revision(text: str) -> bool:
    return not (text == "-" or ":" in text or os.path.exists(text))  # noqa: PTH110


def _broker_names(sources: Sequence[str]) -> list[str]:
    """Names of brokers on the page: short ones, or the last parts of the paths if two would be equal."""
    names = short = [_short_broker_name(source) for source in sources]
    for length in range(1, 20):
        if len(set(names)) == len(names):
            return names
        ends = ["/".join(PurePath(source).parts[-length:]) for source in sources]
        longer = [source_name(source) if is_address(source) else end for source, end in zip(sources, ends, strict=True)]
        names = [other if short.count(name) > 1 else name for name, other in zip(short, longer, strict=True)]
    return short


def _earlier_catalog_name(source: str) -> str:
    """Name of an earlier catalog: no password and no absolute path, since others read the page."""
    return PurePath(source).name if PurePath(source).is_absolute() else source_name(source)


def _short_broker_name(source: str) -> str:
    if is_address(source):
        return urlsplit(source).hostname or source_name(source)
    return PurePath(source.rpartition(":")[2]).stem or source
