"""Transactions from and to files, frames and databases: one file a format.

::

    source    bytes in: files, pipes, gzip, digests        atomic   bytes out: whole or not at all
    asked     what the user says of the source             files    folders and patterns
    names     what a name says about the layout            encoding any text -> UTF-8
    dialects  what the first lines of a text show          columns  those named, those there
    reader    which reader a source needs                  writer   which lines a layout needs
    reading   files -> transactions                        problems all that is wrong at once
    basket    one transaction a line                       long     one pair a line
    workbook  a sheet in (ooxml: its archive, shown: cells as people see them)
    sheets    a sheet out
    parquet   lists and pairs                              frames   pandas, polars, Arrow, SciPy
    delimited separators and quotes (basket, long)         pairs    pairs -> rows (long, tables)
    tables    polars columns (parquet, frames, long)       lines    LF, CRLF and CR
    journal   what killed runs were writing                packing  gzip out
    numbering values -> numbers (pairs)                    fitting  what fits which source
    databases queries and tables, in and out               omop     common data models
    fhir      bulk resources (resources: one of them)
    glimpse   what a source shows before it is read

Nothing heavy is imported before it is needed.
"""

from overcoat.data.io.asked import Asked
from overcoat.data.io.atomic import Staging, open_atomic
from overcoat.data.io.files import reads
from overcoat.data.io.journal import unfinished
from overcoat.data.io.names import output_layout
from overcoat.data.io.packing import pack
from overcoat.data.io.reader import read, read_as, read_source
from overcoat.data.io.standard import send
from overcoat.data.io.targets import check_folder, check_outputs, make_folder
from overcoat.data.io.writer import write

__all__ = [
    "Asked",
    "Staging",
    "check_folder",
    "check_outputs",
    "make_folder",
    "open_atomic",
    "output_layout",
    "pack",
    "read",
    "read_as",
    "read_source",
    "reads",
    "send",
    "unfinished",
    "write",
]
