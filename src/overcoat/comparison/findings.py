"""What a comparison found, in sentences that its numbers bear out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overcoat.comparison.columns import METHOD, Column, measures_of, setting_words
from overcoat.comparison.text import show_value

if TYPE_CHECKING:
    from overcoat.comparison.compare import Comparison

__all__ = ["findings"]

Row = dict[str, Any]


def findings(comparison: Comparison) -> list[str]:
    """Return a sentence or two on what can be published, and on each measure.

    Only runs that can be published are held against each other.
    """
    swept = [
        axis
        for axis in comparison.axes
        if axis != METHOD and len({row[axis] for row in comparison.rows}) > 1
    ]
    met = [row for row in comparison.rows if row["status"] == "met"]
    n_named = max(len(run.policy.utility.named) for run in comparison.runs)
    found = [_publishable(comparison.rows, swept)]
    for measure in measures_of(comparison.workloads, n_named, comparison.measures):
        some = [row for row in met if row[measure.column] is not None]
        if some:
            found.append(_Judged(some, measure, swept).sentences)
    return found


def _publishable(rows: Sequence[Row], swept: Sequence[str]) -> str:
    n_met = sum(row["status"] == "met" for row in rows)
    if n_met == len(rows):
        return "Every run can be published." if n_met > 1 else "The run can be published."
    text = f"{n_met or 'None'} of {len(rows)} runs can be published"
    for status in ("beyond s", "refused"):
        parts = []
        for method in dict.fromkeys(row[METHOD] for row in rows):
            own = [row for row in rows if row[METHOD] == method]
            if some := [row for row in own if row["status"] == status]:
                parts.append(f"{method}{_at(some, len(own), swept)}")
        if parts:
            text += f"; {status}: {'; '.join(parts)}"
    return f"{text}. What follows is about the {n_met}." if n_met else f"{text}."


def _at(rows: Sequence[Row], of: int, swept: Sequence[str]) -> str:
    """Say which of so many policies some runs of a method are under."""
    if not swept:
        return ""
    if len(rows) == of:
        return " always"
    if len(swept) > 1:
        return f" under {len(rows)} of {of} policies"
    (axis,) = swept
    return f" at {setting_words(axis, *(row[axis] for row in rows))}"


@dataclass(frozen=True)
class _Judged:
    """The runs that can be published, by one measure.

    Two values are equal if they look so: nobody is called better by what is not shown.
    """

    rows: Sequence[Row]
    measure: Column
    swept: Sequence[str]

    def _first(self, rows: Sequence[Row]) -> Row:
        pick = max if self.measure.better == "highest" else min
        return pick(rows, key=lambda row: float(row[self.measure.column]))

    def _alike(self, rows: Sequence[Row], row: Row) -> list[Row]:
        """Return the rows with the value of one of them."""
        return [other for other in rows if self._shown(other) == self._shown(row)]

    def _shown(self, row: Row) -> str:
        return show_value(row[self.measure.column])

    def _named(self, row: Row) -> str:
        """Return a value with its unit."""
        shown = self._shown(row)
        return (
            f"log2 UL = {shown}" if self.measure.column == "log2_ul" else shown + self.measure.unit
        )

    @property
    def sentences(self) -> str:
        """Where it is best, how much better than by another method there, and who is best where."""
        measure, rows, best = self.measure, self.rows, self._first(self.rows)
        alike = self._alike(rows, best)
        if len(alike) == len(rows):
            every = " in every run" if len(rows) > 1 else ""
            return f"{measure.phrase[0].upper()}{measure.phrase[1:]}: {self._named(best)}{every}."
        head = f"{measure.better.capitalize()} {measure.phrase}: "
        pick = min if measure.better == "highest" else max
        worst = pick(rows, key=lambda row: float(row[measure.column]))
        methods = {row[METHOD] for row in alike}
        if len(methods) > 1:  # shared by several methods: how far the others fall back
            head += f"{self._named(best)} in {len(alike)} of {len(rows)} runs; "
            return f"{head}{self._opposite} {self._named(worst)}.{self._by_policy()}"
        head += f"{self._where(alike)} ({self._named(best)})"
        beside = [row for row in rows if row[METHOD] != best[METHOD] and self._same(row, best)]
        if beside:
            head += f", {self._better_than(best, self._first(beside))}"
        elif len(rows) > 1:
            head += f"; {self._opposite}: {self._where([worst])} ({self._named(worst)})"
        return f"{head}.{self._by_policy()}"

    @property
    def _opposite(self) -> str:
        return "lowest" if self.measure.better == "highest" else "highest"

    def _where(self, rows: Sequence[Row]) -> str:
        """Name a method, and the policy as far as all rows have it in common."""
        common = [axis for axis in self.swept if len({row[axis] for row in rows}) == 1]
        words = ", ".join(setting_words(axis, rows[0][axis]) for axis in common)
        return f"{rows[0][METHOD]}{f' at {words}' if words else ''}"

    def _same(self, one: Row, other: Row) -> bool:
        """Whether two runs are under the same policy."""
        return all(one[axis] == other[axis] for axis in self.swept)

    def _better_than(self, best: Row, rival: Row) -> str:
        """Say how much better the best is than another method under the same policy."""
        low, high = best[self.measure.column], rival[self.measure.column]
        name = f"{rival[METHOD]}{' there' if self.swept else ''}"
        if self.measure.column == "log2_ul":
            return f"{show_value(high - low)} bits less than {name}"
        if self.measure.better == "highest" or not low:
            return f"against {self._shown(rival)} by {name}"
        ratio = high / low
        by = "hardly lower" if ratio < 1.05 else f"{ratio:.2g} times lower"
        return f"{by} than {name} ({self._named(rival)})"

    def _by_policy(self) -> str:
        """Say under which policies each method is best; a shared place counts for each."""
        wins: dict[str, list[Row]] = {}
        contested = 0
        done: list[Row] = []
        for row in self.rows:
            if any(self._same(row, other) for other in done):
                continue
            done.append(row)
            some = [other for other in self.rows if self._same(row, other)]
            if len(some) > 1:
                contested += 1
                for winner in self._alike(some, self._first(some)):
                    wins.setdefault(winner[METHOD], []).append(winner)
        if contested < 2:
            return ""
        ranked = sorted(wins.items(), key=lambda entry: (-len(entry[1]), entry[0]))
        parts = [f"{name}{_at(some, contested, self.swept)}" for name, some in ranked]
        return f" By policy, {self.measure.better}: {'; '.join(parts)}."
