"""The layers of the packages, four calls through them, and a drawing of both.

tests/test_architecture.py compares the code with it; tools/make_docs.py draws docs/images/architecture.svg.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parent.parent / "osbctl"

LAYERS = {
    "__main__": 5,
    "editor": 3,
    "commands": 2,
    "validation": 1,
    "comparison": 1,
    "broker": 1,
    "conformance": 1,
    "registry": 1,
    "reports": 1,
    "views": 1,
    "pages": 1,
    "requests": 1,
    "fixes": 1,
}
"""The layer of each package; what is not listed is in the base layer, 0."""

BASE = (
    ("paths", "text"),
    ("messages",),
    ("catalog", "errors", "masking"),
    ("files",),
    ("credentials", "jsonschemas", "parallel"),
    ("parameter_table", "platforms"),
    ("fields", "findings"),
    ("changes", "placeholders", "rule", "sources"),
    ("client", "config"),
)
"""The packages and modules of the base, from the lowest up: each imports lower ones alone."""

CALLS = {
    "A byte of YAML to a finding": (
        "commands/validate", "sources/read", "sources/document", "sources/yaml_reader", "validation/pipeline",
        "platforms/cloudfoundry/verdict", "reports/text_report",
    ),
    "A request to its answer": (
        "broker/server", "broker/channel", "broker/parser", "broker/authenticator", "broker/catalog_app",
    ),
    "Two catalogs to a level": (
        "commands/diff", "comparison/catalogs", "comparison/fields", "comparison/collector", "comparison/kinds",
        "platforms/cloudfoundry/verdict", "comparison/refusals", "comparison/allow", "reports/text_changes",
    ),
    "A refresh to a drift": (
        "commands/brokers", "commands/connection", "client/catalog_client", "registry/reconcile",
        "registry/store", "commands/drift", "comparison/drift",
    ),
}  # fmt: skip
"""Each call with the modules that it goes through, in order."""

WIDTH, BOX, HEIGHT, GAP = 980, 122, 30, 8
LABEL = 195
STYLE = "font-family:system-ui,sans-serif;font-size:12px"


def packages() -> dict[int, list[str]]:
    """Packages and modules by layer."""
    found: dict[int, list[str]] = {}
    for entry in sorted(PACKAGE.iterdir()):
        name = entry.stem
        if (entry.suffix == ".py" and name != "__init__") or (entry / "__init__.py").exists():
            found.setdefault(LAYERS.get(name, 0), []).append(name)
    return found


def drawing() -> str:
    """The architecture as an SVG: the layers from the top down, then the calls."""
    body: list[str] = []
    y = GAP
    names = {5: "program", 3: "editors", 2: "commands", 1: "middle", 0: "base"}
    for layer, found in sorted(packages().items(), reverse=True):
        y = _row(body, y, names[layer], [f"{name}" for name in found])
    y += 2 * GAP
    for call, modules in CALLS.items():
        y = _row(body, y, call, list(modules), arrows=True)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" style="{STYLE}" role="img">'
    title = "<title>The packages of osbctl by layer, and four calls through them</title>"
    background = f'<rect width="{WIDTH}" height="{y}" fill="#fff"/>'
    return "\n".join([head, title, background, *body, "</svg>"]) + "\n"


def _row(body: list[str], y: int, label: str, names: list[str], *, arrows: bool = False) -> int:
    """Draw a label and its boxes, in as many lines as they need; return where the next row begins."""
    body.append(f'<text x="{GAP}" y="{y + 19}" font-weight="bold" font-size="11">{escape(label)}</text>')
    x = LABEL
    for number, name in enumerate(names):
        if x + BOX > WIDTH:
            x, y = LABEL, y + HEIGHT + GAP
        body.extend(_box(x, y, name))
        if arrows and number:
            body.append(f'<text x="{x - GAP}" y="{y + 19}">›</text>')
        x += BOX + GAP
    return y + HEIGHT + 2 * GAP


def _box(x: int, y: int, name: str) -> Iterator[str]:
    yield f'<rect x="{x}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="4" fill="#eef3fa" stroke="#5a7ca8"/>'
    size = 12 if len(name) <= 15 else 10
    middle = x + BOX // 2
    yield f'<text x="{middle}" y="{y + 19}" text-anchor="middle" font-size="{size}" fill="#111">{escape(name)}</text>'
