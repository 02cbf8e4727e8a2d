"""Whether outputs can be written, found out before the work."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from overcoat.data.io.atomic import Staging
from overcoat.data.io.databases.address import file_of, is_address, shown
from overcoat.data.io.files import reads
from overcoat.errors import DataError

__all__ = ["check_folder", "check_outputs", "make_folder"]


def check_outputs(inputs: Iterable[str | None], outputs: Iterable[str | None]) -> None:
    """Find out before the work, not after it, that an output cannot be written.

    An address among the inputs stands for the file of its database.
    """
    given = [file_of(path) for path in inputs if path is not None]
    with Staging() as staging:  # leaves nothing behind
        for output in outputs:
            if output is None or output == "-":
                continue
            if is_address(output):
                raise DataError("only released data go to a table; name a file", shown(output))
            if any(reads(path, output) for path in given):
                raise DataError("is an input; name another file for the output", output)
            staging.stage(output)


def check_folder(folder: Path) -> None:
    """Find out before the work that a folder for results can be made, and make nothing."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise DataError("cannot be made a folder: there is a file of that name", str(there))


def make_folder(folder: Path) -> None:
    """Make a folder for results, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made a folder: {error.strerror}", str(folder)) from None
