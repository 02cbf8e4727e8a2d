"""How compiled loops call their stage: after so much work, not after so much time."""

from libc.stdint cimport int64_t

cdef enum:
    BEAT = 1 << 22  # looks at memory; they take a few hundredths of a second at most


cdef inline int beat(tell, int64_t* work, int64_t more) except -1 nogil:
    """Add to the work since the last call, and call when it is enough; the call may raise."""
    work[0] += more
    if work[0] < BEAT:
        return 0
    work[0] = 0
    return call(tell)


cdef inline int call(tell) except -1 nogil:
    with gil:
        tell()
    return 0
