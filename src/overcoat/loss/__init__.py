"""What a partition loses: totals, and what a move changes.

Below the algorithms, which minimise it, and the measures, which report it: both ask here.

::

    ul      UL, the paper's utility loss          separable   sums over groups and suppressed items
    ncp     NCP, with and without a hierarchy     error       the expected error of COUNT queries
    flat    flat NCP, in whole numbers
"""
