"""The skeleton of pages: whole, escaped, standing alone."""

import re
from html.parser import HTMLParser

from overcoat.reports.page import page, panels, scrolling

VOID = {"meta", "img", "br", "hr"}


class Reader(HTMLParser):
    """Notes elements, and fails where one is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_is_whole() -> None:
    text = page("A <b> title", ["<h2>One</h2>", "<p>two</p>"], lead="1 < 2")
    assert text.startswith("<!DOCTYPE html>\n")
    reader = Reader(text)
    assert ("html", {"lang": "en"}) in reader.seen
    assert ("meta", {"charset": "utf-8"}) in reader.seen
    assert [tag for tag, _ in reader.seen if re.fullmatch(r"h\d|main|footer", tag)] == [
        "main",
        "h1",
        "h2",
        "footer",
    ]
    assert "A &lt;b&gt; title" in text
    assert "1 &lt; 2" in text


def test_a_page_stands_alone() -> None:
    text = page("title", [panels([(b"<svg/>", "a line")])])
    assert "http" not in text
    assert "<script" not in text
    assert "<link" not in text
    assert "@media print" in text
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text


def test_pictures_have_words() -> None:
    (_, (tag, attributes)) = Reader(panels([(b"<svg/>", 'a "line"')])).seen
    assert tag == "img"
    assert attributes["alt"] == 'a "line"'
    assert (attributes["src"] or "").startswith("data:image/svg+xml;base64,")


def test_what_scrolls_can_be_reached_by_keys() -> None:
    ((_, attributes),) = Reader(scrolling("x", "All <numbers>")).seen
    assert attributes == {
        "class": "scrolling",
        "role": "region",
        "tabindex": "0",
        "aria-label": "All <numbers>",
    }
