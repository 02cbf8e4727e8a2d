"""What the first lines of a text show: its separator, its quotes, a table nobody called one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from overcoat.data.io.columns import ITEMS, alike_columns, settle_columns, stem, wanted_columns
from overcoat.data.io.delimited import Dialect
from overcoat.data.io.lines import line_end
from overcoat.data.io.names import default_sep
from overcoat.data.io.problems import Problems
from overcoat.data.layout import Layout
from overcoat.errors import DataError
from overcoat.words import count_of

__all__ = [
    "basket_dialect",
    "glued_items",
    "guess_columns",
    "in_words",
    "is_sep_line",
    "looks_like_table",
    "refuse_table",
    "separator_in_words",
    "table_dialect",
]

SEPARATORS = (",", ";", "\t", "|")
_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "spaces"}
_ENOUGH = 20  # lines that are enough to tell a table from baskets
_SEP_LINE = re.compile(r"\Asep=(.)\r?\n")  # how Excel is told a separator

# What columns are usually called; the first that matches is the likeliest.
_IDS = ("patient|person|subject|customer|client|member|visitor|user", r"case|visit|(\b|_)id\b")


def separator_in_words(sep: str | None) -> str:
    """Return what separates fields, for people.

    >>> separator_in_words(";"), separator_in_words("§"), separator_in_words(None)
    ('semicolons', "'§'", 'white space')
    """
    return "white space" if sep is None else _WORDS.get(sep, repr(sep))


def in_words(
    layout: Layout, n_columns: int = 0, encodings: Iterable[str] = (), n_files: int = 1
) -> str:
    """Return how an input was understood; nothing where it is what its name says.

    >>> layout = Layout("long", sep=";", columns=("diag_1", "diag_2"), by_row=True)
    >>> in_words(layout, 5, ["Windows-1252"])
    'wide table, 5 columns separated by semicolons, 2 of them items, no id, Windows-1252'
    """
    others = [name for name in encodings if name not in ("", "UTF-8")]
    words = []
    if n_files > 1:
        words = [f"{n_files:,} {'Parquet ' if layout.parquet else ''}files"]
    if layout.format == "long" and (layout.columns or not layout.parquet):
        words += [f"{'wide' if layout.columns else 'long'} table, {count_of(n_columns, 'column')}"]
        if not layout.parquet and not layout.workbook:
            words[-1] += f" separated by {separator_in_words(layout.sep)}"
        if layout.columns:
            words.append(f"{len(layout.columns)} of them items")
        if layout.by_row:
            words.append("no id")
    elif layout.format == "basket" and (
        n_files > 1 or others or layout.quote != '"' or layout.sep != default_sep(layout.suffix)
    ):
        words += [f"baskets, items separated by {separator_in_words(layout.sep)}"]
    if layout.quote != '"':
        words.append("in single quotes" if layout.quote else "quotes are letters")
    return ", ".join([*words, *others])


def is_sep_line(text: str) -> str | None:
    r"""Return the separator that a first line such as ``sep=;`` tells Excel, or None.

    >>> is_sep_line("sep=;\r\npatient;code\r\n"), is_sep_line("patient;code\n")
    (';', None)
    """
    found = _SEP_LINE.match(text)
    return found[1] if found else None


# -- tables -------------------------------------------------------------------------------------


def table_dialect(
    head: bytes, layout: Layout, *, sep: str | None = None, more: Sequence[str] = ()
) -> Layout:
    r"""Return the layout of a table with the separator and the quotes that its first lines show.

    Of the usual separators it is the one by which the header has the columns that were named;
    where none does, the one that comes closest, so that the message about it helps.

    Parameters
    ----------
    head : the first lines
    layout : what is known otherwise; its separator is tried first
    sep : the separator, where the user says it
    more : further columns, which are not in the file

    >>> long = Layout("long", sep=",", id="patient", item="code")
    >>> table_dialect(b"patient;code\n1;038\n", long).sep
    ';'
    """
    text = _lines(head)
    told = is_sep_line(text)
    if told is not None and sep is None:
        sep, text = told, text.partition("\n")[2]
    choices = [sep] if sep is not None else dict.fromkeys([layout.sep or ",", *SEPARATORS])
    best, score = layout, (-1, -1)
    for choice in choices:
        found = replace(layout, sep=choice, quote=_quote(text, choice, table=True))
        columns = [*_header(text, found), *more]
        try:
            settle_columns(found, columns)
        except DataError:
            named = {name.casefold() for name in wanted_columns(found)}
            near = (len(named & {name.strip().casefold() for name in columns}), len(columns))
            if near > score:
                best, score = found, near
        else:
            return found
    return best


def _lines(head: bytes) -> str:
    """Return the first lines as text, whatever ends them."""
    text = head.decode("utf-8", "replace")
    return text.replace("\r", "\n") if line_end(head, quote='"') == b"\r" else text


def _header(text: str, layout: Layout) -> list[str]:
    dialect = Dialect(layout.sep or ",", trim=False, mark=layout.quote)
    try:
        return next(dialect.records(text, 1, Problems()), (1, [""]))[1]
    except DataError:  # quotes that are not in order by this separator
        return []


def _quote(text: str, sep: str, *, table: bool) -> str:
    """Return what encloses fields: double quotes, unless the first lines show that they do not."""
    blanks = " \t".replace(sep, "")
    starts = rf"(?:\A|[\r\n{re.escape(sep)}])[{blanks}]*"
    if '"' in text:
        return '"' if re.search(starts + '"', text) else ""
    if "'" in text and re.search(starts + "'", text):
        return "'" if _in_single_quotes(text[: text.rfind("\n") + 1], sep, table=table) else '"'
    return '"'


def _in_single_quotes(text: str, sep: str, *, table: bool) -> bool:
    """Say whether single quotes are in order, and around all fields; of a table, of one column.

    Else they are apostrophes.
    """
    lines = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
    rows = [_raw_fields(line, sep) for line in lines[table:]]
    if not rows or not all(rows) or (table and len(set(map(len, rows))) > 1):
        return False
    columns = zip(*rows, strict=True) if table else [[field for row in rows for field in row]]
    return any(any(column) and all(x[0] == "'" for x in column if x) for column in columns)


def _raw_fields(line: str, sep: str) -> list[str]:
    """Return the fields of a line with their single quotes; none if these are not in order."""
    end = rf"(?:{re.escape(sep)}|\Z)"
    field = re.compile(rf"([ \t]*'[^']*(?:''[^']*)*'[ \t]*|[^'{re.escape(sep)}]*)({end})")
    fields, at = [], 0
    while found := field.match(line, at):
        fields.append(found[1].strip(" \t"))
        at = found.end()
        if not found[2]:
            return fields
    return []


# -- baskets ------------------------------------------------------------------------------------


def basket_dialect(
    head: bytes, layout: Layout, *, sep: str | None = None, like: str | None = None
) -> Layout:
    r"""Return the layout of baskets with the separator and the quotes that its first lines show.

    The separator is the one that the name promises, unless that cannot be: a .csv without a single
    comma, but with semicolons, or tabs, in more than a tenth of its lines. A .csv with neither has
    the separator `like` of the files it is among.

    >>> csv = Layout("basket", sep=",", suffix=".csv")
    >>> basket_dialect(b"milk;bread\nbeer\nmilk;beer\n", csv).sep
    ';'
    """
    text, chosen = _lines(head), layout.sep if sep is None else sep
    if sep is None and layout.suffix == ".csv" and chosen == ",":
        bare = re.sub(r'"[^"]*"', "", text)
        lines = bare.split("\n")
        if "," not in bare:
            chosen = like or chosen
            for other in (";", "\t"):
                if 10 * sum(other in line.strip() for line in lines) > len(lines):
                    chosen = other
                    break
    if chosen is None:
        return layout
    return replace(layout, sep=chosen, quote=_quote(text, chosen, table=False))


def glued_items(head: bytes, layout: Layout) -> list[str]:
    r"""Return what to say of baskets whose items look as if something else separated them.

    >>> glued_items(b"038;401\n" * 30, Layout("basket"))
    ["items have semicolons in them, such as '038;401'; if these separate items, say so: --sep ';'"]
    """
    lines = [stripped for line in _lines(head).split("\n")[:-1] if (stripped := line.strip())]
    if len(lines) < _ENOUGH:
        return []
    if layout.sep is None and 2 * sum("\t" in line for line in lines) > len(lines):
        with_blanks = [part for line in lines for part in line.split("\t") if " " in part.strip()]
        if with_blanks:
            return [
                f"both tabs and blanks separate items, as in {with_blanks[0].strip()!r}; if only "
                "tabs do, say so: --sep tab"
            ]
    for other in SEPARATORS[:3]:
        if other == layout.sep or (other == "\t" and layout.sep is None):
            continue
        glued = [line for line in lines if other in line]
        if len(glued) * 2 > len(lines):
            dialect = Dialect(layout.sep, trim=True, mark="") if layout.sep else None
            fields = dialect.split(glued[0]) if dialect else glued[0].split()
            example = next((field for field in fields if other in field), None)
            if example is None or '"' in example or example.startswith("("):
                continue
            shown = "tab" if other == "\t" else repr(other)
            return [
                f"items have {separator_in_words(other)} in them, such as {example!r}; if these "
                f"separate items, say so: --sep {shown}"
            ]
    return []


def refuse_table(head: bytes, layout: Layout, name: str) -> None:
    """Refuse a table that nobody called one: its ids would be published as items."""
    found = looks_like_table(head, layout)
    if found is not None:
        columns, _ = found
        guess = guess_columns(columns)
        item = guess["item"] if isinstance(guess["item"], str) else ",".join(guess["item"])
        raise DataError(
            f"looks like a table with the columns {', '.join(columns)}: name those of the "
            f"transaction and of the item, for example --id {_shell(guess['id'])} "
            f"--item {_shell(item)}; if each line is a basket, say what separates its items "
            "(sep, --sep)",
            name,
            1,
        )


def looks_like_table(
    head: bytes, layout: Layout, *, least: int = _ENOUGH
) -> tuple[list[str], str] | None:
    r"""Return the columns and the separator of what looks like a table of so many lines, or None.

    >>> looks_like_table(b"p;code\n1;038\n2;401\n", Layout("basket"), least=3)
    (['p', 'code'], ';')
    """
    text = _lines(head)
    text = text[: text.rfind("\n") + 1]  # whole lines
    for sep in dict.fromkeys([layout.sep or ",", *SEPARATORS]):
        rows = _rows(text, sep, least)
        if len(rows) >= least and _looks_like_table(rows):
            return rows[0], sep
    return None


def guess_columns(columns: Sequence[str], rows: Iterable[Sequence[str]] = ()) -> dict[str, Any]:
    """Return which columns of a table may be the id and the items, by their names.

    Columns that have only the word for items in common are taken together if their values look
    alike in the first rows, too.

    >>> guess_columns(["visit", "patient", "diag_1", "diag_2"])
    {'id': 'patient', 'item': ['diag_1', 'diag_2']}
    >>> guess_columns(["Patientennr", "Hauptdiagnose", "Nebendiagnose 1"])
    {'id': 'Patientennr', 'item': ['Hauptdiagnose', 'Nebendiagnose 1']}
    >>> guess_columns(["p", "diag_1", "from diag_1"], [["1", "I10", "2019-05-01"]])
    {'id': 'p', 'item': 'diag_1'}
    """
    if not columns:
        return {}

    def called(words: str) -> list[str]:
        return [name for name in columns if re.search(words, name, re.IGNORECASE)]

    one = [*called(_IDS[0]), *called(_IDS[1]), columns[0]][0]
    items = [name for name in columns if ITEMS.search(name) and name != one]
    wide = [name for name in alike_columns(items[:1], items) if name not in items[:1]]
    if wide:
        forms = dict(zip(columns, map(_forms, zip(*rows, strict=False)), strict=False))
        none: frozenset[str] = frozenset()
        first = forms.get(items[0], none)

        def fits(name: str) -> bool:
            here = forms.get(name, none)
            return stem(name) == stem(items[0]) or not (first and here) or bool(first & here)

        wide = list(filter(fits, wide))
    return {"id": one, "item": [items[0], *wide] if wide else [*items, columns[-1]][0]}


def _forms(values: Iterable[str]) -> frozenset[str]:
    """Return what values look like: letters and numbers, whichever they are.

    >>> sorted(_forms(["I10", "E11.9", "", "2019-05-01"]))
    ['0-0-0', 'a0']
    """
    plain = (re.sub(r"[^\W\d_]+", "a", value.strip()) for value in values)
    return frozenset(re.sub(r"\d[\d.]*", "0", value) for value in plain if value)


def _shell(name: str) -> str:
    return name if re.fullmatch(r"[\w.,-]+", name) else "'" + name.replace("'", "'\\''") + "'"


def _rows(text: str, sep: str, least: int = _ENOUGH) -> list[list[str]]:
    """Return the fields of each record; where quotes are not in order, they are as any letter."""
    rows = []
    try:
        for _, fields in Dialect(sep, trim=False).records(text, 1, Problems()):
            rows.append(fields)
    except DataError:  # a stray quote, or the text ends inside quotes
        if len(rows) < least:
            return [line.split(sep) for line in text.split("\n")[:-1]]
    return rows


def _looks_like_table(rows: list[list[str]]) -> bool:
    """Say whether all rows are as long as the first, whose values, its columns, never recur."""
    header, *rest = rows
    if len(header) < 2 or any(len(row) != len(header) for row in rest):
        return False
    return set(header).isdisjoint(value for row in rest for value in row)
