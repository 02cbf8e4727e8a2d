"""What encoding a text has: found while it is read, in one pass; all that follows sees UTF-8.

A byte order mark, or NULs in every other byte, tell UTF-16. Else bytes of ASCII pass as they are,
and the first that is none decides, with what comes after it: sound UTF-8, UTF-8 with some stray
bytes, or Windows-1252, of which Latin-1 is the printable part. In UTF-8 nothing is looked at twice:
stray bytes are found by those who need the field they are in.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Protocol

import numpy as np

from overcoat.errors import DataError

__all__ = ["BOM", "HEAD", "STRAY", "Readable", "Recoded", "looks_binary", "looks_wide"]

BOM = codecs.BOM_UTF8
HEAD = 1 << 12  # bytes in which NULs are looked for
STRAY = "not UTF-8, as the rest of the file is; save it in one encoding, or name it (--encoding)"

_NO_TEXT = (
    "is not a text, or has an encoding that cannot be told; if it is one, name its encoding "
    "(--encoding)"
)
_WINDOW = 1 << 16  # bytes that decide, from the first that is not ASCII; recoded at once
_FEW = 32  # NULs that may stand in a text by accident
_CERTAIN = 3  # sound sequences of UTF-8 that are no accident
_MARKS = {  # the longer ones first: one starts with another
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_KINDS = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}  # where no mark says which
_HIGH = re.compile(rb"[\x80-\xff]")
_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_INSIDE = re.compile(rb"\A[\x80-\xbf]{1,3}")  # the end of a sequence that began before
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")  # what no text of one byte a letter has
_ASCII = bytes(range(128))
# Five bytes that it does not define are what they are in Latin-1.
_WINDOWS = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))


class Readable(Protocol):
    """What we need of a binary stream."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""


class Recoded:
    """A text in any encoding, given in UTF-8, a byte order mark dropped.

    Parameters
    ----------
    stream : the text
    head : its first bytes, which `stream` gives again
    name : for messages
    encoding : what the user says it is; None to find out

    Attributes
    ----------
    encoding : its name as far as it is known; empty while all was ASCII
    marked : a byte order mark was there

    >>> import io
    >>> angst = "Ängste".encode("latin-1")
    >>> text = Recoded(io.BytesIO(angst), angst, "x.txt")
    >>> text.read(100).decode(), text.encoding
    ('Ängste', 'Windows-1252')
    """

    def __init__(
        self, stream: Readable, head: bytes, name: str, encoding: str | None = None
    ) -> None:
        self._stream, self._name, self._asked = stream, name, encoding is not None
        self._line, self._n_bytes = 1, 0  # what has been recoded
        self._rest = b""  # read, and given to nobody yet
        self._decode: Callable[[bytes, bool], str] | None = None  # None: it is UTF-8 already
        mark = next((mark for mark in _MARKS if head.startswith(mark)), b"")
        found = _MARKS.get(mark) or looks_wide(head)
        if encoding is not None:
            asked = codecs.lookup(encoding).name.removesuffix("-sig")
            if found is None or not found.startswith(asked):
                mark, found = b"", _KINDS.get(asked, asked)
            self._decode = _decoder(found)
        elif found not in (None, "utf-8"):
            self._decode = _decoder(found)
        self._settled = found is not None
        self._binary = encoding is None and not mark and looks_binary(head)
        self.encoding = "" if found is None else _title(found)
        self.marked = bool(mark)
        for _ in mark:
            stream.read(1)

    def check(self) -> None:
        """Raise if the first bytes are those of no text."""
        if self._binary:
            raise DataError(_NO_TEXT, self._name)

    def read(self, size: int, /) -> bytes:
        """Return some bytes of UTF-8, none at the end; more than `size` where they became more."""
        if not self._settled:
            data = self._stream.read(size)
            found = _HIGH.search(data) if not data.isascii() else None
            if found is None:
                self._n_bytes += len(data)
                return data
            self._settle(data[found.start() :])
            if found.start():
                self._n_bytes += found.start()
                return data[: found.start()]
        if self._decode is None:
            data, self._rest = self._rest, b""
            return data or self._stream.read(size)
        while window := self._take():
            if text := self._recode(window):
                return text
        return self._recode(b"")

    def _take(self) -> bytes:
        """Return the next bytes, as many as fit a window: how they arrived must not matter."""
        parts, length = [self._rest], len(self._rest)
        while length < _WINDOW and (more := self._stream.read(_WINDOW - length)):
            parts.append(more)
            length += len(more)
        data = b"".join(parts)
        self._rest = data[_WINDOW:]
        return data[:_WINDOW]

    def _settle(self, data: bytes) -> None:
        """Decide what the text is; `data` starts with the first byte that is not ASCII."""
        self._rest = data
        window = self._take()
        self._rest = window + self._rest
        self._settled, self.encoding = True, "UTF-8"
        if _is_utf8(window, whole=len(window) < _WINDOW):
            return
        sound = _SEQUENCE.findall(window)
        strays = len(window.translate(None, _ASCII)) - sum(map(len, sound))
        if strays > len(sound):
            if _CONTROL.search(window):
                raise DataError(_NO_TEXT, self._name)
            self.encoding, self._decode = "Windows-1252", _from_windows

    def _recode(self, window: bytes) -> bytes:
        assert self._decode is not None
        if self._decode is _from_windows and _turns_utf8(window):
            raise DataError(
                f"the first {self._n_bytes:,} bytes are Windows-1252, and then it is UTF-8; save "
                "it in one encoding, or name it (--encoding)",
                self._name,
            )
        try:
            text = self._decode(window, not window)
        except UnicodeError as error:
            raise self._failure(error, ends=not window) from None
        if self._decode is not _from_windows:  # which takes any byte: nobody will ask for the line
            self._line += text.count("\n")
        self._n_bytes += len(window)
        return text.encode("utf-8", "surrogatepass")

    def _failure(self, error: UnicodeError, *, ends: bool) -> DataError:
        line, message = self._line, f"not {self.encoding}, as it should be; copy it again"
        if isinstance(error, UnicodeDecodeError):
            before = error.object[: error.start].decode(error.encoding, "replace")
            line += before.count("\n")
        if ends:
            message = f"ends within a character of {self.encoding}; copy it again"
        if self._asked:
            message += ", or leave out --encoding to have its encoding found"
        return DataError(message, self._name, line)


