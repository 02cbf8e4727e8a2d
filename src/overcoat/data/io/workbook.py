"""Workbooks (.xlsx): a table on a sheet, its cells as they are shown.

Read by openpyxl, row by row; what that does not tell comes from `ooxml`.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from overcoat.data.io.asked import Asked
from overcoat.data.io.columns import listed_columns, nearest, settle_columns, wanted_columns
from overcoat.data.io.ooxml import Plan, refuse_other_files, shared_strings
from overcoat.data.io.pairs import Pairs
from overcoat.data.io.problems import Problems
from overcoat.data.io.shown import shown
from overcoat.data.io.source import Source
from overcoat.data.layout import Layout
from overcoat.errors import CancelledError, DataError, Problem
from overcoat.words import count_of

__all__ = ["WorkbookTable", "check_asked", "in_workbook", "require_openpyxl", "sheet_rows"]

_HEADERS = 200  # rows among which the header is looked for
_TOLD = 256  # rows between two calls of the stage
_BATCH = 1 << 14  # rows handed on at once


def in_workbook(layout: Layout, source: Source, asked: Asked) -> Layout:
    """Return the layout of a source that may be a workbook."""
    if not source.workbook:
        if asked.sheet is not None:
            kind = "Parquet" if source.parquet else "a text"
            raise DataError(f"--sheet is for workbooks; this is {kind}", source.name)
        if source.suffix in (".xlsx", ".xlsm") or (source.suffix == ".xls" and _is_page(source)):
            what = "a web page" if _is_page(source) else "no workbook"
            raise DataError(f"is {what} in spite of its name; save it as .xlsx or CSV", source.name)
        return layout
    return replace(layout, workbook=True, parquet=False, sep=None)


def check_asked(path: Path, layout: Layout, asked: Asked, file: str | None) -> None:
    """Raise unless a file is a workbook, and what is asked fits one."""
    refuse_other_files(path, file)
    for option in ("sep", "encoding", "header"):
        if option in asked.said:
            raise DataError(f"--{option} is for texts; this is a workbook", file)
    if layout.format != "long":
        rows = [cells for _, cells in sheet_rows(path, file, _HEADERS) if len(cells) > 1]
        names = [cell for cell in rows[0] if cell] if rows else []
        there = f" with the columns {listed_columns(names)}" if names else ""
        raise DataError(
            f"a workbook holds a table{there}: name those of the id and of the item (--id and "
            "--item)",
            file,
        )


def _is_page(source: Source) -> bool:
    return source.head(64).lstrip()[:1] == b"<"


class WorkbookTable:
    """The table on a sheet of a workbook.

    Parameters
    ----------
    path : of a file that `refuse_other_files` lets pass
    layout : with the names of the columns
    problems : of this file
    sheet : by its name or its number from 1; None: the first that is shown
    tell : called now and then

    Attributes
    ----------
    layout : the layout, settled
    columns : the names of all columns
    words : how the sheet was understood
    notes : what its owner should know
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        problems: Problems,
        sheet: str | int | None = None,
        tell: Callable[..., None] = lambda: None,
    ) -> None:
        self._path, self._problems, self._tell = path, problems, tell
        self._stack = ExitStack()
        self.notes: list[str] = []
        try:
            with _sound(problems.file):
                self._open(layout, sheet)
        except BaseException:
            self.close()
            raise
        places = [self.columns.index(name) for name in wanted_columns(self.layout)]
        self._id = None if self.layout.by_row else places[0]
        self._items = places if self.layout.by_row else places[1:]
        self.words = f"sheet {self._sheet.title!r}"
        if self._header > 1:
            self.words += f", header in row {self._header}"
            rows = "row 1 is" if self._header == 2 else f"rows 1 to {self._header - 1} are"
            self.notes.append(f"{rows} above the header, row {self._header}, and not read")

    @cached_property
    def _strings(self) -> list[str]:
        return shared_strings(self._path, self._tell)

    def _open(self, layout: Layout, sheet: str | int | None) -> None:
        self._book = self._load(formulas=False)
        self._sheet = self._choose(sheet)
        self._n_rows = self._sheet.max_row or 0
        self._sheet.reset_dimensions()  # what a program wrote there need not be true
        self._plan = Plan.read(self._path, self._sheet._worksheet_path.lstrip("/"), self._tell)
        self._header, self.columns, self.layout = self._find_header(layout)

    def _choose(self, wanted: str | int | None) -> Any:
        sheets = self._book.worksheets
        visible = [one for one in sheets if one.sheet_state == "visible"]
        listed = ", ".join(
            repr(one.title) + ("" if one.sheet_state == "visible" else " (hidden)")
            for one in sheets
        )
        if wanted is None:
            if not visible:
                raise DataError(
                    f"every sheet is hidden ({listed}); name one: --sheet", self._problems.file
                )
            if len(visible) > 1:
                self.notes.append(
                    f"the workbook has the sheets {listed}; {visible[0].title!r} was read, "
                    "--sheet names another"
                )
            return visible[0]
        found = next((one for one in sheets if one.title == wanted), None)
        number = str(wanted)
        if found is None and number.isdecimal() and 1 <= int(number) <= len(sheets):
            found = sheets[int(number) - 1]
        if found is None:
            near = nearest(number, [one.title for one in sheets])
            hint = f" (did you mean {near!r}?)" if near else ""
            raise DataError(
                f"no sheet {wanted!r}{hint}; the sheets are {listed or 'none'}", self._problems.file
            )
        if found.sheet_state != "visible":
            self.notes.append(f"sheet {found.title!r} is hidden in the workbook; it was read")
        return found

    def _find_header(self, layout: Layout) -> tuple[int, list[str], Layout]:
        """Return the row of the header, the columns, and the layout with those that are named."""
        wanted = set(wanted_columns(layout)) | {layout.item}
        best: tuple[int, int, list[str]] = (-1, 1, [])
        for number, row in enumerate(self._sheet.iter_rows(), start=1):
            as_shown = [_text(cell) for cell in row]
            names = [name.strip() for name in as_shown]  # nobody sees the blanks around
            for some in (as_shown, names):
                with suppress(DataError):
                    return number, some, settle_columns(layout, some)
            if any(names):
                score = 100 * len(wanted.intersection(names)) + min(sum(map(bool, names)), 2)
                if score > best[0]:
                    best = (score, number, names)
            if number == _HEADERS:
                break
        _, number, names = best
        if not names:
            title = self._sheet.title
            raise DataError(f"the sheet {title!r} is empty", self._problems.file)
        there = [name for name in names if name]
        file, others = self._problems.file, [one.title for one in self._book.worksheets]
        try:
            settle_columns(layout, there, file, number)  # which raises
        except DataError as error:
            if len(others) > 1:
                told = f"this is sheet {self._sheet.title!r} of {', '.join(map(repr, others))}"
                more = Problem(f"{told}: --sheet names another", file)
                raise DataError([*error.problems, more]) from None
            raise
        raise DataError("no row has the names of the columns", file)

    def _load(self, *, formulas: bool) -> Any:
        """Open the workbook, with its formulas or with their values."""
        load = require_openpyxl(self._problems.file)
        stream = self._stack.enter_context(self._path.open("rb"))
        book = load(stream, read_only=True, data_only=not formulas, keep_links=False)
        self._stack.callback(book.close)
        for sheet in book.worksheets:
            sheet._shared_strings = self._strings
        return book

    def close(self) -> None:
        """Close the file."""
        self._stack.close()

    def read(self, pairs: Pairs) -> None:
        """Add what is below the header."""
        with _sound(self._problems.file):
            self._read(pairs)
        self._problems.check()

    def _read(self, pairs: Pairs) -> None:
        first = self._header + 1
        fills = {
            top: bottom
            for left, top, _, bottom in self._plan.merged
            if self._id is not None and left == self._id + 1 and bottom > top >= first
        }
        formulas = self._formulas(first) if self._plan.formulas else None
        ids: list[str] = []
        items: list[list[str]] = [[] for _ in self._items]
        n_dates, example, filled, until = 0, "", "", 0
        for number, row in enumerate(self._sheet.iter_rows(min_row=first), start=first):
            if number % _TOLD == 0:
                self._tell(min(number / max(self._n_rows, number), 1.0))
            written = next(formulas, ()) if formulas is not None else ()
            values = [self._value(row, place, number, written) for place in self._items]
            who = "" if self._id is None else self._value(row, self._id, number, written)
            if number in fills:
                filled, until = who, fills[number]
            elif number <= until:
                who = who or filled
            if not who and not any(values):
                continue
            if self._id is not None and not who:
                self._problems.add(
                    "the id is empty; if it stands only in the first row of each person, fill it "
                    "in below",
                    number,
                    many="rows have an item and no id; if it stands only in the first row of each "
                    "person, fill it in below",
                )
                continue
            if self._id is not None:
                ids.append(who)
            for column, value in zip(items, values, strict=True):
                column.append(value)
            for place, value in zip(self._items, values, strict=True):
                if place < len(row) and isinstance(row[place].value, dt.date):
                    n_dates, example = n_dates + 1, example or value
            if len(items[0]) >= _BATCH:
                pairs.add(ids, *items)
                ids, items = [], [[] for _ in self._items]
        pairs.add(ids, *items)
        self._note(len(fills), n_dates, example)

    def _value(self, row: Any, place: int, number: int, written: Any) -> str:
        """Return a cell as it is shown; what has no value is a problem."""
        cell = row[place] if place < len(row) else None
        if cell is None:
            return ""
        if cell.data_type == "e":
            where = f"cell {_letters(place)}{number}"
            self._problems.add(
                f"{where} holds the error {cell.value}",
                number,
                many="cells hold an error",
                what=where,
            )
            return ""
        if cell.value is None and place < len(written) and written[place].data_type == "f":
            where = f"cell {_letters(place)}{number}"
            self._problems.add(
                f"{where} holds a formula whose value is not in the file; open the workbook in "
                "Excel and save it",
                number,
                many="cells hold a formula whose value is not in the file; open the workbook in "
                "Excel and save it",
                what=where,
            )
        return _text(cell)

    def _formulas(self, first: int) -> Iterator[Any]:
        """Yield the rows with their formulas instead of their values."""
        sheet = self._load(formulas=True)[self._sheet.title]
        sheet.reset_dimensions()
        return iter(sheet.iter_rows(min_row=first))

    def _note(self, n_fills: int, n_dates: int, example: str) -> None:
        if n_fills:
            places = "one place" if n_fills == 1 else f"{n_fills:,} places"
            self.notes.append(
                f"cells of {self.layout.id!r} are merged over several rows in {places}; their "
                "value counts for all of these rows"
            )
        columns = {place + 1 for place in self._items}
        tall = sum(
            bottom > top > self._header and left in columns
            for left, top, _, bottom in self._plan.merged
        )
        if tall:
            self.notes.append(
                f"items are merged over several rows in {count_of(tall, 'place')}; they count for "
                "the first of these rows only"
            )
        if self._plan.n_hidden:
            self.notes.append(
                f"{count_of(self._plan.n_hidden, 'hidden row')} of the sheet "
                f"{'was' if self._plan.n_hidden == 1 else 'were'} read, too"
            )
        if n_dates:
            self.notes.append(
                f"{count_of(n_dates, 'item')} {'is a date' if n_dates == 1 else 'are dates'} in "
                f"the workbook, such as {example}: Excel makes dates of codes such as 1-2"
            )


