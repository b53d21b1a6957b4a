"""The site builds without a warning, notices a broken link, and shows its pages without asking another host."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.conftest import BUILD
from tests.git import ROOT

pytest.importorskip("sphinx")
pytestmark = pytest.mark.release
LOADED = re.compile(
    r"<(?:script|img|iframe|source)[^>]+src=\"(?:https?:)?//|<link[^>]+href=\"(?:https?:)?//|@import|url\(.?https?:"
)


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    files = [file for file in site.rglob("*") if file.suffix in (".html", ".css")]
    assert len(files) > 20
    assert [file.name for file in files if LOADED.search(file.read_text(encoding="utf-8"))] == []


def test_links_to_files_of_the_repository_stay_in_the_site(site: Path) -> None:
    assert 'href="deploy.html"' in (site / "tutorial.html").read_text(encoding="utf-8")
    assert 'href="../security.html' in (site / "how-to" / "rotate-credentials.html").read_text(encoding="utf-8")
    assert 'href="changelog.html' in (site / "install.html").read_text(encoding="utf-8")
    assert "systemd" in (site / "deploy.html").read_text(encoding="utf-8")
    pages = {file: file.read_text(encoding="utf-8") for file in site.rglob("*.html")}
    assert [file.name for file, text in pages.items() if re.search(r'href="https?://[^"]*example\.com', text)] == []
    for file, text in pages.items():
        for link in re.findall(r'<a class="reference[^"]*" href="([^"#]+)', text):
            if "//" in link:
                continue
            assert (file.parent / link).exists(), f"{file.name}: {link}"


def whole(color: str) -> str:
    """The form #rrggbb of a colour that may be #rgb."""
    return "#" + "".join(2 * digit for digit in color[1:]) if len(color) == 4 else color


def test_colours_can_be_read(site: Path) -> None:
    """WCAG 2, 1.4.3: at least 4.5 to 1."""
    css = (site / "_static" / "pygments.css").read_text(encoding="utf-8")
    rule = re.compile(r"(?m)^(.*?)\.highlight( [^{]*)?\{([^}]*)\}")
    grounds: dict[str, str] = {}
    worst, seen = 21.0, 0
    for theme, token, style in rule.findall(css):
        ground = re.search(r"background(?:-color)?: (#\w+)", style)
        if not token.strip() and ground:
            grounds[theme] = ground[1]
        color = re.search(r"(?<!-)color: (#\w+)", style)
        if color:
            behind = ground[1] if ground else grounds[theme]
            worst, seen = min(worst, contrast(whole(color[1]), whole(behind))), seen + 1
    assert seen > 50
    assert worst >= 4.5


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours `#rrggbb`, 1 to 21 (WCAG 2.2, contrast ratio)."""
    dim, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dim + 0.05)


def luminance(color: str) -> float:
    channels = [value / 255 for value in bytes.fromhex(color[1:])]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("name", ["show.svg", "validate.svg"])
def test_pictures_can_be_read(name: str) -> None:
    drawn = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
    (ground,) = set(re.findall(r'<rect fill="(#\w+)" stroke', drawn))
    colors = re.findall(r"{ fill: (#\w+)", drawn)
    assert len(colors) > 2
    assert min(contrast(whole(color), whole(ground)) for color in colors) >= 4.5


@pytest.mark.parametrize("link", ["tutorial.md#no-such-heading", "no-such-page.md", "../no-such-file.md"])
def test_a_broken_link_stops_the_build(tmp_path: Path, link: str) -> None:
    shutil.copy(ROOT / "docs" / "conf.py", tmp_path)
    (tmp_path / "tutorial.md").write_text("# Tutorial\n")
    (tmp_path / "index.md").write_text(f"# Index\n\n```{{toctree}}\ntutorial\n```\n\n[a link]({link})\n")
    done = subprocess.run([*BUILD, tmp_path, tmp_path / "site"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "index.md:7: WARNING" in done.stderr
