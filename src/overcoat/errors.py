"""What can go wrong, and what the command exits with.

::

    OvercoatError
    ├── InputError            2   something the user gave is wrong
    │   ├── DataError             a data file or frame
    │   ├── PolicyError           a policy, a constraint file, a hierarchy, a parameter
    │   └── MappingError          a mapping file
    │       └── UnknownItemsError     the data have items that the mapping does not know
    ├── InfeasibleError       3   the policy cannot be met within s
    ├── VerificationError     4   a release does not satisfy its policy
    └── CancelledError      130   the work was told to end before it was done

Anything else that escapes is a bug in Overcoat (exit status 70).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

__all__ = [
    "CancelledError",
    "DataError",
    "InfeasibleError",
    "InputError",
    "MappingError",
    "OvercoatError",
    "PolicyError",
    "Problem",
    "UnknownItemsError",
    "VerificationError",
    "problem_lines",
]

_APART = 3  # problems of one kind that are told one by one; more are told together


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and where.

    Attributes
    ----------
    message : what is wrong, in full
    file, line : where
    many : what several of its kind are: "items do not occur in the data"; None where each problem
        is a kind of its own
    what : the thing that is wrong, where several are listed
    hint : what else is said of it there

    >>> print(Problem("item 'aa' does not occur in the data", "privacy.txt", 3))
    privacy.txt:3: item 'aa' does not occur in the data
    """

    message: str
    file: str | None = None
    line: int | None = None
    many: str | None = field(default=None, compare=False)
    what: str = field(default="", compare=False)
    hint: str = field(default="", compare=False)

    def __str__(self) -> str:
        """Render as ``file:line: message``."""
        where = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        return f"{where}: {self.message}" if where else self.message

    @property
    def short(self) -> str:
        """What it is among others of its kind."""
        line = "" if self.line is None else f"line {self.line}"
        if not self.what:
            return line or self.message
        more = ", ".join(part for part in (line, self.hint) if part)
        return f"{self.what} ({more})" if more else self.what


def problem_lines(problems: Iterable[Problem]) -> list[str]:
    """Return problems as lines for people: those of one kind once, if there are more than a few.

    >>> strangers = [
    ...     Problem(f"item {x!r} is unknown", "p.txt", n, "items are unknown", repr(x))
    ...     for n, x in enumerate("abcde", 1)
    ... ]
    >>> print(*problem_lines(strangers))
    p.txt: 5 items are unknown: 'a' (line 1), 'b' (line 2), 'c' (line 3), …
    """
    every = list(problems)
    kinds: dict[tuple[str | None, str], list[Problem]] = {}
    for problem in every:
        if problem.many is not None:
            kinds.setdefault((problem.file, problem.many), []).append(problem)
    lines = []
    for problem in every:
        alike = [] if problem.many is None else kinds[problem.file, problem.many]
        if len(alike) <= _APART:
            lines.append(str(problem))
        elif problem is alike[0]:
            some = ", ".join(one.short for one in alike[:_APART])
            where = f"{problem.file}: " if problem.file is not None else ""
            lines.append(f"{where}{len(alike):,} {problem.many}: {some}, …")
    return lines


class OvercoatError(Exception):
    """Base of everything Overcoat raises on purpose.

    Attributes
    ----------
    exit_code : what the command exits with
    kind : one word for a program that reads ``--json``
    """

    exit_code: ClassVar[int] = 70
    kind: ClassVar[str] = "bug"


class InputError(OvercoatError, ValueError):
    """Something the user gave is wrong; `problems` lists everything that is.

    Its text tells problems of one kind once, with their number and the first of them.

    >>> raise PolicyError("k must be at least 1, not 0")
    Traceback (most recent call last):
    overcoat.errors.PolicyError: k must be at least 1, not 0
    """

    exit_code = 2
    kind = "input"

    def __init__(
        self,
        problems: str | Problem | Iterable[Problem],
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        if isinstance(problems, str):
            problems = Problem(problems, file, line)
        if isinstance(problems, Problem):
            problems = (problems,)
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(problem_lines(self.problems)))


class DataError(InputError):
    """A data file or frame cannot be read as transactions, or not be written as asked."""

    kind = "data"


class PolicyError(InputError):
    """A policy, a constraint file, a hierarchy or a parameter is wrong."""

    kind = "policy"


class MappingError(InputError):
    """A mapping, or a mapping file, is wrong."""

    kind = "mapping"


class UnknownItemsError(MappingError):
    """The data have items that the mapping does not know: `items`."""

    kind = "unknown"

    def __init__(self, items: Sequence[str], file: str | None = None) -> None:
        self.items = tuple(items)
        words = "item {!r} of the data is not in the mapping"
        many = "items of the data are not in the mapping"
        super().__init__(
            Problem(words.format(item), file, many=many, what=repr(item)) for item in self.items
        )


class InfeasibleError(OvercoatError):
    """The policy cannot be met within s.

    Attributes
    ----------
    unmet : the constraints whose repair would have taken more suppression than allowed
    suppressed : every item that would have had to be suppressed to meet the whole policy
    n_items : size of the domain
    max_suppressed : the s that was given, in percent
    result : the partial result, with its trace, for study; it cannot be written
    proposals : policy files that were written and are met, where some were asked for
    """

    exit_code = 3
    kind = "infeasible"

    def __init__(
        self,
        message: str,
        *,
        unmet: Sequence[tuple[str, ...]] = (),
        suppressed: Sequence[str] = (),
        n_items: int = 0,
        max_suppressed: float = 0.0,
        result: Any = None,
    ) -> None:
        super().__init__(message)
        self.unmet = tuple(unmet)
        self.suppressed = tuple(suppressed)
        self.n_items = n_items
        self.max_suppressed = max_suppressed
        self.result = result
        self.proposals: tuple[str, ...] = ()

    @property
    def needed_percent(self) -> float:
        """Percent of the domain that would have had to be suppressed."""
        return 100 * len(self.suppressed) / self.n_items if self.n_items else 0.0


class VerificationError(OvercoatError):
    """A release does not satisfy its policy; `verdict` says where, when there is one."""

    exit_code = 4
    kind = "verification"

    def __init__(self, message: str, verdict: Any = None) -> None:
        super().__init__(message)
        self.verdict = verdict


class CancelledError(OvercoatError):
    """The work was told to end before it was done; nothing was written."""

    exit_code = 130
    kind = "interrupted"
