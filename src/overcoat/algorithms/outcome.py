"""What an algorithm hands back: the partition it found, and the trace of how it got there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from typing import Literal

from overcoat.algorithms.proof import Proof
from overcoat.context import Stage
from overcoat.partition import Partition

__all__ = ["Cooling", "Outcome", "Searched", "Step", "telling"]


@dataclass(frozen=True, slots=True)
class Step:
    """One merge or suppression; groups are known by their first item.

    Attributes
    ----------
    action : what was done
    group, partner : which groups; partner is -1 for a suppression
    support : transactions with the union, or with what was suppressed
    family : position in the policy of the family whose constraint asked for it
    constraint : the items of that constraint
    """

    action: Literal["merge", "suppress"]
    group: int
    partner: int
    support: int
    family: int
    constraint: tuple[int, ...]


# Steps in all; or, of each part, the steps of its stretches and the looks of its descent.
Cooling = int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """How a search went.

    Attributes
    ----------
    minimise : what was minimised
    before, after : the objective at the start, which is 1, and of the result
    steps : how many steps each chain took
    cooling : over how many steps the temperature was to fall: in all, or, where a clock planned or
        ended it, the steps of each stretch and the looks of each descent. With `steps`, where these
        are fewer, and the seed, it repeats the search
    seed : of the draws
    seconds : how long it took
    trace : the best objective after so many steps
    at_rest : whether the last descent came to its end: no single item can move, no group be undone,
        with a gain. Otherwise it was ended, by the clock or by somebody
    """

    minimise: str
    before: float
    after: float
    steps: int
    cooling: Cooling
    seed: int
    seconds: float
    trace: tuple[tuple[int, float], ...]
    at_rest: bool = True

    def __str__(self) -> str:
        repeat = f"--steps {self.steps}"
        if self.cooling and self.cooling != self.steps:
            planned = (self.cooling,) if isinstance(self.cooling, int) else self.cooling
            repeat += f" --cooling {','.join(map(str, planned))}"
        rests = "at rest" if self.at_rest else "ended before it came to rest"
        return (
            f"{self.minimise} from {self.before:.3g} to {self.after:.3g}, {rests}; "
            f"{repeat} --seed {self.seed} repeats it"
        )


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of an algorithm.

    Attributes
    ----------
    partition : who is in one group, and who is suppressed
    steps : what was done, in order; none where a method does not work in steps
    unmet : the constraints whose repair took more suppression than the policy allows; when there
        are any, the policy was not met within s, and the partition shows what it would have taken
    start : what the first step found; None where every item stood alone
    proof : how far from the least loss it is at most, where the method proves that
    searched : how the search went, where the method is one
    """

    partition: Partition
    steps: tuple[Step, ...] = ()
    unmet: tuple[tuple[int, ...], ...] = ()
    start: Partition | None = None
    proof: Proof | None = None
    searched: Searched | None = None

    def replay(self) -> Iterator[tuple[Step, tuple[int, ...], tuple[int, ...]]]:
        """Yield each step with the items of its group and of its partner at that time."""
        members: dict[int, tuple[int, ...]] = {}
        if self.start is not None:
            members = {int(group[0]): tuple(group.tolist()) for group in self.start.merged}
        for step in self.steps:
            group = members.pop(step.group, (step.group,))
            partner: tuple[int, ...] = ()
            if step.action == "merge":
                partner = members.pop(step.partner, (step.partner,))
                members[min(step.group, step.partner)] = tuple(sorted(group + partner))
            yield step, group, partner


def telling(stage: Stage, steps: Sized) -> Callable[[], None]:
    """Return a call that says how many steps are done, and raises where the work is to end.

    Not a method of a run: its kernel keeps the call, and would be kept by it, with all its memory.
    """
    return lambda: stage(len(steps))
