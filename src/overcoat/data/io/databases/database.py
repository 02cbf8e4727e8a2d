"""What every database has in common: questions, batches of rows, and sentences when it fails."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from overcoat.context import QUIET
from overcoat.data.io.databases.address import Address
from overcoat.data.io.databases.fetching import Fetching
from overcoat.data.io.databases.sql import qualified, quoted
from overcoat.errors import DataError, OvercoatError
from overcoat.words import without_passwords

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ROWS", "Column", "Database", "MixedIdsError", "Tell", "driver", "first_line"]

T = TypeVar("T")
Holds = Literal["integer", "text", "list", "null", "unknown", "other"]
Tell = Callable[[], None]

ROWS = 1 << 18  # fetched at once


class MixedIdsError(Exception):
    """The ids are not all whole numbers: they have to be read as text, from the start."""


@dataclass(frozen=True)
class Column:
    """A column of a query: its name, what it holds, and what the database calls that."""

    name: str
    holds: Holds
    told: str = ""


class Database:
    """A connection that is read from; some can be written to, see `Target`.

    Attributes
    ----------
    name : for messages, without a password
    title : what it is, and how it is spoken to
    errors : what its driver raises
    """

    title: ClassVar[str] = "a database"
    errors: tuple[type[BaseException], ...] = (OSError, ValueError)  # those of Arrow's readers

    def __init__(self, name: str, address: Address | None = None, *, threaded: bool = True) -> None:
        self.name, self._address = name, address
        self._fetching = Fetching(self._interrupt, self._close, threaded=threaded)
        self._closed: list[Callable[[], None]] = []

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def wait(self, ask: Callable[[], T], tell: Tell = QUIET, *, doing: str = "the query") -> T:
        """Ask the driver something, and return what it says."""
        with self.sound(doing):
            return self._fetching.wait(ask, tell)

    def columns(self, query: str, tell: Tell = QUIET) -> list[Column]:
        """Return the columns of a query."""
        return self.wait(lambda: self._columns(query), tell)

    def rows(
        self,
        query: str,
        columns: Sequence[Column],
        names: Sequence[str],
        *,
        text_ids: bool = False,
        tell: Tell = QUIET,
    ) -> Generator[pl.DataFrame, None, None]:
        """Yield rows of a query, some at a time.

        Parameters
        ----------
        query : without a semicolon
        columns : those of the query
        names : of the columns to read; the first has the ids
        text_ids : read the ids as text, whatever they are; else they must be of one kind

        Raises
        ------
        MixedIdsError : they are not of one kind
        """
        statement = self.statement(query, columns, names, text_ids=text_ids)
        with self.sound("the query"):
            batches = self._fetching.ahead(lambda: self._batches(statement, text_ids), tell)
            for batch in batches:
                yield self._frame(batch, text_ids)

    def statement(
        self, query: str, columns: Sequence[Column], names: Sequence[str], *, text_ids: bool
    ) -> str:
        """Return the statement that reads some columns of a query."""
        holds = {column.name: column.holds for column in columns}
        chosen = [quoted(name) for name in names]
        if text_ids or holds[names[0]] not in ("integer", "text", "list"):
            chosen[0] = f"CAST({chosen[0]} AS VARCHAR) AS {chosen[0]}"
        return f"SELECT {', '.join(chosen)} FROM ({query}\n) AS rows_of_query"

    def table(self, table: Sequence[str]) -> str:
        """Return the query for a whole table."""
        return f"SELECT * FROM {qualified(table)}"

    def tables(self, schema: str | None) -> str:
        """Return the query for the names of all tables and views of a schema."""
        raise DataError("its tables cannot be listed; give a query", self.name)

    def table_names(self, schema: str | None, tell: Tell = QUIET) -> list[str]:
        """Return the names of all tables and views of a schema."""
        query = self.tables(schema)
        frames = self.rows(query, self.columns(query, tell), ["name"], text_ids=True, tell=tell)
        return [name for frame in frames for (name,) in frame.iter_rows()]

    def recover(self) -> bool:
        """Make it answer again after a question has failed; say whether it does."""
        return True

    def close(self) -> None:
        """End the connection, if it is ours."""
        self._fetching.close()
        while self._closed:
            self._closed.pop()()

    def closes(self, close: Callable[[], None]) -> None:
        """Have something else closed after the connection."""
        self._closed.append(close)

    @contextmanager
    def sound(self, doing: str) -> Iterator[None]:
        """Turn what the driver says into one sentence without a password."""
        try:
            yield
        except (OvercoatError, MixedIdsError):
            raise
        except self.errors as error:
            raise DataError(self.sentence(doing, self.hide(first_line(error))), self.name) from None

    def sentence(self, doing: str, reason: str) -> str:
        """Return what went wrong, from what the driver says."""
        return f"{doing} failed: {reason}"

    def hide(self, text: str) -> str:
        """Return a text without the password."""
        return without_passwords(text) if self._address is None else self._address.hide(text)

    # -- what each does its own way, on the thread that talks to the driver ---------------------

    def _columns(self, query: str) -> list[Column]:
        raise NotImplementedError

    def _batches(self, statement: str, text_ids: bool) -> Iterator[Any]:
        """Yield rows as the driver gives them; while the next are fetched, they become frames."""
        raise NotImplementedError

    def _frame(self, batch: Any, text_ids: bool) -> pl.DataFrame:
        """Return a batch as a frame, on the thread that works on it."""
        return batch  # type: ignore[no-any-return]

    def _interrupt(self) -> bool:
        """Tell the driver to give up; say whether it can be told."""
        return False

    def _close(self) -> None:
        """End the connection."""


def driver(module: str, extra: str, what: str, name: str | None = None) -> Any:
    """Import a driver, or say how to get it.

    >>> driver("no_such_driver", "postgresql", "PostgreSQL")
    Traceback (most recent call last):
    overcoat.errors.DataError: PostgreSQL needs its driver: pip install 'overcoat[postgresql]'
    """
    try:
        import_module("pyarrow")
        return import_module(module)
    except ImportError:
        raise DataError(f"{what} needs its driver: pip install 'overcoat[{extra}]'", name) from None


def first_line(error: BaseException) -> str:
    """Return the first line of what a driver says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
