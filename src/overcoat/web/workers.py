"""A process that works for the server, as the server sees it; `worker` is what runs in it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

__all__ = ["Worker"]

_LINE = 1 << 24  # bytes of one line of a worker, at most


class Worker:
    """A process that does one job after another."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the process, if there is none."""
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "overcoat.web.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_LINE,
                start_new_session=True,  # Ctrl-C is for the server, which ends its workers
            )

    async def lines(self, task: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Give it something to do, and yield what it says; ends when it is silent for good."""
        await self.start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(ConnectionError):
            process.stdin.write(json.dumps(task).encode() + b"\n")
            await process.stdin.drain()
        while line := await process.stdout.readline():
            yield json.loads(line)
        await process.wait()

    @property
    def status(self) -> int | None:
        """With what the process ended; None while it runs."""
        return None if self._process is None else self._process.returncode

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return None if self._process is None else self._process.pid

    async def end(self) -> None:
        """End the process, whatever it does."""
        process = self._process
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
