"""What is read back is held against what was written, row by row."""

from __future__ import annotations

import io

import numpy as np
import pytest

import overcoat as oc
from overcoat.context import Context
from overcoat.data.echo import Echo
from overcoat.data.io import read_as, write
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions

DATA = Transactions.of(
    [{"a", "b"}, set(), {"b"}, {"a", "b"}, *({f"c{n % 13}", "b"} for n in range(40))],
    keep_order=True,
)
LAYOUTS = [
    Layout("basket"),
    Layout("basket", sep=","),
    Layout("long", sep=",", id="who", item="what"),
    Layout("long", sep=",", id="who", item="what", parquet=True),
    Layout("list", items="items", parquet=True),
]
OTHERS = {
    "a row less": Transactions.of(list(DATA.to_lists())[:-1]),
    "a row more": Transactions.of([*DATA.to_lists(), ["a"]]),
    "another label": Transactions.of([*DATA.to_lists()[:-1], ["z"]]),
    "another row": Transactions.of([*DATA.to_lists()[:-1], ["a"]]),
    "nothing": Transactions.of([set()]),
}


def written(data: Transactions, layout: Layout, order: object = None) -> io.BytesIO:
    stream = io.BytesIO()
    write(data, stream, layout=layout, order=order)  # type: ignore[arg-type]
    stream.seek(0)
    return stream


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_was_written(layout: Layout, threads: int) -> None:
    stage = Context(threads=threads).start("write")
    copy = read_as(written(DATA, layout), layout, into=Echo(DATA), stage=stage)
    assert copy == DATA
    assert copy.file_digest is not None


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("other", OTHERS)
def test_anything_else(layout: Layout, other: str) -> None:
    with pytest.raises(oc.VerificationError, match="does not read back"):
        read_as(written(OTHERS[other], layout), layout, into=Echo(DATA))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_order_is_part_of_it(layout: Layout) -> None:
    order = DATA.positions
    assert order is not None
    stream = written(DATA, layout, order)
    copy = read_as(stream, layout, keep_order=True, into=Echo(DATA, order))
    assert np.array_equal(copy.positions, order)  # type: ignore[arg-type]
    for wrong in (None, order[::-1]):
        with pytest.raises(oc.VerificationError):
            read_as(written(DATA, layout, order), layout, into=Echo(DATA, wrong))
