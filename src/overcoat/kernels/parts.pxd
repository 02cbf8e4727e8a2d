from libc.stdint cimport int32_t, int64_t, uint8_t

from overcoat.kernels.merging cimport GroupedRows

cdef struct Held:
    # A row that holds the prefix at hand.
    int32_t number
    int32_t at              # where in its share the prefix has ended

cdef struct Child:
    # A group that extends the prefix of a node, and the rows that hold both.
    int32_t group
    int64_t support, start, end

cdef struct Node:
    int32_t n_prefix
    int64_t start, end              # its rows
    int64_t first, next, last       # its children, once there are any
    bint expanded
    int64_t top                     # how many rows lay on the stack before its children's

cdef class Parts:
    cdef:
        # the set asked for last: its groups, and the support of the best part that begins with each
        int64_t _k, _n_asked
        uint8_t[::1] _asked
        int64_t[::1] _best_of
        # the best part of one group
        int32_t[::1] _best
        int32_t _n_best
        int64_t _best_support
        # scratch by group
        int64_t _stamp
        int64_t[::1] _wanted            # the set asked for, if it equals the stamp
        int64_t[::1] _n_rows, _support  # of each child, zero between uses
        int64_t[::1] _child             # index in `_children`
        int32_t[::1] _prefix, _seen
        # by row number: what a row shares with the set, ascending, as far as it was needed
        int64_t[::1] _projected         # done if it equals the stamp
        int64_t[::1] _start
        int32_t[::1] _length
        int64_t[::1] _strong            # depth of the node that found it strong, 0 for none
        int64_t[::1] _whole             # STRONG; weak if it equals the stamp
        int64_t _n_fills                # how often rows were laid out when they were last looked at
        int32_t* _shares
        int64_t _n_shares, _shares_capacity
        # stacks
        Held* _held
        int64_t _n_held, _held_capacity
        Child* _children
        int64_t _n_children, _children_capacity
        Node* _nodes
        int64_t _n_nodes, _nodes_capacity
        int64_t _work

    cdef void merged(self, GroupedRows of, int32_t one, int32_t other) noexcept nogil
    cdef void suppressed(self, GroupedRows of, int32_t group) noexcept nogil
    cdef void _touch(self, GroupedRows of, int32_t group, bint grown) noexcept nogil
    cdef bint _is_known(self, const int32_t[::1] groups) noexcept nogil
    cdef int _run(self, GroupedRows of, const int32_t[::1] groups, int64_t k, tell) except -1 nogil
    cdef int _search(self, GroupedRows of, int32_t group, int64_t k, tell) except -1 nogil
    cdef bint _is_settled(self, GroupedRows of, Node* node, int64_t k, tell) except -1 nogil
    cdef int _look_at_whole(self, GroupedRows of, int32_t row, int64_t k, tell) except -1 nogil
    cdef int _project_once(self, GroupedRows of, int32_t row, tell) except -1 nogil
    cdef int _expand(self, GroupedRows of, int64_t k, tell) except -1 nogil
    cdef int64_t _peel(self, Node* node) noexcept nogil
    cdef int64_t _fill_children(self, GroupedRows of, Node* node) except -1 nogil
    cdef int64_t _leads_nowhere(self, GroupedRows of, Node* node, int64_t k, bint* dead) noexcept nogil
    cdef bint _shares_all(
        self, int32_t number, const int32_t* groups, int32_t n, int64_t* work) noexcept nogil
    cdef void _keep(self, int32_t n, int32_t last, int64_t support) noexcept nogil
    cdef int _push(self, int32_t n_prefix, int64_t start, int64_t end) except -1 nogil
    cdef void _pop(self) noexcept nogil
