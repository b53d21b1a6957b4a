"""Claims about platforms in the explanations have a source: code at a commit, or a measurement."""

import re
from pathlib import Path

import pytest

from osbctl.platforms import Platform

ROOT = Path(__file__).parents[2]
TEXTS = {name: (ROOT / "docs" / "explanation" / f"{name}.md").read_text("utf-8") for name in ("platforms", "ids")}
MARK = re.compile(r"\[\^([\w-]+)\](?!:)")
DEFINITION = re.compile(r"(?m)^\[\^([\w-]+)\]: (.+)$")
READ = re.compile(
    r"\[(?P<name>[\w-]+) (?P<start>[\w.]+): (?P<file>[\w.-]+)\]"
    r"\(https://github\.com/[\w-]+/(?P<repository>[\w-]+)/blob/(?P<commit>[0-9a-f]{40}|v\d[\d.]+)/(?P<path>[\w./-]+)\), `"
)
LABELS = [r"\s+".join(platform.label.split()) for platform in Platform]
NAMED = re.compile("|".join([*LABELS, r"Service\s+Catalog|Service\s+Manager|\bRuby\b|\bspecification\b"]))
DEFINED = {text: source for page in TEXTS.values() for text, source in DEFINITION.findall(page)}


def blocks(text: str) -> list[str]:
    """Paragraphs, list items and tables; no headings, no definitions, no comments, and links without their targets."""
    text = re.sub(r"\]\([^)]*\)", "]", DEFINITION.sub("", text))
    parts = re.split(r"\n\s*\n|\n(?=- )", text)
    return [part.strip() for part in parts if part.strip() and not part.strip().startswith("#")]


def unsourced(text: str) -> list[str]:
    """Paragraphs and table rows about platforms without a source."""
    found = []
    for block in blocks(text):
        if block.startswith("|"):
            head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines())
            found += [
                f"{row[0]}: {cell}"
                for row in rows
                for title, cell in zip(head[1:], row[1:], strict=True)
                if cell and not MARK.search(title + cell)
            ]
        elif NAMED.search(MARK.split(block)[-1]):
            found.append(block)
    return found


@pytest.mark.parametrize("page", TEXTS)
def test_claims_have_sources_and_sources_are_defined_and_used(page: str) -> None:
    assert unsourced(TEXTS[page]) == []
    assert set(MARK.findall(TEXTS[page])) == set(dict(DEFINITION.findall(TEXTS[page])))
    assert len(DEFINITION.findall(TEXTS[page])) > 5


@pytest.mark.parametrize("name", DEFINED)
def test_a_source_says_where(name: str) -> None:
    """Read: repository, commit, file and what to look for there. Measured: where the cases are."""
    source = DEFINED[name]
    assert all(source == dict(DEFINITION.findall(page)).get(name, source) for page in TEXTS.values())
    if source.startswith("Measured in "):
        files = re.findall(r"`(tests/[^`]+)`", source)
        assert files and all((ROOT / file).exists() for file in files)
        return
    read = READ.match(source)
    assert read, source
    assert read["repository"] == read["name"] and read["commit"].startswith(read["start"])
    assert Path(read["path"]).name == read["file"]


def test_a_claim_without_a_source_is_noticed() -> None:
    assert unsourced("| a | Korifi[^x] | Service Catalog |\n|---|---|---|\n| b | c | d |") == ["b: d"]
    assert unsourced("Korifi does this.[^x] Cloud Foundry\ndoes that.") != []
    assert unsourced("- Cloud Foundry does this.[^x]\n- Korifi does that.") == ["- Korifi does that."]
    assert unsourced("# Korifi\n\nosbctl does this. Korifi does that.[^x]") == []
