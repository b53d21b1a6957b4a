"""Catalogs with mistakes of all kinds, written as people write them: every style of YAML and JSON, chosen by lot."""

import json
import re
from random import Random
from typing import Any

D4 = "http://json-schema.org/draft-04/schema#"
FLAGS = ["true", "no", "Off", "yes", True, False, 1, 1.5, "x", None]
VALUES: dict[str, list[Any]] = {
    "bindable": FLAGS,
    "free": FLAGS,
    "plan_updateable": FLAGS,
    "planUpdateable": FLAGS,
    "plan_updatable": FLAGS,
    "instances_retrievable": FLAGS,
    "tags": [["a", "no"], "one", "no", [1], [], 1, None, "it's # so"],
    "requires": ["syslog_drain", ["route_forwarding"], ["x"], None],
    "description": ["d", "no", 12, 1.50, "two\nlines", "", "a: b", "- c", None, True],
    "name": ["a", "b c", 12, "no", "on", "0x1F", "1e3", "2019-01-01"],
    "id": ["6C3B1D0E-8A4F-4E57-9B1C-2D7F5A90E3B4", "x", 12, "012", None, "no"],
    "maximum_polling_duration": ["60", 60, "x", "1e2", "-1", " 60"],
    "x: y": ["no", {"no": "yes", "y": 1}, ["on", {"off": "No"}]],
}
METADATA: dict[str, list[Any]] = {
    "displayName": [12, "n", None, True],
    "longDescription": ["no", 1.0, "a\n\nb\n"],
    "bullets": ["one", ["a", 1], [], None, "no"],
    "costs": [[{"amount": {"usd": "1.50"}, "unit": "MONTHLY"}], [{"amount": {"usd": 1}, "unit": 3}], "1", [{}]],
    "shareable": FLAGS,
    "imageUrl": ["http://x.test/", 1],
}
KEYWORDS: dict[str, list[Any]] = {
    "$schema": [D4, "https://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#",
                "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-06/schema", 4, "x"],
    "type": ["object", "nope", ["object"]],
    "properties": [{"a": {"type": "string"}}, {"a": {"const": 1}}, {"n": {"exclusiveMinimum": 1}}, {"y": {}}],
    "definitions": [{"no": {"type": "object"}}],
    "additionalProperties": [False, "no"],
    "required": [["a"], []],
}  # fmt: skip


def _some(random: Random, fields: dict[str, list[Any]], most: int) -> dict[str, Any]:
    chosen = random.sample(sorted(fields), random.randrange(min(most, len(fields)) + 1))
    return {name: random.choice(fields[name]) for name in chosen}


def catalog(random: Random) -> Any:
    """A catalog, or nearly one."""
    shared = random.choice([{}, _some(random, METADATA, 3)])
    services = []
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        service: dict[str, Any] = {"name": "s", "description": "d", **_some(random, VALUES, 6)}
        plans: list[Any] = []
        for _ in range(random.choice([0, 1, 2, 4])):
            plan = {"name": "p", "id": f"p{len(plans)}", **_some(random, VALUES, 5)}
            if random.random() < 0.5:
                plan["metadata"] = random.choice([shared, _some(random, METADATA, 4)])
            if random.random() < 0.4:
                holder = {"parameters": _some(random, KEYWORDS, 4)}
                plan["schemas"] = random.choice([{"service_instance": {"create": holder}}, {"service_binding": holder}])
            plans.append(plan if random.random() < 0.97 else random.choice([None, "p", [plan]]))
        service["plans"] = plans if random.random() < 0.95 else random.choice([None, "p", {}])
        if random.random() < 0.5:
            service["metadata"] = random.choice([shared, _some(random, METADATA, 4), None, "no"])
        services.append(service)
    return {"services": services if random.random() < 0.98 else random.choice([None, "s", {}])}


