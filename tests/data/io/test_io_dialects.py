"""What the first lines of a text show: separators, quotes, and tables that nobody called one."""

import io
from pathlib import Path
from typing import Any

import pytest

from overcoat.data.io import delimited, long, read, write
from overcoat.data.io.dialects import basket_dialect, glued_items, in_words, table_dialect
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

LONG: dict[str, Any] = {"id": "id", "item": "item"}
Rows = list[tuple[str, ...]]


def saved(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def rows(data: Transactions) -> Rows:
    return [row for row, count in data for _ in range(count)]


@pytest.fixture(params=[False, True], ids=["plain", "fast"])
def fast(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Both ways of reading tables."""
    if request.param:
        monkeypatch.setattr(long, "POLARS_PAYS_FROM", 0)
        monkeypatch.setattr(delimited, "BLOCK", 16)
    return bool(request.param)


# -- tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt", "x.dat", "x"])
@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_whose_header_has_the_columns(
    sep: str, name: str, end: str, tmp_path: Path
) -> None:
    text = "id,size,item\n1,x,a\n2,x,b\n1,x,c\n".replace(",", sep).replace("\n", end)
    data = read(saved(tmp_path, name, text), **LONG)
    assert rows(data) == [("a", "c"), ("b",)]
    assert data.layout is not None
    assert data.layout.sep == sep
    words = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}[sep]
    assert data.origin.read_as == f"long table, 3 columns separated by {words}"


def test_other_separators_in_fields_do_not_matter(fast: bool) -> None:
    text = b"id;a,b,c,d,e;item\n1;1,2,3;a,b\n2;;c|d\n3;;e\tf\n"
    data = read(io.BytesIO(text), **LONG)
    assert rows(data) == [("a,b",), ("c|d",), ("e\tf",)]


def test_a_separator_that_was_said_is_the_one(tmp_path: Path) -> None:
    path = saved(tmp_path, "x.csv", "id;item\n1;a\n")
    with pytest.raises(DataError, match=r"x.csv:1: no column 'id', no .* are 'id;item'$"):
        read(path, sep=",", **LONG)
    assert rows(read(path, sep=";", **LONG)) == [("a",)]


def test_a_header_that_fits_two_separators_goes_by_the_name() -> None:
    head = b"id,item,x;id;item\n"
    for sep in ",;":
        assert table_dialect(head, Layout("long", sep=sep)).sep == sep
    assert table_dialect(head, Layout("long", sep="\t")).sep == ","


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("Id;ITEM", "no column 'id' (did you mean 'Id'?), no column 'item' (did you mean 'ITEM'?)"),
        (" id ;item  code;item", "no column 'id' (did you mean ' id '?); the columns are ' id ',"),
        ("id;items;x", "no column 'item' (did you mean 'items'?); the columns are 'id', 'items',"),
        ("a;b|c;d", "no column 'id', no column 'item'; the columns are 'a', 'b|c', 'd'"),
        ("id;item;item", "more than one column is called 'item'; the columns are 'id', 'item',"),
        (";;", "no column 'id', no column 'item'; the columns are '', '', ''"),
        (";".join(f"c{n}" for n in range(30)), "no column 'id', no column 'item'; the columns are"),
    ],
)
def test_a_missing_column_is_told_with_those_there_are(header: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(io.BytesIO(header.encode() + b"\n1;2;3\n"), **LONG)
    assert str(caught.value).startswith(f"standard input:1: {message}")
    if header.startswith("c0"):
        assert str(caught.value).endswith("'c19', … and 10 more")


def test_the_line_that_tells_excel_the_separator(fast: bool) -> None:
    data = read(io.BytesIO(b"sep=;\r\nid;item\r\n1;a,b\r\n2;c\r\n"), **LONG)
    assert rows(data) == [("a,b",), ("c",)]
    with pytest.raises(DataError, match="standard input:4: 1 fields where the header has 2"):
        read(io.BytesIO(b"sep=;\r\nid;item\r\n1;a\r\n2\r\n"), **LONG)


def test_a_header_longer_than_what_is_looked_at(fast: bool) -> None:
    wide = ";".join(f"column {n}" for n in range(20_000))
    text = f"{wide};id;item\n{'x;' * 20_000}1;a\n".encode()
    assert rows(read(io.BytesIO(text), **LONG)) == [("a",)]


def test_a_header_alone_and_nothing_at_all() -> None:
    for text, message in (
        (b"id;item\n", "the file holds no transactions"),
        (b"id;item", "the file holds no transactions"),
        (b"\n", "no column 'id', no column 'item'; the columns are ''"),
        (b"", "the file is empty"),
    ):
        with pytest.raises(DataError, match=message):
            read(io.BytesIO(text), **LONG)


# -- quotes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # double quotes, as ever
        ('id,item\n"1","a, b"\n2,"c ""d"""\n', [("a, b",), ('c "d"',)]),
        # single ones
        ("'id','item'\n'1','a, b'\n'2','c ''d'''\n", [("a, b",), ("c 'd'",)]),
        ("id,item\n1,'a, b'\n2,'c'\n3,''\n", [(), ("a, b",), ("c",)]),
        ("id,item\n1,'a\nb'\n2,'c'\n", [("'a",), ("c",)]),
        # apostrophes
        ("id,item\n1,Crohn's disease\n2,'t Hooft\n", [("'t Hooft",), ("Crohn's disease",)]),
        ("id,item\n1,'a'\n2,b\n", [("'a'",), ("b",)]),
        # letters
        ('id,item\n1,5" disk\n2,3.5" disk\n', [('3.5" disk',), ('5" disk',)]),
        ('id,item\n1,5" disk\n2,b\n3,a "b" c\n', [('5" disk',), ('a "b" c',), ("b",)]),
    ],
)
def test_quotes_of_tables(text: str, found: Rows, fast: bool) -> None:
    if "'a\nb'" in text:  # the lines are looked at one by one, so this shows no quotes
        with pytest.raises(DataError, match=":3: 1 fields where the header has 2"):
            read(io.BytesIO(text.encode()), **LONG)
    else:
        assert rows(read(io.BytesIO(text.encode()), **LONG)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("'a, b','c'\n'd'\n", [("a, b", "c"), ("d",)]),
        ("'a','b'\n'c\n", [("'a'", "'b'"), ("'c",)]),
        ("rock 'n' roll,'a'\n", [("'a'", "rock 'n' roll")]),
        ('5" disk,b\n3.5" disk\n', [('3.5" disk',), ('5" disk', "b")]),
        ('"a, b",c\n', [("a, b", "c")]),
    ],
)
def test_quotes_of_baskets(text: str, found: Rows, tmp_path: Path) -> None:
    assert rows(read(saved(tmp_path, "x.csv", text))) == found


