"""What any mapping must lose at least, on data of any size.

::

    conflicts   which items cannot both stay as they are
    covers      how heavy can those be that stay?
    bounds      what the others cost at least, in words
"""
