"""Reading and writing say how far they are, and end where they are told to."""

import gzip
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overcoat.context import Context, Stage
from overcoat.data import samples
from overcoat.data.io import (
    basket,
    delimited,
    long,
    numbering,
    open_atomic,
    pairs,
    parquet,
    read,
    writer,
)
from overcoat.data.io import write as write_file
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import CancelledError, DataError

LONG = {"id": "id", "item": "item"}
LAYOUTS: dict[str, Layout] = {
    "x.dat": Layout("basket"),
    "x.dat.gz": Layout("basket"),
    "quoted.csv": Layout("basket", sep=","),
    "long.csv": Layout("long", sep=","),
    "quoted long.csv": Layout("long", sep=","),
    "long.parquet": Layout("long", parquet=True),
    "list.parquet": Layout("list", parquet=True),
}


class Watch(Stage):
    """Notes what it is told, and ends the work at a call."""

    def __init__(self, end_at: int = 0, error: type[BaseException] = CancelledError) -> None:
        super().__init__("work", Context(threads=1))
        self.told: list[tuple[int, int]] = []
        self._end_at, self._error = end_at, error

    def __call__(self, done: int = 0, of: int = 0) -> None:
        self.told.append((done, of))
        if len(self.told) == self._end_at:
            raise self._error("enough")


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A few lines take as many steps as millions do."""
    monkeypatch.setattr(delimited, "BLOCK", 500)
    monkeypatch.setattr(long, "POLARS_PAYS_FROM", 0)
    for module, name, size in (
        (basket, "TOLD", 16),
        (long, "TOLD", 16),
        (pairs, "_STEP", 64),
        (numbering, "_STEP", 64),
        (parquet, "_ROW_GROUP", 128),
        (parquet, "_LISTS", 32),
        (writer, "_ROWS", 32),
        (writer, "_BYTES", 256),
    ):
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()


def make(name: str) -> Transactions:
    rows = np.random.default_rng(3).integers(0, 40, (200, 4)).tolist()
    mark = '"' if name.startswith("quoted") else ""
    return Transactions.of([{f"{mark}{item}" for item in row} for row in rows] + [set()])


def read_back(path: Path | io.BytesIO, name: str, stage: Stage) -> Transactions:
    columns: Any = LONG if "long" in name else {}
    sep = "," if "quoted" in name else None
    return read(path, stage=stage, sep=sep, **columns)


@pytest.mark.parametrize("name", LAYOUTS)
def test_reading_tells_bytes(name: str, tmp_path: Path) -> None:
    data, path = make(name), tmp_path / name
    write_file(data, path, layout=LAYOUTS[name])
    watch = Watch()
    assert read_back(path, name, watch) == data
    size = path.stat().st_size
    assert len(watch.told) > 3
    assert [done for done, _ in watch.told] == sorted(done for done, _ in watch.told)
    assert {of for _, of in watch.told} == {size}
    assert watch.told[-1][0] == size


@pytest.mark.parametrize("name", LAYOUTS)
def test_writing_tells_transactions(name: str, tmp_path: Path) -> None:
    data, watch = make(name), Watch()
    write_file(data, tmp_path / name, layout=LAYOUTS[name], stage=watch)
    assert [done for done, _ in watch.told] == sorted(done for done, _ in watch.told)
    assert {of for _, of in watch.told} == {201}
    assert watch.told[0][0] == 0
    assert watch.told[-1][0] == 201


def ends_everywhere(work: Callable[[Stage], Any], check: Callable[[], None]) -> None:
    watch = Watch()
    work(watch)
    for error in (CancelledError, RuntimeError, KeyboardInterrupt):
        for call in sorted({1, 2, 3, len(watch.told) // 2}):  # how often polars is asked, varies
            with pytest.raises(error):
                work(Watch(call, error))
            check()


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("packed", [False, True], ids=["", "gz"])
def test_reading_ends_where_it_is_told_to(name: str, packed: bool, tmp_path: Path) -> None:
    written = io.BytesIO()
    write_file(make(name), written, layout=LAYOUTS[name])
    raw = gzip.compress(written.getvalue()) if packed else written.getvalue()

    def work(stage: Stage) -> Transactions:
        return read_back(io.BytesIO(raw), name, stage)

    def check() -> None:
        assert list((tmp_path / "temporary").iterdir()) == []

    ends_everywhere(work, check)


@pytest.mark.parametrize("name", LAYOUTS)
def test_writing_ends_where_it_is_told_to(name: str, tmp_path: Path) -> None:
    data, folder = make(name), tmp_path / "out"
    folder.mkdir()

    def work(stage: Stage) -> None:
        with open_atomic(folder / name) as stream:
            write_file(data, stream, layout=LAYOUTS[name], stage=stage)
        (folder / name).unlink()

    def check() -> None:
        assert list(folder.iterdir()) == []

    ends_everywhere(work, check)


def test_a_context_that_is_cancelled(tmp_path: Path) -> None:
    """After some calls, as when somebody clicks on Cancel."""
    path = samples.write_baskets(tmp_path / "x.dat", 500, 30)
    calls = iter(range(10))
    context = Context(cancelled=lambda: next(calls, None) is None, threads=1)
    with pytest.raises(CancelledError):
        read(path, stage=context.start("read"))
    assert next(calls, None) is None


def test_a_full_disk_under_parquet_is_told_as_such() -> None:
    class Full(io.BytesIO):
        def write(self, content: Any) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="cannot be written: No space left on device"):
        write_file(make(""), Full(), layout=LAYOUTS["long.parquet"])
