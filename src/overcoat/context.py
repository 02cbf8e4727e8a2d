"""How a piece of work runs: whom it tells how far it has got, who may stop it, what it may use.

A surface (the command, a notebook, a job) makes a `Context`. Work goes by in stages, and whatever
takes long gets the `Stage` it belongs to and calls it now and then: some fifty times a second, from
compiled loops as well as from Python. That call shows the progress and is where the work can end,
by Ctrl-C or because the context says so.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Generic, Protocol, TypeVar

from overcoat.checks import check_count
from overcoat.engines import Engine, chosen_engine
from overcoat.errors import CancelledError, PolicyError
from overcoat.log import event

__all__ = ["QUIET", "Context", "Peaks", "Progress", "Stage"]

S = TypeVar("S")
T = TypeVar("T")

# progress(stage, done, of): `of` is 0 where nobody knows how much there is to do.
Progress = Callable[[str, int, int], None]

_PAUSE = 0.05  # seconds between two looks at what threads have done, and between two tellings


class Stage:
    """A stage that is under way; call it with what is done, and of how much.

    Attributes
    ----------
    name : what is being done
    threads, engine, memory, temporary : those of the context
    seconds : how long it took, once it is over
    note : what else the progress tells, such as how good the best so far is

    >>> stage = Context(progress=lambda *told: print(*told)).start("verify")
    verify 0 0
    >>> stage(3, 10)  # too soon to be told
    """

    note: str = ""
    name: str
    threads: int
    engine: Engine | None
    memory: int | None
    temporary: str | Path | None
    seconds: float
    _context: Context | None = None

    def __init__(self, name: str, context: Context) -> None:
        self._take(name, context)
        self._context, self._told = context, 0.0

    def _take(self, name: str, giver: Context | Stage) -> None:
        self.name, self.threads, self.engine = name, giver.threads, giver.engine
        self.memory, self.temporary, self.seconds = giver.memory, giver.temporary, 0.0

    def __call__(self, done: int = 0, of: int = 0) -> None:
        """Say how far the work has got; raises where it is to end."""
        context = self._context
        if context is None:
            return
        if context.cancelled is not None and context.cancelled():
            raise CancelledError("cancelled")
        if context.progress is not None:
            now = time.monotonic()
            if now - self._told >= _PAUSE:
                self._told = now
                name = f"{self.name}: {self.note}" if self.note else self.name
                context.progress(name, done, of)

    def enough(self) -> bool:
        """Whether a search that has something good may end now, and hand it over."""
        context = self._context
        return context is not None and context.enough is not None and context.enough()

    def search_is_over(self) -> None:
        """Say that nothing is left that could end early, to an `enough` that wants to know."""
        over = getattr(None if self._context is None else self._context.enough, "over", None)
        if over is not None:
            over()

    def side_by_side(self, jobs: Sequence[Callable[[Stage], T]]) -> list[T]:
        """Run some jobs at the same time, and return what they return, in their order.

        Each gets a stage of its own, which ends it when another one fails or the work is to end.
        Only the calling thread talks to the context, and it is the one an interrupt reaches.
        """
        stop, lock, left = Event(), Lock(), iter(range(len(jobs)))
        parts = [_Part(self.name, self.engine, stop) for _ in jobs]
        results: dict[int, T] = {}
        errors: list[BaseException] = []

        def work() -> None:
            while not stop.is_set():
                with lock:
                    number = next(left, None)
                if number is None:
                    return
                try:
                    results[number] = jobs[number](parts[number])
                except BaseException as error:
                    errors.append(error)
                    stop.set()

        threads: list[Thread] = []
        try:
            _start(threads, work, min(self.threads, len(jobs)))
            if not threads:
                return [job(self) for job in jobs]
            for thread in threads:
                while thread.is_alive():
                    thread.join(_PAUSE)
                    self(sum(part.done for part in parts), sum(part.of for part in parts))
        finally:
            stop.set()
            for thread in threads:
                if thread.ident is not None:  # it was started
                    thread.join()
        if errors:
            raise errors[0]
        self(sum(part.done for part in parts), sum(part.of for part in parts))
        return [results[number] for number in range(len(jobs))]

    def in_order(self, work: Callable[[S, Stage], T], things: Iterable[S]) -> Iterator[T]:
        """Yield what `work` makes of each of some things, in their order.

        The calling thread takes the things, one by one, and what was made of them; threads work on
        those that come next. So at most two a thread are under way at any time. What ends the
        calling thread, or one of them, ends all.

        >>> stage = Context(threads=2).start("square")
        >>> list(stage.in_order(lambda n, part: n * n, range(5)))
        [0, 1, 4, 9, 16]
        """
        if self.threads < 2:
            for thing in things:
                yield work(thing, self)
            return
        ahead = _Ahead(work, Event())
        part = _Part(self.name, self.engine, ahead.stop)
        threads: list[Thread] = []
        try:
            _start(threads, lambda: ahead.run(part), self.threads)
            if not threads:
                for thing in things:
                    yield work(thing, self)
                return
            for thing in things:
                ahead.put(thing)
                if len(ahead.waiting) > 2 * len(threads):
                    yield ahead.take(self)
            while ahead.waiting:
                yield ahead.take(self)
        finally:
            ahead.stop.set()
            for _ in threads:
                ahead.todo.put(None)
            for thread in threads:
                if thread.ident is not None:  # it was started
                    thread.join()

    def share(self, before: int, of: int) -> Stage:
        """Return a stage for a part of the work: `before` was done by others, `of` is all."""
        return _Share(self, before, of)

    def still(self, done: int, of: int) -> Stage:
        """Return a stage for further work that the progress does not show; it can be ended, too."""
        return _Still(self, done, of)


def _start(threads: list[Thread], work: Callable[[], None], number: int) -> None:
    """Start some threads; as many as can be had, and none where one would do."""
    while len(threads) < number > 1:
        threads.append(Thread(target=work))
        try:
            threads[-1].start()
        except RuntimeError:  # the system gives no more
            threads.pop()
            break


class _Made(Generic[S, T]):
    """A thing to work on, and what comes of it."""

    def __init__(self, thing: S) -> None:
        self.thing: S | None = thing
        self.done = Event()
        self.result: list[T] = []
        self.error: BaseException | None = None


class _Ahead(Generic[S, T]):
    """What is worked on ahead of being asked for, by some threads."""

    def __init__(self, work: Callable[[S, Stage], T], stop: Event) -> None:
        self.work, self.stop = work, stop
        self.todo: SimpleQueue[_Made[S, T] | None] = SimpleQueue()
        self.waiting: deque[_Made[S, T]] = deque()

    def put(self, thing: S) -> None:
        made: _Made[S, T] = _Made(thing)
        self.waiting.append(made)
        self.todo.put(made)

    def take(self, tell: Callable[[], None]) -> T:
        made = self.waiting.popleft()
        while not made.done.wait(_PAUSE):
            tell()
        if made.error is not None:
            raise made.error
        return made.result.pop()

    def run(self, part: Stage) -> None:
        while (made := self.todo.get()) is not None and not self.stop.is_set():
            try:
                assert made.thing is not None
                made.result.append(self.work(made.thing, part))
            except BaseException as error:
                made.error = error
            made.thing = None  # nobody needs it any more
            made.done.set()


class _Still(Stage):
    """Tells the same, whatever it is told."""

    def __init__(self, stage: Stage, done: int, of: int) -> None:
        self._take(stage.name, stage)
        self._shown, self._at = stage, (done, of)

    def __call__(self, done: int = 0, of: int = 0) -> None:
        self._shown(*self._at)


class _Share(Stage):
    """Tells what is done on top of what was done before, of all there is."""

    def __init__(self, stage: Stage, before: int, of: int) -> None:
        self._take(stage.name, stage)
        self._whole, self._before, self._of = stage, before, of

    def __call__(self, done: int = 0, of: int = 0) -> None:
        self._whole(self._before + done, self._of)


class _Part(Stage):
    """The stage of one of several threads: it keeps what is told, and ends when all shall end."""

    def __init__(self, name: str, engine: Engine | None, stop: Event) -> None:
        self.name, self.threads, self.engine, self.seconds = name, 1, engine, 0.0
        self.memory = self.temporary = None
        self._stop = stop
        self.done = self.of = 0

    def __call__(self, done: int = 0, of: int = 0) -> None:
        if self._stop.is_set():
            raise CancelledError("cancelled")
        self.done, self.of = done, of


class Peaks(Protocol):
    """Takes down how much memory each stage has had at most."""

    def begin(self, stage: str) -> None:
        """Begin with a stage; the one before is over."""

    def by_stage(self) -> dict[str, float]:
        """Return the peak of each stage so far, in MB."""

    def whole(self) -> float:
        """Return the peak of all of it, in MB."""


def _default_threads() -> int:
    """Return how many cores there are; one where addresses are limited.

    The allocator reserves 64 MiB of addresses for each thread, and `ulimit -v` counts them as if
    they were used.
    """
    try:
        import resource
    except ImportError:  # pragma: no cover - not on POSIX
        pass
    else:
        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            return 1
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - not on Linux
        return os.cpu_count() or 1


@dataclass(frozen=True)
class Context:
    """How work runs.

    Parameters
    ----------
    progress : called with the stage, what is done and of how much (0: unknown), about twenty times
        a second at most, from the thread that does the work
    cancelled : asked about fifty times a second; when it says true, the work ends with a
        `CancelledError` and nothing is written
    enough : asked by methods that get better the longer they run: when it says true, they end with
        the best so far, which goes the way of every result
    threads : how many to use, by default one a core; the result is the same for any number
    memory : how many bytes reading a file, and finding a mapping, may take; by default what the
        machine has
    engine : ``compiled`` or ``reference`` kernels of the methods; both give the same result
    temporary : the folder in which tables larger than the memory are sorted; by default that of the
        system (TMPDIR). What is there is removed at the end, and nobody else may read it
    peaks : is told when a stage begins, to take down how much memory each has

    >>> Context(threads=1).threads
    1
    """

    progress: Progress | None = None
    cancelled: Callable[[], bool] | None = None
    threads: int = field(default_factory=_default_threads)
    memory: int | None = None
    engine: Engine | None = None
    enough: Callable[[], bool] | None = None
    temporary: str | Path | None = None
    peaks: Peaks | None = None

    def __post_init__(self) -> None:
        check_count("threads", self.threads)
        if self.memory is not None:
            check_count("memory", self.memory, 0)
        if self.engine is not None:
            chosen_engine(self.engine)
        if self.temporary is not None and not isinstance(self.temporary, (str, Path)):
            raise PolicyError(f"temporary must be a folder, not {self.temporary!r}")
        for name in ("progress", "cancelled", "enough"):
            if (given := getattr(self, name)) is not None and not callable(given):
                raise PolicyError(f"{name} must be a function, not {given!r}")

    @classmethod
    def of(cls, given: Context | None) -> Context:
        """Take a context, or None for the plain one."""
        if given is None:
            return cls()
        if isinstance(given, Context):
            return given
        raise PolicyError(f"a context is a Context, not {given!r}")

    def start(self, name: str) -> Stage:
        """Begin a stage."""
        if self.peaks is not None:
            self.peaks.begin(name)
        stage = Stage(name, self)
        stage()
        return stage

    @contextmanager
    def stage(self, name: str, seconds: dict[str, float] | None = None) -> Iterator[Stage]:
        """Go through a stage; its time goes to `seconds` by its name."""
        began = time.perf_counter()
        stage = self.start(name)
        yield stage
        stage.seconds = time.perf_counter() - began
        taken = round(stage.seconds, 6)
        event("stage", f"{name} done in {taken:.2f} s", stage=name, seconds=taken)
        if seconds is not None:
            seconds[name] = seconds.get(name, 0.0) + stage.seconds

    def titled(self, title: str) -> Context:
        """Return a context that tells every stage under one title: a run of many."""
        tell = self.progress
        if tell is None:
            return self
        return replace(self, progress=lambda stage, done, of: tell(title, done, of))


QUIET = Context(threads=1).start("work")  # for those who are given no stage