def sheet_rows(
    path: Path,
    file: str | None = None,
    most: int | None = None,
    sheet: str | int | None = None,
) -> list[tuple[int, list[str]]]:
    """Return the rows of a sheet, with their numbers, as they are shown.

    It is the sheet of that name or number, else the first that is shown. Empty rows are left out,
    and so are empty cells behind the last one that holds something.
    """
    refuse_other_files(path, file)
    problems, rows = Problems(file), []
    with _sound(file), path.open("rb") as stream:
        book = require_openpyxl(file)(stream, read_only=True, data_only=True, keep_links=False)
        with closing(book):
            shown_ones = [one for one in book.worksheets if one.sheet_state == "visible"]
            if not shown_ones:
                raise DataError("every sheet is hidden; show the one to read", file)
            named = [one for one in book.worksheets if one.title == sheet]
            if str(sheet).isdecimal() and 0 < int(str(sheet)) <= len(book.worksheets):
                named.append(book.worksheets[int(str(sheet)) - 1])
            read = [*named, *shown_ones][0]
            read._shared_strings = shared_strings(path, lambda: None)
            read.reset_dimensions()
            for number, row in enumerate(read.iter_rows(max_row=most), start=1):
                values = [_text(cell) for cell in row]
                if any(cell.data_type == "e" for cell in row):
                    problems.add("a cell holds an error", number, many="rows hold an error")
                while values and not values[-1]:
                    values.pop()
                if values:
                    rows.append((number, values))
    problems.check()
    return rows


def _text(cell: Any) -> str:
    value = cell.value
    if type(value) is str and "_x" not in value:
        return value
    if isinstance(value, (int, float)):
        return shown(value, cell.number_format)
    return shown(value)


def _letters(place: int) -> str:
    """Return the letters of a column, given its place from 0.

    >>> _letters(0), _letters(27)
    ('A', 'AB')
    """
    letters = ""
    number = place + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def require_openpyxl(file: str | None = None) -> Any:
    """Return the function of openpyxl that opens workbooks, or say how to get it."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise DataError("a workbook needs openpyxl: pip install 'overcoat[excel]'", file) from None
    return load_workbook


@contextmanager
def _sound(file: str | None) -> Iterator[None]:
    """Turn what a damaged workbook makes openpyxl raise into a DataError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts of a workbook that nobody needs here
            yield
    except (DataError, CancelledError, MemoryError):
        raise
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"not a sound workbook ({reason}); save it again", file) from None
