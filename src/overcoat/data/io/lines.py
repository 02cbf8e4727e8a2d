r"""Line ends: LF and CRLF everywhere, and the lone CR of old Macintosh files.

A CR is an ordinary character in a file whose lines end otherwise. A file that has CRs and no LF has
its lines from them, and is given to the readers with LFs instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from overcoat.errors import DataError

if TYPE_CHECKING:
    from overcoat.data.io.encoding import Readable

__all__ = ["LineFeeds", "line_end"]


def line_end(text: bytes, *, quote: str) -> bytes:
    r"""Return what ends the lines of `text`: LF, CR, or nothing when it has but one.

    What stands between two quotes does not count.

    >>> line_end(b'a\rb\n', quote=""), line_end(b'a,"\n"\rb\r', quote='"')
    (b'\n', b'\r')
    """
    if quote and (mark := quote.encode()) in text:
        text = re.sub(rb"%b[^%b]*(?:%b|\Z)" % (mark, mark, mark), b"", text)
    return next((end for end in (b"\n", b"\r") if end in text), b"")


class LineFeeds:
    r"""A stream whose lines end in CR, given with LF instead; CRs in quotes stay.

    >>> import io
    >>> LineFeeds(io.BytesIO(b'a,"b\rc"\rd\r'), quote='"', name="x.csv").read(100)
    b'a,"b\rc"\nd\n'
    """

    def __init__(self, stream: Readable, *, quote: str, name: str) -> None:
        self._stream, self._mark, self._name = stream, quote.encode(), name
        self._inside = False  # quotes

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""
        data = self._stream.read(size)
        parts = data.split(self._mark) if self._mark else [data]
        # Every other part is in quotes; which, depends on how the block before ended.
        for number in range(self._inside, len(parts), 2):
            if b"\n" in parts[number]:
                raise DataError(
                    "some lines end in CR, others in LF; save it with one kind of line ends",
                    self._name,
                )
            parts[number] = parts[number].replace(b"\r", b"\n")
        self._inside ^= len(parts) % 2 == 0
        return self._mark.join(parts)
