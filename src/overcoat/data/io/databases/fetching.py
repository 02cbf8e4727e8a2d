"""Work that waits for others, such as a server: done on a thread, so that it can be ended.

Drivers answer when they have an answer, and an interrupt does not reach them. So they are asked on
a thread, while the calling one waits, tells how far it has got, and is where all of it can end.
What is fetched ahead costs no time: one batch is worked on while the next is on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from typing import Any, TypeVar

__all__ = ["THREAD", "Fetching"]

T = TypeVar("T")

THREAD = "overcoat-fetching"  # the name by which it is known that a driver is still at it

_PAUSE = 0.05  # seconds between two looks
# Seconds a driver gets to end what it was told to end, and one that cannot be told.
_GRACE, _NO_GRACE = 10.0, 0.1
_AHEAD = 2  # batches fetched before they are asked for
_END = object()


class Fetching:
    """The one thread that talks to a database.

    Parameters
    ----------
    interrupt : tells the driver to give up what it is doing; says whether it can be told
    close : ends the connection; called once nothing is under way any more
    threaded : without it the calling thread asks itself: some connections belong to one thread

    >>> fetching = Fetching(interrupt=lambda: False, close=lambda: None)
    >>> list(fetching.ahead(lambda: iter([1, 2, 3]), tell=lambda: None))
    [1, 2, 3]
    >>> fetching.wait(lambda: "here", tell=lambda: None)
    'here'
    >>> fetching.close()
    """

    def __init__(
        self,
        interrupt: Callable[[], bool],
        close: Callable[[], None],
        *,
        threaded: bool = True,
    ) -> None:
        self._interrupt, self._close, self._threaded = interrupt, close, threaded
        self._lock, self._is_closing, self._is_busy = Lock(), False, False
        self._stop = Event()

    def wait(self, ask: Callable[[], T], tell: Callable[[], None]) -> T:
        """Return the answer to one question."""
        (answer,) = self.ahead(lambda: iter([ask()]), tell)
        return answer

    def ahead(self, ask: Callable[[], Iterator[T]], tell: Callable[[], None]) -> Iterator[T]:
        """Yield one answer after the other, while the next ones are fetched."""
        if not self._threaded:
            for answer in ask():
                tell()
                yield answer
            return
        answers: Queue[Any] = Queue(_AHEAD)
        stop, is_over = Event(), False
        self._stop = stop
        # A driver that cannot be interrupted must not keep the process from ending.
        asked = (ask, answers, stop)
        thread = Thread(target=self._work, name=THREAD, args=asked, daemon=True)
        self._is_busy = True
        try:
            thread.start()
            while not is_over:
                try:
                    answer, error = answers.get(timeout=_PAUSE)
                except Empty:
                    tell()
                    continue
                if answer is not _END:
                    yield answer
                    continue
                is_over = True
                if error is not None:
                    raise error
        finally:
            stop.set()
            if thread.ident is None:  # the system gave none
                self._is_busy = False
            else:
                # It is waited for where that is short: its thread must not outlive the process.
                heard = is_over or self._interrupt()
                thread.join(_GRACE if heard else _NO_GRACE)

    def _work(self, ask: Callable[[], Iterator[T]], answers: Queue[Any], stop: Event) -> None:
        def put(answer: Any, error: BaseException | None = None) -> None:
            while not stop.is_set():
                try:
                    answers.put((answer, error), timeout=_PAUSE)
                    return
                except Full:
                    continue

        try:
            answers_of = ask()
            try:
                for answer in answers_of:
                    put(answer)
                    if stop.is_set():
                        break
            finally:  # not when nobody needs them any more: a driver may be closed before
                getattr(answers_of, "close", lambda: None)()
            put(_END)
        except BaseException as error:
            put(_END, error)
        finally:
            with self._lock:
                self._is_busy = False
                closing = self._is_closing
            if closing:
                self._close()

    def close(self) -> None:
        """End the connection; if the driver is still at it, as soon as it is not."""
        self._stop.set()
        with self._lock:
            self._is_closing = True
            busy = self._is_busy
        if not busy:
            self._close()
