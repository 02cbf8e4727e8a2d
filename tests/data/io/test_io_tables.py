"""Parquet files, frames and sparse matrices."""

import gzip
import hashlib
import io
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overcoat.data.io import parquet, read, write
from overcoat.data.io.source import open_source
from overcoat.data.io.tables import Labels
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

pd: Any = pytest.importorskip("pandas")  # so imported, they need no type stubs
pa: Any = pytest.importorskip("pyarrow")
sp: Any = pytest.importorskip("scipy.sparse")

IDS = [2, 1, 2, 3, 2]
ITEMS = ["b", "a", "a", None, "b"]
LISTS = [["b", "a", "b"], ["a"], None, []]


def ordered(data: Transactions) -> list[tuple[str, ...]]:
    distinct = [row for row, _ in data]
    assert data.positions is not None
    return [distinct[row] for row in data.positions.tolist()]


LONG_FRAMES = {
    "polars": pl.DataFrame({"p": IDS, "c": ITEMS}),
    "lazy": pl.LazyFrame({"p": IDS, "c": ITEMS}),
    "categorical": pl.DataFrame({"p": IDS, "c": pl.Series(ITEMS, dtype=pl.Categorical)}),
    "enum": pl.DataFrame({"p": IDS, "c": pl.Series(ITEMS, dtype=pl.Enum(["a", "b"]))}),
    "category ids": pl.DataFrame({"p": pl.Series(map(str, IDS), dtype=pl.Categorical), "c": ITEMS}),
    "float ids": pl.DataFrame({"p": map(float, IDS), "c": ITEMS}),
    "pandas": pd.DataFrame({"p": IDS, "c": ITEMS}),
    "pandas objects": pd.DataFrame({"p": IDS, "c": pd.Series(ITEMS, dtype=object)}),
    "pandas categorical": pd.DataFrame({"p": IDS, "c": pd.Categorical(ITEMS)}),
    "pandas arrow": pd.DataFrame({"p": IDS, "c": pd.Series(ITEMS, dtype="string[pyarrow]")}),
    "arrow": pa.table({"p": IDS, "c": ITEMS}),
    "arrow batch": pa.record_batch({"p": IDS, "c": ITEMS}),
    "arrow dictionary": pa.table({"p": IDS, "c": pa.array(ITEMS).dictionary_encode()}),
    "large string": pa.table({"p": map(str, IDS), "c": pa.array(ITEMS, pa.large_string())}),
    "empty string": pl.DataFrame({"p": IDS, "c": ["b", "a", "a", "", "b"]}),
}


@pytest.mark.parametrize("frame", LONG_FRAMES.values(), ids=LONG_FRAMES.keys())
def test_long_frames(frame: Any) -> None:
    data = read(frame, id="p", item="c", keep_order=True)
    assert ordered(data) == [("a", "b"), ("a",), ()]
    assert data.layout == Layout("long", parquet=True, id="p", item="c")
    assert data.file_digest is None


LIST_FRAMES = {
    "polars": pl.DataFrame({"x": range(4), "c": LISTS}),
    "series": pl.Series("c", LISTS),
    "categorical": pl.DataFrame({"c": pl.Series(LISTS, dtype=pl.List(pl.Categorical))}),
    "pandas": pd.DataFrame({"x": range(4), "c": LISTS}),
    "pandas series": pd.Series(LISTS, name="c"),
    "pandas sets": pd.DataFrame({"c": [{"b", "a"}, ("a",), None, np.array([])]}),
    "arrow": pa.table({"x": range(4), "c": LISTS}),
}


@pytest.mark.parametrize("items", ["c", None])
@pytest.mark.parametrize("frame", LIST_FRAMES.values(), ids=LIST_FRAMES.keys())
def test_list_frames(frame: Any, items: str | None) -> None:
    data = read(frame, items=items, keep_order=True)
    assert ordered(data) == [("a", "b"), ("a",), (), ()]
    assert data.layout == Layout("list", parquet=True, items="c")


def test_array_columns() -> None:
    column = pl.Series("c", [["a", "b"], ["b", "b"]], dtype=pl.Array(pl.String, 2))
    assert list(read(column.to_frame(), items="c")) == [(("a", "b"), 1), (("b",), 1)]


@pytest.mark.parametrize(
    "column",
    [
        pl.DataFrame({"p": [1, 1, 2], "c": [38, None, 401]}),
        pd.DataFrame({"p": [1, 1, 2], "c": pd.array([38, None, 401], dtype="Int64")}),
        pd.DataFrame({"p": [1, 1, 2], "c": [38, 38, 401]}),
        pd.DataFrame({"p": [1, 1, 2], "c": pd.Categorical([38, 38, 401])}),
        pa.table({"p": [1, 1, 2], "c": [38, 38, 401]}),
    ],
)
def test_integers_are_written_canonically(column: Any) -> None:
    assert list(read(column, id="p", item="c")) == [(("38",), 1), (("401",), 1)]


def test_lists_of_integers() -> None:
    for frame in (pl.DataFrame({"c": [[1, 2]]}), pd.DataFrame({"c": [[1, np.int64(2)]]})):
        assert list(read(frame, items="c")) == [(("1", "2"), 1)]


