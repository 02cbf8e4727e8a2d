"""Going on from an earlier mapping, by the definitions: nothing is split, nothing comes back."""

from collections.abc import Sequence

from .coat import Run, Trace
from .definitions import Family, Group, Itemset, Percent, Phi, Rows, Weight
from .pcta import PctaRun


def go_on_by_families(
    rows: Rows,
    families: Sequence[Family],
    blocks: Sequence[Group],
    k: int,
    s: Percent,
    weight: Weight,
    earlier: Phi,
    *,
    pcta: bool = False,
) -> tuple[dict[str, Group | None], Trace]:
    """Anonymize as COAT or PCTA do, from the groups of an earlier mapping.

    Of its groups, what occurs; an item that it does not know stands alone. When such an item is to
    be merged for the first time, the partner is the group with an item with which its weight is
    least, of equals the one with which the loss is.
    """
    run = (_PctaRun if pcta else _CoatRun)(rows, blocks, k, s, weight)
    run.set_out(earlier)
    run.work_through(families)
    return run.mapping, run.trace


class _Placing(Run):
    new: set[str]

    def set_out(self, earlier: Phi) -> None:
        self.new = {item for item in self.mapping if item not in earlier}
        for item in self.mapping:
            if item in earlier:
                group = earlier[item]
                self.mapping[item] = group and frozenset(group & self.mapping.keys())

    def unite(self, g: Group, r: Group, p: Itemset) -> None:
        if len(g) == 1 and g <= self.new:
            far = {r: min(self.weight(g | {item}) for item in r) for r in self.partners(g)}
            near = [other for other in self.partners(g) if far[other] == min(far.values())]
            r = min(near, key=lambda other: self.loss_of(g | other))
        super().unite(g, r, p)


class _CoatRun(_Placing):
    pass


class _PctaRun(_Placing, PctaRun):
    pass


def inside(earlier: Phi, now: Phi) -> bool:
    """Whether each earlier group lies inside one group of now, or is suppressed whole, and nothing
    that was suppressed is there again.
    """
    for item, group in earlier.items():
        if group is None:
            if now[item] is not None:
                return False
        elif len({now[other] for other in group}) > 1:
            return False
    return True


def meet(mappings: Sequence[Phi], domain: Itemset) -> dict[str, Group | None]:
    """The coarsest mapping that tells what several tell together, row by row and item by item.

    Two items are one if no mapping tells them apart: it has both in one group, suppresses both, or
    knows neither. An item that nobody tells anything of is suppressed.
    """
    told = {item: tuple(phi.get(item) for phi in mappings) for item in domain}
    return {
        item: None
        if all(group is None for group in told[item])
        else frozenset(other for other in domain if told[other] == told[item])
        for item in domain
    }
