"""NCP, the normalized certainty penalty: how wide the groups are that occurrences end up in.

From M. Terrovitis, N. Mamoulis, P. Kalnis, *Privacy-preserving anonymization of set-valued data*,
VLDB 2008, where it measures full-subtree recoding; here for any mapping.
"""

from __future__ import annotations

import numpy as np

from overcoat.data.transactions import Transactions
from overcoat.mapping import Mapping
from overcoat.measures.groups import find_groups
from overcoat.policy.hierarchy import Tree
from overcoat.policy.weights import TreeWeights

__all__ = ["measure_ncp"]


def measure_ncp(data: Transactions, mapping: Mapping, hierarchy: Tree | None = None) -> float:
    """Return the mean over all occurrences of an item of the NCP of its group; from 0 to 1.

    NCP is 0 for a group of one item and 1 for a suppressed item. For a group of two or more it is
    the share of the domain that lies under the closest common ancestor of its items: the same as
    the weight w of UL. Without a hierarchy it is the group's own share of the domain, size / M.

    >>> data = Transactions.of([{"a", "c"}, {"b"}, {"c"}, {"d"}])
    >>> measure_ncp(data, Mapping.of("abcd", [["a", "b"], ["c"]]))  # (2/4 + 2/4 + 0 + 0 + 1) / 5
    0.4
    """
    groups = find_groups(data.vocabulary, mapping)
    # In numerators over M, so that everything is exact up to the one division at the end.
    penalties = groups.sizes
    if hierarchy is not None:
        weights = TreeWeights(hierarchy)
        penalties = np.array(
            [
                weights.weight(np.flatnonzero(groups.group_of == group).astype(np.int32))
                if size > 1
                else 0
                for group, size in enumerate(groups.sizes.tolist())
            ],
            np.int64,
        )
    penalties = np.where(groups.sizes > 1, penalties, 0)
    of_items = np.append(penalties, data.n_items)[groups.group_of]  # -1: suppressed
    n_occurrences = int(data.supports.sum())
    return int(of_items @ data.supports) / (data.n_items * n_occurrences) if n_occurrences else 0.0
