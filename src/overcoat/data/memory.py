"""How much memory there is, and a refusal, before the work, when it will not do.

The alternative is the system's: to kill the process in the middle, without a word.
"""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from pathlib import Path

from overcoat.errors import DataError
from overcoat.words import size_of

__all__ = [
    "StagePeaks",
    "available_memory",
    "limit_polars",
    "peak_memory_mb",
    "polars_fits",
    "require_memory",
    "require_polars",
    "resident_memory_mb",
]

# What polars takes of the address space. Measured: 380 MiB when it is imported, then for its first
# work 470 more with one thread, 720 with two, 900 with eight. With about 1.15 GiB left it still
# aborted the process, with 1.3 it did not; so these are above what was seen.
_POLARS = 1180 << 20
_POLARS_THREAD = 130 << 20
_POLARS_THREADS = "POLARS_MAX_THREADS"


def available_memory() -> int | None:
    """Return how many bytes this process can still have; None where that cannot be told.

    The least of what the system has free, what the control group leaves, and what the limit on
    the address space (``ulimit -v``) leaves.
    """
    found = [_system_free(), _group_free(), _address_space_free()]
    return min((free for free in found if free is not None), default=None)


def require_memory(
    needed: float, what: str, file: str | None = None, *, limit: int | None = None
) -> None:
    """Raise a DataError unless about `needed` bytes are there, and within a limit of the user's."""
    free = available_memory() if limit is None else limit
    if free is not None and needed > free:
        raise DataError(
            f"{what} needs about {size_of(needed)} of memory, and {size_of(free)} can be had; "
            "use a machine (or a limit, --memory) with more, a cluster (--spark), split the data "
            "into parts that are released apart, or leave out items that nobody needs",
            file,
        )


def limit_polars(threads: int) -> None:
    """Let polars use so many threads, unless it has begun, or the environment says how many."""
    if "polars" not in sys.modules:
        os.environ.setdefault(_POLARS_THREADS, str(threads))


def polars_fits() -> bool:
    """Say whether polars can be imported and used under the limit on the address space, if any.

    Under a limit it gets a single thread, unless the environment says how many.
    """
    free = None if "polars" in sys.modules else _address_space_free()
    if free is None:
        return True
    os.environ.setdefault(_POLARS_THREADS, "1")
    return free >= _polars_needs()


def require_polars(what: str, file: str | None = None) -> None:
    """Raise a DataError unless polars can be imported and used."""
    if not polars_fits():
        raise DataError(
            f"{what} needs about {size_of(_polars_needs())} of address space, and "
            f"{size_of(_address_space_free() or 0)} can be had; raise the limit (ulimit -v), or "
            "use text instead of Parquet and frames",
            file,
        )


def _polars_needs() -> int:
    threads = os.environ.get(_POLARS_THREADS, "1")
    return _POLARS + _POLARS_THREAD * (int(threads) if threads.isdecimal() else 1)


def _system_free() -> int | None:
    return _field("/proc/meminfo", "MemAvailable:")


def _group_free() -> int | None:
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text()
        # What the group uses for caching files can be had too.
        cached = _field("/sys/fs/cgroup/memory.stat", "inactive_file", unit=1) or 0
        return None if limit == "max" else int(limit) - int(used) + cached
    except (OSError, ValueError):
        return None


def _address_space_free() -> int | None:
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = _field("/proc/self/status", "VmSize:")
    return None if limit == resource.RLIM_INFINITY or used is None else limit - used


def _field(path: str, name: str, unit: int = 1024) -> int | None:
    """Return a number from a file of lines ``name number``."""
    try:
        lines = Path(path).read_text().splitlines()
        return next(int(line.split()[1]) * unit for line in lines if line.startswith(name))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


class StagePeaks:
    """The peak of resident memory by stage, in MB, for a process that belongs to the command.

    Each stage begins the system's record of the process anew (Linux), after what the one before let
    go is given back. Where that cannot be done, a stage has the peak of all that went before, too.

    >>> peaks = StagePeaks()
    >>> peaks.begin("read")
    >>> [*peaks.by_stage()], peaks.by_stage()["read"] <= peaks.whole()
    (['read'], True)
    """

    def __init__(self) -> None:
        self._found: dict[str, float] = {}
        self._stage: str | None = None
        self._most = 0.0

    def begin(self, stage: str) -> None:
        """Begin with a stage; the one before is over."""
        self._note()
        from overcoat.data.native import give_back_memory  # which takes long to import

        self._stage = stage
        give_back_memory()
        with suppress(OSError):  # not Linux, or not allowed here
            Path("/proc/self/clear_refs").write_text("5")

    def by_stage(self) -> dict[str, float]:
        """Return the peak of each stage so far, in their order."""
        self._note()
        return {stage: round(peak, 1) for stage, peak in self._found.items()}

    def whole(self) -> float:
        """Return the peak of all of it."""
        self._note()
        return round(self._most, 1)

    def _note(self) -> None:
        peak = peak_memory_mb()
        self._most = max(self._most, peak)
        if self._stage is not None:
            self._found[self._stage] = max(self._found.get(self._stage, 0.0), peak)


def resident_memory_mb() -> float:
    """Return the resident memory this process has now, in MB; not a number if that is not told."""
    found = _field("/proc/self/status", "VmRSS:")
    return math.nan if found is None else found / (1 << 20)


def peak_memory_mb() -> float:
    """Return the largest resident memory this process has had, in MB.

    Since its record was begun anew, where it was (`StagePeaks`).
    """
    found = _field("/proc/self/status", "VmHWM:")
    if found is not None:
        return found / (1 << 20)
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows
        return math.nan
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
