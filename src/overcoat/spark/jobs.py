"""How work on a cluster runs: so that it can be cancelled, and fails in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from overcoat.context import Stage
from overcoat.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Jobs"]

T = TypeVar("T")

_PAUSE = 0.05  # seconds between two looks whether the cluster is done, or the work is to end
_GIVEN_UP = 30  # seconds to wait for jobs that were told to end
# The line that says why, in the pages that Spark writes.
_REASONS = (
    (re.compile(r"No space left on device|Disk quota exceeded|File too large"), "a disk is full"),
    (re.compile(r"OutOfMemoryError|Container killed .* memory"), "an executor ran out of memory"),
    (re.compile(r"maxResultSize"), "a result is larger than spark.driver.maxResultSize allows"),
    (re.compile(r"All masters are unresponsive|SparkContext was (stopped|shut down)|UNAVAILABLE"),
     "the cluster cannot be reached"),
    (re.compile(r"ExecutorLostFailure|Task failed while|ExecutorDeadException"),
     "executors were lost again and again"),
)  # fmt: skip


class Jobs:
    """What is asked of one session: on a thread, while this one waits and can be ended."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._tag = f"overcoat-{uuid4().hex}"
        self._kept: list[DataFrame] = []

    def run(self, what: str, action: Callable[[], T], stage: Stage) -> T:
        """Do something that makes the cluster work, and return what it returns.

        Parameters
        ----------
        what : what is being done, for the message should it fail
        action : calls Spark
        stage : called while the cluster works; what it raises ends the jobs there
        """
        done: list[T] = []
        failed: list[BaseException] = []
        ended = Event()

        def work() -> None:
            try:
                self._mark()
                done.append(action())
            except BaseException as error:
                failed.append(error)
            finally:
                ended.set()

        _thread(work, self.session).start()
        try:
            # Not the end of the thread is waited for: after a Ctrl-C there, Python takes it for
            # ended, and aborts (status 134) when it meets it alive.
            while not ended.wait(_PAUSE):
                stage()
        except BaseException:
            with suppress(Exception):
                self._interrupt()
            ended.wait(_GIVEN_UP)
            raise
        if failed:
            raise _in_words(failed[0], what) from failed[0]
        return done[0]

    def _mark(self) -> None:
        """Put a tag on what this thread asks for from now on."""
        if _is_classic(self.session):
            self.session.sparkContext.addJobTag(self._tag)
        else:
            self.session.addTag(self._tag)

    def _interrupt(self) -> None:
        """End what has the tag.

        Tags of a session are those of one thread, unless it is of Spark Connect: only the thread
        that waits for the work could end it. So here they are those of the context.
        """
        if _is_classic(self.session):
            self.session.sparkContext.cancelJobsWithTag(self._tag)
        else:
            self.session.interruptTag(self._tag)

    def table(self, what: str, frame: DataFrame, stage: Stage) -> pa.Table:
        """Collect a small table."""
        return self.run(what, frame.toArrow, stage)

    def row(self, what: str, frame: DataFrame, stage: Stage) -> dict[str, Any]:
        """Collect the only row of a table."""
        found: dict[str, Any] = self.table(what, frame, stage).to_pylist()[0]
        return found

    def keep(self, frame: DataFrame) -> DataFrame:
        """Return a table that is computed once, where the cluster can keep one."""
        from pyspark import StorageLevel

        try:
            kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        except Exception as error:
            if "not supported" not in str(error).lower():
                raise
            return frame  # then it is computed whenever it is asked for
        self._kept.append(kept)
        return kept

    def let_go(self) -> None:
        """Let the cluster forget what it keeps."""
        for frame in self._kept:
            with suppress(Exception):
                frame.unpersist()
        self._kept.clear()


def _is_classic(session: SparkSession) -> bool:
    """Whether Spark is in a Java of this process, not behind Spark Connect."""
    return not type(session).__module__.startswith("pyspark.sql.connect")


def _thread(work: Callable[[], None], session: SparkSession) -> Thread:
    """Return a thread that Spark knows as a child of this one."""
    if _is_classic(session):
        from pyspark import InheritableThread

        return InheritableThread(target=work, daemon=True)
    return Thread(target=work, daemon=True)


def _in_words(error: BaseException, what: str) -> BaseException:
    """Return what a failure on the cluster means; what is not the cluster's is left as it is."""
    home = type(error).__module__.split(".")[0]
    if home not in {"pyspark", "py4j", "grpc"}:
        return error
    text = str(error)
    reason = next((why for pattern, why in _REASONS if pattern.search(text)), None)
    first = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    said = f"{reason}: {first}" if reason else first
    return DataError(f"the cluster could not {what} ({said[:500]}); nothing was published")
