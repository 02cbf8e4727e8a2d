"""Where bytes come from: files, pipes, gzip; hashed on the way in."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from overcoat.context import QUIET, Stage
from overcoat.data.io.databases.address import is_address, shown
from overcoat.data.io.encoding import HEAD, Readable, Recoded
from overcoat.data.io.journal import unfinished
from overcoat.data.io.lines import LineFeeds, line_end
from overcoat.data.io.names import STDIN, is_parquet_name, plain_suffix
from overcoat.errors import DataError

__all__ = ["PARQUET_MAGIC", "Source", "open_source"]

GZIP_MAGIC = b"\x1f\x8b"
# A Parquet file starts with PAR1; the byte after it opens the first Thrift structure and is
# always 0x15. With it, a basket that happens to start with an item "PAR1" stays a basket.
PARQUET_MAGIC = b"PAR1\x15"
# A workbook is a zip archive; an old or a locked one is a compound file.
WORKBOOK_MAGICS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")

_BUFFER = 1 << 18
_HEAD, _LONGEST_HEAD = 1 << 15, 1 << 22  # bytes looked at to find a line break


class _Hashed:
    """A stream that hashes what it gives."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self.n_fetched = 0
        self.sha256 = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(size)
        if isinstance(data, str):
            raise DataError("the stream gives text; open it in binary mode")
        self.n_fetched += len(data)
        self.sha256.update(data)
        return data


class _Ahead(io.RawIOBase):
    """A stream whose first bytes can be looked at; what it is made of may give more than asked.

    Not `BufferedReader.peek`, which may return a single byte of a slow pipe.
    """

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._head = b""

    def look(self, size: int) -> bytes:
        while len(self._head) < size and (more := self._stream.read(size - len(self._head))):
            self._head += more
        return self._head[:size]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Return what comes next, without the copies that its parent makes."""
        data = self._head or self._stream.read(size)
        self._head = data[size:]
        return data[:size]

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class Source:
    """An open input: its decompressed bytes, and what its name and first bytes say of it.

    Attributes
    ----------
    name : for messages
    suffix : of the name, ``.gz`` left out; None for standard input and streams
    size : of the file; 0 for standard input and streams
    parquet : whether it is Parquet, by its name or its first bytes
    workbook : whether it is a workbook, or another zip archive or Office file, by its first bytes
    stream : the decompressed bytes; of a text in UTF-8, whatever its encoding is
    """

    def __init__(
        self,
        raw: Readable,
        path: Path | None,
        name: str,
        stage: Stage = QUIET,
        encoding: str | None = None,
    ) -> None:
        self.name = name
        self.stage, self._n_done = stage, 0
        self.suffix = plain_suffix(path.name) if path else None
        self._hashed = _Hashed(raw)
        self._raw = _Ahead(self._hashed)
        self._path = path
        content = self._raw
        self.empty = not content.look(1)
        self.size = path.stat().st_size if path else 0  # 0 where it cannot be told beforehand
        if self._raw.look(2) == GZIP_MAGIC or (path and path.suffix.lower() == ".gz"):
            self._path = None
            content = _Ahead(gzip.GzipFile(fileobj=io.BufferedReader(self._raw, _BUFFER)))
        magic = content.look(len(PARQUET_MAGIC))
        self.workbook = magic.startswith(WORKBOOK_MAGICS)
        self.parquet = magic == PARQUET_MAGIC or is_parquet_name(name)
        self._text: Recoded | None = None
        if not self.parquet and not self.workbook:
            self._text = Recoded(content, content.look(HEAD), name, encoding)
            content = _Ahead(self._text)
        self._content = content
        self.stream: BinaryIO = io.BufferedReader(content, _BUFFER)

    def tell(self, share: float = 0.0) -> None:
        """Say how much of the file is read: so many bytes or, where it is on disk, that share."""
        self._n_done = max(self._n_done, self._hashed.n_fetched, int(share * self.size))
        self.stage(self._n_done, self.size)

    def head(self, size: int) -> bytes:
        """Return the first bytes, before any of `stream` is read."""
        return self._content.look(size)

    def check_text(self) -> None:
        """Raise if the first bytes are those of no text, though nothing else is known of them."""
        if self._text is not None:
            self._text.check()

    def first_lines(self) -> bytes:
        """Return the first bytes, with a line break among them if there is one at all."""
        size = _HEAD
        while len(head := self.head(size)) == size < _LONGEST_HEAD:
            if b"\n" in head or b"\r" in head:
                break
            size *= 2
        return head

    def settle_line_ends(self, *, quote: str) -> None:
        """Give the lines of an old Macintosh file LFs, but for what stands between two quotes.

        To be called before any of `stream` is read.
        """
        size = _HEAD
        while (end := line_end(head := self.head(size), quote=quote)) != b"\n":
            if len(head) < size or size == _LONGEST_HEAD:
                break
            size *= 2
        if end == b"\r":
            feeds = LineFeeds(self._content, quote=quote, name=self.name)
            self._content = _Ahead(feeds)
            self.stream = io.BufferedReader(self._content, _BUFFER)

    def digest(self) -> str:
        """Return the SHA-256 of all raw bytes; reads what is left of them."""
        while self._raw.read(_BUFFER):
            self.tell()
        return self._hashed.sha256.hexdigest()

    @property
    def encoding(self) -> str:
        """The encoding of a text, once it is read; empty where all is ASCII, or not a text."""
        return "" if self._text is None else self._text.encoding

    @property
    def marked(self) -> bool:
        """Whether a text starts with a byte order mark."""
        return self._text is not None and self._text.marked

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Give a plain file with these bytes, for readers that need to jump around in it."""
        if self._path is not None and stat.S_ISREG(self._path.stat().st_mode):
            yield self._path
            return
        # Only its owner can look into this folder, and it goes away with the block.
        with tempfile.TemporaryDirectory(prefix="overcoat-", dir=self.stage.temporary) as folder:
            copy = Path(folder) / "copy"
            with copy.open("wb") as spool:  # closed before others open it, as Windows wants it
                while part := self.stream.read(_BUFFER):
                    spool.write(part)
                    self.tell()
            yield copy


@contextmanager
def open_source(
    source: str | os.PathLike[str] | IO[Any], stage: Stage = QUIET, encoding: str | None = None
) -> Iterator[Source]:
    """Open a path, ``-`` or a stream; what goes wrong while reading becomes a DataError.

    `encoding` is that of a text, where it is not to be found out.
    """
    path: Path | None = None
    if is_address(source):
        raise DataError("is the address of a database; name a file", shown(str(source)))
    if hasattr(source, "read") or source == "-":
        stream: Any = sys.stdin if source == "-" else source
        if stream is None:
            raise DataError("is closed", STDIN)
        stream = getattr(stream, "buffer", stream)  # of a text stream such as sys.stdin
        label = getattr(source, "name", None)
        name = label if isinstance(label, str) and not label.startswith("<") else STDIN
    else:
        path = Path(os.fspath(source))
        name = str(path)
    try:
        with ExitStack() as stack:
            if path is not None:
                if words := unfinished(path):
                    raise DataError(words, name)
                stream = stack.enter_context(path.open("rb", buffering=0))
            yield Source(stream, path, name, stage, encoding)
    except FileNotFoundError:
        raise DataError("no such file", name) from None
    except IsADirectoryError:
        raise DataError("is a directory, not a file", name) from None
    except PermissionError:
        raise DataError("no permission to read it", name) from None
    except EOFError:
        raise DataError("the gzip file is truncated; copy it again", name) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"not a sound gzip file ({error})", name) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", name) from error
