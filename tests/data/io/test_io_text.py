"""The rules of baskets and long tables, one by one."""

import hashlib
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from overcoat.data.io import read, read_as, write
from overcoat.data.io.delimited import BLOCK
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError
from platforms import needs_full_device

Rows = list[tuple[str, ...]]


def ordered(data: Transactions) -> Rows:
    """Return the transactions in the order of the input."""
    distinct = [row for row, _ in data]
    assert data.positions is not None
    return [distinct[row] for row in data.positions.tolist()]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b"b a\n", [("a", "b")]),
        (b"b a", [("a", "b")]),
        (b"a a\ta\n", [("a",)]),
        (b"a\r\nb\r\n", [("a",), ("b",)]),
        (b"a\n\nb\n", [("a",), (), ("b",)]),
        (b"\n", [()]),
        (b"\n\n", [(), ()]),
        (b" \t \n", [()]),
        (b"  a \x0b b\x0c\n", [("a", "b")]),
        (b"038 38\n", [("038", "38")]),
        (b"10 9\n", [("9", "10")]),
        ("a\u00a0b \u2028\n".encode(), [("a\u00a0b", "\u2028")]),
        (b'"a b"\n', [('"a', 'b"')]),
        (b"\xef\xbb\xbfa\n", [("a",)]),
        (b"a\n\xef\xbb\xbfa\n", [("a",), ("\ufeffa",)]),
        (b"#a a,b\n", [("#a", "a,b")]),
        (b"PAR1 x\n", [("PAR1", "x")]),
    ],
)
def test_white_space_basket(text: bytes, rows: Rows) -> None:
    assert ordered(read(io.BytesIO(text), keep_order=True)) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b"b,a\n", [("a", "b")]),
        (b" a b , c\t,,\n", [("a b", "c")]),
        (b"a,b\r\nc\r\n", [("a", "b"), ("c",)]),
        (b"a\n\n,\n", [("a",), (), ()]),
        (b'"a,b",c\n', [("a,b", "c")]),
        (b'" a "\n', [(" a ",)]),
        (b' "a" , b\n', [("a", "b")]),
        (b'"a""b"\n', [('a"b',)]),
        (b'"a\nb",c\nd\n', [("a\nb", "c"), ("d",)]),
        (b'"a\r\nb"\r\nd\r\n', [("a\r\nb",), ("d",)]),
        (b'"a"', [("a",)]),
        (b'\xef\xbb\xbf"a"\n', [("a",)]),
        (b"a;b\n", [("a;b",)]),
    ],
)
def test_comma_basket(text: bytes, rows: Rows) -> None:
    assert ordered(read(io.BytesIO(text), sep=",", keep_order=True)) == rows


def test_other_separators() -> None:
    assert list(read(io.BytesIO(b"a;b, c\n"), sep=";")) == [(("a", "b, c"), 1)]
    assert list(read(io.BytesIO(b"a  b\n"), sep="\t")) == [(("a  b",), 1)]
    assert list(read(io.BytesIO("a§b\n".encode()), sep="§")) == [(("a", "b"), 1)]


@pytest.mark.parametrize("sep", [None, ","])
def test_header_is_skipped(sep: str | None) -> None:
    data = read(io.BytesIO(b"items\na\n"), sep=sep, header=True)
    assert list(data) == [(("a",), 1)]
    assert data.layout == Layout("basket", sep=sep, header=True)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b"id,item\n1,b\n2,a\n1,a\n", [("a", "b"), ("a",)]),
        (b"item,x,id\nb,,1\na,,2\na,,1", [("a", "b"), ("a",)]),
        (b"id,item\r\n1,a\r\n2,\r\n", [("a",), ()]),
        (b"id,item\n1,\n1,a\n1,a\n", [("a",)]),
        (b'id,item\n1,""\n', [()]),
        (b"id,item\n01,a\n1,b\n", [("a",), ("b",)]),
        (b"id,item\n1,038\n1,NA\n", [("038", "NA")]),
        (b"id,item\n1, a \n", [(" a ",)]),
        (b'id,item\n"1","a, ""b""\nc"\n', [('a, "b"\nc',)]),
        (b"id,item\n1,a\n\n2,b\n\n", [("a",), ("b",)]),
        (b'\xef\xbb\xbf"id",item\n1,a\n', [("a",)]),
    ],
)
def test_long_table(text: bytes, rows: Rows) -> None:
    data = read(io.BytesIO(text), id="id", item="item", keep_order=True)
    assert ordered(data) == rows
    assert data.layout == Layout("long", sep=",")


def test_long_by_format_alone() -> None:
    assert list(read(io.BytesIO(b"id,item\n1,a\n"), format="long")) == [(("a",), 1)]


