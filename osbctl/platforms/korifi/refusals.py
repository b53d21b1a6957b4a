"""What Korifi refuses; `verdict` finds it."""

from __future__ import annotations

from osbctl.platforms.golang import WRONG_TYPE
from osbctl.platforms.record import RefusalRule

_TEXTS = {
    "type": WRONG_TYPE.format("Korifi"),
    "crash": """Korifi's controller panics on a documentationUrl that is not a string.

    Bad::

        metadata: {documentationUrl: null}

    Good::

        metadata: {documentationUrl: "https://docs.example.com"}
    """,
}
REFUSALS = {
    name: RefusalRule(text, "cloudfoundry/korifi fb0a00b25db6, controllers/controllers/services")
    for name, text in _TEXTS.items()
}