def test_quotes_are_said() -> None:
    text = b'id;item\n1;5" disk\n'
    assert read(io.BytesIO(text), **LONG).origin.read_as.endswith("semicolons, quotes are letters")
    text = b"'id';'item'\n'1';'a'\n"
    assert read(io.BytesIO(text), **LONG).origin.read_as.endswith("semicolons, in single quotes")


LETTERS = "a field in quotes, which are letters in the first lines of the file; put every field"


def test_quotes_that_are_letters_first_and_enclose_later(fast: bool, tmp_path: Path) -> None:
    """Beyond the lines that are looked at: it would be read, and wrongly."""
    filler = "".join(f"{n},a,x\n" for n in range(10_000))
    text = f'id,item,x\n1,5" disk,x\n{filler}1,"b",x\n2,c,"x"\n'
    with pytest.raises(DataError, match=f":10003: {LETTERS}") as caught:
        read(io.BytesIO(text.encode()), **LONG)
    assert len(caught.value.problems) == 1  # that of the third column does no harm
    filler = "".join(f"{n},a\n" for n in range(10_000))
    path = saved(tmp_path, "x.csv", f'a,5" disk\n{filler}a, "b"\n"c\n')
    with pytest.raises(DataError, match=f"x.csv:10002: {LETTERS}") as caught:
        read(path)
    assert [problem.line for problem in caught.value.problems] == [10002, 10003]


# -- baskets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("x.csv", "a;b\nc\nb;c\n", [("a", "b"), ("b", "c"), ("c",)]),
        ("x.csv", "a\tb\nc\n", [("a", "b"), ("c",)]),
        ("x.csv", '"a,x";b\nc\n', [("a,x", "b"), ("c",)]),
        # one comma is enough to stay with what the name says
        ("x.csv", "a;b\nc,d\n", [("a;b",), ("c", "d")]),
        # one line among many with a semicolon is an item with one
        ("x.csv", "a\n" * 20 + "b;c\n", [("a",)] * 20 + [("b;c",)]),
        ("x.csv", "a|b\nc|d\n", [("a|b",), ("c|d",)]),
        ("x.tsv", "a;b\nc\n", [("a;b",), ("c",)]),
        ("x.dat", "a;b\nc\n", [("a;b",), ("c",)]),
        ("x.csv", '"a;b"\n"c;d"\n', [("a;b",), ("c;d",)]),
    ],
)
def test_the_separator_of_baskets(name: str, text: str, found: Rows, tmp_path: Path) -> None:
    assert rows(read(saved(tmp_path, name, text))) == found


