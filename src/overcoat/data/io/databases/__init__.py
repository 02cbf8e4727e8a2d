"""Databases: SQLite, DuckDB, PostgreSQL, and whatever a program has a connection to.

::

    known       what is a database at all
    address     sqlite:///FILE, …: what it names, and how it is told without its password
    opening     which database a source means           connections  those a program has already
    database    what all have in common                 target       those that are written to
    sqlite, duck, postgresql                            one file each
    arrow       how drivers hand out rows               sql          names in quotes
    fetching    asking on a thread, so that it can end  reading      rows -> transactions
    writing     which database a release goes to

A database is opened to be read only; no password is ever told. Drivers are imported where they are
needed.
"""
