"""Tables larger than memory: the same transactions, by way of the disk."""

from __future__ import annotations

import errno
import io
import os
import random
import stat
from pathlib import Path

import polars as pl
import pytest

import overcoat as oc
from overcoat.context import Context, Stage
from overcoat.data import spill
from overcoat.data.io import delimited, parquet, read
from overcoat.data.spill import Spill, SpilledPairs, SpilledRows
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.release.forecast import Forecast


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "BLOCK", 1 << 10)
    monkeypatch.setattr(parquet, "_ROW_GROUP", 1 << 8)


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often rows and pairs went to disk."""
    found = {"rows": 0, "pairs": 0}

    def watch(kind: type, name: str) -> None:
        add = kind.add  # type: ignore[attr-defined]

        def watched(self: object, *values: object) -> None:
            found[name] += 1
            add(self, *values)

        monkeypatch.setattr(kind, "add", watched)

    watch(SpilledRows, "rows")
    watch(SpilledPairs, "pairs")
    return found


def rows_of(seed: int, n_rows: int = 400, n_kinds: int = 60) -> list[list[str]]:
    """Rows of which many are equal, also empty ones."""
    rng = random.Random(seed)
    kinds = [
        [f"item {rng.randrange(30)}" for _ in range(rng.choice([0, 1, 2, 3, 8]))]
        for _ in range(n_kinds)
    ]
    return [sorted(set(rng.choice(kinds))) for _ in range(n_rows)]


def pairs_of(rows: list[list[str]], *, order: str, seed: int) -> pl.DataFrame:
    numbers = list(range(len(rows)))
    random.Random(seed).shuffle(numbers)
    pairs = [(f"p{numbers[n]:05}", item) for n, row in enumerate(rows) for item in row or [""]]
    if order == "ascending":
        pairs.sort()
    elif order == "none":
        random.Random(seed).shuffle(pairs)
    return pl.DataFrame(pairs, schema=["person", "code"], orient="row")


def stage(memory: int | None, folder: Path | None = None) -> Stage:
    return Context(memory=memory, temporary=folder).start("read")


@pytest.mark.parametrize("seed", range(8))
def test_baskets(seed: int, tmp_path: Path, used: dict[str, int]) -> None:
    rows = rows_of(seed)
    text = "".join(" ".join(item.replace(" ", "_") for item in row) + "\n" for row in rows)
    whole = read(io.BytesIO(text.encode()))
    found = read(io.BytesIO(text.encode()), stage=stage(14_000, tmp_path))
    assert found == whole
    assert found.content_digest == whole.content_digest
    assert used["rows"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("order", ["ascending", "together", "none"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "csv.gz", "numbers"])
@pytest.mark.parametrize("fast", [False, True])
def test_long_tables(
    kind: str,
    order: str,
    fast: bool,
    tmp_path: Path,
    used: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from overcoat.data.io import long

    monkeypatch.setattr(long, "POLARS_PAYS_FROM", 1 if fast else 1 << 30)
    frame = pairs_of(rows_of(3), order=order, seed=5)
    path = tmp_path / f"d.{kind}"
    if kind == "csv":
        frame.write_csv(path)
    elif kind == "csv.gz":
        import gzip

        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    else:
        path = tmp_path / "d.parquet"
        if kind == "numbers":
            frame = frame.with_columns(pl.col("person").str.slice(1).cast(pl.Int32))
        frame.write_parquet(path)
    spare = tmp_path / "spare"
    spare.mkdir()
    whole = read(path, id="person", item="code")
    found = read(path, id="person", item="code", stage=stage(14_000, spare))
    assert found == whole
    assert used["pairs"]
    assert not list(spare.iterdir())


def test_lists(tmp_path: Path, used: dict[str, int]) -> None:
    rows = rows_of(11, 1500)
    pl.DataFrame({"items": rows}).write_parquet(tmp_path / "d.parquet")
    assert read(tmp_path / "d.parquet", stage=stage(14_000)) == Transactions.of(rows)
    assert used["rows"] >= 0


def test_folders(tmp_path: Path, used: dict[str, int]) -> None:
    """A person may have pairs in several files, which may hold ids of several types."""
    frame = pairs_of(rows_of(4), order="none", seed=1)
    frame = frame.with_columns(pl.col("person").str.slice(1).cast(pl.Int64))
    folder = tmp_path / "table"
    folder.mkdir()
    for part in range(3):
        some = frame[part::3]
        some = some.with_columns(pl.col("person").cast([pl.Int32, pl.Int64, pl.UInt64][part]))
        some.write_parquet(folder / f"{part}.parquet")
    found = read(folder, id="person", item="code", stage=stage(14_000))
    assert found == read(folder, id="person", item="code")
    assert used["pairs"]


def test_databases(tmp_path: Path, used: dict[str, int]) -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = pairs_of(rows_of(4, 6000), order="none", seed=1)
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE pairs AS SELECT * FROM frame")
    asked = {"id": "person", "item": "code"}
    found = read(f"duckdb:///{path}#pairs", **asked, stage=stage(60_000))  # type: ignore[arg-type]
    assert found == read(f"duckdb:///{path}#pairs", **asked)  # type: ignore[arg-type]
    assert used["pairs"]
    assert len(frame)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_release(
    threads: int, tmp_path: Path, used: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mapping and released bytes are those of the way through memory."""
    # What is left for finding the mapping is another matter.
    monkeypatch.setattr("overcoat.release.walk.forecast", lambda *_: Forecast(None, 0))
    path = tmp_path / "d.csv"
    pairs_of(rows_of(9), order="none", seed=2).write_csv(path)
    written = []
    for memory in (None, 200_000):
        context = Context(threads=threads, memory=memory)
        result = oc.anonymize(path, 3, oc.AllItemsets(2), id="person", item="code", context=context)
        result.write(tmp_path / "o.csv", mapping=tmp_path / "m.json", context=context)
        written.append([(tmp_path / name).read_bytes() for name in ("o.csv", "m.json")])
    assert written[0] == written[1]


