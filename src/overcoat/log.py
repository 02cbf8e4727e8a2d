"""What is told to logs: events, each a sentence with fields, by the logger ``overcoat``.

Nobody hears them unless a program says so, by `logging.basicConfig` or a handler of its own; the
fields of an event are in the `fields` of its record.
"""

from __future__ import annotations

import json
import logging
import time
from typing import IO, Any

from overcoat.words import without_passwords

__all__ = ["JsonLines", "event", "logger"]

logger = logging.getLogger("overcoat")
logger.addHandler(logging.NullHandler())


def event(name: str, message: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event."""
    if logger.isEnabledFor(level):
        logger.log(level, "%s", message, extra={"event": name, "fields": fields})


class JsonLines(logging.Handler):
    """Writes every event as one JSON object a line, at once."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__()
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; a log that cannot be written is not worth a release."""
        content = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": getattr(record, "event", "message"),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        line = without_passwords(json.dumps(content, ensure_ascii=False, default=str))
        try:
            self._stream.write(line.encode("utf-8", "backslashreplace").decode() + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Do without: the disk may be full, and standard error has its own things to say."""
