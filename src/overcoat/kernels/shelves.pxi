# Shelves: which group of a block is the cheapest to merge with, without looking at all of them.
#
# A shelf is a node of the weight tree, as one utility block sees it. Each group lies on the shelf of
# its closest common ancestor and on all shelves above it, sorted by size and then by support (then
# by first item). What a merge with g costs depends on the size and support of the union and on the
# weight of the lowest shelf that holds both. So, among groups that share no row with g, only the
# least supported group of each size on each shelf above g can be the cheapest: any other one on
# that shelf has more support, or the same and a later first item, and no smaller weight.
#
# Groups that have changed since they were put on a shelf are dropped when they come to the front.

cdef struct Entry:
    int64_t support
    int32_t group

cdef struct Heap:
    Entry* entries
    int32_t n, capacity

cdef struct Shelf:
    Heap* by_size        # index size - 1
    int32_t n_sizes


cdef inline bint comes_first(Entry* one, Entry* other) noexcept nogil:
    return one.support < other.support or (
        one.support == other.support and one.group < other.group)


cdef bint heap_push(Heap* heap, Entry entry) noexcept nogil:
    """Add an entry; False when memory ran out."""
    cdef Entry* grown
    cdef int32_t at, up
    if heap.n == heap.capacity:
        heap.capacity = 2 * heap.capacity if heap.capacity else 4
        grown = <Entry*> realloc(heap.entries, heap.capacity * sizeof(Entry))
        if grown == NULL:
            return False
        heap.entries = grown
    at = heap.n
    heap.n += 1
    while at > 0:
        up = (at - 1) // 2
        if not comes_first(&entry, &heap.entries[up]):
            break
        heap.entries[at] = heap.entries[up]
        at = up
    heap.entries[at] = entry
    return True


cdef void heap_pop(Heap* heap) noexcept nogil:
    cdef Entry entry
    cdef int32_t at = 0, below
    heap.n -= 1
    if heap.n == 0:
        return
    entry = heap.entries[heap.n]
    while True:
        below = 2 * at + 1
        if below >= heap.n:
            break
        if below + 1 < heap.n and comes_first(&heap.entries[below + 1], &heap.entries[below]):
            below += 1
        if not comes_first(&heap.entries[below], &entry):
            break
        heap.entries[at] = heap.entries[below]
        at = below
    heap.entries[at] = entry


cdef bint shelf_put(Shelf* shelf, int32_t size, Entry entry) noexcept nogil:
    """Put a group of some size on a shelf; False when memory ran out."""
    cdef Heap* grown
    if size > shelf.n_sizes:
        grown = <Heap*> realloc(shelf.by_size, size * sizeof(Heap))
        if grown == NULL:
            return False
        memset(grown + shelf.n_sizes, 0, (size - shelf.n_sizes) * sizeof(Heap))
        shelf.by_size, shelf.n_sizes = grown, size
    return heap_push(&shelf.by_size[size - 1], entry)


cdef void shelves_free(Shelf* shelves, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef int32_t size
    for i in range(n):
        for size in range(shelves[i].n_sizes):
            free(shelves[i].by_size[size].entries)
        free(shelves[i].by_size)
    free(shelves)