def test_the_order_of_the_input_is_kept_in_memory(tmp_path: Path, used: dict[str, int]) -> None:
    path = tmp_path / "d.csv"
    pairs_of(rows_of(9), order="none", seed=2).write_csv(path)
    with pytest.raises(oc.DataError, match=r"reading it needs about .* of memory"):
        read(path, id="person", item="code", keep_order=True, stage=stage(14_000))
    assert not any(used.values())


def test_many_distinct_rows_are_refused_with_the_estimate(tmp_path: Path) -> None:
    rows = [[f"a{n}", f"b{n % 97}"] for n in range(5000)]
    text = "".join(" ".join(row) + "\n" for row in rows).encode()
    with pytest.raises(oc.DataError) as caught:
        read(io.BytesIO(text), stage=stage(14_000, tmp_path))
    told = str(caught.value)
    number = int(
        told.split("there are about ")[1].split(" distinct", maxsplit=1)[0].replace(",", "")
    )
    assert 2500 < number < 10_000
    assert "--spark" in told
    assert "--memory" in told
    assert not list(tmp_path.iterdir())


class Interrupts:
    """Interrupts the work once something is on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seen = folder, 0

    def __call__(self) -> bool:
        found = list(self.folder.iterdir())
        for path in found:
            if os.name == "posix":
                assert stat.S_IMODE(path.stat().st_mode) == 0o700
        self.seen += len(found)
        return self.seen > 3


@pytest.mark.parametrize("error", [KeyboardInterrupt, None])
def test_nothing_is_left_when_it_is_ended(
    tmp_path: Path, error: type[BaseException] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, spare = tmp_path / "d.csv", tmp_path / "spare"
    spare.mkdir()
    pairs_of(rows_of(9), order="none", seed=2).write_csv(path)
    asks = Interrupts(spare)

    def asked() -> bool:
        if asks() and error is not None:
            raise error
        return asks.seen > 3

    context = Context(memory=14_000, temporary=spare, cancelled=asked)
    with pytest.raises(error or oc.CancelledError):
        read(path, id="person", item="code", stage=context.start("read"))
    assert asks.seen
    assert not list(spare.iterdir())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_what_is_wrong_with_the_folder_is_told(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, spare = tmp_path / "d.csv", tmp_path / "spare"
    spare.mkdir()
    pairs_of(rows_of(9), order="none", seed=2).write_csv(path)
    opened = Path.open

    def refuse(self: Path, mode: str = "r", *more: object, **others: object) -> object:
        if "a" in mode:
            raise OSError(number, os.strerror(number))
        return opened(self, mode, *more, **others)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(oc.DataError) as caught:
        read(path, id="person", item="code", stage=stage(14_000, spare))
    told = str(caught.value)
    assert str(spare) in told
    assert "--temporary" in told
    assert ("it is full" in told) == (number == errno.ENOSPC)
    assert not list(spare.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    pairs_of(rows_of(9), order="none", seed=2).write_csv(path)
    with pytest.raises(oc.DataError, match="nowhere"):
        read(path, id="person", item="code", stage=stage(14_000, tmp_path / "nowhere"))


def test_what_is_taken_back_is_taken_back_from_disk(tmp_path: Path) -> None:
    spill_ = Spill(1000, tmp_path)
    builder = TransactionsBuilder(spill=spill_)
    codes = [builder.code(label) for label in "abcdefgh"]
    go_back = builder.mark()
    for code in codes * 40:
        builder.add_rows([0, 1, 3], [code, codes[0], code])
    go_back()
    builder.add_rows([0, 2], codes[:2])
    assert list(builder.build()) == [(("a", "b"), 1)]
    spill_.close()


def test_hashes_tell_rows_apart() -> None:
    builder = TransactionsBuilder()
    rng = random.Random(1)
    for _ in range(5000):
        builder.add({builder.code(str(rng.randrange(40))) for _ in range(rng.randrange(5))})
    data = builder.build()
    hashes = spill._hashes(data.offsets, data.codes)
    assert len(set(hashes.tolist())) > 0.99 * data.n_distinct
    parts = [int(one) >> 56 for one in hashes]
    assert max(parts.count(part) for part in set(parts)) < 4 * data.n_distinct / spill.PARTS + 20
