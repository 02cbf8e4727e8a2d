# cython: language_level=3
"""How compiled loops call their stage, and share their work among its threads."""

from itertools import pairwise

from libc.stdint cimport int64_t

PACE = 1 << 20  # steps between two calls of the stage: about a hundredth of a second


cdef class Pulse:
    """Calls a stage now and then from loops that have let go of the interpreter.

    `done` and `of` are what the stage is told; the call may raise, and that ends the loop.
    """

    def __init__(self, stage, int64_t done=0, int64_t of=0):
        self.stage, self.done, self.of, self.pace = stage, done, of, PACE

    cdef int call(self) except -1 nogil:
        self.steps = 0
        with gil:
            self.stage(self.done, self.of)
        return 0


def run_parts(stage, function, bounds, *more, before=0, of=0, alone=False):
    """Call a function for each range between two bounds, on the threads of a stage.

    It gets both bounds, what each of `more` has for the range, and a stage of its own, which is to
    be told how much of the range is done. Returns what it returns, range by range.

    `before` is what was done earlier, `of` is all there is. What is too little for several threads
    is done `alone`.
    """
    whole = stage.share(before, of)
    if alone or stage.threads < 2:
        return [
            function(first, stop, *given, whole.share(first - bounds[0], of))
            for (first, stop), *given in zip(pairwise(bounds), *more)
        ]
    return whole.side_by_side([
        lambda part, given=given: function(*given[0], *given[1:], part)
        for given in zip(pairwise(bounds), *more)
    ])
