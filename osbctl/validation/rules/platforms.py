"""What each platform refuses beside what the specification forbids; its verdict finds it."""

from __future__ import annotations

from osbctl.findings import Severity
from osbctl.platforms import Platform
from osbctl.rule import Category, describe

for _platform in Platform:
    for _name, _refused in _platform.record.refusals.items():
        describe(
            f"{_platform}-{_name}",
            _refused.text,
            severity=Severity.WARNING,
            category=Category.PLATFORM,
            source=_refused.source,
            refused_by=(_platform,),
            fix=_refused.fix,
        )
