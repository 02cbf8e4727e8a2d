"""Whether items look like something personal.

::

    shapes     labels with a 9 for every digit and an a for every letter
    kinds      labels of a kind: e-mail addresses, numbers of people, dates
    columns    names of columns that tell what is in them
    structure  what the rows tell, whatever the labels are
    suspicion  all of it: what is suspicious, in words
"""

from overcoat.data.identifiers.suspicion import Suspicion, refuse_identifiers, suspects

__all__ = ["Suspicion", "refuse_identifiers", "suspects"]