def test_a_separator_of_baskets_is_said(tmp_path: Path) -> None:
    data = read(saved(tmp_path, "x.csv", "a;b\n"))
    assert data.origin.read_as == "baskets, items separated by semicolons"
    assert read(saved(tmp_path, "x.csv", "a,b\n")).origin.read_as == ""
    assert read(saved(tmp_path, "x.dat", "a b\n")).origin.read_as == ""


@pytest.mark.parametrize("label", ["a;b", "a\tb", "'a'", "''", "a;b;c", "(a|b)", "'", ";"])
@pytest.mark.parametrize("sep", [",", ";", "\t"])
def test_what_is_written_is_not_taken_for_something_else(
    sep: str, label: str, tmp_path: Path
) -> None:
    data = Transactions.of([{label}] * 30)
    for layout in (Layout("basket", sep=sep), Layout("long", sep=sep)):
        path = tmp_path / ("x.tsv" if sep == "\t" else "x.csv")
        write(data, path, layout=layout)
        options = LONG if layout.format == "long" else {} if sep != ";" else {"sep": ";"}
        assert read(path, **options) == data


def test_items_that_look_glued_together_earn_a_note() -> None:
    assert glued_items(b"038;401\n" * 20, Layout("basket")) == [
        "items have semicolons in them, such as '038;401'; if these separate items, say so: "
        "--sep ';'"
    ]
    assert glued_items(b"250,0;401,9\n" * 20, Layout("basket", sep=","))[0].startswith(
        "items have semicolons in them, such as '0;401'"
    )
    assert glued_items(b"apple, pear\n" * 20, Layout("basket"))[0].startswith(
        "items have commas in them, such as 'apple,'"
    )
    for text in (b"038;401\n" * 19, b"038 401\n" * 20, b"(a|b) c\n" * 20, b"a\tb\n" * 20):
        assert not glued_items(text, Layout("basket"))
    assert glued_items(b"type 1 diabetes\tasthma\n" * 20, Layout("basket")) == [
        "both tabs and blanks separate items, as in 'type 1 diabetes'; if only tabs do, say so: "
        "--sep tab"
    ]
    data = read(io.BytesIO(b"038;401;038\n" * 20 + b"038;1\n"))
    assert data.origin.notes[0].startswith("items have semicolons")
    assert not read(io.BytesIO(b"038;401\n" * 20), sep=" ").origin.notes


def test_hostile_first_lines_take_no_time() -> None:
    """Each of these would take minutes if a pattern were tried anew at every place."""
    blanks = b" " * 200_000
    for text in (blanks, b"' " * 100_000, b'" ' * 100_000, b"'" + blanks, b"'a, " * 50_000):
        for sep in (",", " ", "\t"):
            basket_dialect(text, Layout("basket", sep=",", suffix=".csv"), sep=sep)
            table_dialect(text, Layout("long"), sep=sep)


# -- tables that nobody called one --------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("patient;code", "--id patient --item code"),
        ("code;patient", "--id patient --item code"),
        ("encounter_id;patient_nbr;diag_1;diag_2", "--id patient_nbr --item diag_1,diag_2"),
        ("Patienten-ID;Datum;ICD", "--id Patienten-ID --item ICD"),
        ("a;b;c", "--id a --item c"),
        ("customer no;product name", "--id 'customer no' --item 'product name'"),
        ("it's;b", "--id 'it'\\''s' --item b"),
    ],
)
@pytest.mark.parametrize("sep", [";", "|", "\t", ","])
def test_the_message_names_likely_columns(header: str, options: str, sep: str) -> None:
    n = header.count(";")
    text = header.replace(";", sep) + "\n"
    text += "".join(f"{i}" + f"{sep}x{i % 7}" * n + "\n" for i in range(30))
    with pytest.raises(DataError, match="looks like a table") as caught:
        read(io.BytesIO(text.encode()))
    assert f"for example {options}; if each line is a basket" in str(caught.value)


def test_words() -> None:
    assert in_words(Layout("long", parquet=True), 3) == ""
    assert in_words(Layout("long", parquet=True), 3, n_files=2) == "2 Parquet files"
    wide = Layout("long", parquet=True, columns=("a", "b"))
    assert in_words(wide, 3) == "wide table, 3 columns, 2 of them items"
    several = in_words(Layout("basket"), n_files=3)
    assert several == "3 files, baskets, items separated by white space"
    assert in_words(Layout("basket", sep=","), 0, ["", "Windows-1252"]) == (
        "baskets, items separated by commas, Windows-1252"
    )
