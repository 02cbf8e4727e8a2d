"""What layout an output gets."""

from dataclasses import replace
from pathlib import Path

import pytest

from overcoat.data.io import output_layout
from overcoat.data.io.names import plain_suffix
from overcoat.data.layout import Layout
from overcoat.errors import DataError

DAT = Layout("basket", suffix=".dat")
DAT_SEMICOLON = Layout("basket", sep=";", suffix=".dat")
CSV = Layout("basket", sep=",", suffix=".csv")
CSV_HEADER = Layout("basket", sep=",", header=True, suffix=".csv")
LONG = Layout("long", sep=",", id="p", item="c", suffix=".csv")
LONG_SEMICOLON = Layout("long", sep=";", id="p", item="c", suffix=".csv")
LONG_PARQUET = Layout("long", parquet=True, id="p", item="c", suffix=".parquet")
LIST = Layout("list", parquet=True, items="codes", suffix=".parquet")
LONG_FRAME = Layout("long", parquet=True, id="p", item="c")


@pytest.mark.parametrize(
    ("name", "before", "to", "sep", "after"),
    [
        ("r.dat", DAT, None, None, DAT),
        ("r.txt", DAT_SEMICOLON, None, None, DAT_SEMICOLON),
        ("r.dat", CSV, None, None, DAT),
        ("r.dat", LONG, None, None, replace(LONG, format="basket", sep=None)),
        ("r.csv", DAT, None, None, CSV),
        ("r.csv", DAT_SEMICOLON, None, None, CSV),
        ("r.csv.gz", CSV_HEADER, None, None, CSV_HEADER),
        ("r.CSV", LONG_SEMICOLON, None, None, LONG_SEMICOLON),
        ("r.csv", LONG_PARQUET, None, None, LONG),
        ("r.csv", LIST, None, None, replace(CSV, items="codes")),
        ("r.tsv", CSV_HEADER, None, None, replace(CSV_HEADER, sep="\t")),
        ("r.tsv", LONG, None, None, replace(LONG, sep="\t")),
        ("r.tsv", LONG, None, "|", replace(LONG, sep="|")),
        ("r.parquet", DAT, None, None, Layout("list", parquet=True)),
        ("r.parquet", CSV_HEADER, None, ",", Layout("list", parquet=True)),
        ("r.pq", LONG, None, None, LONG_PARQUET),
        ("r.parquet", LONG, "list", None, replace(LONG_PARQUET, format="list")),
        ("r.parquet", LIST, "long", None, replace(LIST, format="long")),
        ("r.parquet", LIST, None, None, LIST),
        ("-", CSV_HEADER, None, None, CSV_HEADER),
        ("-", LIST, None, None, LIST),
        ("-", LONG_FRAME, None, None, LONG_FRAME),
        ("r.out", LONG, None, None, LONG),
        ("r.out", LONG, "basket", None, replace(LONG, format="basket")),
        ("r.out", LIST, "basket", None, Layout("basket", items="codes")),
        ("r.out", DAT, "long", None, Layout("long", sep=",")),
        ("r.out", DAT, "list", None, replace(LIST, items="items")),
        ("r.csv", DAT, "long", None, Layout("long", sep=",")),
        ("r.tsv", None, "long", None, Layout("long", sep="\t")),
        ("r.dat", None, "long", None, Layout("long", sep=",")),
        ("r.csv", LONG_SEMICOLON, "basket", None, replace(LONG_SEMICOLON, format="basket")),
        ("r.dat", None, None, None, DAT),
        ("r.csv", None, None, None, CSV),
        ("r.parquet", None, None, None, Layout("list", parquet=True)),
        ("r", None, None, None, DAT),
        ("-", None, None, ";", DAT_SEMICOLON),
        ("r.csv", LONG_FRAME, None, None, LONG),
    ],
)  # fmt: skip
def test_output_layout(
    name: str, before: Layout | None, to: str | None, sep: str | None, after: Layout
) -> None:
    assert output_layout(name, before, to, sep) == after
    assert output_layout(Path(name), before, to, sep) == after


@pytest.mark.parametrize(
    ("name", "to", "sep", "message"),
    [
        ("r.csv", "list", None, "r.csv: lists need Parquet; name the file .parquet"),
        ("r.dat.gz", "list", None, "r.dat.gz: lists need Parquet; name the file .parquet"),
        (
            "r.parquet",
            "basket",
            None,
            "r.parquet: a basket is text; name the file .dat, .txt, .csv or .tsv",
        ),
        (
            "r.parquet.gz",
            None,
            None,
            "r.parquet.gz: Parquet is compressed already; leave .gz out of the name",
        ),
        ("r.csv", "wide", None, "unknown format 'wide'; there are basket, long, list"),
        (
            "r.csv",
            None,
            "ab",
            "the separator must be one character, not a quote or a line break; got 'ab'",
        ),
    ],
)
def test_impossible_outputs(name: str, to: str | None, sep: str | None, message: str) -> None:
    with pytest.raises(DataError) as caught:
        output_layout(name, DAT, to, sep)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("x", ""), ("x.gz", ""), ("x.dat", ".dat"), ("x.b.CSV.GZ", ".csv"), (".gz", ""), ("-", "")],
)
def test_plain_suffix(name: str, suffix: str) -> None:
    assert plain_suffix(name) == suffix
