"""What is proven of a partition: how far from the least loss it can be at most."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["OBJECTIVES", "Proof", "times"]

OBJECTIVES = {"ul": "UL", "ncp": "NCP", "flat": "flat NCP"}


def times(found: Fraction, bound: Fraction) -> float:
    """Return how many times the least possible something is, at most.

    >>> times(Fraction(3), Fraction(2)), times(Fraction(0), Fraction(0)), times(Fraction(1), 0)
    (1.5, 1.0, inf)
    """
    if found <= bound:
        return 1.0
    return float(found / bound) if bound else float("inf")


@dataclass(frozen=True)
class Proof:
    """What an exhaustive search has proven of what it found.

    Attributes
    ----------
    objective : what was minimised: ul, ncp or flat
    found : the loss of what was found
    bound : no mapping that meets the policy, suppression within s included, loses less
    nodes : how many states were looked at

    >>> proof = Proof("ul", Fraction(1, 8), Fraction(1, 10), 5000)
    >>> print(proof, proof.proven)
    UL is at most 1.25 times the least possible: the search was ended after 5,000 states False
    """

    objective: str
    found: Fraction
    bound: Fraction
    nodes: int

    @property
    def proven(self) -> bool:
        """Whether nothing loses less."""
        return self.found <= self.bound

    @property
    def ratio(self) -> float:
        """How many times the least possible it is, at most."""
        return times(self.found, self.bound)

    def __str__(self) -> str:
        """Render in words."""
        name = OBJECTIVES[self.objective]
        if self.proven:
            return f"proven: no mapping that meets the policy has less {name}"
        ended = f"the search was ended after {self.nodes:,} states"
        if not self.bound:
            return f"nothing is proven of {name}: {ended}"
        return f"{name} is at most {self.ratio:.3g} times the least possible: {ended}"
