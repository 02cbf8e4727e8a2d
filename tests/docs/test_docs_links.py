"""Links between pages resolve; pages and pictures are all reachable."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = [*TOP, *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def links(page: Path) -> list[str]:
    return [link for link in LINK.findall(without_code(page)) if "://" not in link]


def anchors(page: Path) -> set[str]:
    """Return the anchors that a code host makes of the headings."""
    headings = re.findall(r"^#+ (.*)$", without_code(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_file(), f"{page.name}: {link}"
        assert target.is_relative_to(ROOT), f"{page.name}: {link} leaves the repository"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_every_page_and_picture_is_linked() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve() for page in PAGES for link in links(page)
    }
    documents = {path for path in (ROOT / "docs").rglob("*") if path.is_file()}
    assert documents <= linked


@pytest.mark.parametrize("picture", sorted((ROOT / "docs").rglob("*.svg")), ids=lambda p: p.name)
def test_pictures_are_plain(picture: Path) -> None:
    """A code host shows no scripts, and nothing fetched from elsewhere."""
    for element in ElementTree.parse(picture).iter():
        tag = element.tag.rpartition("}")[2]
        assert tag not in {"script", "foreignObject", "image"}
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert not name.endswith("href") or value.startswith("#")  # a part of the same picture
