"""OMOP common data models: who has which conditions, drugs or procedures, and what these are.

::

    domains     which tables and columns          model     where they are: a database, a folder
    reading     records -> transactions           concepts  names, a hierarchy, utility sets
    database, folder                              one file each

Items are concept ids, as text: they are unambiguous, which concept codes are only together with
their vocabulary. What they are called comes from ``concept``.
"""