BAD: list[tuple[Any, dict[str, Any], list[str]]] = [
    (
        pl.DataFrame({"p": [1], "c": [1.5]}),
        {"id": "p", "item": "c"},
        ["column 'c' holds Float64; items are strings, so cast it to string first"],
    ),
    (
        pd.DataFrame({"p": [1], "c": [1.5]}),
        {"id": "p", "item": "c"},
        ["column 'c' holds float64; items are strings, so cast it to string first"],
    ),
    (
        pd.DataFrame({"p": [1], "c": [True]}),
        {"id": "p", "item": "c"},
        ["column 'c' holds bool; items are strings, so cast it to string first"],
    ),
    (
        pa.table({"p": [1], "c": [True]}),
        {"id": "p", "item": "c"},
        ["column 'c' holds Boolean; items are strings, so cast it to string first"],
    ),
    (
        pd.DataFrame({"p": [1, 2], "c": pd.Series(["a", 2.5], dtype=object)}),
        {"id": "p", "item": "c"},
        ["row 2: item 2.5 is not a string; cast it to string first"],
    ),
    *(
        (frame, {"id": "p", "item": "c"}, ["row 2: the id is missing", "row 4: the id is missing"])
        for frame in (
            pl.DataFrame({"p": ["x", None, "y", ""], "c": ["a"] * 4}),
            pd.DataFrame({"p": ["x", None, "y", ""], "c": ["a"] * 4}),
            pd.DataFrame({"p": [1, np.nan, 2, np.nan], "c": ["a"] * 4}),
            pl.DataFrame({"p": [1.0, None, 2.0, float("nan")], "c": ["a"] * 4}),
            pa.table({"p": [1, None, 2, None], "c": ["a"] * 4}),
        )
    ),
    *(
        (frame, {"id": "p", "item": "z"}, ["no column 'z'; the columns are 'p', 'c'"])
        for frame in (
            pl.DataFrame({"p": [1], "c": ["a"]}),
            pd.DataFrame({"p": [1], "c": ["a"]}),
            pa.table({"p": [1], "c": ["a"]}),
        )
    ),
    *(
        (
            frame,
            {"items": "c"},
            [
                "row 1: a null or an empty string in the list",
                "row 3: a null or an empty string in the list",
            ],
        )
        for frame in (
            pl.DataFrame({"c": [["a", None], ["b"], ["", ""]]}),
            pd.DataFrame({"c": [["a", None], ["b"], ["", ""]]}),
        )
    ),
    (pl.DataFrame({"c": ["a"]}), {"items": "c"}, ["column 'c' holds String, not lists"]),
    (pd.DataFrame({"c": ["a"]}), {"items": "c"}, ["row 1: 'a' is not a list of items"]),
    (
        pl.DataFrame({"c": [[1.5]]}),
        {"items": "c"},
        ["column 'c' holds Float64; items are strings, so cast it to string first"],
    ),
    *(
        (
            frame,
            {},
            [
                "say which columns hold the transactions: id and item (one pair a row), or items "
                "(lists); the columns are 'p', 'c'"
            ],
        )
        for frame in (
            pl.DataFrame({"p": [1], "c": ["a"]}),
            pd.DataFrame({"p": [1], "c": ["a"]}),
            pl.DataFrame({"p": [["a"]], "c": [["a"]]}),
        )
    ),
    (
        pl.DataFrame({"p": [["a"]], "c": ["a"]}),
        {"id": "p", "item": "c"},
        ["column 'p' holds List(String), not ids"],
    ),
    (
        pd.DataFrame({"p": [["a"]], "c": ["a"]}),
        {"id": "p", "item": "c"},
        ["column 'p' does not hold ids; an id is a number or a string"],
    ),
    (
        pl.DataFrame({"p": [1]}),
        {"id": "p", "item": "c", "items": "d"},
        ["give either the id and item columns or the items column, not both"],
    ),
]


