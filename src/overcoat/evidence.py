"""What can be told of a release, in two editions.

The *external* edition is a function of what was published: the released rows, the mapping and the
policy. The code that makes it never holds the original, so whatever it tells anyone could find out.
The *internal* edition has the original too, and the external one inside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.measures.counts import NamedCount, PublishedCount, published_counts
from overcoat.measures.loss import Loss
from overcoat.policy.policy import Demands, Policy
from overcoat.release.result import Result
from overcoat.verification import Verdict, verify_published

__all__ = ["External", "Internal", "Published"]


@dataclass(frozen=True, eq=False)
class Published:
    """What leaves the house: never the original.

    Attributes
    ----------
    released : the released rows, over labels
    mapping : which item went where
    policy : what was promised
    """

    released: Transactions
    mapping: Mapping
    policy: Policy

    @classmethod
    def of(cls, result: Result) -> Published:
        """Take what is published of a result."""
        return cls(result.released, result.mapping, result.policy.settled)


@dataclass(frozen=True, eq=False)
class External:
    """The external edition: figures that anyone can work out from what was published.

    >>> from overcoat.policy.privacy import AllItemsets
    >>> mapping = Mapping.of("abcd", [["a", "b"], ["c"]])
    >>> released = Transactions.of([{"(a|b)", "c"}, {"(a|b)", "c"}, {"c"}])
    >>> told = External(Published(released, mapping, Policy(2, AllItemsets(2), max_suppressed=25)))
    >>> told.n_transactions, told.n_items, told.n_groups, told.suppressed, told.verdict.ok
    (3, 4, 1, ('d',), True)
    """

    published: Published

    @cached_property
    def demands(self) -> Demands:
        """What had to hold, over the items that the mapping names."""
        longest = int(self.published.released.lengths.max(initial=0))
        return self.published.policy.bind_published(self.published.mapping.vocabulary, longest)

    @property
    def n_transactions(self) -> int:
        """How many people there are."""
        return self.published.released.n_transactions

    @property
    def n_items(self) -> int:
        """How many items the mapping names."""
        return len(self.published.mapping)

    @property
    def n_groups(self) -> int:
        """How many groups there are of two or more items."""
        return len(self.published.mapping.merged)

    @property
    def n_generalized_items(self) -> int:
        """How many items are in these groups."""
        return len(self.published.mapping.generalized)

    @property
    def largest_group(self) -> int:
        """Size of the largest group."""
        return max(map(len, self.published.mapping.members), default=0)

    @property
    def suppressed(self) -> tuple[str, ...]:
        """The suppressed items."""
        return self.published.mapping.suppressed

    @cached_property
    def counts(self) -> tuple[PublishedCount, ...]:
        """How many people have something of each named utility set, and whether that is exact."""
        published = self.published
        return published_counts(published.released, published.mapping, self.demands)

    @cached_property
    def verdict(self) -> Verdict:
        """What anyone who checks the published files finds."""
        published = self.published
        return verify_published(published.released, published.mapping, published.policy)


@dataclass(frozen=True, eq=False)
class Internal:
    """The internal edition: what is only told inside, and the external edition.

    Attributes
    ----------
    external : what is told outside
    result : everything, with the original
    """

    external: External
    result: Result

    @classmethod
    def of(cls, result: Result) -> Internal:
        """Return what can be told of a result inside."""
        return cls(External(Published.of(result)), result)

    @property
    def verdict(self) -> Verdict:
        """What verification against the original found."""
        return self.result.verdict

    @property
    def loss(self) -> Loss:
        """What it cost."""
        return self.result.loss

    @property
    def counts(self) -> tuple[NamedCount, ...]:
        """Each named utility set before and after."""
        return self.result.counts
