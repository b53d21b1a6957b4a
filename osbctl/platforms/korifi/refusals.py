"""Refusal rules of Korifi; `verdict` reports them."""

from osbctl.platforms.golang import wrong_type

REFUSALS = {
    "type": wrong_type("Korifi", "cloudfoundry/korifi fb0a00b25db6, controllers/controllers/services"),
    "crash": """Korifi's controller panics on a documentationUrl that is not a string.
    Bad: metadata: {documentationUrl: null}
    Good: metadata: {documentationUrl: "https://docs.example.com"}
    Source: cloudfoundry/korifi fb0a00b25db6, controllers/controllers/services""",
}
