"""What can be told of a release, in two editions.

The *external* edition is a function of what was published: the released rows, the mapping and the
policy. The code that makes it never holds the original, so whatever it tells anyone could find out.
The *internal* edition has the original too, and the external one inside it.
"""

from __future__ import annotations

from collections.abc import Mapping as Abstract
from dataclasses import dataclass, field
from functools import cached_property

from overcoat.context import QUIET, Stage
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError
from overcoat.exposure.reach import Reach, reach
from overcoat.least.bounds import Bounds, quick_bounds
from overcoat.loss.error import Errors, ExpectedError, n_pairs
from overcoat.mapping import Mapping
from overcoat.measures.counts import NamedCount, PublishedCount, published_counts
from overcoat.measures.exactness import Exactness, exactness_of, published_exactness
from overcoat.measures.loss import Loss, measure_ncp
from overcoat.policy.binding import Domain
from overcoat.policy.policy import Demands, Policy
from overcoat.policy.privacy import AllItemsets, Coherence
from overcoat.release.result import Result
from overcoat.verification import Verdict, verify_published

__all__ = ["External", "Internal", "Published", "settle_published"]

_SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True, eq=False)
class Published:
    """What leaves the house: never the original.

    Attributes
    ----------
    released : the released rows, over labels
    mapping : which item went where
    policy : what was promised
    names : what items are called, as a list says that anyone may see
    keep_order : the rows are in the order of the input
    digests : SHA-256 of the released and the mapping file, where there are such files
    layout : of the released file, where there is one
    """

    released: Transactions
    mapping: Mapping
    policy: Policy
    names: Abstract[str, str] = field(default_factory=dict)
    keep_order: bool = False
    digests: Abstract[str, str | None] = field(default_factory=dict)
    layout: Layout | None = None

    @classmethod
    def of(
        cls, result: Result, names: Abstract[str, str] | None = None, *, keep_order: bool = False
    ) -> Published:
        """Take what is published of a result: of its digests those of what is published, too."""
        digests = {name: result.digests.get(name) for name in ("released", "mapping")}
        policy = result.policy.settled
        called = names or {}
        layout = result.layout
        return cls(result.released, result.mapping, policy, called, keep_order, digests, layout)


def settle_published(policy: Policy, mapping: Mapping, released: Transactions) -> Policy:
    """Read the lines of a policy's files against what was published.

    They are split as the items of the release are; where that names items which the mapping does
    not know, as those of the original may have been: a release can have another layout.
    """
    layout = released.layout
    longest = int(released.lengths.max(initial=0))
    own = layout.sep if layout and layout.format == "basket" else ""
    readings = []
    for sep in dict.fromkeys([own, None, *_SEPARATORS]):
        domain = Domain(mapping.vocabulary, longest, sep, policy.known, policy.ignore_unknown)
        readings.append(policy.settled(domain))
        try:
            readings[-1].bind_published(mapping.vocabulary, longest)
        except PolicyError:
            continue
        return readings[-1]
    return readings[0]  # whoever binds it will say what is wrong


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
    stage: Stage = field(default=QUIET, repr=False)

    @property
    def k(self) -> int:
        """How many people make a crowd."""
        return self.demands.k

    @property
    def m(self) -> int | None:
        """How many items are protected together, whichever; None where no family says it."""
        families = self.published.policy.privacy
        sizes = [one.m for one in families if isinstance(one, AllItemsets)]
        sizes += [one.p for one in families if isinstance(one, Coherence)]
        return max(sizes, default=None)

    @property
    def sizes(self) -> tuple[int, ...]:
        """For how many known items the risk is told: up to one more than is protected."""
        m = self.m or 2
        return tuple(size for size in sorted({1, 2, 3, m, m + 1}) if size <= m + 1)

    @cached_property
    def risk(self) -> tuple[Reach, ...]:
        """How far an attacker gets with the released rows."""
        return reach(self.published.released, self.sizes, self.k, stage=self.stage)

    @cached_property
    def exactness(self) -> Exactness | None:
        """How exactly the labels of the release tell items; None where some are no labels."""
        published = self.published
        if any(label not in published.mapping.groups for label in published.released.vocabulary):
            return None
        return published_exactness(published.released, published.mapping)

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
        return verify_published(
            published.released, published.mapping, published.policy, stage=self.stage
        )


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
    def of(
        cls,
        result: Result,
        names: Abstract[str, str] | None = None,
        *,
        keep_order: bool = False,
        stage: Stage = QUIET,
    ) -> Internal:
        """Return what can be told of a result inside."""
        return cls(External(Published.of(result, names, keep_order=keep_order), stage), result)

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

    @property
    def names(self) -> Abstract[str, str]:
        """What items are called, by the list that was given, else by the source."""
        return {**self.result.data.origin.names, **self.external.published.names}

    @cached_property
    def risk(self) -> tuple[Reach, ...]:
        """How far an attacker would get with the original."""
        told = self.external
        return reach(self.result.data, told.sizes, told.k, stage=told.stage)

    @cached_property
    def exactness(self) -> Exactness:
        """How exactly what people have is told."""
        return exactness_of(self.result.data, self.result.mapping)

    @cached_property
    def expected(self) -> Errors | None:
        """The error of all queries of one and two items; None where there are too many pairs."""
        data, mapping = self.result.data, self.result.mapping
        if n_pairs(data) > ExpectedError.MOST:
            return None
        return ExpectedError(data, stage=self.external.stage).total(mapping.partition_of(data))

    @cached_property
    def bounds(self) -> Bounds | None:
        """What must be lost without suppression; None where finding that would take seconds."""
        return quick_bounds(self.result.data, self.result.policy, stage=self.external.stage)

    @cached_property
    def ncp(self) -> float:
        """How wide groups are, from 0 to 1, by the hierarchy where there is one."""
        result = self.result
        return measure_ncp(result.data, result.mapping, result.policy.hierarchy)

    @cached_property
    def flat_ncp(self) -> float:
        """The same without the hierarchy."""
        return measure_ncp(self.result.data, self.result.mapping)
