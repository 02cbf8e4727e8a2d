"""What is too much for memory, kept on disk for a while: rows, and pairs of an id and an item.

Both are split by a hash into parts that are read again one by one. Equal rows have equal hashes, so
a part has all of them, and what differs in it can be counted; so it is with the pairs of one id.
The files hold personal data: their folder is for its owner only, and goes away with the work,
however that ends.
"""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from overcoat.context import QUIET, Stage
from overcoat.data.memory import available_memory
from overcoat.errors import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Spill", "SpilledPairs", "SpilledRows", "spilling"]

PARTS = 256  # of one of which at a time memory has to hold all
_SHARE = 8  # what is gathered before it goes to disk is this part of the memory
_STEP = 1 << 20  # pairs split at once
_ROWS = 1 << 16  # rows hashed at once

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]  # offsets, codes, counts


class Spill:
    """A folder for what memory does not hold, made when it is needed first.

    Attributes
    ----------
    room : bytes of memory that may be used
    budget : bytes of one kind that are gathered before they go to disk
    """

    def __init__(self, room: int, parent: str | os.PathLike[str] | None = None) -> None:
        self.room, self.budget, self._parent = room, room // _SHARE, parent
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._n_names = 0

    def new_folder(self) -> Path:
        """Return a new folder, for one kind of things."""
        with self.told():
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="overcoat-", dir=self._parent)
            self._n_names += 1
            folder = Path(self._folder.name, str(self._n_names))
            folder.mkdir()
        return folder

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say in words what is wrong with the folder."""
        try:
            yield
        except OSError as error:
            where = self._parent or tempfile.gettempdir()
            reason = error.strerror or str(error)
            if error.errno == errno.ENOSPC:
                reason = "it is full"
            raise DataError(
                f"the data are larger than memory and cannot be sorted in the temporary folder: "
                f"{reason}; name another with more room (--temporary, TMPDIR)",
                os.fspath(where),
            ) from None

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        if self._folder is not None:
            with suppress(OSError):
                self._folder.cleanup()
            self._folder = None


@contextmanager
def spilling(stage: Stage, *, keep_order: bool = False) -> Iterator[Spill | None]:
    """Give a folder for what memory does not hold; None where nothing may go to disk.

    That is where the order of the input is asked for, and where nobody knows how much memory there
    is.
    """
    room = available_memory() if stage.memory is None else stage.memory
    if keep_order or room is None:
        yield None
        return
    spill = Spill(room, stage.temporary)
    try:
        yield spill
    finally:
        spill.close()


class SpilledRows:
    """Rows with counts, of which equal ones are in the same part."""

    def __init__(self, spill: Spill) -> None:
        self._spill, self._folder = spill, spill.new_folder()

    def add(self, offsets: NDArray[np.int64], codes: NDArray[np.int32], counts: Any) -> None:
        """Write canonical rows."""
        sizes = np.diff(offsets)
        part_of = (_hashes(offsets, codes) >> np.uint64(56)).astype(np.uint8)
        for part in range(PARTS):
            rows = np.flatnonzero(part_of == part)
            if len(rows):
                some = sizes[rows]
                ends = np.cumsum(some)
                places = np.arange(ends[-1]) + np.repeat(offsets[rows] - (ends - some), some)
                with self._spill.told(), self._path(part).open("ab") as stream:
                    stream.write(np.array([len(rows), ends[-1]], np.int64).tobytes())
                    for values in (some, codes[places], counts[rows]):
                        stream.write(values.tobytes())

    def part(self, part: int) -> Iterator[Rows]:
        """Yield what was written of a part."""
        path = self._path(part)
        if not path.exists():
            return
        with self._spill.told(), path.open("rb") as stream:
            while len(head := np.fromfile(stream, np.int64, 2)):
                offsets = np.concatenate([[0], np.fromfile(stream, np.int64, head[0]).cumsum()])
                codes = np.fromfile(stream, np.int32, head[1])
                yield offsets, codes, np.fromfile(stream, np.int64, head[0])

    def _path(self, part: int) -> Path:
        return self._folder / str(part)


def _hashes(offsets: NDArray[np.int64], codes: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return a hash of each of some canonical rows.

    >>> _hashes(np.array([0, 0, 2]), np.array([3, 5], np.int32)).tolist()
    [0, 967393429514167516]
    """
    found = np.empty(len(offsets) - 1, np.uint64)
    for row in range(0, len(found), _ROWS):
        ends = offsets[row : row + _ROWS + 1]
        values = codes[ends[0] : ends[-1]].astype(np.uint64) + np.uint64(1)
        values *= np.uint64(0x9E3779B97F4A7C15)
        values ^= values >> np.uint64(29)
        values *= np.uint64(0xBF58476D1CE4E5B9)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values)])  # modulo 2^64
        ends = ends - ends[0]
        found[row : row + _ROWS] = sums[ends[1:]] - sums[ends[:-1]]
    found *= np.uint64(0x94D049BB133111EB)
    return found


class SpilledPairs:
    """Pairs of an id and a code, of which all with the same id are in the same part."""

    def __init__(self, spill: Spill) -> None:
        self._spill, self._folder = spill, spill.new_folder()

    def add(self, ids: pl.Series, codes: NDArray[np.int32], tell: Any = QUIET) -> None:
        """Write pairs, the id of each and its code."""
        import polars as pl

        if ids.dtype.is_integer():
            ids = ids.cast(pl.String)  # files of one table may have several types of them
        for start in range(0, len(ids), _STEP):
            frame = pl.DataFrame(
                {"id": ids[start : start + _STEP], "code": codes[start : start + _STEP]}
            )
            heads = frame["id"].hash(0) // (1 << 56)
            for (part,), some in (
                frame.with_columns(part=heads).partition_by("part", as_dict=True).items()
            ):
                content = io.BytesIO()
                some.drop("part").write_ipc(content, compression="lz4")
                with self._spill.told(), self._path(int(part)).open("ab") as stream:
                    stream.write(len(content.getbuffer()).to_bytes(8, "little"))
                    stream.write(content.getbuffer())
            tell()

    def parts(self) -> Iterator[tuple[pl.Series, NDArray[np.int32]]]:
        """Yield the pairs of each part; its file is then removed."""
        import polars as pl

        for part in range(PARTS):
            path = self._path(part)
            if not path.exists():
                continue
            frames = []
            with self._spill.told(), path.open("rb") as stream:
                while size := stream.read(8):
                    content = stream.read(int.from_bytes(size, "little"))
                    frames.append(pl.read_ipc(io.BytesIO(content)))
            path.unlink()
            frame = pl.concat(frames)
            yield frame["id"], frame["code"].to_numpy()

    def _path(self, part: int) -> Path:
        return self._folder / str(part)
