"""The date that a page shows; it has none of its own, so that it is the same each time."""

from __future__ import annotations

from datetime import UTC, date, datetime

from osbctl.errors import UsageError


def page_date(asked: str) -> str:
    """The date as a page shows it (RFC 3339): the day or the time, in UTC, that is asked for.

    `commit` stands for the day of the commit; without one, there is none.

    Raises:
        UsageError: it is no date.
        SourceError: there is no commit.
    """
    if asked == "commit":
        from osbctl.sources.git import commit_date

        return commit_date()
    try:
        if "T" in asked:
            return datetime.strptime(asked, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return date.fromisoformat(asked).isoformat() if asked else ""
    except ValueError:
        advice = "write it as YYYY-MM-DD, as YYYY-MM-DDTHH:MM:SSZ, or as commit"
        raise UsageError(f"{asked!r} is not a date", advice) from None
