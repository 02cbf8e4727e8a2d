"""What a task is given, as the application layer takes it: data, a policy, names of items."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overcoat import application
from overcoat.data.io import Asked
from overcoat.data.transactions import Transactions
from overcoat.policy.config import PARAMETERS
from overcoat.reports.names import read_names

__all__ = ["Params", "input_of", "names_of", "statement_of"]

Params = Mapping[str, Any]
_DATABASES = {".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite"}


def input_of(params: Params) -> application.Input:
    """Return the data that were chosen, and how they are read."""
    reading = dict(params["reading"])
    if isinstance(reading.get("item"), list):
        reading["item"] = tuple(reading["item"])
    return application.Input(_address(params["source"]), Asked(**reading))


def _address(source: str) -> str:
    """Return what the command would be told: of a file that is a database, its address."""
    file, _, table = source.partition("#")
    scheme = _DATABASES.get(Path(file).suffix.lower())
    if scheme is None or "://" in source:
        return source
    return f"{scheme}:///{file}" + (f"#{table}" if table else "")


def statement_of(params: Params, *, privacy: bool = True) -> application.Statement:
    """Return the policy that was chosen; without its privacy, what is about sets of items."""
    data = input_of(params)
    settings = params["settings"]
    if not privacy:
        settings = {key: one for key, one in settings.items() if key not in PARAMETERS}
    return application.Statement.of(settings, sep=data.set_sep, privacy=privacy, data=data)


def names_of(params: Params, data: Transactions | None = None) -> dict[str, str]:
    """Return what items are called, by the data and by the file that was given for it."""
    own = {} if data is None else dict(data.origin.names)
    return own | (read_names(params["names"]) if params.get("names") else {})
