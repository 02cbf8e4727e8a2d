"""Pieces of HTML: escaped, and readable by those who cannot see them."""

from overcoat.html import table


def test_everything_is_escaped() -> None:
    text = table([["<b>", '"&"']], ["<i>", "&"], caption="<script>")
    assert "<b>" not in text
    assert "<i>" not in text
    assert "<script>" not in text
    assert "&lt;b&gt;" in text
    assert "&quot;&amp;&quot;" in text


def test_headers_say_what_they_head() -> None:
    text = table([["coat", 2], ["pcta", 5]], ["method", "k"])
    assert text.count('scope="col"') == 2
    assert text.count('scope="row"') == 2


def test_columns_of_numbers_are_aligned() -> None:
    rows = [["a", 2, "-3,288.5", "0.5 %", "", "2 of 3"], ["b", 10, "1e-05", "<0.1", None, "4"]]
    text = table(rows, list("abcdef"))
    cells = text[text.index('<tr><th scope="row">a') :].split("</tr>")[0]
    assert cells.count('class="number"') == 3
    assert "<td>2 of 3</td>" in cells
    assert "<td></td>" in cells


def test_a_table_without_rows() -> None:
    assert '<th scope="col">k</th>' in table([], ["k"])
