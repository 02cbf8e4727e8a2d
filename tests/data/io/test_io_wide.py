"""Wide tables: several columns that hold items, in texts, Parquet and frames."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overcoat.data.io import delimited, long, output_layout, read, write
from overcoat.data.io.columns import look_alikes, named_items
from overcoat.data.io.dialects import guess_columns
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError
from overcoat.policy.privacy import AllItemsets
from overcoat.release.public import anonymize

pd: Any = pytest.importorskip("pandas")
pa: Any = pytest.importorskip("pyarrow")

IDS = ["p1", "p2", "p1", "p3"]
WIDE: dict[str, list[str | None]] = {
    "diag_1": ["a", "b", "c", None],
    "diag_2": ["b", None, "a", None],
    "diag_3": [None, None, "d", None],
}
BY_ID = [(), ("a", "b", "c", "d"), ("b",)]
BY_ROW = [(), ("a", "b"), ("a", "c", "d"), ("b",)]
COLUMNS = "diag_1,diag_2,diag_3"


def text(sep: str) -> bytes:
    frame = pl.DataFrame({"id": IDS, "year": ["2025"] * 4, **WIDE})
    return frame.write_csv(separator=sep).encode()


def parquet() -> bytes:
    stream = io.BytesIO()
    pl.DataFrame({"id": IDS, "year": [2025] * 4, **WIDE}).write_parquet(stream)
    return stream.getvalue()


SOURCES: dict[str, Callable[[], Any]] = {
    "commas": lambda: io.BytesIO(text(",")),
    "semicolons": lambda: io.BytesIO(text(";")),
    "parquet": lambda: io.BytesIO(parquet()),
    "polars": lambda: pl.DataFrame({"id": IDS, "year": 2025, **WIDE}),
    "lazy": lambda: pl.LazyFrame({"id": IDS, "year": 2025, **WIDE}),
    "pandas": lambda: pd.DataFrame({"id": IDS, "year": 2025, **WIDE}),
    "arrow": lambda: pa.table({"id": IDS, "year": [2025] * 4, **WIDE}),
}


def rows(data: Transactions) -> list[tuple[str, ...]]:
    return [row for row, count in data for _ in range(count)]


@pytest.fixture(params=[False, True], ids=["plain", "fast"])
def fast(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param:
        monkeypatch.setattr(long, "POLARS_PAYS_FROM", 0)
        monkeypatch.setattr(delimited, "BLOCK", 8)
    return bool(request.param)


@pytest.mark.parametrize("item", [COLUMNS, "diag_1, diag_2 ,diag_3", COLUMNS.split(",")])
@pytest.mark.parametrize("source", SOURCES)
def test_wide_tables(source: str, item: str | list[str], fast: bool) -> None:
    data = read(SOURCES[source](), id="id", item=item, keep_order=True)
    assert rows(data) == BY_ID
    assert data.positions is not None
    assert data.positions.tolist() == [1, 2, 0]  # in the order of first sight
    assert data.layout is not None
    assert data.layout.columns == ("diag_1", "diag_2", "diag_3")
    assert data.origin.read_as.startswith("wide table, 5 columns")
    assert not data.origin.notes

    data = read(SOURCES[source](), item=item, keep_order=True)
    assert rows(data) == BY_ROW
    assert data.positions is not None
    assert data.positions.tolist() == [1, 3, 2, 0]
    assert "3 of them items, no id" in data.origin.read_as


@pytest.mark.parametrize("source", SOURCES)
def test_a_release_is_a_long_table(source: str, tmp_path: Path) -> None:
    data = read(SOURCES[source](), id="id", item=COLUMNS)
    path = tmp_path / "released.csv"
    layout = output_layout(path, data.layout)
    write(data, path, layout=layout)
    assert path.read_text().splitlines()[0] in ("id,item", "id;item")
    assert read(path, id="id", item="item") == data
    assert rows(read(data.to_polars(), id="id", item="item")) == BY_ID
    lists = tmp_path / "released.parquet"
    write(data, lists, layout=output_layout(lists, data.layout, "list"))
    assert read(lists) == data
    baskets = tmp_path / "released.dat"
    write(data, baskets, layout=output_layout(baskets, data.layout))
    assert read(baskets) == data


def test_python_all_the_way(tmp_path: Path) -> None:
    who = [f"{name}{n}" for n in range(9) for name in IDS]
    frame = pl.DataFrame({"who": who, **{name: cells * 9 for name, cells in WIDE.items()}})
    result = anonymize(frame, 2, AllItemsets(2), item=[*WIDE], id="who")
    result.write(tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[:2] == ["who,item", "1,"]
    assert len(lines) == 1 + 9 * 6


def test_a_column_of_exactly_that_name_wins() -> None:
    table = {"id": ["1", "2"], "a,b": ["x", "y"], "a": ["u", None], "b": ["v", None]}
    frame = pl.DataFrame(table)
    assert rows(read(frame, id="id", item="a,b")) == [("x",), ("y",)]
    assert rows(read(frame, id="id", item=["a,b", "a"])) == [("u", "x"), ("y",)]
    assert rows(read(frame, id="id", item='"a,b",a')) == [("u", "x"), ("y",)]
    assert rows(read(frame.drop("a,b"), id="id", item="a,b")) == [(), ("u", "v")]
    assert rows(read(io.BytesIO(frame.write_csv().encode()), id="id", item="a,b")) == [
        ("x",),
        ("y",),
    ]
    data = read(frame, id="id", item=["a"])  # one column makes a long table
    assert data.layout == Layout("long", parquet=True, id="id", item="a")
    assert rows(read(frame, item=["a"])) == [(), ("u",)]


def test_the_columns_of_a_release_have_two_names() -> None:
    data = read(pl.DataFrame({"item": ["1"], "a": ["x"], "b": ["y"]}), id="item", item="a,b")
    assert data.to_polars().columns == ["item", "value"]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"id": "id", "item": "diag_1,diag_9"}, "no column 'diag_9' (did you mean 'diag_3'?); the col"),
    ({"id": "id", "item": "diag_1,diag_1"}, "column 'diag_1' is named more than once"),
    ({"id": "diag_1", "item": "diag_1,diag_2"}, "column 'diag_1' is named more than once"),
    ({"id": "Id", "item": COLUMNS}, "no column 'Id' (did you mean 'id'?); the columns are 'id',"),
    ({"item": []}, "name at least one column of items"),
    ({"item": [1]}, "item must be a name or a list of names, not [1]"),
    ({"item": "diag_1"}, "a long table needs both columns: the id and the item"),
    ({"item": "diag_1,diag_2", "items": "x"}, "give either the id and item columns or the items"),
    ({"id": "id", "item": "id,year"}, "column 'id' is named more than once"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
@pytest.mark.parametrize("source", ["commas", "parquet", "polars", "pandas"])
def test_bad_names(source: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(SOURCES[source](), **options)
    assert message in str(caught.value)


def test_bad_columns() -> None:
    frame = pl.DataFrame({"id": [1], "a": ["x"], "b": [1.5]})
    for source in (frame, frame.to_pandas()):
        with pytest.raises(DataError, match=r"column 'b' holds [Ff]loat64; items are strings"):
            read(source, id="id", item="a,b")
    empty = pd.DataFrame({"id": [1, 2], "a": ["x", "y"], "b": [float("nan")] * 2})
    assert rows(read(empty, id="id", item="a,b")) == [("x",), ("y",)]
    with pytest.raises(DataError, match="row 2: the id is missing"):
        read(pl.DataFrame({"id": ["1", None], "a": ["x", "y"], "b": "z"}), id="id", item="a,b")
    with pytest.raises(DataError, match="standard input:3: the id is empty"):
        read(io.BytesIO(b"id,a,b\n1,x,y\n,x,\n"), id="id", item="a,b")
    with pytest.raises(DataError, match="standard input:3: 2 fields where the header has 3"):
        read(io.BytesIO(b"id,a,b\n1,x,y\n2,x\n"), id="id", item="a,b")


CELLS = st.sampled_from(["", "a", "b", "a, b", 'c"d', " ", "é"])


@given(
    table=st.lists(st.tuples(st.sampled_from("pqr"), CELLS, CELLS, CELLS), min_size=1, max_size=12),
    by_row=st.booleans(),
    fast=st.booleans(),
)
@settings(derandomize=True, deadline=None, max_examples=80)
def test_by_the_definition(
    table: list[tuple[str, str, str, str]], by_row: bool, fast: bool
) -> None:
    people: dict[object, set[str]] = {}
    for number, (who, *cells) in enumerate(table):
        people.setdefault(number if by_row else who, set()).update(cell for cell in cells if cell)
    expected = Transactions.of(people.values())

    def quoted(field: str) -> str:
        return '"' + field.replace('"', '""') + '"'

    lines = ["id;x;y;z", *(";".join(map(quoted, row)) for row in table)]
    columns: dict[str, Any] = {"item": "x,y,z"} if by_row else {"id": "id", "item": "x,y,z"}
    frame = pl.DataFrame(table, schema=["id", "x", "y", "z"], orient="row")
    with pytest.MonkeyPatch.context() as patch:
        if fast:
            patch.setattr(long, "POLARS_PAYS_FROM", 0)
            patch.setattr(delimited, "BLOCK", 5)
        assert read(io.BytesIO("\n".join(lines).encode()), **columns) == expected
    for source in (frame, frame.to_pandas(), frame.to_arrow()):
        assert read(source, **columns) == expected


# -- look-alikes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "found", "others"),
    [
        ("diag_1", ["id", "diag_1", "diag_2", "diag_3"], "'diag_2', 'diag_3'"),
        ("diag_1,diag_2", ["id", "diag_1", "diag_2", "diag_3"], "'diag_3'"),
        ("Diag1", ["id", "Diag1", "diag2"], "'diag2'"),
        ("diag", ["id", "diag", "diag2"], "'diag2'"),
        ("d1_code", ["id", "d1_code", "d2_code", "d1_text"], "'d2_code'"),
        ("Hauptdiagnose", ["id", "Hauptdiagnose", "Nebendiagnose 1"], "'Nebendiagnose 1'"),
        ("diag", ["id", "diag", "n_diag", "proc_1"], None),
        ("code", ["id", "code", "code text"], None),
        ("diag_1,diag_2", ["id", "diag_1", "diag_2"], None),
        ("code", ["id", "code"], None),
        ("1", ["id", "1", "2"], None),
        ("id2", ["id1", "id2"], None),
    ],
)
def test_look_alikes(named: str, found: list[str], others: str | None) -> None:
    item, columns = named_items(named)
    assert item is not None
    layout = Layout("long", id=found[0], item=item, columns=columns)
    notes = look_alikes(layout, found)
    assert len(notes) == (others is not None)
    if others is not None:
        assert notes[0].startswith(f"column{'s' * (',' in others)} {others} look")
        every = ",".join(name for name in found[1:] if name != "d1_text")
        assert notes[0].endswith(f"--item {every}")


@pytest.mark.parametrize(
    ("columns", "row", "items"),
    [
        (
            "Patientennr;Name;Station;Hauptdiagnose;Nebendiagnose 1;Nebendiagnose 2",
            "1;Ann;A;I10;E11.9;",
            ["Hauptdiagnose", "Nebendiagnose 1", "Nebendiagnose 2"],
        ),
        ("id;diag_1;diag_2;n_diag", "1;I10;250.00;2", ["diag_1", "diag_2"]),
        ("id;diag;date of diag 1", "1;I10;2019-05-01", "diag"),
    ],
)
def test_a_guess_takes_what_looks_alike(columns: str, row: str, items: str | list[str]) -> None:
    assert guess_columns(columns.split(";"), [row.split(";")])["item"] == items


@pytest.mark.parametrize("source", SOURCES)
def test_a_look_alike_earns_a_note(source: str) -> None:
    data = read(SOURCES[source](), id="id", item="diag_1")
    assert data.origin.notes == (
        "columns 'diag_2', 'diag_3' look like 'diag_1' and were not read; if they hold items too, "
        "name all: --item diag_1,diag_2,diag_3",
    )
