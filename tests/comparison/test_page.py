"""What a comparison writes and says: files, findings, a page for those who decide."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overcoat as oc
from overcoat.comparison.findings import findings
from overcoat.comparison.text import show_column
from overcoat.data import samples
from overcoat.measures.queries import Workload

DATA = samples.baskets(300, 25, mean=4)
LABELS = DATA.vocabulary.labels
BASE = oc.Policy(3, (oc.AllItemsets(2),), hierarchy=oc.Hierarchy.balanced(DATA.vocabulary, 3))
TINY = oc.read([{"a", "b"}, {"a"}, {"a"}, {"b"}, {"b"}, {"c"}])
APART = oc.Policy(2, (oc.AllItemsets(1),), oc.Utility({"x": ["a"], "y": ["b"], "z": ["c"]}))
FIGURES = [f"{name}.{kind}" for name in ("error", "median", "loss") for kind in ("svg", "png")]


def told(axes: tuple[str, ...], *rows: dict[str, Any]) -> list[str]:
    """Return the findings of made-up rows: one workload, q1; what is not given is 0."""
    real = oc.compare(DATA, oc.vary(BASE, k=[3]), q=[1])
    blank: dict[str, Any] = dict.fromkeys(real.rows[0], 0.0) | {"status": "met", "note": ""}
    made = tuple({**blank, **row} for row in rows)
    return findings(oc.Comparison(DATA, axes, real.runs, made, real.workloads))


def about(sentences: list[str], words: str) -> str:
    (found,) = [sentence for sentence in sentences if words in sentence]
    return found


# ---- files ----


def test_files(tmp_path: Path) -> None:
    own = Workload.of(DATA, [[LABELS[0]], [LABELS[1], LABELS[0]]])
    settings = oc.vary(BASE, algorithm=["coat", "pcta"], k=[2, 4], s=[0, 1])
    field = oc.compare(DATA, settings, q=[1], workloads={"own": own})
    written = field.write(tmp_path, title="a <b> title")
    assert [path.name for path in written] == [
        "results.csv",
        "results.parquet",
        *FIGURES,
        "index.html",
    ]
    for frame in (pl.read_csv(written[0]), pl.read_parquet(written[1])):
        assert frame.columns == list(field.rows[0])
        assert frame["avg_re_own"].to_list() == pytest.approx(
            [row["avg_re_own"] for row in field.rows]
        )
    before = {path: path.read_bytes() for path in written}
    field.write(tmp_path, title="a <b> title")
    assert {path: path.read_bytes() for path in written} == before


def test_figures_of_an_earlier_comparison_do_not_stay(tmp_path: Path) -> None:
    oc.compare(DATA, oc.vary(BASE), q=[1]).write(tmp_path)
    assert (tmp_path / "loss.svg").exists()
    (tmp_path / "loss.txt").write_text("somebody else's")
    nothing_lost = oc.Policy(1, (oc.AllItemsets(1),))
    oc.compare(DATA, oc.vary(nothing_lost), q=[1]).write(tmp_path)
    assert not (tmp_path / "loss.svg").exists()
    assert (tmp_path / "loss.txt").exists()


def test_without_matplotlib_there_is_a_page_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overcoat.comparison.page.can_draw", lambda: False)
    written = oc.compare(DATA, oc.vary(BASE), q=[1]).write(tmp_path)
    assert [path.name for path in written] == ["results.csv", "results.parquet", "index.html"]
    assert "pip install 'overcoat[plots]'" in unescape((tmp_path / "index.html").read_text())


# ---- the page ----


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("field")
    settings = oc.vary(BASE, algorithm=["coat", "pcta"], k=[2, 4], s=[0, 1])
    oc.compare(DATA, settings, q=[1]).write(folder, title="a <b> title")
    return (folder / "index.html").read_text()


def test_the_page_says_what_was_compared(page: str) -> None:
    assert "<h1>a &lt;b&gt; title</h1>" in page
    assert "8 runs of coat and pcta; k = 2 and 4; s = 0 % and 1 %." in page
    assert "Nothing here is a release" in page
    assert f"{DATA.n_transactions} transactions, {DATA.n_items} items" in page
    assert "all 2-itemsets, weights from a hierarchy" in page


def test_first_findings_then_figures_then_numbers(page: str) -> None:
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings[0] == "Findings"
    assert headings[-1] == "All numbers"
    assert [text for text in headings if "COUNT" in text] == headings[1:3]


def test_every_panel_is_a_picture_with_its_numbers_in_words(page: str) -> None:
    alts = [unescape(alt) for alt in re.findall(r'<img alt="(.*?)"', page)]
    assert len(alts) == 2 * 4  # AvgRE, median RE, NCP, UL for each s; nothing is suppressed
    assert alts[0].startswith("AvgRE, s = 0 %, 1 item, drawn by items. coat: ")
    assert " at k 2, " in alts[0]


def test_the_table_has_all_runs_and_no_empty_column(page: str) -> None:
    (table,) = re.findall(r"<table>.*?</table>", page, re.DOTALL)
    assert table.count("<tr>") == 1 + 8
    assert "<caption>" in table
    assert ">exact counts<" not in table  # no utility sets
    assert ">method<" in table
    assert ">s %<" in table


def test_numbers_of_a_column_have_the_same_decimals() -> None:
    shown = show_column([25.812, 114.27499, 0.0, None, 9.0])
    assert shown == ["25.81", "114.27", "0.00", "", "9.00"]
    assert show_column([-3288.4, -3219.9]) == ["-3,288", "-3,220"]
    assert show_column([0.0, 0.0]) == ["0", "0"]
    assert show_column([0.2, 0.00001]) == ["0.200", "<0.001"]
    assert show_column(["met", "beyond s"]) == ["met", "beyond s"]


# ---- findings ----


def test_the_best_is_held_against_the_next_method_under_the_same_policy() -> None:
    sentences = told(
        ("algorithm", "k"),
        {"algorithm": "coat", "k": 2, "avg_re_q1": 0.5},
        {"algorithm": "coat", "k": 5, "avg_re_q1": 0.75},
        {"algorithm": "apriori", "k": 2, "avg_re_q1": 1.6},
        {"algorithm": "apriori", "k": 5, "avg_re_q1": 0.625},
    )
    assert sentences[0] == "Every run can be published."
    assert about(sentences, "AvgRE") == (
        "Lowest AvgRE for queries of 1 item: coat at k = 2 (0.5), 3.2 times lower than apriori "
        "there (1.6). By policy, lowest: apriori at k = 5; coat at k = 2."
    )


def test_what_cannot_be_published_cannot_win() -> None:
    sentences = told(
        ("algorithm", "k"),
        {"algorithm": "coat", "k": 2, "ncp": 0.5},
        {"algorithm": "coat", "k": 5, "ncp": 0.75},
        {"algorithm": "greedy", "k": 2, "ncp": 0.1, "status": "beyond s"},
        {"algorithm": "greedy", "k": 5, "ncp": 0.2, "status": "beyond s"},
        {"algorithm": "apriori", "k": 2, "ncp": None, "status": "refused"},
        {"algorithm": "apriori", "k": 5, "ncp": 0.6},
    )
    assert sentences[0] == (
        "3 of 6 runs can be published; beyond s: greedy always; refused: apriori at k = 2. "
        "What follows is about the 3."
    )
    assert about(sentences, "NCP") == (
        "Lowest NCP: coat at k = 2 (0.5); highest: coat at k = 5 (0.75)."
    )


def test_none_can_be_published() -> None:
    (only,) = told(("algorithm",), {"algorithm": "greedy", "status": "beyond s"})
    assert only == "None of 1 runs can be published; beyond s: greedy."


def test_equal_values_are_called_equal() -> None:
    sentences = told(
        ("algorithm",),
        {"algorithm": "coat", "ncp": 0.30001, "avg_re_q1": 0.40001, "log2_ul": -4.0},
        {"algorithm": "pcta", "ncp": 0.3, "avg_re_q1": 0.4, "log2_ul": -9.5},
        {"algorithm": "apriori", "ncp": 0.3, "avg_re_q1": 2.0, "log2_ul": -1.0},
    )
    assert about(sentences, "NCP") == "NCP: 0.3 in every run."
    assert about(sentences, "AvgRE") == (
        "Lowest AvgRE for queries of 1 item: 0.4 in 2 of 3 runs; highest 2."
    )
    assert about(sentences, "UL") == "Lowest UL: pcta (log2 UL = -9.5), 5.5 bits less than coat."
    assert about(sentences, "suppressed") == "Share of suppressed items: 0 % in every run."


def test_a_policy_is_named_as_far_as_it_matters() -> None:
    rows = [
        {"algorithm": name, "k": k, "s": s, "ncp": value}
        for name, k, value in (("coat", 2, 0.2), ("coat", 5, 0.5), ("pcta", 2, 0.3))
        for s in (0.0, 1.0)
    ]
    assert about(told(("algorithm", "k", "s"), *rows), "NCP") == (
        "Lowest NCP: coat at k = 2 (0.2), 1.5 times lower than pcta there (0.3). "
        "By policy, lowest: coat always."
    )


def test_exact_counts_of_real_runs() -> None:
    field = oc.compare(TINY, oc.vary(APART, s=[0.5, 50]), q=[1])
    assert about(findings(field), "exact") == "Number of exact counts: 2 of 3 utility sets."


# ---- notebooks ----


def test_a_notebook_shows_the_essentials() -> None:
    field = oc.compare(DATA, oc.vary(BASE, k=[2, 4]), q=[1])
    text = field._repr_html_()
    assert "<caption>2 runs on 300 transactions, 25 items</caption>" in text
    assert text.count("<tr>") == 3
    assert ">AvgRE q1<" in text