@pytest.mark.parametrize(("frame", "arguments", "messages"), BAD)
def test_bad_frames(frame: Any, arguments: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        read(frame, **arguments)
    assert list(map(str, caught.value.problems)) == messages


def test_parquet_errors_name_file_and_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_ROW_GROUP", 2)
    path = tmp_path / "x.parquet"
    pl.DataFrame({"p": [1, 2, 3, None], "c": ["a"] * 4}).write_parquet(path)
    with pytest.raises(DataError) as caught:
        read(path, id="p", item="c")
    assert str(caught.value) == f"{path}: row 4: the id is missing"
    pl.DataFrame({"c": [["a"], ["b"], ["b", None]]}).write_parquet(path)
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: row 3: a null or an empty string in the list"


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_parquet(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_ROW_GROUP", rows)
    monkeypatch.setattr(parquet, "_LISTS", rows)
    path = tmp_path / "[x]*.parquet"
    pl.DataFrame({"p": IDS, "c": ITEMS}).write_parquet(path)
    data = read(path, id="p", item="c", keep_order=True)
    assert ordered(data) == [("a", "b"), ("a",), ()]
    assert data.layout == Layout("long", parquet=True, id="p", item="c")
    assert data.file_digest == hashlib.sha256(path.read_bytes()).hexdigest()

    pl.DataFrame({"x": range(4), "c": LISTS}).write_parquet(path)
    data = read(path, keep_order=True)
    assert ordered(data) == [("a", "b"), ("a",), (), ()]
    assert data.layout == Layout("list", parquet=True, items="c")
    assert ordered(read(path, items="c", keep_order=True)) == ordered(data)


def test_parquet_from_pipes_gzip_and_under_other_names(tmp_path: Path) -> None:
    packed = io.BytesIO()
    data = Transactions.of([{"a"}, set()])
    write(data, packed, layout=Layout("list", parquet=True))
    raw = packed.getvalue()
    assert read(io.BytesIO(raw)) == data
    assert read(io.BytesIO(raw)).file_digest == hashlib.sha256(raw).hexdigest()
    assert read(io.BytesIO(gzip.compress(raw))) == data
    for name, content in [("x.parquet.gz", gzip.compress(raw)), ("x.bin", raw), ("x.pq", raw)]:
        (tmp_path / name).write_bytes(content)
        assert read(tmp_path / name) == data
        assert read(tmp_path / name).file_digest == hashlib.sha256(content).hexdigest()


def test_written_parquet(tmp_path: Path) -> None:
    data = Transactions.of([{"b", "a"}, set(), {"b"}, {"b"}])
    path = tmp_path / "x.parquet"
    write(data, path, layout=Layout("long", parquet=True, id="p", item="c"))
    table = pl.read_parquet(path)
    assert table.columns == ["p", "c"]
    assert table.rows() == [(1, None), (2, "a"), (2, "b"), (3, "b"), (4, "b")]
    write(data, path, layout=Layout("list", parquet=True, items="p"))
    assert pl.read_parquet(path).to_dict(as_series=False) == {"p": [[], ["a", "b"], ["b"], ["b"]]}


SPARSE = [[0, 2, 1], [0, 0, 0], [0, 0, -1]]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("base", [sp.csr_array, sp.csr_matrix])
def test_sparse(base: Any, kind: str) -> None:
    data = read(base(SPARSE).asformat(kind), keep_order=True)
    assert ordered(data) == [("1", "2"), (), ("2",)]
    assert data.layout is None
    data = read(base(SPARSE).asformat(kind), items=["x", "y", "b"], keep_order=True)
    assert ordered(data) == [("b", "y"), (), ("b",)]
    assert list(data.vocabulary) == ["b", "y"]


def test_sparse_entries_are_summed_and_zeros_dropped() -> None:
    entries = ([1, -1, 0, 1, 1], ([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]))
    matrix = sp.coo_array(entries, shape=(2, 2))
    assert ordered(read(matrix, keep_order=True)) == [(), ("1",)]
    assert matrix.nnz == 5  # what was given stays as it was


def test_bad_sparse() -> None:
    matrix = sp.csr_array(SPARSE)
    with pytest.raises(DataError, match="2 labels for 3 columns"):
        read(matrix, items=["a", "b"])
    with pytest.raises(DataError, match="one label for each of the 3 columns, not 'abc'"):
        read(matrix, items="abc")
    with pytest.raises(DataError, match="more than one column has: 'a'"):
        read(matrix, items=["a", "b", "a"])
    with pytest.raises(DataError, match="cannot be the empty string"):
        read(matrix, items=["a", "b", ""])


def test_python_objects() -> None:
    data = read([{"b", "a"}, [], ("a", "a")], keep_order=True)
    assert ordered(data) == [("a", "b"), (), ("a",)]
    assert data.layout is None
    assert data.file_digest is None
    assert read(data) is data
    assert read(iter([{"a"}])).n_transactions == 1


def test_parquet_from_a_stream_goes_through_a_private_file_that_is_closed() -> None:
    """Not every system lets a file be opened twice."""
    raw = io.BytesIO()
    pl.DataFrame({"items": [["a"]]}).write_parquet(raw)
    raw.seek(0)
    with open_source(raw) as source, source.on_disk() as path:
        assert path.read_bytes() == raw.getvalue()
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        held = [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
        assert str(path.resolve()) not in held
    assert not path.parent.exists()


LABELS = st.none() | st.sampled_from(["", "a", "b", "038", "38", "ä", "\U0001f9e5"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(LABELS, max_size=8), max_size=5))
def test_labels_are_looked_up_once_however_many_columns_there_are(
    columns: list[list[str | None]],
) -> None:
    asked: list[str] = []

    def numbers(labels: list[str]) -> list[int]:
        asked.extend(labels)
        return [int.from_bytes(label.encode()[:3]) for label in labels]

    labels = Labels(numbers)
    for column in columns:
        codes = labels.codes(pl.Series(column, dtype=pl.String)).tolist()
        assert codes == [numbers([label])[0] if label else -1 for label in column]
        del asked[len(asked) - sum(map(bool, column)) :]  # what was asked for the comparison
    assert len(asked) == len(set(asked))
    assert set(asked) == {label for column in columns for label in column if label}
