# cython: language_level=3
"""Memory that was let go, given back to the system.

The C library keeps it, in case it is needed again: so the next stage would have it on top of its
own.
"""

cdef extern from *:
    """
    #if defined(__GLIBC__)
    #include <malloc.h>
    static void give_back(void) { malloc_trim(0); }
    #else
    static void give_back(void) {}
    #endif
    """
    void give_back() nogil


def give_back_memory():
    """Give back what was let go, where the C library can (glibc); elsewhere do nothing."""
    with nogil:
        give_back()
