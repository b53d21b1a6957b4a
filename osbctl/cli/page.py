"""`osbctl page`: catalogs as one HTML file for people."""

from __future__ import annotations

import gc
from typing import Annotated

from typer import Argument, Option

from osbctl.cli import options as common
from osbctl.cli.output import note, put
from osbctl.cli.page_sources import PageSources
from osbctl.cli.spread import spread
from osbctl.platforms import Platform


@spread
def page(
    sources: Annotated[
        list[str],
        Argument(
            metavar="SOURCE...",
            help="Files, source folders, REV:path, brokers' addresses, names of registered brokers, or -.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str | None, Option("--output", "-o", metavar="FILE", help="Write the page there instead of printing it.")
    ] = None,
    since: Annotated[
        list[str] | None,
        Option(
            metavar="OLD",
            help="Show what changed: a revision of git, or an earlier catalog for each SOURCE; repeatable.",
        ),
    ] = None,
    findings: Annotated[bool, Option("--findings", help="Show what osbctl validate finds.")] = False,
    icons: Annotated[bool, Option("--icons", help="Fetch the icons that have an address, into the page.")] = False,
    private_icons: Annotated[bool, Option("--private-icons", help="Fetch icons from private addresses, too.")] = False,
    platforms: Annotated[
        list[Platform] | None,
        Option("--platform", "-p", help="Show what this platform makes of it; repeatable.  [default: all]"),
    ] = None,
    title: Annotated[str | None, Option(help="What the page is called.")] = None,
    logo: Annotated[str | None, Option(metavar="FILE", help="A picture for its head.")] = None,
    accent: Annotated[str | None, Option(metavar="COLOR", help="A colour as #rrggbb.")] = None,
    date: common.Date = "",
    config: common.Config = None,
    *,
    named: PageSources,
) -> int:
    """Make a page of what is on offer: one HTML file that needs no server, no network, and no script to be read.

    The page is the same, byte for byte, for the same sources and options. Secrets are left out.

    \b
    osbctl page catalog.yaml -o marketplace.html
    osbctl page data ai https://broker.example.com --user platform -o page.html
    osbctl page catalog.yaml --since main --findings -o review.html
    osbctl page services/*.yaml --icons --title Shop --accent "#0a7" -o a.html
    """
    from osbctl.config import find_config, load_config
    from osbctl.tasks.page import PageOptions, house_look, make_page

    gc.disable()  # as in validation: the run is short, and makes next to no garbage in circles
    settings = load_config(config) if config else find_config(".")
    shelves = named.shelves(sources, since or [])
    options = PageOptions(
        look=house_look({"title": title, "logo": logo, "accent": accent}, settings.page),
        platforms=frozenset(platforms or Platform),
        date=date,
        since=", ".join(since) if since else None,
        findings=findings,
        icons=icons,
        private_icons=private_icons,
    )
    made = make_page(shelves, options)
    put(made.html, output)
    for problem in made.problems:
        note(problem)
    return 0
