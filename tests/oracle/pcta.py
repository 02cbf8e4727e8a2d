"""PCTA in its form UPCTA: of all merges of a group of the constraint, the one that loses least."""

from collections.abc import Sequence

from .coat import Run, Trace
from .definitions import Family, Group, Itemset, Percent, Rows, Weight, unit_weight


def pcta_by_families(
    rows: Rows,
    families: Sequence[Family],
    blocks: Sequence[Group],
    k: int,
    s: Percent,
    weight: Weight = unit_weight,
) -> tuple[dict[str, Group | None], Trace]:
    """Anonymize under families, as `coat_by_families` does, with PCTA's choice of merges."""
    run = PctaRun(rows, blocks, k, s, weight)
    run.work_through(families)
    return run.mapping, run.trace


class PctaRun(Run):
    """PCTA's choice of merges."""

    def repair(self, p: Itemset) -> None:
        part = self.working_part(p)
        hopeless = [g for g in part if self.sup(frozenset([g])) < self.k and not self.partners(g)]
        merges = [(g, r) for g in sorted(part, key=self.first_item) for r in self.partners(g)]
        if hopeless or not merges:
            self.suppress(self.least_supported_first(hopeless or part)[0], p)
        else:
            self.unite(*min(merges, key=lambda pair: self.loss_of(pair[0] | pair[1])), p)
