"""Text with a separator and quotes as in RFC 4180: the common ground of baskets and tables.

Text is taken in blocks of whole records. A record is whole when its number of quotes is even,
which is all one has to know to find the end of a block; the fields are looked at later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

from overcoat.data.io.encoding import STRAY
from overcoat.data.io.problems import Problems

__all__ = ["BLOCK", "STRAYS", "TOLD", "Dialect", "decode", "note_quote", "note_stray", "take"]

BLOCK = 1 << 22  # bytes read at once: less than a tenth of a second of work
TOLD = 1 << 10  # records that take a while where they have to be split one by one
# A quote that never closes would make the rest of the file one record; no honest record is so long.
_LONGEST_RECORD = 1 << 26

_BROKEN_QUOTES = "lines have quotes that are not in order"
STRAYS = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, as `surrogateescape` has them


def take(stream: BinaryIO, size: int = 0, *, quote: str = '"') -> bytes:
    r"""Return the next whole records, about `size` bytes of them; one record when `size` is 0.

    Without a `quote` every line is a record.

    >>> import io
    >>> stream = io.BytesIO(b'a,"b\nc"\nd\n')
    >>> take(stream), take(stream), take(stream)
    (b'a,"b\nc"\n', b'd\n', b'')
    """
    parts = [stream.read(size), stream.readline()]
    mark = quote.encode()
    n_quotes = sum(part.count(mark) for part in parts) if mark else 0
    length = 0
    while n_quotes % 2 and length < _LONGEST_RECORD and (line := stream.readline()):
        parts.append(line)
        n_quotes += line.count(mark)
        length += len(line)
    return b"".join(parts)


def decode(block: bytes, first_line: int, problems: Problems) -> str | None:
    """Return `block` as text; None, and the bad lines noted, when it is not UTF-8."""
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError:
        for line, raw in enumerate(block.split(b"\n"), start=first_line):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError:
                note_stray(problems, line)
        return None


def note_stray(problems: Problems, line: int) -> None:
    """Note a line that is not UTF-8, in a file that mostly is: else it would have been recoded."""
    problems.add(STRAY, line, many=f"lines are {STRAY}")


def note_quote(problems: Problems, line: int) -> None:
    """Note a field in quotes where the first lines show that quotes are letters."""
    problems.add(
        "a field in quotes, which are letters in the first lines of the file; put every field with "
        "a quote inside in quotes, and write the inner one twice",
        line,
        many="lines have fields in quotes, which are letters in the first lines of the file; put "
        "every field with a quote inside in quotes, and write the inner one twice",
    )


@dataclass(frozen=True)
class Dialect:
    """How fields are separated and quoted.

    Attributes
    ----------
    sep : one character
    trim : spaces and tabs around a field are not part of it, and empty fields do not count,
        unless quoted (baskets); else every field counts as it stands (tables)
    keep_empty : empty fields count though fields are trimmed (paths of a hierarchy)
    mark : what encloses fields; nothing where quotes are letters like any other

    >>> basket = Dialect(",", trim=True)
    >>> basket.split(' a,, "b, c" ')
    ['a', 'b, c']
    >>> Dialect(",", trim=False).split(' a,,"b, c"')
    [' a', '', 'b, c']
    >>> Dialect(";", trim=True, keep_empty=True).split(' a;; "b; c" ')
    ['a', '', 'b; c']
    >>> basket.quote('5" disk')
    '"5"" disk"'
    """

    sep: str
    trim: bool
    keep_empty: bool = False
    mark: str = '"'

    @cached_property
    def blanks(self) -> str:
        """The characters around a field that do not count."""
        return " \t".replace(self.sep, "") if self.trim else ""

    @cached_property
    def _quoted(self) -> re.Pattern[str]:
        blanks, q = f"[{self.blanks}]*" if self.blanks else "", self.mark
        return re.compile(f"{blanks}{q}([^{q}]*(?:{q}{q}[^{q}]*)*){q}{blanks}")

    @cached_property
    def _unquoted(self) -> re.Pattern[str]:
        return re.compile(f"[^{self.mark}{re.escape(self.sep)}]*")

    @cached_property
    def _needs_quotes(self) -> re.Pattern[str]:
        # Semicolons and tabs only for readers who guess, and a quote at the start for the same:
        # a file without a comma might else be taken for one that they separate.
        return re.compile(rf"\A[\s']|\s\Z|[\"\r\n;\t{re.escape(self.sep)}]")

    def records(
        self, text: str, first_line: int, problems: Problems
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the line each record of `text` starts on, and its fields.

        `text` holds whole records. A broken quote is noted and ends the matter: what follows it
        cannot be told apart.
        """
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()  # a final line break ends a line, it does not start another
        if not self.mark or self.mark not in text:
            for number, line in enumerate(lines, start=first_line):
                yield number, self._split_plain(line.removesuffix("\r"))
            return
        start = 0
        while start < len(lines):
            stop = start + 1
            quotes = lines[start].count(self.mark)
            while quotes % 2 and stop < len(lines):
                quotes += lines[stop].count(self.mark)
                stop += 1
            record = "\n".join(lines[start:stop]).removesuffix("\r")
            try:
                fields = self.split(record)
            except _BrokenQuoteError as error:
                inside = record.count("\n", 0, error.position)
                problems.add(error.message, first_line + start + inside, many=_BROKEN_QUOTES)
                problems.check()
            yield first_line + start, fields
            start = stop

    def split(self, record: str) -> list[str]:
        """Return the fields of one record, its line break left out."""
        if not self.mark or self.mark not in record:
            return self._split_plain(record)
        fields = []
        at = 0
        while True:
            field = self._quoted.match(record, at)
            if field:
                fields.append(field[1].replace(2 * self.mark, self.mark))
            else:
                field = self._unquoted.match(record, at)
                assert field is not None  # it matches the empty string
                value = field[0].strip(self.blanks) if self.trim else field[0]
                if value or not self.trim or self.keep_empty:
                    fields.append(value)
            end = field.end()
            if end == len(record):
                return fields
            if record[end] != self.sep:
                raise _BrokenQuoteError(self.mark in record[at:end], record[at:end], self, end)
            at = end + 1

    def _split_plain(self, record: str) -> list[str]:
        fields = record.split(self.sep)
        if not self.trim:
            return fields
        blanks, keep_empty = self.blanks, self.keep_empty
        return [value for field in fields if (value := field.strip(blanks)) or keep_empty]

    def quote(self, label: str) -> str:
        """Return `label` as a field that `split` gives back exactly."""
        if self._needs_quotes.search(label) or not label:
            return '"' + label.replace('"', '""') + '"'
        return label


class _BrokenQuoteError(ValueError):
    """A quote that is not where RFC 4180 allows one."""

    def __init__(self, closed: bool, before: str, dialect: Dialect, position: int) -> None:
        self.position = position
        if closed:
            self.message = "text after a closing quote; a quote inside an item is written twice"
        elif before.strip(dialect.blanks) if dialect.blanks else before:
            self.message = (
                "a quote inside an item; put the item in quotes and write the inner quote twice"
            )
        else:
            self.message = "a quote opens here and never closes"
        super().__init__(self.message)
