"""The plan of the house: which room stands on which floor, the four ways through it, and a drawing of both.

tests/test_house.py holds the code to this plan, and tools/make_docs.py draws it into docs/images/house.svg.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parent.parent / "osbctl"

FLOORS = {
    "__main__": 5,
    "cli": 4,
    "editor": 3,
    "tasks": 2,
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
"""The floor of each room; whatever is not named here is the ground, floor 0."""

GROUND = (
    ("errors", "extras", "parallel", "paths", "resources", "text"),
    ("catalog", "files", "secrecy", "self_signed"),
    ("config", "credentials", "jsonschemas"),
    ("parameter_table", "platforms"),
    ("fields", "findings"),
    ("changes", "placeholders", "rule", "sources"),
    ("client",),
)
"""The rooms of the ground, from the lowest layer up: each knows those of lower layers alone."""

WAYS = {
    "A byte of YAML to a finding": (
        "tasks/validate", "sources/read", "sources/parse", "sources/yaml_reader", "validation/pipeline",
        "platforms/judge", "validation/fold", "sources/yaml_places",
        "reports/text_report",
    ),
    "A request to its answer": (
        "broker/serve", "broker/channel", "broker/parser", "broker/gate", "broker/task", "broker/answers",
    ),
    "Two catalogs to a level": (
        "tasks/compare", "comparison/catalogs", "comparison/match", "comparison/fields", "comparison/collect",
        "comparison/kinds", "comparison/parameters", "platforms/judge", "comparison/refusals",
        "comparison/allow", "reports/changes/text_changes",
    ),
    "A refresh to a drift": (
        "tasks/refresh", "tasks/registered_broker_client", "client/catalog_client", "registry/reconcile",
        "registry/store", "tasks/drift", "comparison/drift",
    ),
}  # fmt: skip
"""Each way with its stops, in their order; each is a module of the package."""

WIDTH, BOX, HEIGHT, GAP = 980, 122, 30, 8
LABEL = 195
STYLE = "font-family:system-ui,sans-serif;font-size:12px"


def rooms() -> dict[int, list[str]]:
    """The rooms that there are, by floor."""
    found: dict[int, list[str]] = {}
    for entry in sorted(PACKAGE.iterdir()):
        name = entry.stem
        if (entry.suffix == ".py" and name != "__init__") or (entry / "__init__.py").exists():
            found.setdefault(FLOORS.get(name, 0), []).append(name)
    return found


def drawing() -> str:
    """The plan as an SVG: the floors from top to ground, then the ways with their stops."""
    body: list[str] = []
    y = GAP
    names = {5: "program", 4: "command line", 3: "editors", 2: "tasks", 1: "middle, side by side", 0: "ground"}
    for floor, found in sorted(rooms().items(), reverse=True):
        y = _row(body, y, names[floor], [f"{name}" for name in found])
    y += 2 * GAP
    for way, stops in WAYS.items():
        y = _row(body, y, way, list(stops), arrows=True)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" style="{STYLE}" role="img">'
    title = "<title>The rooms of osbctl by floor, and four ways through them</title>"
    ground = f'<rect width="{WIDTH}" height="{y}" fill="#fff"/>'
    return "\n".join([head, title, ground, *body, "</svg>"]) + "\n"


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
