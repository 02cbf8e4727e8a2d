"""Transactions as frames, out and in again, and whatever gives an Arrow stream."""

import sys
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from overcoat.data.io import frames, read
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

pd: Any = pytest.importorskip("pandas")
pa: Any = pytest.importorskip("pyarrow")

DATA = Transactions.of([["b", "a"], [], ["c"], ["b", "a"]])
LISTS = [[], ["a", "b"], ["a", "b"], ["c"]]
IDS, ITEMS = [1, 2, 2, 3, 3, 4], [None, "a", "b", "a", "b", "c"]

OUT: dict[str, Callable[[Transactions, Any], Any]] = {
    "polars": Transactions.to_polars,
    "pandas": Transactions.to_pandas,
    "arrow": Transactions.to_arrow,
}


def column(frame: Any, name: str) -> list[Any]:
    values = frame[name]
    if isinstance(values, pd.Series):
        return [None if value is None or value != value else value for value in values]  # noqa: PLR0124
    found: list[Any] = values.to_pylist() if hasattr(values, "to_pylist") else values.to_list()
    return found


@pytest.mark.parametrize("to", OUT.values(), ids=OUT.keys())
def test_out_and_in_again(to: Callable[[Transactions, Any], Any]) -> None:
    lists = to(DATA, "list")
    assert column(lists, "items") == LISTS
    assert read(lists) == DATA
    pairs = to(DATA, "long")
    assert column(pairs, "id") == IDS
    assert column(pairs, "item") == ITEMS
    assert read(pairs, id="id", item="item") == DATA


@pytest.mark.parametrize("to", OUT.values(), ids=OUT.keys())
def test_columns_are_called_as_in_the_input(to: Callable[[Transactions, Any], Any]) -> None:
    pairs = read(pl.DataFrame({"patient": [7, 7], "code": ["x", "y"]}), id="patient", item="code")
    frame = to(pairs, None)
    assert (column(frame, "patient"), column(frame, "code")) == ([1, 1], ["x", "y"])
    assert column(to(pairs, "list"), "items") == [["x", "y"]]
    lists = read(pl.DataFrame({"codes": [["y", "x"]]}))
    assert column(to(lists, None), "codes") == [["x", "y"]]


@pytest.mark.parametrize("to", OUT.values(), ids=OUT.keys())
def test_nothing_at_all(to: Callable[[Transactions, Any], Any]) -> None:
    for number in range(3):
        data = Transactions.of([()] * number)
        assert len(to(data, "list")) == len(to(data, "long")) == number
        assert read(to(data, "list"), items="items") == data


def test_lists() -> None:
    lists = DATA.to_lists()
    assert lists == LISTS
    assert lists[1] is not lists[2]  # each is its own


def test_unknown_layout() -> None:
    wrong: Any = "basket"
    with pytest.raises(DataError, match="laid out as list or long, not 'basket'"):
        DATA.to_polars(wrong)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_missing_library_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(DataError, match=f"needs {library}: pip install {library}"):
        DATA.to_pandas() if library == "pandas" else DATA.to_arrow()


def test_a_frame_that_does_not_fit() -> None:
    """Counts of billions are small; what they would become is not."""
    data = Transactions.of([["a"]], counts=[3_000_000_000_000])
    for make in (data.to_polars, data.to_pandas, data.to_lists):
        with pytest.raises(DataError, match=r"a frame of 3,000,000,000,000 transactions needs"):
            make()


# -- Arrow streams ----------------------------------------------------------------------------


def test_whatever_reads_arrow_reads_transactions() -> None:
    assert pl.DataFrame(DATA)["items"].to_list() == LISTS
    assert pa.table(DATA)["items"].to_pylist() == LISTS


class Stream:
    """Nothing but a stream of Arrow."""

    def __init__(self, arrow: Any) -> None:
        self._arrow = arrow

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        stream: object = self._arrow.__arrow_c_stream__(requested_schema)
        return stream


STREAMS: dict[str, Callable[[Any], Any]] = {
    "capsule": Stream,
    "reader": lambda table: pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
    "polars capsule": lambda table: Stream(pl.from_arrow(table)),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS.keys())
def test_any_stream_is_read(stream: Callable[[Any], Any]) -> None:
    pairs = read(stream(pa.table({"p": IDS, "c": ITEMS})), id="p", item="c")
    assert pairs == DATA
    assert pairs.layout == Layout("long", parquet=True, id="p", item="c")
    lists = read(stream(pa.table({"x": range(4), "c": LISTS})))
    assert lists == DATA
    assert lists.layout == Layout("list", parquet=True, items="c")
    with pytest.raises(DataError, match="no column 'q'; the columns are 'p', 'c'"):
        read(stream(pa.table({"p": IDS, "c": ITEMS})), id="q", item="c")


def test_a_stream_of_lists() -> None:
    assert read(Stream(pa.chunked_array([LISTS]))) == DATA


def test_a_stream_that_breaks() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            raise ValueError("the query failed")

    with pytest.raises(DataError, match="cannot read this Arrow object: the query failed"):
        read(Broken())


def test_duckdb() -> None:
    duckdb: Any = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    with duckdb.connect() as connection:
        connection.execute("create table t (p integer, c varchar)")
        connection.executemany("insert into t values (?, ?)", list(zip(IDS, ITEMS, strict=True)))
        assert read(connection.sql("select * from t"), id="p", item="c") == DATA
        lists = "select list(c order by c) filter (c is not null) as items from t group by p"
        assert read(connection.sql(lists)) == DATA
        data = DATA  # found by its name
        assert data is not None
        counted = connection.sql("select len(items), count(*) from data group by 1 order by 1")
        assert counted.fetchall() == [(0, 1), (1, 1), (2, 2)]


def test_homes() -> None:
    homes = {name: frames.home(to(DATA, "list")) for name, to in OUT.items()}
    assert homes == {"polars": "polars", "pandas": "pandas", "arrow": "arrow"}
    assert frames.home(Stream(pa.table({"a": [1]}))) == "arrow"
    assert frames.home([["a"]]) is None
