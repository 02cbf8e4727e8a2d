"""What a notebook shows: whole, escaped, and nothing from elsewhere."""

import re
from html.parser import HTMLParser

from overcoat.data import samples
from overcoat.data.transactions import Transactions


class Cells(HTMLParser):
    """The text of each cell, and a check that every tag is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {name for name, _ in attrs} & {"src", "href", "onload", "onclick"}
        self._open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.cells[-1] += data


def shown(data: Transactions) -> list[str]:
    text = data._repr_html_()
    assert not re.search(r"https?:|url\(|@import|<script", text)
    return Cells(text).cells


def after(cells: list[str], name: str) -> str:
    return cells[cells.index(name) + 1]


def test_sizes_rows_and_items() -> None:
    data = Transactions.of([["b", "a"], [], ["b"]], counts=[2, 1, 3_000_000_000])
    cells = shown(data)
    assert after(cells, "transactions") == "3,000,000,003"
    assert after(cells, "distinct") == "3"
    assert after(cells, "items") == "2"
    assert after(cells, "items a transaction, mean") == "1.00"
    assert after(cells, "items a transaction, most") == "2"
    assert after(cells, "(none)") == "1"
    assert after(cells, "a, b") == "2"
    assert cells[-4:] == ["b", "3,000,000,002", "a", "2"]  # the most frequent first


def test_labels_are_escaped() -> None:
    label = "<script>alert('x')</script>&amp;"
    assert label in shown(Transactions.of([[label]]))


def test_much_is_cut() -> None:
    rows = [[f"{row}-{item}" * 40 for item in range(50)] for row in range(50)]
    data = Transactions.of(rows)
    assert any(cell.endswith("… 38 more") for cell in shown(data))
    assert len(data._repr_html_()) < 10_000


def test_nothing_and_the_sample() -> None:
    assert after(shown(Transactions.of([])), "transactions") == "0"
    assert after(shown(samples.paper().transactions()), "items") == "8"
