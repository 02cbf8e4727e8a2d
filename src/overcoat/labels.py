"""Labels: what groups are called in a release."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

__all__ = ["make_labels"]

# Labels list every item of a small group and the first of a large one: the mapping has them all.
_LISTED = 4
_SHOWN = 2


def make_labels(
    items: Collection[str],
    groups: Sequence[tuple[str, ...]],
    names: Sequence[str | None] = (),
    earlier: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[str, ...]:
    """Return a label for each group, none equal to another or to an item that is not its own.

    Parameters
    ----------
    items : all there are, suppressed ones included
    groups : the items of each group
    names : what each is to be called, if anything; a group of one item is always that item
    earlier : labels that meant something before. A group that one of them meant keeps it, unless
        an item is called so by now; none is given to another group, for one label means one thing

    >>> make_labels("abcd", [("a", "b"), ("c", "d")], ["first", None])
    ('first', '(c|d)')
    >>> make_labels("abcd", [("a", "b"), ("c", "d")], ["x", "x"], {"x": ("c", "d")})
    ('x#2', 'x')
    """
    earlier = earlier or {}
    used = {*items, *earlier}
    kept = {
        frozenset(group): label
        for label, group in earlier.items()
        if len(group) > 1 and label not in items
    }
    labels = []
    for group, name in zip(groups, names or [None] * len(groups), strict=True):
        if len(group) == 1:
            labels.append(group[0])
            continue
        if (before := kept.get(frozenset(group))) is not None:
            labels.append(before)
            continue
        shown = group if len(group) <= _LISTED else (*group[:_SHOWN], f"+{len(group) - _SHOWN}")
        stem = label = name or "(" + "|".join(shown) + ")"
        number = 1
        while label in used:
            number += 1
            label = f"{stem}#{number}"
        used.add(label)
        labels.append(label)
    return tuple(labels)