def text(random: Random, value: Any) -> tuple[str, bytes]:
    """A name of a file, and the value as that file holds it."""
    if random.random() < 0.35:
        made = json.dumps(value, indent=random.choice([None, 0, 2, "\t"]), ensure_ascii=random.random() < 0.5,
                          separators=random.choice([(",", ":"), (", ", ": "), (" ,\n", "\t:  ")]))  # fmt: skip
        name = random.choice(["c.json", "c.json", "c.yaml"])
    else:
        made, name = _Yaml(random).whole(value), "c.yaml"
    end = random.choice(["\n", "\n", "\n", "\r\n", "\r"])
    made = (made + random.choice(["", "\n", "\n", "\n\n"])).replace("\n", end)
    return name, random.choice([b"", b"", b"", b"\xef\xbb\xbf"]) + made.encode()


class _Yaml:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.anchors: dict[str, str] = {}
        self.comments = random.random() < 0.5
        self.anchored = random.random() < 0.4
        self.dashes = random.choice(["- ", "- ", "-   "])

    def whole(self, value: Any) -> str:
        head = self.random.choice(["", "", "", "---\n", "%YAML 1.2\n---\n", "# first\n\n"])
        body = self.flow(value) if self.random.random() < 0.15 else self.block(value, 0)
        return head + body.removeprefix("\n") + self.random.choice(["", "", "\n...", "\n# last", "\n  "])

    def comment(self) -> str:
        return self.random.choice(["", "", "  # so: [no]", " #", "\t# tab", "\n\n# own line"]) if self.comments else ""

    def block(self, value: Any, indent: int) -> str:
        """Text after a key or hyphen, from its blank or line end on."""
        if self.random.random() < 0.15 or not isinstance(value, dict | list) or not value:
            return self.flow(value, block=indent)
        if found := self.alias(value):
            return found
        pad, anchor = "\n" + " " * indent, self.anchor(value)
        if isinstance(value, dict):
            step = self.random.choice([1, 2, 2, 4])
            lines = []
            for key, item in value.items():
                below = self.random.choice([indent, indent + step]) if isinstance(item, list) else indent + step
                lines.append(f"{self.key(key)}:{self.gap(self.block(item, below))}{self.comment()}")
        else:
            width = len(self.dashes)
            lines = [
                f"{self.dashes}{self.block(item, indent + width).lstrip(chr(10) + ' ')}{self.comment()}"
                for item in value
            ]
        return anchor + pad + pad.join(lines)

    def gap(self, below: str) -> str:
        return below if below.startswith("\n") else self.random.choice([" ", " ", "   ", "\t"]) + below

    def flow(self, value: Any, block: int = 0) -> str:
        if found := self.alias(value):
            return found
        anchor = self.anchor(value)
        anchor += " " if anchor else ""
        comma = self.random.choice([", ", ",", f" ,\n{' ' * (block + 1)}"])
        if isinstance(value, dict):
            pairs = (f"{self.key(key)}: {self.flow(item, block)}" for key, item in value.items())
            return f"{anchor}{{{comma.join(pairs)}{self.random.choice(['', ',']) if value else ''}}}"
        if isinstance(value, list):
            return f"{anchor}[{comma.join(self.flow(item, block) for item in value)}]"
        return anchor + self.scalar(value)

    def key(self, key: str) -> str:
        quoted = not re.fullmatch(r"[\w$]+", key) or self.random.random() < 0.15
        return self.random.choice([json.dumps(key), f"'{key}'"]) if quoted else key

    def scalar(self, value: Any) -> str:
        if not isinstance(value, str):
            return self.random.choice([json.dumps(value), "~" if value is None else json.dumps(value)])
        forms = [json.dumps(value), json.dumps(value, ensure_ascii=False)]
        if "\n" not in value:
            forms.append("'" + value.replace("'", "''") + "'")
        if re.fullmatch(r"[\w$./()+:-]+", value) and not value.startswith("-") and not value.endswith(":"):
            forms += [value] * 4
        if self.random.random() < 0.03:
            return f"!!str {forms[-1]}"
        return self.random.choice(forms)

    def anchor(self, value: Any) -> str:
        if not self.anchored or self.random.random() < 0.7 or json.dumps(value) in self.anchors:
            return ""
        self.anchors[json.dumps(value)] = name = f"a{len(self.anchors)}"
        return f" &{name}" if isinstance(value, dict | list) else f"&{name}"

    def alias(self, value: Any) -> str:
        name = self.anchors.get(json.dumps(value))
        return f"*{name} " if name and self.random.random() < 0.8 else ""
