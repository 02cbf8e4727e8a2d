"""What is written comes back exactly, in every format, whatever the labels are."""

import gzip as gzip_module
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from overcoat.data.io import delimited, long, read, read_as, write
from overcoat.data.io.asked import Asked
from overcoat.data.io.names import input_layout
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError

HOSTILE = [
    *("a", "b", "038", "38", "-", "NA", "null", "NaN", "None", "true", "1e5", "#x", "n:x", "x:"),
    *("a b", " lead", "trail ", "\ttab\t", " ", "a,b", ",", ";", "a;b", "|", '"', '""', 'x"y'),
    *("(a, b)", "[a]", "{a}", "'", "\\", "\\n", "a\nb", "\n", "a\r\nb", "\r", "a\r", "\v", "\f"),
    *("\u00a0", "a\u00a0b", "\u2028", "\x85", "\x1c", "\x00", "\ufeff", "\ufeffa", "\U0001f9a0"),
    *("\u05d0\u05d1", "\u202eabc", "e\u0301", "\u00e9", "PAR1", "PAR1\x15", "items", "id", "0"),
    *(
        "x" * 3000,
        "y" * 200_000,
        "a\rb",
        "\r\r",
        "\n\r",
        "1",
        "12",
        "12345678901234567890",
        "-3",
        "=1+1",
        "%",
        "\x1f",
        "\x1fx",
    ),
]
WHITE = set(" \t\n\r\v\f")
LABELS = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5
)
FAST = settings(
    derandomize=True,
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

LAYOUTS = {
    "comma": Layout("basket", sep=","),
    "semicolon": Layout("basket", sep=";"),
    "letter": Layout("basket", sep="a"),
    "section": Layout("basket", sep="§"),
    "space": Layout("basket", sep=" "),
    "tab": Layout("basket", sep="\t"),
    "header": Layout("basket", sep=",", header=True),
    "long csv": Layout("long", sep=",", id="patient", item="code"),
    "long tsv": Layout("long", sep="\t", id="p,\t\nq", item=' "c"'),
    "long bom": Layout("long", sep="|", id="\ufeffid", item="item"),
    "long digit": Layout("long", sep="1", id="id", item="item"),
    "long parquet": Layout("long", parquet=True, id="patient", item="row"),
    "list parquet": Layout("list", parquet=True, items="row"),
}


def rows_of(labels: st.SearchStrategy[str]) -> st.SearchStrategy[list[frozenset[str]]]:
    return st.lists(st.frozensets(labels, max_size=4), min_size=1, max_size=8)


def check(data: Transactions, layout: Layout, gzip: bool) -> None:
    written = io.BytesIO()
    write(data, written, layout=layout, gzip=gzip)
    again = io.BytesIO()
    write(data, again, layout=layout, gzip=gzip)
    assert again.getvalue() == written.getvalue()
    back = read_as(io.BytesIO(written.getvalue()), layout)
    assert back == data
    assert back.layout == layout

    ordered = io.BytesIO()
    write(data, ordered, layout=layout, gzip=gzip, order=data.positions)
    back = read_as(io.BytesIO(ordered.getvalue()), layout, keep_order=True)
    assert back == data
    assert data.positions is not None
    assert back.positions is not None
    assert back.positions.tolist() == data.positions.tolist()


@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@given(rows=rows_of(LABELS))
@example(rows=[frozenset()])
@example(rows=[frozenset(HOSTILE)])
@example(rows=[frozenset({label}) for label in HOSTILE])
@example(rows=[frozenset({"\ufeff"})])
@example(rows=[frozenset({"PAR1\x15"})])
@FAST
def test_every_label_comes_back(layout: Layout, gzip: bool, rows: list[frozenset[str]]) -> None:
    check(Transactions.of(rows, keep_order=True), layout, gzip and not layout.parquet)


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("gzip", [False, True], ids=["plain", "gz"])
@given(rows=rows_of(LABELS.filter(lambda label: not WHITE & set(label))))
@example(rows=[frozenset()])
@example(rows=[frozenset({label}) for label in HOSTILE if not WHITE & set(label)])
@example(rows=[frozenset({"\ufeff"})])
@example(rows=[frozenset({"PAR1\x15"})])
@FAST
def test_white_space_baskets_come_back(
    header: bool, gzip: bool, rows: list[frozenset[str]]
) -> None:
    check(Transactions.of(rows, keep_order=True), Layout("basket", header=header), gzip)


@pytest.mark.parametrize("sep", [",", "\t", "|", "§"])
@given(rows=rows_of(LABELS), block=st.integers(1, 60))
@example(rows=[frozenset({label}) for label in HOSTILE], block=7)
@FAST
def test_blocks_and_polars_change_nothing(
    sep: str, rows: list[frozenset[str]], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Transactions.of(rows, keep_order=True)
    with monkeypatch.context() as patch:
        patch.setattr(delimited, "BLOCK", block)
        patch.setattr(long, "POLARS_PAYS_FROM", 0)
        check(data, Layout("long", sep=sep), gzip=False)
        check(data, Layout("basket", sep=sep), gzip=False)


FRAGMENTS = st.sampled_from(
    [*("1", "2", "a", "é", " ", "\ufeff"), *",,,", *'""', '""', ' "', *"\n\n\r", "\r\n"]
)


@given(parts=st.lists(FRAGMENTS, max_size=25))
@settings(FAST, max_examples=400)
@example(parts=["1", ",", "a", "\r"])
@example(parts=["1", ",", '"', "a", '"', "\r"])
@example(parts=["1", ",", "\r\n"])
@example(parts=["1", ",", '"', "a", '"', "\r\n"])
def test_the_fast_way_agrees_with_the_plain_one(
    parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On any text: the same transactions or the same complaint."""
    text = "id,item\n1,x\n" + "".join(parts)

    def outcome() -> object:
        try:
            return list(read(io.BytesIO(text.encode()), id="id", item="item", keep_order=True))
        except Exception as error:
            return type(error), str(error)

    plain = outcome()
    with monkeypatch.context() as patch:
        patch.setattr(long, "POLARS_PAYS_FROM", 0)
        assert outcome() == plain


NAMES: dict[str, Callable[[str], Layout]] = {
    "x.dat": lambda suffix: Layout("basket", suffix=suffix),
    "x.txt": lambda suffix: Layout("basket", suffix=suffix),
    "x.csv": lambda suffix: Layout("basket", sep=",", suffix=suffix),
    "x.tsv": lambda suffix: Layout("basket", sep="\t", suffix=suffix),
}


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize("name", [*NAMES, "long.csv", "long.tsv"])
@given(rows=rows_of(LABELS))
@example(rows=[frozenset(HOSTILE)])
@example(rows=[frozenset({label}) for label in HOSTILE])
@example(rows=[frozenset({"a", "\r", "b"})])
@example(rows=[frozenset({"\r"})])
@FAST
def test_a_written_file_is_read_by_its_name(
    name: str, gz: str, rows: list[frozenset[str]], tmp_path: Path
) -> None:
    """Whatever the labels are: either they come back, or writing says why they cannot be held."""
    columns: Any = {"id": "id", "item": "item"} if name.startswith("long") else {}
    layout = input_layout(name[-4:], Asked(**columns))
    data = Transactions.of(rows)
    white = [label for label in data.vocabulary if WHITE & set(label)]
    path = tmp_path / (name + gz)
    if layout.sep is None and white:
        with pytest.raises(DataError, match=r"contains? white space") as caught:
            write(data, path, layout=layout)
        assert repr(white[0]) in str(caught.value)
    else:
        write(data, path, layout=layout)
        assert read(path, **columns) == data


@pytest.mark.parametrize("gz", ["", ".gz", ".GZ"])
@pytest.mark.parametrize("name", NAMES)
def test_names_say_how_to_read(
    name: str, gz: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("names") / (name + gz)
    layout = NAMES[name](name[1:])
    data = Transactions.of([{"a", "b"}, set(), {"a"}])
    write(data, path, layout=layout)
    back = read(path)
    assert back == data
    assert back.layout == layout
    assert back.layout.suffix == name[1:]
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(gz)


def test_gzip_holds_no_name_and_no_time(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("gz")
    data = Transactions.of([{"a"}])
    write(data, folder / "one.dat.gz", layout=Layout("basket"))
    write(data, folder / "two.part", layout=Layout("basket"), gzip=True)
    raw = (folder / "one.dat.gz").read_bytes()
    assert raw == (folder / "two.part").read_bytes()
    assert raw[3] == 0  # flags: no name, no comment
    assert raw[4:8] == bytes(4)  # no time
    assert gzip_module.decompress(raw) == b"a\n"


def test_layout_equality_ignores_the_suffix() -> None:
    assert replace(Layout("basket"), suffix=".dat") == Layout("basket")
