# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Repairing one constraint; see `overcoat.kernels.repairs`."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from overcoat.kernels.partners cimport Partners
from overcoat.kernels.pulse cimport beat

from overcoat.kernels.repairs import Change

cdef int64_t A_CHOICE = 1 << 12  # what a choice takes: it is made in Python


def repair(Partners grouping, items, int64_t support, int64_t k, choose, merge=None):
    """Generalize the itemset, as a last resort suppress, until it is satisfied."""
    cdef int32_t[::1] wanted = np.empty(max(len(items), 1), np.int32)
    cdef int32_t group
    changes = []
    image = image_of(grouping, items)
    if support == 0:  # if somebody supports it, it is violated whole
        image = violated_part(grouping, image, wanted, k)
    while image:
        beat(grouping._tell, &grouping._work, A_CHOICE + len(image))
        supports = {group: grouping._support[group] for group in image}
        candidates, otherwise = choose(supports, grouping.has_partner, k)
        if candidates:
            one, other = (merge or grouping.cheapest_merge)(candidates)
            group = grouping.merge(one, other)
            changes.append(Change(one, other, grouping._support[group], []))
        else:
            gone = grouping.members(otherwise).tolist()
            changes.append(Change(otherwise, -1, supports[otherwise], gone))
            grouping.suppress(otherwise)
        image = violated_part(grouping, image_of(grouping, items), wanted, k)
    return changes


cdef list image_of(Partners grouping, items):
    """Return the distinct groups of some items, ascending, without the suppressed ones."""
    cdef int32_t item, group
    cdef list image = []
    grouping._stamp += 1
    for item in items:
        group = grouping._group[item]
        if group >= 0 and grouping._mark[group] != grouping._stamp:
            grouping._mark[group] = grouping._stamp
            image.append(group)
    image.sort()
    return image


cdef list violated_part(Partners grouping, list image, int32_t[::1] wanted, int64_t k):
    """Return what of an image must be repaired; nothing when it is satisfied."""
    cdef int32_t i, n = <int32_t> len(image)
    cdef int64_t support
    if n == 0:
        return image
    for i in range(n):
        wanted[i] = image[i]
    support = grouping._support_of(&wanted[0], n, k)
    if support >= k:
        return []
    if support > 0:
        return image
    part = grouping.worst_part(np.array(image, np.int32), k)
    return [] if part is None else part.tolist()
