"""Standard output, for what a program reads."""

from __future__ import annotations

import errno
import sys

from overcoat.errors import DataError

__all__ = ["send"]


def send(content: bytes, *, whole: bool = False) -> None:
    """Write to standard output, all of it and now.

    A reader who leaves early has seen enough, and that is no error; unless, with `whole`, something
    else is only worth writing if all of this has arrived.
    """
    if sys.stdout is None:
        raise DataError("is closed", "standard output")
    try:
        sys.stdout.flush()
        left = memoryview(content)
        while left:
            # Unbuffered (PYTHONUNBUFFERED), a write may take a part only, or nothing for now.
            taken = sys.stdout.buffer.write(left)
            if taken is None:
                raise BlockingIOError(errno.EAGAIN, "the reader is too slow")
            left = left[taken:]
        sys.stdout.buffer.flush()
    except OSError as error:
        sys.stdout = None  # else Python would try once more, and complain, when it ends
        if not isinstance(error, BrokenPipeError):
            raise DataError(f"cannot be written: {error.strerror}", "standard output") from error
        if whole:
            raise DataError(
                "standard output was closed before everything was written; nothing else was written"
            ) from None
