"""From data, policy and method to a release, and the door it leaves by.

::

    result      a mapping, the data under it, and the evidence      walk     how one comes about
    publish     staged, read back, committed: all or nothing        sinks    where a release goes
    given       what users hand in, as values                       public   what users call
"""
