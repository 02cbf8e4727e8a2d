"""Overcoat in a browser: `overcoat serve`, the extra ``overcoat[web]``.

::

    serve      one process that answers a browser       app       what it is made of
    guard      who may ask, and what browsers may do    session   tokens, keys and cookies
    workspace  folders of projects, on disk             choices   all that a person has chosen
    jobs       work in processes of its own             workers   such a process, from outside
    worker     such a process, from inside
    tasks      what it does, by the application layer   listing   tables that are looked at in pages
    params     what a task is given                     publishing  the files of a release
    api        REST and events                          models    what that takes and gives
    pages      the pages, and forms                     views     what templates are filled with
    forms      from what is filled in to choices        sets      sets as written into a field
    texts      what the pages say                       studio    what api and pages have in common

The server imports nothing that works on data: numpy and polars live in the worker processes.
"""
