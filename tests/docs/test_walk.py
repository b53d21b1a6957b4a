"""Pages are walked through as their markers say."""

from __future__ import annotations

import re

import pytest

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


def test_another_end_than_told_is_an_error() -> None:
    with pytest.raises(WalkError, match="ended with 1, not 0"):
        walked("<!-- walk -->\n```console\n$ false\n```\n")


def test_a_broker_that_does_not_start_is_an_error() -> None:
    with pytest.raises(WalkError, match="does not serve"):
        walked("<!-- walk(serve) -->\n```console\n$ osbctl serve missing.yaml --credentials missing.json\n```\n")