def test_long_tsv(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(b"p\tc\n1\ta,b\n")
    data = read(path, id="p", item="c")
    assert list(data) == [(("a,b",), 1)]
    assert data.layout == Layout("long", sep="\t", id="p", item="c")


def test_digest_is_of_the_raw_bytes(tmp_path: Path) -> None:
    path = tmp_path / "x.dat.gz"
    write(Transactions.of([{"a"}]), path, layout=Layout("basket"))
    raw = path.read_bytes()
    assert read(path).file_digest == hashlib.sha256(raw).hexdigest()
    assert read(io.BytesIO(raw)).file_digest == hashlib.sha256(raw).hexdigest()
    bom = b"\xef\xbb\xbfa\n"
    assert read(io.BytesIO(bom)).file_digest == hashlib.sha256(bom).hexdigest()


class Watched(io.RawIOBase):
    """A stream of many lines that never exist together, and notes how much is asked for."""

    def __init__(self, line: bytes, n_lines: int) -> None:
        self._pieces: Iterator[bytes] = iter([line] * n_lines)
        self._rest = b""
        self.most = 0
        self.total = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self.most = max(self.most, size if size >= 0 else sys.maxsize)
        data = self._rest or next(self._pieces, b"")
        piece, self._rest = data[:size], data[size:]
        self.total += len(piece)
        return piece


@pytest.mark.parametrize("sep", [None, ","])
def test_streams_are_read_piecewise(sep: str | None) -> None:
    stream = Watched(b"a,b c\n" * 1000, 2000)
    data = read(stream, sep=sep)
    assert data.n_transactions == 2_000_000
    assert stream.total == 12_000_000
    assert stream.most <= BLOCK


def test_slow_pipes_are_recognised() -> None:
    packed = io.BytesIO()
    write(Transactions.of([{"a"}]), packed, layout=Layout("basket"), gzip=True)

    class Slow(Watched):
        def __init__(self) -> None:
            super().__init__(b"", 0)
            self._pieces = iter([bytes([byte]) for byte in packed.getvalue()])

    assert list(read(Slow())) == [(("a",), 1)]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BytesIO(b"a b\n"))
    monkeypatch.setattr(sys, "stdin", text)
    data = read("-")
    assert list(data) == [(("a", "b"), 1)]
    assert data.file_digest == hashlib.sha256(b"a b\n").hexdigest()
    assert data.layout is not None
    assert data.layout.suffix is None


def test_text_streams_are_refused() -> None:
    with pytest.raises(DataError, match="open it in binary mode"):
        read(io.StringIO("a b\n"))


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (Layout("basket"), b"\na b\na b\nb\n"),
        (Layout("basket", header=True), b"items\n\na b\na b\nb\n"),
        (Layout("basket", sep=";"), b"\na;b\na;b\nb\n"),
        (Layout("long", sep=","), b"id,item\n1,\n2,a\n2,b\n3,a\n3,b\n4,b\n"),
    ],
)
def test_written_bytes(layout: Layout, text: bytes) -> None:
    data = Transactions.of([{"b"}, {"a", "b"}, set(), {"a", "b"}])
    stream = io.BytesIO()
    write(data, stream, layout=layout)
    assert stream.getvalue() == text


def test_kept_order() -> None:
    data = read(io.BytesIO(b"b\na\n\nb\n"), keep_order=True)
    stream = io.BytesIO()
    write(data, stream, layout=Layout("basket"), order=data.positions)
    assert stream.getvalue() == b"b\na\n\nb\n"
    assert read(io.BytesIO(b"b\na\n")).positions is None


def test_an_order_of_other_data_is_refused() -> None:
    data = read(io.BytesIO(b"b\na\nb\n"), keep_order=True)
    assert data.positions is not None
    with pytest.raises(ValueError, match="order"):
        write(data, io.BytesIO(), layout=Layout("basket"), order=data.positions[:2])


def test_labels_a_white_space_basket_cannot_hold() -> None:
    data = Transactions.of([{"a b", "c\nd", "ok"}])
    with pytest.raises(DataError) as caught:
        write(data, io.BytesIO(), layout=Layout("basket"))
    assert [problem.message.split(" contains")[0] for problem in caught.value.problems] == [
        "item 'a b'",
        r"item 'c\nd'",
    ]


def test_parquet_and_gzip_do_not_go_together() -> None:
    data = Transactions.of([{"a"}])
    with pytest.raises(DataError, match="compressed already"):
        write(data, io.BytesIO(), layout=Layout("list", parquet=True), gzip=True)
    with pytest.raises(DataError, match="lists need Parquet"):
        write(data, io.BytesIO(), layout=Layout("list"))


def test_a_release_in_a_temporary_is_read_by_its_layout(tmp_path: Path) -> None:
    path = tmp_path / ".overcoat-1.part"
    data = Transactions.of([{"a,b", "c"}])
    for layout in (Layout("basket", sep=","), Layout("long", sep=";"), Layout("list", True)):
        write(data, path, layout=layout)
        assert read_as(path, layout) == data


@needs_full_device
@pytest.mark.parametrize("layout", [Layout("basket"), Layout("list", parquet=True)])
def test_a_full_disk(layout: Layout) -> None:
    data = Transactions.of([{"a"}])
    with pytest.raises(DataError, match=r"^/dev/full: cannot be written: .*[Nn]o space"):
        write(data, "/dev/full", layout=layout)


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, io, overcoat.data.io as oio; oio.read(io.BytesIO(b'a b\\n'));"
        "oio.read(io.BytesIO(b'id,item\\n1,a\\n'), id='id', item='item');"
        "print(sorted({'polars', 'pandas', 'pyarrow', 'scipy'} & set(sys.modules)))"
    )
    source = str(Path(__file__).parents[3] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
