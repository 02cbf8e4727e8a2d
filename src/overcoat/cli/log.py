"""What a command writes to a log file, and what it says with --verbose."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import suppress
from typing import IO

from overcoat.cli.progress import say

__all__ = ["begin_log", "end_log", "is_verbose"]

_START = '{"time": "'  # how every line of a log begins

_handlers: list[logging.Handler] = []
_files: list[IO[str]] = []
_began: list[float] = []


class _Spoken(logging.Handler):
    """Says every event on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"{time.monotonic() - _began[-1]:8.2f} s  {record.getMessage()}")


def begin_log(file: str | None, *, verbose: bool) -> None:
    """Listen to what is logged from now on."""
    if file is None and not verbose:
        return
    from overcoat import log
    from overcoat._version import __version__

    _began.append(time.monotonic())
    if file is not None:
        _handlers.append(log.JsonLines(_open(file)))
    if verbose:
        _handlers.append(_Spoken())
    for handler in _handlers:
        log.logger.addHandler(handler)
    log.logger.setLevel(logging.INFO)
    told = sys.argv[1:]
    log.event("start", f"Overcoat {__version__} begins", version=__version__, arguments=told)


def _open(file: str) -> IO[str]:
    from overcoat.errors import DataError

    try:
        stream = open(file, "a+", encoding="utf-8", errors="replace")  # noqa: SIM115 - see end_log
        stream.seek(0)
        if stream.read(len(_START)) not in ("", _START):
            stream.close()
            raise DataError("is there, and is no log; name another file for the log", file)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", file) from None
    _files.append(stream)
    return stream


def is_verbose() -> bool:
    """Whether events are said on standard error."""
    return any(isinstance(handler, _Spoken) for handler in _handlers)


def end_log(status: int, kind: str | None = None, message: str = "") -> None:
    """Log how the command ended, and stop listening."""
    if not _handlers:
        return
    from overcoat import log

    level = logging.INFO if status == 0 else logging.ERROR
    words = "done" if status == 0 else f"ended with status {status}: {message}"
    seconds = round(time.monotonic() - _began[-1], 6)
    log.event("end", words, level=level, exit_code=status, kind=kind, seconds=seconds)
    for handler in _handlers:
        log.logger.removeHandler(handler)
    for file in _files:
        with suppress(OSError):  # the disk is full; the exit status tells what matters
            file.close()
    _handlers.clear()
    _files.clear()
    _began.clear()
