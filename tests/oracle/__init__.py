"""A slow, obvious twin of the package, written from the definitions alone.

Nothing here imports `overcoat`: `definitions` is what the terms mean, `coat` is the algorithm to
the letter. Meant for at most nine items and forty rows.
"""
