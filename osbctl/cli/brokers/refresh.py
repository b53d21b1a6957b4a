"""`osbctl brokers refresh`: fetch catalogs again, and store what the platform makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from osbctl.cli.brokers import options as common
from osbctl.cli.connection import Conditions
from osbctl.cli.output import note, put
from osbctl.cli.spread import spread
from osbctl.platforms import Platform
from osbctl.registry import location

if TYPE_CHECKING:
    from collections.abc import Iterable

    from osbctl.registry.records import Refresh
    from osbctl.registry.refresh import Policy


@spread
def refresh(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="The brokers; all where none is named.")
    ] = None,
    platform: Annotated[
        Platform | None, typer.Option("--as", help="Follow this platform's rules.  [default: as registered]")
    ] = None,
    instances: common.Instances = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would happen, and store nothing.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Report only brokers that were refused or not fetched.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=64, help="Brokers to ask at once.")] = 8,
    password_stdin: common.PasswordStdin = False,
    credentials: common.Credentials = None,
    database: common.Database = None,
    *,
    how: Conditions,
) -> int:
    """Fetch catalogs again and reconcile.

    What the platform creates, updates, keeps and deletes is printed and stored. A catalog that is refused leaves the
    stored one as it was. Exits with 3 where a broker could not be reached, else with 1 where a catalog was refused.

    \b
    osbctl brokers refresh
    osbctl brokers refresh data --as korifi --instances plans.txt --dry-run
    """
    from osbctl.cli.brokers.passwords import Passwords
    from osbctl.cli.progress import progress
    from osbctl.comparison.instances import read_instances

    with location.open_registry(database) as registry:
        from osbctl.registry.refresh import Policy
        from osbctl.tasks.reach import Reach
        from osbctl.tasks.refresh import choose, refresh_brokers

        chosen = choose(registry, names or ())
        passwords = Passwords(stdin=password_stdin, credentials=credentials, single=len(chosen) == 1)
        reach = Reach(how.access(), passwords.of, note)
        policy = Policy(platform, read_instances(instances) if instances else None, dry_run)
        results = progress(refresh_brokers(registry, chosen, reach, policy, jobs), len(chosen), "refreshing")
        return _report(results, len(chosen), policy, quiet)


def _report(results: Iterable[tuple[str, Refresh]], total: int, policy: Policy, quiet: bool) -> int:
    from osbctl.registry.records import RefreshOutcome, What
    from osbctl.registry.text import refresh_lines

    counts = dict.fromkeys(RefreshOutcome, 0)
    deleted = 0
    for name, done in results:
        counts[done.outcome] += 1
        deleted += done.counts().get(What.DELETED, 0)
        if not quiet or done.outcome in (RefreshOutcome.REFUSED, RefreshOutcome.FAILED):
            put("\n".join(refresh_lines(name, done, policy.dry_run)) + "\n", None)
    if deleted and not quiet and policy.instances is None:
        note("deleted as if there were no instances: --instances tells of plans that have some")
    if total != 1 and not quiet:
        text = ", ".join(f"{number:,} {outcome}" for outcome, number in counts.items() if number) or "nothing to do"
        note(f"{total:,} brokers: {text}")
    return 3 if counts[RefreshOutcome.FAILED] else int(counts[RefreshOutcome.REFUSED] > 0)