def looks_binary(head: bytes) -> bool:
    r"""Say whether there are more NULs in `head` than a text of one byte a letter ever has.

    >>> looks_binary(bytes(range(3)) * 500), looks_binary(b"a\x00b " * 8)
    (True, False)
    >>> looks_binary("a b ".encode("utf-16-le") * 500)  # a text of two bytes a letter
    False
    """
    nuls = head.count(0)
    return nuls > _FEW and nuls * 20 > len(head) and looks_wide(head) is None


def looks_wide(head: bytes) -> str | None:
    r"""Return the kind of UTF-16 that NULs in every other byte of `head` tell, or None.

    >>> looks_wide("a b\n".encode("utf-16-le")), looks_wide(b"a \x00\n")
    ('utf-16-le', None)
    """
    pairs = len(head) // 2
    first, second = head[: 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if pairs < 2 or min(first, second) * 20 > pairs or max(first, second) * 2 <= pairs:
        return None
    return "utf-16-be" if first > second else "utf-16-le"


def _is_utf8(window: bytes, *, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(window, whole)
    except UnicodeDecodeError:
        return False
    return True


def _turns_utf8(window: bytes) -> bool:
    """Say whether what was taken for Windows-1252 is UTF-8 here, and by no accident.

    Cheap, since the first character of Windows-1252 ends the attempt.
    """
    if window.isascii():
        return False
    window = _INSIDE.sub(b"", window, count=1)
    return _is_utf8(window, whole=False) and len(_SEQUENCE.findall(window)) >= _CERTAIN


def _from_windows(data: bytes, final: bool) -> str:
    # From 80 to 9F (hexadecimal) it is not Latin-1, which is decoded many times faster.
    if not ((np.frombuffer(data, np.uint8) & 0xE0) == 0x80).any():
        return data.decode("latin-1")
    return codecs.charmap_decode(data, "strict", _WINDOWS)[0]


def _decoder(encoding: str) -> Callable[[bytes, bool], str]:
    """Return a function that decodes a text piece by piece."""
    if codecs.lookup(encoding).name == "cp1252":
        return _from_windows
    return codecs.getincrementaldecoder(encoding)().decode


def _title(encoding: str) -> str:
    """Return the name of an encoding as people write it."""
    name = codecs.lookup(encoding).name
    if name.startswith("utf-"):
        return name.upper().removesuffix("-LE").removesuffix("-BE").removesuffix("-SIG")
    return {"cp1252": "Windows-1252", "iso8859-1": "Latin-1", "ascii": "ASCII"}.get(name, encoding)
