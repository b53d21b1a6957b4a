"""Pages are walked through as their markers say."""

import re
from pathlib import Path

import pytest

from tests.docs.test_links import PAGES, ROOT
from tools.walk import WalkError, walked

PAGE = """
<!-- file: catalog.yaml -->
```yaml
services: []
```

1. In a list:

   <!-- walk(1) -->
   ```console
   $ ls
   {told}
   $ osbctl validate catalog.yaml --platform cloudfoundry > report.txt
   ```
"""


def test_outputs_are_made_anew_where_they_stand() -> None:
    assert walked(PAGE.format(told="something else")) == PAGE.format(told="catalog.yaml")


def test_what_changes_from_run_to_run_stays() -> None:
    page = "<!-- walk -->\n```console\n$ date -u +%Y-%m-%dT%H:%M:%SZ\n2001-02-03T04:05:06Z\n```\n"
    assert walked(page) == page
    assert re.search(r"\d{4}-\d\d-\d\dT", walked(page.replace("2001-02-03T04:05:06Z\n", "")))


def test_another_end_than_told_and_a_broker_that_does_not_start_are_errors() -> None:
    with pytest.raises(WalkError, match="ended with 1, not 0"):
        walked("<!-- walk -->\n```console\n$ false\n```\n")
    with pytest.raises(WalkError, match="does not serve"):
        walked("<!-- walk(serve) -->\n```console\n$ osbctl serve missing.yaml --credentials missing.json\n```\n")


FILES = re.compile(r"<!-- file: (\S+) -->\n *```\w+\n(.*)")
WRITTEN = [page for page in PAGES if FILES.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_reader_sees_which_file_a_block_is(page: Path) -> None:
    """The marker is a comment: the name stands in the block's first line, or in the sentence before it."""
    text = page.read_text(encoding="utf-8")
    for match in FILES.finditer(text):
        name, first = match.groups()
        assert name in first or f"`{name}`" in text[max(0, match.start() - 250) : match.start()], name
