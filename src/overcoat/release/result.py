"""What an anonymization comes to: the mapping, the released data, and the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from overcoat import html
from overcoat.algorithms.method import Method
from overcoat.algorithms.outcome import Outcome, Searched
from overcoat.algorithms.proof import Proof
from overcoat.context import Context
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError, Problem
from overcoat.loss.ul import UtilityLoss
from overcoat.mapping import Mapping
from overcoat.measures.counts import NamedCount
from overcoat.measures.exactness import Exactness, count_blank, exactness_of
from overcoat.measures.loss import Loss
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.privacy import BoundAllItemsets, BoundPgen
from overcoat.release.codebook import codebook_columns, codebook_rows
from overcoat.release.publish import Beside, publish
from overcoat.release.sinks import Sink
from overcoat.release.starting import Moved, moved
from overcoat.release.summary import summary_lines
from overcoat.verification import Verdict

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Result", "TraceStep"]

_NOTHING = (
    "the data satisfy this policy as they are, so nothing was changed: does it protect what you "
    "mean?"
)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One merge or suppression, in words of the data.

    Attributes
    ----------
    action : what was done
    items, partner : the items of the group, and of the one it was merged with
    constraint : the itemset whose repair asked for it
    family : the family that itemset belongs to
    log2_loss : log2 UL of the union; for a suppression log2 of the penalties of its items
    """

    action: Literal["merge", "suppress"]
    items: tuple[str, ...]
    partner: tuple[str, ...]
    constraint: tuple[str, ...]
    family: str
    log2_loss: float


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A mapping, the data published under it, and the evidence.

    Attributes
    ----------
    data : the original
    policy : what had to hold, bound to the data
    method : how the mapping was found; None for a mapping found earlier
    mapping : which item went where
    released : the published transactions, over labels
    verdict : what verification found
    loss : UL and penalties
    counts : each named utility set before and after
    partial : the policy was not met; for study only, cannot be written
    seconds : time by stage
    identifiers : why items look like identifiers, where the owner insisted on publishing them
    digests : SHA-256 of the input file and of the policy's canonical form; once it is published, of
        the released and the mapping file; None where there is no file or no such form
    layout : how the release is laid out: like the original, or as it was published; None where the
        original was no file
    described : what items are called, by a list that was given beside the data
    """

    data: Transactions
    policy: BoundPolicy
    method: Method | None
    mapping: Mapping
    released: Transactions
    verdict: Verdict
    loss: Loss
    counts: tuple[NamedCount, ...]
    partial: bool
    seconds: dict[str, float]
    identifiers: tuple[str, ...] = ()
    _outcome: Outcome | None = field(default=None)
    described: dict[str, str] = field(init=False, default_factory=dict)
    digests: dict[str, str | None] = field(init=False)
    layout: Layout | None = field(init=False)

    def __post_init__(self) -> None:
        layout = self.data.layout  # a release of a wide table is a long one
        self.laid_out(layout and replace(layout, columns=(), by_row=False))
        known = {"input": self.data.file_digest, "policy": _digest(self.policy)}
        object.__setattr__(self, "digests", known)  # the way of a frozen data class

    def laid_out(self, layout: Layout | None) -> None:
        """Take down how the release is laid out where it is published."""
        object.__setattr__(self, "layout", layout)

    @property
    def notes(self) -> tuple[Problem, ...]:
        """What the owner should know: of how the data were read, and of the policy."""
        insisted = [f"published because you insist: {why}" for why in self.identifiers]
        own = (*map(Problem, [*self.data.origin.notes, *insisted]), *self.policy.notes)
        changed = self.mapping.merged or self.mapping.suppressed or self.method is None
        whole = any(
            isinstance(one, BoundPgen) or (isinstance(one, BoundAllItemsets) and one.whole_domain)
            for one in self.policy.families
        )
        return own if changed or whole or self.policy.k == 1 else (*own, Problem(_NOTHING))

    @property
    def proof(self) -> Proof | None:
        """What is proven of the loss, where the method proves something."""
        return None if self._outcome is None else self._outcome.proof

    @cached_property
    def suppressed(self) -> tuple[str, ...]:
        """The items that occur and are left out; a mapping found earlier may name more."""
        return tuple(item for item in self.mapping.suppressed if item in self.data.vocabulary)

    @property
    def n_emptied(self) -> int:
        """How many people have nothing left of what they had: all their items are left out."""
        return count_blank(self.released) - count_blank(self.data)

    @cached_property
    def moved(self) -> Moved | None:
        """What has changed since the mapping that was started from; None where there was none."""
        start = None if self.method is None else self.method.start
        return None if start is None else moved(start, self.mapping, self.data)

    @cached_property
    def exactness(self) -> Exactness:
        """How many items of people are told exactly, as one of several, or not at all."""
        return exactness_of(self.data, self.mapping)

    @property
    def searched(self) -> Searched | None:
        """How the search went, where the method is one."""
        return None if self._outcome is None else self._outcome.searched

    @property
    def trace(self) -> Iterator[TraceStep]:
        """What was merged or suppressed, for which constraint, at which loss, in order."""
        if self._outcome is None:
            return
        labels = self.data.vocabulary.labels
        loss_of = UtilityLoss(self.data, self.policy.weights, self.policy.penalties)
        for step, group, partner in self._outcome.replay():
            if step.action == "merge":
                union = np.array(sorted(group + partner), np.int32)
                loss = loss_of.log2_of_group(union, step.support)
            else:
                loss = loss_of.log2_of_items(group)
            yield TraceStep(
                step.action,
                tuple(labels[code] for code in group),
                tuple(labels[code] for code in partner),
                tuple(labels[code] for code in step.constraint),
                self.policy.families[step.family].title,
                loss,
            )

    def write(
        self,
        path: str | Path | Sink,
        *,
        mapping: str | Path | None = None,
        codebook: str | Path | None = None,
        to: str | None = None,
        keep_order: bool = False,
        replace: bool = False,
        report: Callable[[], None] | None = None,
        beside: Beside | None = None,
        context: Context | None = None,
    ) -> None:
        """Publish: write the released data, and what is asked with them, or nothing at all.

        Parameters
        ----------
        path : the released file, ``-`` for standard output, a table (``sqlite:///FILE#TABLE``,
            ``duckdb:///FILE#TABLE``, ``postgresql://…#TABLE``), or a `Sink`
        mapping : the mapping file
        codebook : a table of what became of each item, .csv, .tsv or .xlsx; see `codebook`
        to : basket, long or list, where the name of the file does not say it
        keep_order : keep the rows in the order of the input, which may link them to people; the
            data must have been read with ``keep_order=True``
        replace : a table that exists is replaced, in the same transaction; files always are
        report : called when all is checked, before the files get their names: should it fail,
            nothing is published
        beside : further files to be written with these, such as reports and certificates: for each
            path a function that returns its content. It is called when the release and its mapping
            are staged and `digests` has theirs
        context : how to run
        """
        stage = Context.of(context).start("write")
        publish(
            self,
            path,
            mapping=mapping,
            codebook=codebook,
            to=to,
            keep_order=keep_order,
            replace=replace,
            report=report,
            beside=beside,
            stage=stage,
        )

    def codebook(self) -> pl.DataFrame:
        """Return what became of each item, as a polars frame.

        Its columns: the item, its description where the source, or a list, has one, its label and
        the size of its group (null where it is suppressed), the named utility set it belongs to,
        and whether the count of that set is exact (yes or no); where it goes on from an earlier
        release, the label there.
        """
        import polars as pl

        rows = codebook_rows(self)
        types = dict.fromkeys(codebook_columns(rows), pl.String) | {"group_size": pl.Int64}
        return pl.DataFrame(rows, schema=types, orient="row")

    def _repr_html_(self) -> str:
        state = "partial, not publishable" if self.partial else "verified"
        lines = summary_lines(self)
        sizes = sorted(self.mapping.groups.items(), key=lambda group: -len(group[1]))
        merged = [(label, len(items)) for label, items in sizes if len(items) > 1]
        largest = html.table(merged[:5], ["largest groups", "items"]) if merged else ""
        return html.card(f"Release ({state})", html.table(lines), largest)

    def __repr__(self) -> str:
        state = "partial, not publishable" if self.partial else "verified"
        return f"Result({self.mapping!r}, {state})"


def _digest(policy: BoundPolicy) -> str | None:
    try:
        return policy.stated.digest
    except PolicyError:  # it has a function in it, which cannot be written down
        return None
