from libc.stdint cimport int32_t, int64_t

from overcoat.kernels.losses cimport Losses

cdef enum:
    PRICED, UL, NCP, OWN


cdef struct Cell:  # of two groups
    int64_t price      # of all pairs between them
    int64_t paid       # price times support, summed
    int64_t high       # no pair between them has a larger support
    int64_t cost       # now


cdef class Costs(Losses):
    cdef:
        Cell* _cells
        int64_t _cell_room
        const int64_t[::1] _guess, _item_price
        const int64_t[::1] _starts, _supports, _prices
        const int32_t[::1] _others
        int64_t _flat_price
        int mode
        int64_t cost                    # now; of priced things
        int64_t[::1] _item_cost
        # of the item seen, by the group of the other item
        int64_t[::1] _x_price, _x_paid, _x_high
        int32_t[::1] _x_groups
        int32_t _n_x_groups
        int64_t _x_paid_total, _leave_cost, _least
        int64_t[::1] _estimates, _short, _left
        bint _has_pairs
        object _own
        dict _own_known                 # what was asked already
        double[::1] _own_of             # by slot
        const double[::1] _own_items
        double _own_left

    cdef void look_prices(self, int32_t x) noexcept nogil
    cdef int64_t _estimate(self, int64_t met, int64_t one, int64_t other) noexcept nogil
    cdef void _fall_short(self, int32_t item, int32_t without) noexcept nogil
    cdef void _all_fall_short(self, int32_t slot, int32_t without) noexcept nogil
    cdef int64_t _linear(self, int32_t group, int64_t price, int64_t paid, int64_t high,
                         int64_t estimate) noexcept nogil
    cdef int64_t _items_cost(self, int32_t slot, int64_t support, int64_t size, int32_t without,
                             int32_t more) noexcept nogil
    cdef int64_t _leave(self, int32_t x) noexcept nogil
    cdef int64_t _enter(self, int32_t x, int32_t target, bint least) noexcept nogil
    cdef int prepare(self, int32_t x) except -1 nogil
    cdef double change(self, int32_t x, int32_t target, bint least) except? -1 nogil
    cdef int64_t _row_cost(self, int32_t slot, int32_t other) noexcept nogil
    cdef void _price_row(self, int32_t slot) noexcept nogil
    cdef double ask(self, int32_t slot, int32_t without, int32_t more,
                    int64_t support) except? -1 nogil
    cdef double _own_change(self, int32_t x, int32_t target) except? -1 nogil
    cdef int ask_again(self, int32_t slot) except -1 nogil
    cdef double total(self) noexcept nogil
    cdef _price_all(self)
